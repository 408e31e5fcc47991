"""What may replace the words of a text: neighbours in a vector space, of the same sort and in the same case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verax.arrays import FloatArray, IndexArray
from verax.data.vectors import WordVectors
from verax.data.words import WORD, Words
from verax.perturb.counterfactual.closed_class import is_adposition, is_open, open_words
from verax.perturb.counterfactual.text_versions import Options


@dataclass(frozen=True, eq=False)
class Candidates:
    """The options of a text, most similar first within each place, and how similar each is to the word there."""

    options: Options
    similarities: FloatArray


# The sorts of words: those that replace no other, and two that replace their own sort only.
UNUSED, ADPOSITION, OTHER = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Thesaurus:
    """The words of a vector space that may replace others: single words of an open class.

    Published code draws neighbours with the same part of speech. Without a tagger only this much is kept of it:
    an adposition is replaced by adpositions, and any other word by words that are none.

    Attributes:
        vectors: the space.
        sorts: the sort of each of its words.
    """

    vectors: WordVectors
    sorts: NDArray[np.int8]

    @classmethod
    def of(cls, vectors: WordVectors) -> Thesaurus:
        """Sorts the words of a vector space."""
        return cls(vectors, np.array([_sort(word) for word in vectors.words], dtype=np.int8))

    def candidates(self, words: Words, count: int) -> Candidates:
        """Up to ``count`` options for every editable word of a text; words without a vector have none."""
        neighbours = self._neighbours(words, count)
        places: list[int] = []
        after: list[str] = []
        similarities: list[float] = []
        for place, (word, editable) in enumerate(zip(words.words, open_words(words), strict=True)):
            if editable and word in neighbours:
                places += [place] * len(neighbours[word])
                after += neighbours[word]
                similarities += neighbours[word].values()
        options = Options(words, np.array(places, dtype=np.intp), tuple(after))
        return Candidates(options, np.array(similarities))

    def _neighbours(self, words: Words, count: int) -> dict[str, dict[str, float]]:
        """For each distinct word, what may replace it and how similar that is, best first."""
        neighbours = {}
        rows = {word: self.vectors.find(word) for word in words.distinct}
        for sort in (ADPOSITION, OTHER):
            known = {word: row for word, row in rows.items() if row is not None and self.sorts[row] == sort}
            places = np.array(list(known.values()), dtype=np.intp)
            nearest = self.vectors.nearest(places, count, among=np.flatnonzero(self.sorts == sort))
            for word, (others, similarities) in zip(known, nearest, strict=True):
                neighbours[word] = self._written(word, others, similarities)
        return neighbours

    def _written(self, word: str, places: IndexArray, similarities: FloatArray) -> dict[str, float]:
        """Neighbours in the case of the word; only similar ones, and never the word itself."""
        written: dict[str, float] = {}
        for place, similarity in zip(places.tolist(), similarities.tolist(), strict=True):
            other = in_case_of(word, self.vectors.words[place])
            if similarity > 0.0 and other.casefold() != word.casefold():
                written.setdefault(other, similarity)
        return written


def _sort(word: str) -> int:
    if WORD.fullmatch(word) is None or not is_open(word):
        return UNUSED
    return ADPOSITION if is_adposition(word) else OTHER


def in_case_of(word: str, other: str) -> str:
    """The other word in capitals, or with a capital first, if the word is so; otherwise as it is."""
    if len(word) > 1 and word.isupper():
        written = other.upper()
    elif word[:1].isupper():
        written = other[:1].upper() + other[1:]
    else:
        return other
    # A few letters become two characters in capitals, of which one may end the word.
    return written if WORD.fullmatch(written) else other
