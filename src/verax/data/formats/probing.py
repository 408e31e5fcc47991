"""Probing tasks: SentEval's own, and three derived from Universal Dependencies treebanks (CoNLL-U files).

Conneau et al. (2018) derive them from automatic parses of books; here they come from gold parses. As there,
sentences have 5 to 28 tokens (the syntactic words of the treebank, punctuation included); all others are
dropped and counted.

- ``ud-tense``: PRES or PAST, the tense of the main clause's finite verb. That is the leftmost with
  ``VerbForm=Fin`` among the root of the tree and its children that are ``aux``, ``aux:pass`` or ``cop``:
  "has left" is PRES, "was tired" PAST. It must be indicative with ``Tense=Pres`` or ``Past``; sentences
  without such a verb (fragments, imperatives, modals as in "will leave") are dropped.
- ``ud-subject-number``: NN (singular) or NNS (plural), the number of the subject of the main clause: the
  first child of the root that is ``nsubj`` or ``nsubj:pass``. It must be a common noun (``NOUN``) with
  ``Number=Sing`` or ``Plur``/``Ptan`` (plural in form only, "trousers"); pronouns, names and clauses as
  subjects are dropped.
- ``ud-length``: the number of tokens in six bins, 5-8, 9-12, 13-16, 17-20, 21-25 and 26-28.

SentEval also sees to it that no verb or subject form occurs in two parts; here the treebank's own split is
kept. The column ``source`` keeps what a sentence's id begins with, in EWT its genre.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from verax.data.reading import bad_line, check_gzip, content_lines, not_utf8, numbered_lines
from verax.data.records import Choice, Records, counted, dataset_formats, number_labels, text_records
from verax.errors import VeraxError

SENTEVAL_PARTS = {"tr": 0, "va": 1, "te": 2}


@dataset_formats.register("senteval-probing")
def senteval_probing(path: Path, choice: Choice) -> Records:
    """Sentences with a linguistic label, such as the main verb's tense, with the publisher's split."""
    choice.among("senteval-probing")
    if path.is_dir():
        raise VeraxError(f"{str(path)!r} is a folder; name one task's file in it, such as past_present.txt.")
    texts, names, parts = [], [], []
    for number, line in content_lines(path):
        cells = line.split("\t")
        if len(cells) != 3 or cells[0] not in SENTEVAL_PARTS:
            raise bad_line(number, path, "'tr, va or te TAB label TAB sentence'")
        parts.append(SENTEVAL_PARTS[cells[0]])
        names.append(cells[1])
        texts.append(cells[2])
    labels, class_names = number_labels(names)
    return text_records(texts, labels, class_names, parts)


TREEBANK_PARTS = {"train": 0, "dev": 1, "test": 2}
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
    check_gzip(file)
    try:
        with tarfile.open(file) as archive:
            members = sorted(
                (m for m in archive if m.name.endswith(".conllu")), key=lambda member: member.name
            )
            texts = {f"{file}:{m.name}": member.read() for m in members if (member := archive.extractfile(m))}
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise VeraxError(f"{file} cannot be unpacked ({error}); check that the file is whole.") from error
    for name, content in texts.items():
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(Path(name), 1) from error
        yield from parse_conllu(enumerate(text.split("\n"), start=1), name)


def parse_conllu(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Sentence]:
    """The sentences of numbered CoNLL-U lines."""
    match = PART_FILE.search(source)
    part = TREEBANK_PARTS[match.group(1)] if match else None
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


LENGTHS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
TENSES = {"Pres": "PRES", "Past": "PAST"}
NUMBERS = {"Sing": "NN", "Plur": "NNS", "Ptan": "NNS"}
LENGTH_NAMES = tuple(f"{low}-{high} tokens" for low, high in LENGTHS)


@dataset_formats.register("ud-tense")
def ud_tense(path: Path, choice: Choice) -> Records:
    """Sentences with the tense of their main clause, PAST or PRES."""
    choice.among("ud-tense")
    return _probing(path, tense, ("PAST", "PRES"), "without a main verb in the present or past tense")


@dataset_formats.register("ud-subject-number")
def ud_subject_number(path: Path, choice: Choice) -> Records:
    """Sentences with the number of their subject, NN or NNS."""
    choice.among("ud-subject-number")
    return _probing(
        path, subject_number, ("NN", "NNS"), "without a common noun as subject of the main clause"
    )


@dataset_formats.register("ud-length")
def ud_length(path: Path, choice: Choice) -> Records:
    """Sentences with their length in six bins."""
    choice.among("ud-length")
    return _probing(path, length_bin, LENGTH_NAMES, "without a length")


def tense(sentence: Sentence) -> str | None:
    """PRES or PAST, or None if the main clause has no finite verb in one of them."""
    root = sentence.root()
    if root is None:
        return None
    verbs = [token for token in sentence.children(root) if token.relation in ("aux", "aux:pass", "cop")]
    finite = [token for token in (*verbs, root) if token.feature("VerbForm") == "Fin"]
    if not finite:
        return None
    first = min(finite, key=lambda token: token.number)
    return TENSES.get(first.feature("Tense")) if first.feature("Mood") == "Ind" else None


def subject_number(sentence: Sentence) -> str | None:
    """NN or NNS, or None if the main clause's subject is not a common noun."""
    root = sentence.root()
    if root is None:
        return None
    subjects = [token for token in sentence.children(root) if token.relation in ("nsubj", "nsubj:pass")]
    if not subjects or subjects[0].upos != "NOUN":
        return None
    return NUMBERS.get(subjects[0].feature("Number"))


def length_bin(sentence: Sentence) -> str | None:
    """The name of the bin that the number of tokens falls into, or None."""
    n = len(sentence.tokens)
    bins = zip(LENGTHS, LENGTH_NAMES, strict=True)
    return next((name for (low, high), name in bins if low <= n <= high), None)


def _probing(
    path: Path, label_of: Callable[[Sentence], str | None], class_names: tuple[str, ...], unlabelled: str
) -> Records:
    sentences = read_sentences(path)
    fitting = [sentence for sentence in sentences if length_bin(sentence) is not None]
    labelled = [(sentence, label) for sentence in fitting if (label := label_of(sentence)) is not None]
    notes = [
        counted(len(sentences) - len(fitting), "sentence", "shorter than 5 or longer than 28 tokens dropped"),
        counted(len(fitting) - len(labelled), "sentence", f"{unlabelled} dropped"),
    ]
    # Sentences of files that name no part belong to train if others do name theirs.
    parts = [sentence.part or 0 for sentence, _ in labelled]
    records = text_records(
        (sentence.text for sentence, _ in labelled),
        (class_names.index(label) for _, label in labelled),
        class_names,
        parts,
        notes,
    )
    return replace(records, columns={"source": [source(sentence) for sentence, _ in labelled]})


def source(sentence: Sentence) -> str:
    """Where a sentence comes from: its sent_id up to the first hyphen, in EWT "email", "reviews" and so on."""
    return sentence.identity.partition("-")[0]
