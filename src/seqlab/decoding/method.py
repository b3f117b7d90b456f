"""The decoding that a config describes."""

from collections.abc import Callable, Mapping
from typing import Any

import jax

from seqlab.build import ConfigError, suggest
from seqlab.decoding.beam import Beams, beam_search
from seqlab.decoding.greedy import Decoded, greedy
from seqlab.decoding.penalty import LengthPenalty
from seqlab.decoding.rules import Rules
from seqlab.decoding.sample import Sample, by_number

METHODS = ("greedy", "beam", "sample", "none")
Decode = Callable[..., Decoded]


def method(options: Mapping[str, Any], eos: int, pad: int) -> Decode:
    """(model, params, inputs, mask, source, source_mask, numbers) -> one output for each prompt.

    options: the `decode` part of a config: method, max_length, min_length, no_repeat_ngram, for
    "beam" beam and length_penalty, for "sample" temperature, top_k, top_p and seed. numbers [B] of
    the examples, -1 for fillers: a draw depends on the seed, the step and the example's number, so
    that batches do not matter. A beam's score is divided by the penalty. Raises ConfigError for an
    unknown method or penalty, or options out of range.
    """
    if options["method"] not in METHODS:
        raise ConfigError(
            f"decode.method: {options['method']!r} is unknown" + suggest(options["method"], METHODS)
        )
    return {"beam": _best_of_beam, "sample": _sampled}.get(options["method"], _greedy)(
        options, eos, pad
    )


def n_best(options: Mapping[str, Any], eos: int, pad: int, count: int) -> Callable[..., Beams]:
    """As `method`, but the `count` best hypotheses of a beam search.

    Raises ConfigError for another method than "beam", or a beam that is narrower.
    """
    if options["method"] != "beam":
        raise ConfigError(
            f"nbest: decode.method {options['method']!r} has one output a line; use "
            f'method="beam" with a beam of at least {count}'
        )
    if not 1 <= count <= options["beam"]:
        raise ConfigError(f"nbest: must be from 1 to decode.beam {options['beam']}, got {count}")
    penalty = LengthPenalty(options["length_penalty"])
    beam = {"beam": options["beam"], "nbest": count, "penalty": penalty}

    def decode(*arguments: Any) -> Beams:
        *prompts, _ = arguments
        return beam_search(*prompts, **beam, **_shared(options, eos, pad))

    return decode


def convention(options: Mapping[str, Any]) -> str:
    """How outputs were generated, in words, for reports."""
    if options["method"] == "sample":
        return (
            f"sampled at temperature {options['temperature']:g}, "
            f"top-k {options['top_k'] or 'off'}, "
            f"top-p {format(options['top_p'], 'g') if options['top_p'] < 1 else 'off'}, "
            f"seed {options['seed']}; a draw depends on seed and example number, not on the batch"
        )
    if options["method"] == "beam":
        formula = LengthPenalty(options["length_penalty"]).convention
        return f"beam {options['beam']}, score {formula}"
    return options["method"]


def _greedy(options: Mapping[str, Any], eos: int, pad: int) -> Decode:
    def decode(*arguments: Any) -> Decoded:
        *prompts, _ = arguments
        return greedy(*prompts, **_shared(options, eos, pad))

    return decode


def _sampled(options: Mapping[str, Any], eos: int, pad: int) -> Decode:
    sample = Sample(options["temperature"], options["top_k"], options["top_p"])

    def decode(*arguments: Any) -> Decoded:
        *prompts, numbers = arguments
        key = jax.random.key(options["seed"])
        choose = by_number(sample, numbers)
        return greedy(*prompts, choose=choose, key=key, **_shared(options, eos, pad))

    return decode


def _best_of_beam(options: Mapping[str, Any], eos: int, pad: int) -> Decode:
    search = n_best(options, eos, pad, 1)

    def decode(*arguments: Any) -> Decoded:
        found = search(*arguments)
        return Decoded(found.tokens[:, 0], found.score[:, 0], found.truncated[:, 0])

    return decode


def _shared(options: Mapping[str, Any], eos: int, pad: int) -> dict[str, Any]:
    rules = Rules(options["min_length"], options["no_repeat_ngram"])
    return {"steps": options["max_length"], "eos": eos, "pad": pad, "rules": rules}
