"""hsk: 4,246 English-Chinese sentence pairs, graded by HSK level.

    en "The cat climbed up the tree."   zh "猫爬到了树上。"   level 3

A pair whose English or Chinese sentence was seen before is left out (108 of 4,354), so no sentence
of either side stands in two splits. Split by a hash of the English sentence, 90/5/5.
Licence: CC-BY-SA-4.0. Where the sentences come from is not verified.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tensorflow_datasets as tfds

from seqlab.data.builders.split import SPLITS, split_of
from seqlab.data.fetch import Package, fetch

PACKAGE = Package(
    name="hsk-sentences-audio",
    version="1.0.0",
    filename="hsk_sentences_audio-1.0.0-py3-none-any.whl",
    sha256="9bf16cc7b48a24a10af83d377439d3c6f7571a380937f4645a1cd1590d5d0335",
    size=884_413,
)


class Hsk(tfds.core.GeneratorBasedBuilder):
    """TFDS builder of the graded sentences."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        text = tfds.features.Text
        return tfds.core.DatasetInfo(
            builder=self,
            description=__doc__,
            features=tfds.features.FeaturesDict(
                {"en": text(), "zh": text(), "level": tfds.features.Scalar(np.int64)}
            ),
            license="CC-BY-SA-4.0",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Iterator]:
        archive = fetch(PACKAGE, Path(dl_manager.download_dir))
        with zipfile.ZipFile(archive) as wheel:
            pairs = distinct(json.loads(wheel.read("hsk_sentences_audio/data/sentences.json")))
        return {split: self._generate_examples(pairs, split) for split in SPLITS}

    def _generate_examples(self, pairs: list[dict], split: str) -> Iterator:
        for pair in pairs:
            if split_of(pair["en"]) == split:
                yield pair["en"], pair


def distinct(sentences: list[dict]) -> list[dict]:
    """The pairs of which neither the English nor the Chinese sentence was seen before."""
    seen: set[str] = set()
    pairs = []
    for sentence in sentences:
        english, chinese = sentence["translation"]["en"].strip(), sentence["chinese"].strip()
        if not seen & {english, chinese}:
            pairs.append({"en": english, "zh": chinese, "level": sentence["hsk_level"]})
        seen |= {english, chinese}
    return pairs
