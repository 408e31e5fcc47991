"""Heat maps of rankings as in the paper's Figure 4: the top words in colour, what the target selects in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verax.benchmarks.rationale.results import ShownInput
from verax.data.words import split_words

# So many of the first words are coloured, the intensity falling linearly, and so many are listed.
COLOURED, LISTED = 10, 5


@dataclass(frozen=True)
class Word:
    """A piece of a text: a word, or what stands between words.

    Attributes:
        text: as written.
        level: 10 for the first word of the ranking down to 1 for the tenth; 0 for all others.
        selected: whether the target selects it.
        relevant: whether it is clearly relevant.
    """

    text: str
    level: int = 0
    selected: bool = False
    relevant: bool = False

    @property
    def first(self) -> bool:
        """Whether the explainer puts it first."""
        return self.level == COLOURED


@dataclass(frozen=True)
class HeatMap:
    """One explainer's ranking of a text, and its first words in a list."""

    explainer: str
    words: tuple[Word, ...]
    top: tuple[Word, ...]


@dataclass(frozen=True)
class Example:
    """A text with the heat maps of all explainers."""

    dataset: str
    target: str
    strict: bool
    maps: tuple[HeatMap, ...]


def heat_maps(inputs: Sequence[ShownInput], names: Mapping[str, str]) -> list[Example]:
    """The inputs that were kept to look at."""
    return [
        Example(
            given.dataset,
            given.target,
            given.strict,
            tuple(_map(given, names[ranking.explainer], ranking.order) for ranking in given.rankings),
        )
        for given in inputs
    ]


def _map(given: ShownInput, name: str, order: Sequence[int]) -> HeatMap:
    words = split_words(given.text)
    levels = {number: COLOURED - place for place, number in enumerate(order[:COLOURED])}
    marked = [
        Word(word, levels.get(number, 0), number in given.selected, number in given.relevant)
        for number, word in enumerate(words.words)
    ]
    pieces: list[Word] = []
    last = 0
    for word, start, end in zip(marked, words.starts, words.ends, strict=True):
        if start > last:
            pieces.append(Word(given.text[last:start]))
        pieces.append(word)
        last = end
    if last < len(given.text):
        pieces.append(Word(given.text[last:]))
    return HeatMap(name, tuple(pieces), tuple(marked[number] for number in order[:LISTED]))
