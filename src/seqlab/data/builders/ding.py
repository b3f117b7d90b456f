"""ding: 70,598 German-English pairs of 3 to 40 tokens from a dictionary with usage examples.

    de "Man soll den Tag nicht vor dem Abend loben."   en "It's not over until it's over."

An entry has senses, and a sense has synonyms; a pair is the first synonym of either side without
its notes. Tokens are words and punctuation marks. A pair whose German or English was seen before
is left out (4,699 of 75,297), so no text of either side stands in two splits. Split by a hash of
the entry, 90/5/5, so that the forms of one word stay together. "ding/sentences" holds only what
starts like a sentence and ends like one on both sides (20,370).
Licence: GPL-2 or later, Frank Richter, TU Chemnitz.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import tensorflow_datasets as tfds

from seqlab.data import debian
from seqlab.data.builders.distinct import distinct
from seqlab.data.builders.split import SPLITS, split_of

PACKAGE = debian.Package(
    name="trans-de-en",
    version="1.9-6",
    sha256="45f6b4cf1c434776fba6811d7bc522efabb5425c43ba8afd0e289bf9e2e53df4",
)
TOKENS = (3, 40)
# {grammar} [field] (remark) <see also> /ABBR./, innermost first; a slash between words stays.
NOTE = re.compile(
    r"\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|<[^<>]*>|(?:(?<=\s)|^)/[^\s/][^/]*/(?=[\s;,]|$)"
)
TOKEN = re.compile(r"\w+|[^\w\s]")
SENTENCE = re.compile(r"""["„“‚'‘»(]*[\dA-ZÄÖÜ].*[.!?]["“”'’«)]*""")


class Ding(tfds.core.GeneratorBasedBuilder):
    """TFDS builder of the dictionary's phrases and sentences."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = (
        tfds.core.BuilderConfig(name="pairs", description="phrases and sentences"),
        tfds.core.BuilderConfig(name="sentences", description="full sentences only"),
    )

    def _info(self) -> tfds.core.DatasetInfo:
        text = tfds.features.Text
        return tfds.core.DatasetInfo(
            builder=self,
            description=__doc__,
            features=tfds.features.FeaturesDict({"de": text(), "en": text()}),
            license="GPL-2.0-or-later",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Iterator]:
        archive = debian.fetch(PACKAGE, Path(dl_manager.download_dir))
        ((_, dictionary),) = debian.files(archive, "/trans/de-en")
        pairs = list(distinct(phrases(dictionary.decode())))
        assert self.builder_config is not None  # one of BUILDER_CONFIGS
        if self.builder_config.name == "sentences":
            pairs = [pair for pair in pairs if all(map(SENTENCE.fullmatch, pair[1:]))]
        return {split: self._generate_examples(pairs, split) for split in SPLITS}

    def _generate_examples(self, pairs: list[tuple[str, str, str]], split: str) -> Iterator:
        for number, (entry, german, english) in enumerate(pairs):
            if split_of(entry) == split:
                yield number, {"de": german, "en": english}


def phrases(dictionary: str) -> Iterator[tuple[str, str, str]]:
    """(entry, German, English), both of 3 to 40 tokens.

    A line is `sense | sense :: sense | sense`, a sense `synonym; synonym`; # starts a comment.
    """
    for line in dictionary.split("\n"):
        german, separator, english = line.partition(" :: ")
        if line.startswith("#") or not separator:
            continue
        for sides in zip(german.split("|"), english.split("|"), strict=True):
            pair = [plain(side).partition(";")[0].strip() for side in sides]
            if all(TOKENS[0] <= len(TOKEN.findall(text)) <= TOKENS[1] for text in pair):
                yield german, pair[0], pair[1]


def plain(text: str) -> str:
    """The text without its notes."""
    while (shorter := NOTE.sub(" ", text)) != text:
        text = shorter
    return re.sub(r" (?=[,;.!?])", "", " ".join(text.split()))
