"""libreoffice_help: LibreOffice's help, paragraph by paragraph, in English and another language.

    en "Specifies the width of the frame."   zh "指定框架的宽度。"

"libreoffice_help/en-zh" 18,467 pairs, "/en-de" 27,314, "/en-fr" 26,056 in version 7.4.7; packages
move with security updates. English has 16 words on average, 28 % of it 20 or more. Paragraphs are
joined by (page, id); an id that stands twice on its page is left out, and so is what is not
translated: no letter differs (44 % of en-zh). Text is what a reader on Linux sees: no tags, no
texts for other systems, runs of space as one. Split by a hash of the page, 90/5/5. Pages share
paragraphs (37 % of the Chinese test targets would stand in train), so a pair whose English or
translation was seen before is left out: no text of either side stands in two splits. Paragraphs
that differ in a few words do.
Licence: MPL-2.0.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import tensorflow_datasets as tfds

from seqlab.data import debian
from seqlab.data.builders.distinct import distinct
from seqlab.data.builders.split import SPLITS, split_of

LANGUAGES = {"zh": "zh-CN", "de": "de", "fr": "fr"}  # name of the column -> of the folder
ROOT = "usr/share/libreoffice/help/"
VOID = {"img", "br", "input", "meta", "link", "hr", "source", "wbr"}  # tags without an end
BREAKS = {"br", "div", "li", "td"}

Paragraphs = dict[tuple[str, str], str]  # (page, id) -> text


class LibreofficeHelp(tfds.core.GeneratorBasedBuilder):
    """TFDS builder of the help in two languages."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = tuple(
        tfds.core.BuilderConfig(name=f"en-{language}", description=f"English and {folder}")
        for language, folder in LANGUAGES.items()
    )

    @property
    def language(self) -> str:
        """The column beside "en"."""
        assert self.builder_config is not None  # one of BUILDER_CONFIGS
        return self.builder_config.name.removeprefix("en-")

    def _info(self) -> tfds.core.DatasetInfo:
        text = tfds.features.Text
        return tfds.core.DatasetInfo(
            builder=self,
            description=__doc__,
            features=tfds.features.FeaturesDict({"en": text(), self.language: text()}),
            license="MPL-2.0",
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Iterator]:
        directory = Path(dl_manager.download_dir)
        english, other = (
            paragraphs(debian.fetch(package(folder), directory), folder)
            for folder in ("en-US", LANGUAGES[self.language])
        )
        pairs = list(distinct(joined(english, other)))
        return {split: self._generate_examples(pairs, split) for split in SPLITS}

    def _generate_examples(self, pairs: list[tuple[str, str, str]], split: str) -> Iterator:
        for number, (page, english, other) in enumerate(pairs):
            if split_of(page) == split:
                yield number, {"en": english, self.language: other}


def package(folder: str) -> debian.Package:
    """The package of a language's help."""
    return debian.Package(f"libreoffice-help-{folder.lower()}")


def joined(english: Paragraphs, other: Paragraphs) -> Iterator[tuple[str, str, str]]:
    """(page, English, translation) of the paragraphs that are translated, in the pages' order."""
    for page, name in sorted(english.keys() & other.keys()):
        source, target = english[page, name], other[page, name]
        if _letters(source) != _letters(target):
            yield page, source, target


def paragraphs(archive: Path, folder: str) -> Paragraphs:
    """The paragraphs of all pages whose id stands once on its page."""
    found: Paragraphs = {}
    for path, content in debian.files(archive, ".html"):
        if path.startswith(f"{ROOT}{folder}/text/"):
            page = path.removeprefix(f"{ROOT}{folder}/")
            reader = Page()
            reader.feed(content.decode("utf-8"))
            times = Counter(name for name, _ in reader.found)
            found |= {(page, name): text for name, text in reader.found if times[name] == 1}
    return found


class Page(HTMLParser):
    """Collects the (id, text) of `<p id="par_id...">` in `found`.

    What depends on the reader's system or module is `<span hidden id="MAC..."> ... </span><span
    hidden id="default..."> ... </span>`; only the default is read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._name = ""
        self._text: list[str] = []
        self._hidden = 0  # tags that are open within a hidden one, itself included

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("id") or ""
        if tag == "p":
            self._close()
            self._name = name if name.startswith("par_id") else ""
        elif tag in BREAKS:
            self._text.append(" ")
        hidden = "hidden" in attributes and not name.startswith("default")
        if tag not in VOID and (self._hidden or hidden):
            self._hidden += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "p":
            self._close()
        elif self._hidden and tag not in VOID:
            self._hidden -= 1

    def handle_data(self, data: str) -> None:
        if self._name and not self._hidden:
            self._text.append(data)

    def _close(self) -> None:
        text = " ".join("".join(self._text).split())
        if self._name and text:
            self.found.append((self._name, text))
        self._name, self._text, self._hidden = "", [], 0


def _letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text).casefold()
