"""From the encoder's last states to the decoder's first ones."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class NoBridge:
    """Nothing is handed over: the decoder starts from zero and reads the source by itself."""
