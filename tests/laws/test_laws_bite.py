"""Each law fails on a mixer that was broken against it, and holds for the part it was made from."""

import pytest

from laws import laws
from laws.system import System

ROPE = "positions.rope.Rope"
BROKEN = {
    "SeesTheFuture": laws.causal,
    "SeesPadding": laws.padding_changes_nothing,
    "CarriesPadding": laws.padding_changes_nothing,
    "SeesOtherSegments": laws.segments_do_not_see_each_other,
    "ForgetsTheLastToken": laws.chunks_equal_whole,
    "PositionsStartOver": laws.chunks_equal_whole,
    "MixesNothing": laws.mixes,
    "IsFarOffInHalfPrecision": laws.dtype_is_kept,
    "DividesByItsLength": laws.empty_rows_are_harmless,
    "SwapsRows": laws.carry_has_batch_first,
    "ClampsItsCache": laws.full_cache_is_nan,
    "KnowsWhoCompiles": laws.compiled_equals_eager,
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_law_fails_on_a_broken_mixer(name):
    position = ROPE if name != "CarriesPadding" else "positions.base.Position"
    with pytest.raises(AssertionError):
        BROKEN[name](System(f"laws.broken.{name}", position))


def test_every_law_has_a_broken_mixer():
    assert set(BROKEN.values()) == set(laws.SAME_FOR_ALL + laws.OF_CARRIES)
