"""Points of a sweep and their ids."""

import pytest

from seqlab.build import ConfigError
from seqlab.config import defaults
from seqlab.sweep.arguments import split
from seqlab.sweep.plan import extend, ids, parse_assignment, parse_sweeps, points, select, table
from seqlab.sweep.source import Source
from seqlab.train.size import Size

SWEEP = [
    {"model.placement": placement, "model.depth": depth, "seed": seed}
    for placement in ("placements.pre.Pre", "placements.post.Post")
    for depth in (2, 6)
    for seed in (0, 1)
]


def names(sweep, config=None):
    return [point.id for point in points(config or defaults(), sweep)]


def test_ids_are_readable_unique_and_the_same_every_time():
    found = names(SWEEP)
    assert found[0].startswith("placement-Pre_depth-2_seed-0_")
    assert found[-1].startswith("placement-Post_depth-6_seed-1_")
    assert len(set(found)) == 8
    assert names(SWEEP) == found


def test_an_id_depends_on_what_changes_results_and_on_nothing_else():
    base = names(SWEEP)
    other = defaults()
    other.train.steps, other.train.progress, other.report.question = 5, False, "?"
    assert names(SWEEP, other) == base
    other.train.lr = 5e-4
    assert not set(names(SWEEP, other)) & set(base)


def test_a_key_that_does_not_change_results_counts_where_a_point_sets_it():
    with_steps = [{"train.steps": 5}, {"train.steps": 7}]
    assert len(set(names(with_steps))) == 2
    mixed = [{"seed": 0}, {"seed": 1}, {"seed": 0, "train.steps": 1}]
    longer = defaults()
    longer.train.steps = 5
    assert names(mixed, longer)[:2] == names(mixed)[:2]


def test_ids_fit_a_file_system_whatever_is_swept():
    many = {f"task.option_{number}": f"gs://b/c d{number}" for number in range(30)}
    found = names([many, many | {"task.option_29": "other"}, *({"seed": s} for s in (1, 2))])
    assert len(set(found)) == 4
    assert all(len(name.encode()) <= 255 and "/" not in name and " " not in name for name in found)


def test_keys_that_follow_from_others_are_left_out_of_the_name():
    sweep = [
        {"model.kind": "models.lm.LM", "data.buckets": (128,)},
        {"model.kind": "models.seq2seq.Seq2Seq", "data.buckets": (64,)},
    ]
    assert names(sweep)[0].startswith("model-LM_")
    assert "buckets" not in names(sweep)[0]


def test_twins_and_wrong_keys_are_refused():
    with pytest.raises(ConfigError, match="point 2 is the same run"):
        points(defaults(), [{"seed": 0}, {"seed": 0}])
    with pytest.raises(ConfigError, match="did you mean `placement`"):
        points(defaults(), [{"model.placment": "placements.pre.Pre"}])


def test_values_inside_a_point_have_their_python_type():
    values = [False, 1e-4, -1, None, 4, "a,b", "1", "false"]
    found = points(defaults(), [{"task.option": value} for value in values])
    assert [point.config["task"]["option"] for point in found] == values
    assert [type(point.config["task"]["option"]) for point in found] == list(map(type, values))


def test_sweep_flags_combine_with_and_replace_the_values_of_the_file():
    key, values = parse_assignment("--sweep", "seed=0,1,2")
    assert (key, values) == ("seed", [0, 1, 2])
    assert len(extend(SWEEP, {"seed": values})) == 12
    assert len(extend(SWEEP, {"train.lr": [1e-3, 3e-4]})) == 16
    with pytest.raises(ConfigError, match=r"--sweep: config.train.lr: expected float, got 'fast'"):
        parse_assignment("--sweep", "train.lr=1e-3,fast")
    assert parse_sweeps(["seed=0", "train.lr=1"]) == {"seed": [0], "train.lr": [1.0]}
    with pytest.raises(ConfigError, match="given twice"):
        parse_sweeps(["seed=0", "seed=1"])
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        parse_assignment("--sweep", "seed")


def test_only_selects_by_value_or_label():
    everything = points(defaults(), SWEEP)
    assert len(select(everything, ["model.placement=Pre"])) == 4
    both = ["model.placement=placements.pre.Pre", "model.depth=6", "seed=1"]
    assert [point.id for point in select(everything, both)] == [everything[3].id]
    assert len(select(everything, ["model.depth=2,6"])) == 8
    assert len(select(everything, ["model.depth=2", "model.depth=6"])) == 8
    with pytest.raises(ConfigError, match="choose from Pre, Post"):
        select(everything, ["model.placement=pre"])
    with pytest.raises(ConfigError, match=r"did you mean `model.placement`"):
        select(everything, ["placement=Pre"])


def test_the_plan_shows_the_size_of_every_point():
    def size(config):
        depth = config["model"]["depth"]
        return Size(64, 1000 * depth, 900 * depth, 1_500_000 * depth)

    lines = table(points(defaults(), SWEEP), size).splitlines()
    assert len(lines) == 9
    assert " ".join(lines[0].split()) == (
        "point width parameters without embeddings MFLOPs a pair steps"
    )
    assert lines[1].split()[2:] == ["64", "2,000", "1,800", "3.000", "1,000"]
    assert len({len(line) for line in lines}) == 1


def test_a_config_file_with_and_without_argument(tmp_path):
    path = tmp_path / "question.py"
    path.write_text(
        "from seqlab.config import defaults\n"
        "def get_config(arg=None):\n"
        "    config = defaults()\n"
        "    config.model.depth = 9 if arg == 'full' else 3\n"
        "    return config\n"
        "def sweep(arg=None):\n"
        "    for seed in range(2 if arg else 1):\n"
        "        yield {'seed': seed}\n"
    )
    small, full = Source.load(str(path)), Source.load(f"{path}:full")
    assert (small.name, full.name) == ("question", "question_full")
    assert small.config()["model"]["depth"] == 3
    assert full.config()["model"]["depth"] == 9
    assert len(ids(str(path))) == 1
    assert len(ids(f"{path}:full")) == 2
    with pytest.raises(ConfigError, match=r"question.py"):
        Source.load(str(tmp_path / "questoin.py"))


def test_overrides_are_taken_out_of_the_command_line():
    rest, found = split(
        [
            "launch.py",
            "--config=c.py",
            "--config.train.lr=1",
            "--config.model.depth",
            "3",
            "--noconfig.train.progress",
            "--config.train.remat",
            "--plan",
            "--config.train.lr=2",
        ]
    )
    assert rest == ["launch.py", "--config=c.py", "--plan"]
    assert found == {
        "train.lr": 2.0,
        "model.depth": 3,
        "train.progress": False,
        "train.remat": True,
    }
    for wrong in (["--config.train.lr"], ["--noconfig.train.lr"], ["--config.train.lrr=1"]):
        with pytest.raises(ConfigError, match=r"train.lr"):
            split(wrong)
