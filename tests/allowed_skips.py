"""A skipped test is a test that was not run: the session fails unless the skip is listed here."""

# Node ids, as pytest prints them, and why.
ALLOWED: set[str] = {
    # They need root, and SLURM's and munge's daemons: apt install slurm-wlm munge.
    "tests/sweep/test_slurm_cluster.py::test_a_sweep_with_a_failure_and_a_preemption",
    "tests/sweep/test_slurm_cluster.py::test_jobs_outlive_their_launcher_and_may_be_cancelled",
}


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
