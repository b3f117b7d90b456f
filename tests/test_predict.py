"""Lines in are lines out."""

import pytest

from seqlab.build import ConfigError
from seqlab.predict import main, read_lines
from toys import ROOT, python

# The run is of older versions than some that it is tested with.
pytestmark = pytest.mark.filterwarnings("ignore:outputs", "ignore:the run was trained with")

RUN = str(ROOT / "tests" / "fixtures" / "run_v1")
ODD = "a\u2028b\x0bc\x85d"
FILE = f"\ufeffa b\r\n\r\n{'a b ' * 40}\r\n   \r\n{ODD}\r\nb a\r\n".encode()


def predict(data, *options):
    return main([RUN, *options], data).decode().split("\n")[:-1]


def test_only_a_line_feed_ends_a_line():
    assert read_lines(FILE) == ["a b", "", "a b " * 40, "   ", ODD, "b a"]
    assert read_lines(b"a\n\nb") == ["a", "", "b"]
    assert read_lines(b"") == []
    with pytest.raises(ConfigError, match="line 2 is not UTF-8"):
        read_lines(b"a\n\xff\nb")


@pytest.mark.parametrize("batch", [1, 4])
def test_every_line_gets_its_own_line_in_order(batch):
    with pytest.warns(UserWarning, match="line 3 has"):
        found = predict(FILE, f"--batch={batch}")
    assert len(found) == 6
    assert found[1] == found[3] == ""
    assert [found[0], found[5]] == predict(b"a b\nb a\n")


def test_decoding_options():
    assert predict(b"a b\nb a\n", "--beam=1") == predict(b"a b\nb a\n")
    with pytest.raises(ConfigError, match="length_penalty"):
        predict(b"a\n", "--beam=2", "--length_penalty=gnm")


def test_n_best_are_n_lines_each_with_number_and_score():
    found = [line.split("\t") for line in predict(b"a b\n\nb a\n", "--nbest=2", "--beam=3")]
    assert [number for number, _, _ in found] == ["1", "1", "2", "2", "3", "3"]
    assert found[2][1:] == found[3][1:] == ["0", ""]
    assert float(found[0][1]) >= float(found[1][1])
    assert [found[0][2], "", found[4][2]] == predict(b"a b\n\nb a\n", "--beam=3")
    with pytest.raises(ConfigError, match=r"nbest: must be from 1 to decode\.beam 3, got 4"):
        predict(b"a\n", "--nbest=4", "--beam=3")
    with pytest.raises(ConfigError, match="must be 1 or more, got 0 and None"):
        predict(b"a\n", "--nbest=0")


def test_scores_come_before_the_text():
    found = [line.split("\t") for line in predict(b"a b\n\n", "--scores")]
    assert [text for _, text in found] == predict(b"a b\n\n")
    assert float(found[0][0]) < 0
    assert found[1] == ["0", ""]


def test_the_command(tmp_path):
    done = python("-m", "seqlab.predict", RUN, cwd=tmp_path, input="a b\n\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split("\n")) == 3
    missing = python("-m", "seqlab.predict", str(tmp_path), cwd=tmp_path, input="")
    assert missing.returncode == 1
    assert "no config.json" in missing.stderr
    assert "Traceback" not in missing.stderr
