"""A skipped test is a test that was not run: the session fails unless the skip is listed here."""

ALLOWED: set[str] = set()  # node ids, as pytest prints them


def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        return  # a worker of pytest-xdist: the controller has the reports of all
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = {report.nodeid for report in reporter.stats.get("skipped", [])}
    unexpected = sorted(skipped - ALLOWED)
    if unexpected:
        reporter.write_line(
            f"skipped, but not allowed to be (tests/allowed_skips.py): {unexpected}"
        )
        session.exitstatus = 1
