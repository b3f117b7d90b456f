"""Does every position that a config may need exist?"""

from collections.abc import Mapping
from typing import Any

from seqlab.build import ConfigError
from seqlab.models.base import Model


def check_lengths(config: Mapping[str, Any], model: Model) -> None:
    """Raise ConfigError where rows or outputs may outgrow the position encoding.

    In a compiled program such a row would only turn into NaN. Counted from the config's limits:
    `data.max_length` (EOS included) and `decode.max_length`; a decoder also reads BOS, and in the
    prefix layout the source and SEP.
    """
    longest, decoded = config["data"]["max_length"], config["decode"]["max_length"]
    written = max(longest["target"], decoded)
    if model.layout == "prefix":
        needs = {"decoder": (1 + longest["source"] + written, "source + target + 1")}
    else:
        needs = {"encoder": (longest["source"], "source"), "decoder": (written, "target")}
    for part, (length, of_what) in needs.items():
        limit = model.position_limit(part)
        if limit is not None and length > limit:
            raise ConfigError(
                f"config.model.position: {part} rows may have {length} tokens ({of_what} of "
                f"data.max_length or decode.max_length), the encoding has {limit} positions; raise "
                f"its limit (max_length) or lower theirs"
            )
