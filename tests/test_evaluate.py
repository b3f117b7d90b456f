"""The command that scores a run anew, on a run of the first format."""

import json

import pytest

from seqlab import load_run
from seqlab.build import ConfigError
from seqlab.evaluate import main
from toys import ROOT, python

RUN = str(ROOT / "tests" / "fixtures" / "run_v1")


def test_the_command_prints_what_the_run_said_of_itself(tmp_path):
    done = python("-m", "seqlab.evaluate", RUN, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    for name, steps in load_run(RUN).metrics.items():
        if name.startswith("test/"):
            expected = list(steps.values())[-1]
            assert printed["metrics"][name.removeprefix("test/")] == pytest.approx(expected), name
    assert printed["step"] == 600
    assert printed["conventions"]["decoding"] == "greedy"
    missing = python("-m", "seqlab.evaluate", str(tmp_path), cwd=tmp_path)
    assert missing.returncode == 1
    assert "no config.json" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_a_table_for_readers():
    lines = main([RUN, "--split=valid", "--limit=3", "--beam=1"]).splitlines()
    assert lines[0].endswith("checkpoint 600, valid")
    read, where = lines.index("as read, the whole split:"), lines.index("where:")
    metrics, counts, meaning = (
        dict(line.strip().split(None, 1) for line in part)
        for part in (lines[1:read], lines[read + 1 : where], lines[where + 1 :])
    )
    assert metrics["examples"] == "3"
    assert counts["examples"] == "12"
    assert "beam 1" in meaning["decoding"]


def test_a_generated_task_reads_no_file(tmp_path):
    (tmp_path / "mine.tsv").write_text("letters\tphones\na\tb\n")
    with pytest.raises(ConfigError, match="makes its own examples"):
        main([RUN, f"--source={tmp_path / 'mine.tsv'}"])
