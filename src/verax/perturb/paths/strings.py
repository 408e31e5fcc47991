"""Texts for any callable: strings joined from the kept words, merged, in bounded batches.

Prompts for language models: variants of a prompt are read as a tree, its beginning once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import WORD, split_words
from verax.models.base import Inputs, Model, count
from verax.models.llm.prompt import Filled, Placed, Prompt
from verax.models.wrappers import check_texts
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS, Answer, Prepared, Rows, Variants, evaluate_packed

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


class Prompted(Protocol):
    """A language model that is asked by a prompt: what explanations are about, and what it says to filled prompts."""

    prompt: Prompt

    def place(self, text: str) -> Placed:
        """The features of the prompt with this text."""

    def explained_of(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, classes): what is explained."""


@dataclass(frozen=True, eq=False)
class PromptLetters(Letters):
    """A filled prompt as characters, two marks around its text among them.

    Attributes:
        placed: its features and where they stand.
        marks: the two characters around the text.
    """

    placed: Placed
    marks: tuple[str, str]


@dataclass(frozen=True, eq=False)
class PromptPath:
    """Takes parts out of prompts. What is found for one text does not depend on others that are explained with it."""

    model: Prompted
    name: str = "prompts"

    def prepare(self, inputs: Inputs) -> list[PromptLetters]:
        """The prompt of each text as an array of characters."""
        return [self._letters(text) for text in check_texts(inputs)]

    def evaluate(self, prepared: Sequence[PromptLetters], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per text."""
        for ready, variants in zip(prepared, masks, strict=True):
            parts = [self._answer(ready, block) for block in self._blocks(ready, variants)]
            count(sum(part.rows for part in parts), len(parts))
            yield Answer(
                np.concatenate([part.probabilities for part in parts]),
                sum(part.rows for part in parts),
                len(parts),
            )

    def _blocks(self, ready: PromptLetters, variants: Variants) -> Iterator[list[str]]:
        step = max(1, min(MAX_ROWS, BLOCK_CELLS // len(ready.codes)))
        for block in variants.blocks(MAX_ROWS):
            rows = block.rows()
            for first in range(0, block.n_rows, step):
                yield build_strings(ready, rows[first : first + step])

    def _answer(self, ready: PromptLetters, strings: Sequence[str]) -> Answer:
        place = {string: number for number, string in enumerate(dict.fromkeys(strings))}
        inverse: IndexArray = np.array([place[string] for string in strings], dtype=np.intp)
        filled = []
        for string in place:
            before, _, rest = string.partition(ready.marks[0])
            text, _, after = rest.partition(ready.marks[1])
            filled.append(Filled(before, text, after))
        return Answer(self.model.explained_of(filled)[inverse], len(filled), 1)

    def _letters(self, text: str) -> PromptLetters:
        placed = self.model.place(text)
        filled = self.model.prompt.fill(text)
        unused = (chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in filled.whole)
        marks = (next(unused), next(unused))
        start, end = len(filled.before), len(filled.before) + len(text)
        marked = filled.before + marks[0] + text + marks[1] + filled.after
        # What stands behind a mark moves by one.
        spans = [
            (
                first + (first >= start) + (first >= end and first > start),
                last + (last > start) + (last > end),
                number,
            )
            for number, places in enumerate(placed.spans)
            for first, last in places
        ]
        made = letters_of(marked, placed.features, spans)
        return PromptLetters(**vars(made), placed=placed, marks=marks)
