"""Texts for any callable: strings joined from the kept words, merged, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import WORD, split_words
from verax.models.base import Inputs, Model
from verax.models.text import check_texts
from verax.perturb.evaluate import Answer, Prepared, Rows, evaluate_packed
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS, Variants

Codes = NDArray[np.uint8] | NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Letters(Prepared):
    """A text as an array of characters, and which word each belongs to.

    Attributes:
        codes: the characters and, at the end, a separator that the text does not contain.
        word_of: which distinct word each character belongs to; one more than there are words if to none.
        separator: that separator.
        encoding: how codes become a string.
    """

    codes: Codes
    word_of: IndexArray
    separator: str
    encoding: str


def letters(text: str) -> Letters:
    """Prepares a text for fast removal of words."""
    words = split_words(text)
    number = {word: place for place, word in enumerate(words.distinct)}
    spans = [(*match.span(), number[match.group()]) for match in WORD.finditer(text)]
    return letters_of(text, words.distinct, spans)


def letters_of(text: str, features: tuple[str, ...], spans: Iterable[tuple[int, int, int]]) -> Letters:
    """Prepares a text for fast removal of parts of it.

    Args:
        text: any.
        features: the name of each part.
        spans: where parts stand: first character, the one after the last, and which part it is.
    """
    separator = next(chr(code) for code in range(len(text) + 2) if chr(code) not in text)
    latin = all(ord(character) < 256 for character in set(text)) and ord(separator) < 256
    encoding = "latin-1" if latin else "utf-32-le"
    encoded = (text + separator).encode(encoding, "surrogatepass")
    codes: Codes = (
        np.frombuffer(encoded, dtype=np.uint8) if latin else np.frombuffer(encoded, dtype=np.uint32)
    )
    word_of = np.full(len(codes), len(features), dtype=np.intp)
    for start, end, place in spans:
        word_of[start:end] = place
    return Letters(
        features=features,
        codes=codes,
        word_of=word_of,
        separator=separator,
        encoding=encoding,
    )


def build_strings(prepared: Letters, present: BoolArray) -> list[str]:
    """The text of each variant of a (variants, words) array: kept words and all that stands between words."""
    n_rows = len(present)
    rest = np.ones((n_rows, 1), dtype=np.bool_)  # what is between words is always there
    keep = np.take(np.concatenate([present, rest], axis=1), prepared.word_of, axis=1)
    # Flat places and take are several times faster than indexing with a two-dimensional mask.
    kept = np.take(np.tile(prepared.codes, n_rows), np.flatnonzero(keep))
    joined = kept.tobytes().decode(prepared.encoding, "surrogatepass")
    return joined.split(prepared.separator)[:-1]


@dataclass(frozen=True, eq=False)
class StringPath:
    """Perturbs texts as strings: right for every model of texts."""

    model: Model
    name: str = "strings"

    def prepare(self, inputs: Inputs) -> list[Letters]:
        """Each text as an array of characters."""
        return [letters(text) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[Letters], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        parts = (_parts(text, mask) for text, mask in zip(prepared, masks, strict=True))
        return evaluate_packed(parts, self._ask)

    def _ask(self, batches: Sequence[list[str]]) -> FloatArray:
        return self.model.predict_proba(
            batches[0] if len(batches) == 1 else list(chain.from_iterable(batches))
        )


def _parts(text: Letters, masks: Variants) -> Iterator[Rows[list[str]]]:
    step = max(1, min(MAX_ROWS, BLOCK_CELLS // len(text.codes)))
    for block in masks.blocks(MAX_ROWS):
        rows = block.rows()
        for first in range(0, block.n_rows, step):
            strings = build_strings(text, rows[first : first + step])
            distinct = dict.fromkeys(strings)
            inverse: slice | IndexArray = slice(None)
            if len(distinct) < len(strings):
                place = {string: number for number, string in enumerate(distinct)}
                inverse = np.array([place[string] for string in strings], dtype=np.intp)
                strings = list(distinct)
            # Half of the words are there on average; counting characters would take longer than it is worth.
            yield Rows(strings, len(strings), inverse, len(strings) * len(text.codes) // 2)
