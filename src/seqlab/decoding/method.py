"""The decoding that a config describes."""

from collections.abc import Callable, Mapping
from typing import Any

from seqlab.build import ConfigError, suggest
from seqlab.decoding.beam import beam_search
from seqlab.decoding.greedy import Decoded, greedy
from seqlab.decoding.penalty import LengthPenalty
from seqlab.decoding.rules import Rules

METHODS = ("greedy", "beam", "none")
Decode = Callable[..., Decoded]


def method(options: Mapping[str, Any], eos: int, pad: int) -> Decode:
    """(model, params, inputs, mask, source, source_mask) -> the best output of each prompt.

    options: the `decode` part of a config: method, max_length, min_length, no_repeat_ngram, and
    for "beam" beam and length_penalty. A beam's score is divided by the penalty. Raises
    ConfigError for an unknown method or penalty.
    """
    rules = Rules(options["min_length"], options["no_repeat_ngram"])
    shared = {"steps": options["max_length"], "eos": eos, "pad": pad, "rules": rules}
    if options["method"] == "beam":
        penalty, beam = LengthPenalty(options["length_penalty"]), options["beam"]

        def best_of_beam(*arguments: Any) -> Decoded:
            found = beam_search(*arguments, beam=beam, penalty=penalty, **shared)
            return Decoded(found.tokens[:, 0], found.score[:, 0], found.truncated[:, 0])

        return best_of_beam
    if options["method"] not in METHODS:
        raise ConfigError(
            f"decode.method: {options['method']!r} is unknown" + suggest(options["method"], METHODS)
        )
    return lambda *arguments: greedy(*arguments, **shared)


def convention(options: Mapping[str, Any]) -> str:
    """How outputs were generated, in words, for reports."""
    if options["method"] != "beam":
        return options["method"]
    formula = LengthPenalty(options["length_penalty"]).convention
    return f"beam {options['beam']}, score {formula}"
