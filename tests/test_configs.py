"""Every config in configs/, shrunk: it trains a few steps, its loss finite and falling."""

import numpy as np
import pytest

from seqlab.check.sample import sampled
from seqlab.check.shrink import shrunk
from seqlab.sweep.overrides import apply_overrides
from seqlab.sweep.plan import Point, points
from seqlab.sweep.source import Source
from seqlab.sweep.validation import validate
from seqlab.train.writer import history, read
from toys import ROOT, train

CONFIGS = sorted(path.stem for path in (ROOT / "configs").glob("*.py"))
STEPS = 24
LEARNS = {
    "train.steps": STEPS,
    "train.steps_per_call": 6,
    "train.eval_every": STEPS,
    "train.checkpoint_every": STEPS,
}


def kind_of(point: Point) -> tuple[str, str]:
    return point.config["task"]["kind"], point.config["model"]["kind"]


def plan(name: str) -> list[Point]:
    source = Source.load(str(ROOT / "configs" / f"{name}.py"))
    return points(source.config(), source.sweep())


def shrunk_points() -> list:
    """One point for each kind of task and model; the others are slow."""
    seen, found = set(), []
    for name in CONFIGS:
        mine = set()
        for point in plan(name):
            if kind_of(point) not in mine:
                quick = kind_of(point) not in seen
                seen.add(kind_of(point))
                mine.add(kind_of(point))
                label = "-".join([name, *(kind.rpartition(".")[2] for kind in kind_of(point))])
                marks = [] if quick else [pytest.mark.slow]
                found.append(pytest.param(point, id=label, marks=marks))
    return found


@pytest.fixture(scope="module", autouse=True)
def usual_promotion():
    """Optax raises a float to the number of steps, an int."""
    import jax

    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.mark.parametrize("point", shrunk_points())
def test_shrunk_it_learns(point, tmp_path):
    small, _ = sampled(shrunk(point.config), tmp_path / "data")
    variants = {"evaluate.variants": point.config["evaluate"]["variants"]}
    options = apply_overrides(small, {**LEARNS, **variants})
    validate(options)
    directory = train(options, tmp_path / "run")
    assert "diverged" not in directory.status
    found = history(read(directory.metrics))
    losses = np.array(list(found["train/loss"].values()))
    assert len(losses) == STEPS
    assert np.isfinite(losses).all()
    assert losses[-6:].mean() < losses[:3].mean() - 0.1
    assert np.isfinite(found["valid/loss"][STEPS])
    assert any(name.startswith("test/") for name in found)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_point_is_valid_and_has_an_id_of_its_own(name):
    found = plan(name)
    for point in found:
        validate(point.config)
    assert len({point.id for point in found}) == len(found)
