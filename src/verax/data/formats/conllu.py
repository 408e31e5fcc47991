"""Sentences of Universal Dependencies treebanks: CoNLL-U files, folders of them, and tar archives."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from verax.data.lines import not_utf8, numbered_lines
from verax.errors import VeraxError

PARTS = {"train": 0, "dev": 1, "test": 2}
# How Universal Dependencies names its files: en_ewt-ud-dev.conllu.
PART_FILE = re.compile(r"-ud-(train|dev|test)[^/]*\.conllu$")


@dataclass(frozen=True)
class Token:
    """A syntactic word: form, part of speech, features, and its place in the tree (head 0 is the root)."""

    number: int
    form: str
    upos: str
    features: str
    head: int
    relation: str
    space_after: bool

    def feature(self, name: str) -> str:
        """The value of a morphological feature, such as Past for Tense, or "" if it has none."""
        return dict(pair.split("=", 1) for pair in self.features.split("|") if "=" in pair).get(name, "")


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence, and the part its file belongs to (None if the file's name says none)."""

    identity: str
    text: str
    tokens: tuple[Token, ...]
    part: int | None

    def root(self) -> Token | None:
        """The word that depends on nothing."""
        return next((token for token in self.tokens if token.head == 0), None)

    def children(self, parent: Token) -> list[Token]:
        """The words that depend on a word, in order."""
        return [token for token in self.tokens if token.head == parent.number]


def read_sentences(path: Path) -> list[Sentence]:
    """All sentences of a .conllu file, of a folder of .conllu and .tar.gz files, or of one .tar.gz.

    Where some files are named as train, dev or test and others are not, as in EWT with its archive of
    sources, a sentence that occurs in both (by its sent_id) counts once, with the named part.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.name.endswith((".conllu", ".tar.gz", ".tgz")))
    else:
        files = [path]
    sentences = [sentence for file in files for sentence in _sentences_of(file)]
    if not sentences:
        raise VeraxError(
            f"There are no CoNLL-U sentences in {str(path)!r}; name a .conllu file or its folder."
        )
    named = {sentence.identity for sentence in sentences if sentence.part is not None and sentence.identity}
    return [sentence for sentence in sentences if sentence.part is not None or sentence.identity not in named]


def _sentences_of(file: Path) -> Iterator[Sentence]:
    if not file.name.endswith((".tar.gz", ".tgz")):
        yield from parse_conllu(numbered_lines(file), str(file))
        return
    with tarfile.open(file) as archive:
        members = sorted((m for m in archive if m.name.endswith(".conllu")), key=lambda member: member.name)
        for member in members:
            content = archive.extractfile(member)
            name = f"{file}:{member.name}"
            try:
                text = content.read().decode("utf-8") if content else ""
            except UnicodeDecodeError as error:
                raise not_utf8(Path(name), 1) from error
            yield from parse_conllu(enumerate(text.split("\n"), start=1), name)


def parse_conllu(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Sentence]:
    """The sentences of numbered CoNLL-U lines."""
    match = PART_FILE.search(source)
    part = PARTS[match.group(1)] if match else None
    comments: dict[str, str] = {}
    tokens: list[Token] = []
    for number, line in lines:
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line.strip():
            token = _token(line, f"Line {number} of {source}")
            if token is not None:
                tokens.append(token)
        else:
            if tokens:
                yield _sentence(comments, tokens, part)
            comments, tokens = {}, []
    if tokens:
        yield _sentence(comments, tokens, part)


def _token(line: str, where: str) -> Token | None:
    cells = line.split("\t")
    if len(cells) != 10:
        raise VeraxError(
            f"{where} has {len(cells)} cells, not the 10 of CoNLL-U; check that the file is whole."
        )
    if not cells[0].isdigit():
        return None  # "1-2" spans several words of the tree, "8.1" is an elided one
    if not cells[6].isdigit():
        raise VeraxError(f"{where} has the head {cells[6]!r}, not a number; use a treebank with its parses.")
    return Token(
        number=int(cells[0]),
        form=cells[1],
        upos=cells[3],
        features=cells[5],
        head=int(cells[6]),
        relation=cells[7],
        space_after="SpaceAfter=No" not in cells[9],
    )


def _sentence(comments: dict[str, str], tokens: list[Token], part: int | None) -> Sentence:
    text = "".join(token.form + (" " if token.space_after else "") for token in tokens).strip()
    return Sentence(comments.get("sent_id", ""), comments.get("text", text), tuple(tokens), part)
