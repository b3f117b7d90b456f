"""The numbers that a compiled training step takes as inputs, so that sweeps share programs."""

from collections.abc import Mapping
from typing import Any

import flax.struct
import numpy as np

from seqlab.types import Leaf


@flax.struct.dataclass
class Hyper:
    """lr: peak (factor for "noam"). warmup, steps: updates. clip: global norm, inf when off.
    dropout: None when off (another program), else a rate. width: model width, for "noam"."""

    lr: Leaf
    warmup: Leaf
    steps: Leaf
    width: Leaf
    clip: Leaf
    weight_decay: Leaf
    label_smoothing: Leaf
    ema: Leaf
    dropout: Leaf

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Hyper":
        """Those of a config."""
        train, model = config["train"], config["model"]
        return cls(
            lr=np.float32(train["lr"]),
            warmup=np.float32(train["warmup"]),
            steps=np.float32(train["steps"]),
            width=np.float32(model["width"]),
            clip=np.float32(train["clip"] or np.inf),
            weight_decay=np.float32(train["weight_decay"]),
            label_smoothing=np.float32(train["label_smoothing"]),
            ema=np.float32(train["ema"]),
            dropout=np.float32(model["dropout"]) if model["dropout"] else None,
        )
