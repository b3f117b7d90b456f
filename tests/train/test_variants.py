"""The trained parameters in a changed model: which it takes, and which it refuses."""

import jax
import numpy as np
import pytest

from seqlab.build import ConfigError
from seqlab.train.size import abstract_params
from seqlab.train.source import dataset_of
from seqlab.train.variants import carried, check_variants, conventions, variants
from toys import model_of, pair

UNIFORM = ("uniform", "model.mixers.x.weights", "nn.weights.Uniform")
BOTH = (UNIFORM, ("uniform", "decode.method", "beam"), ("bare", "model.bridge", "b.None"))


def test_triples_of_one_name_make_one_config():
    options = pair(evaluate__variants=BOTH)
    found = variants(options)
    assert list(found) == ["uniform", "bare"]
    assert found["uniform"]["model"]["mixers"]["x"] == {
        "kind": "mixers.cross.Cross",
        "weights": "nn.weights.Uniform",
    }
    assert found["uniform"]["decode"]["method"] == "beam"
    assert found["bare"]["decode"]["method"] == "greedy"
    assert options["model"]["mixers"]["x"] == "mixers.cross.Cross"  # as it was
    assert conventions(options)["test_uniform"].startswith(
        "the trained parameters with model.mixers.x.weights = 'nn.weights.Uniform', decode.method"
    )


def test_parameters_go_by_their_names():
    model, params = model_of(pair(model__depth=1))
    more = {**params, "spare": {"table": np.zeros(3)}}
    taken = carried(more, abstract_params(model), "mine")
    assert "spare" not in taken
    for a, b in zip(jax.tree.leaves(taken), jax.tree.leaves(params), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model.tie_embeddings", False, r"'mine' needs the parameter \S*Unembedding\S* .*no such"),
        ("model.width", 32, r"'mine' needs the parameter \S+ of shape .*has shape"),
        (
            "model.position",
            {"kind": "positions.learned.Learned", "max_length": 4},
            "'mine': .*4 positions",
        ),
    ],
)
def test_what_the_trained_model_lacks_is_named_before_training(key, value, message):
    options = pair(model__depth=1, evaluate__variants=(("mine", key, value),))
    with pytest.raises(ConfigError, match=message):
        check_variants(options, dataset_of(options))


def test_a_variant_without_parameters_of_its_own_is_fine():
    options = pair(model__depth=1, evaluate__variants=(UNIFORM,))
    check_variants(options, dataset_of(options))
