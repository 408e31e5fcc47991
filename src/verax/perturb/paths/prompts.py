"""Prompts for language models: variants of a prompt are read as a tree, its beginning once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.models.base import Inputs
from verax.models.llm.prompt import Filled, Placed, Prompt
from verax.models.meter import count
from verax.models.text import check_texts
from verax.perturb.evaluate import Answer
from verax.perturb.masks import BLOCK_CELLS, MAX_ROWS, Variants
from verax.perturb.paths.strings import Letters, build_strings, letters_of


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
