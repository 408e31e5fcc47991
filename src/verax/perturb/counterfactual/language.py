"""How likely a word is between its neighbours: a small language model of the texts that a model was trained on.

It has no notion of a whole sentence. It knows how frequent a word is, which words stood before and after it, and with
which function words it goes, which tells verbs from nouns well enough to keep "don't city your money" away.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from verax.arrays import FloatArray
from verax.data.words import Words, split_words

# What is taken off every count of a pair and given to pairs that were not seen (absolute discounting).
DISCOUNT = 0.75
# So many of the most frequent words tell by standing beside a word what sort of word it is.
TELLING = 150
# How much the sort of word counts, and how much its frequency, beside its neighbours. A frequent word fits everywhere a
# little, and would otherwise win everywhere.
SORT_WEIGHT = 3.0
FREQUENCY_WEIGHT = 0.5
# What an ending costs that the word did not have: "hang" becomes "cling" rather than "clings".
OTHER_ENDING = 2.0
# What it costs where the word was never seen after the one before it, nor before the one after it.
NEVER_SEEN = 2.0
ENDINGS = ("ing", "ed", "ly", "est", "s")
# Pairs of words that were never seen beside any telling word have this similarity.
LEAST_ALIKE = 0.02
EDGE = ""  # before the first word and after the last


@dataclass(frozen=True, eq=False)
class Language:
    """Counts of words and of pairs of neighbours, without case.

    Attributes:
        words: how often each word occurs; the edge of a text is one.
        pairs: how often two words stand next to each other.
    """

    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Language:
        """Counts the words of some texts."""
        words: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for text in texts:
            row = [EDGE, *(word.casefold() for word in split_words(text).words), EDGE]
            words.update(row)
            pairs.update(pairwise(row))
        return cls(words, pairs)

    def change(self, words: Words, place: int, after: str) -> float:
        """How much more likely the text is with this word there than as it was: a logarithm, 0 for as likely.

        The neighbours before and after, how frequent each word is, and whether both go with the same function words.
        """
        before_word = words.words[place - 1].casefold() if place > 0 else EDGE
        next_word = words.words[place + 1].casefold() if place + 1 < len(words) else EDGE
        old, new = words.words[place].casefold(), after.casefold()
        fits = self._fit(before_word, new, next_word) - self._fit(before_word, old, next_word)
        ending = OTHER_ENDING if _ending(old) != _ending(new) else 0.0
        seen = self.pairs[before_word, new] or self.pairs[new, next_word]
        return fits + SORT_WEIGHT * math.log(self.alike(old, new)) - ending - (0.0 if seen else NEVER_SEEN)

    def alike(self, one: str, other: str) -> float:
        """Whether two words go with the same function words: the cosine of how often they do, from 0.02 to 1."""
        rows = self._rows
        if one not in rows or other not in rows:
            return LEAST_ALIKE
        return max(LEAST_ALIKE, float(self._sorts[rows[one]] @ self._sorts[rows[other]]))

    def _fit(self, before: str, word: str, after: str) -> float:
        """The logarithm of the probability of a word between two others, but for what does not depend on it."""
        rarer = (1 - FREQUENCY_WEIGHT) * math.log(self._alone(word))
        return math.log(self._follows(before, word)) + math.log(self._follows(word, after)) - rarer

    def _follows(self, first: str, second: str) -> float:
        """The probability of the second word after the first: discounted counts, the rest by how frequent it is."""
        alone = self._alone(second)
        count = self.words[first]
        if not count:
            return alone
        seen = max(0.0, self.pairs[first, second] - DISCOUNT) / count
        return seen + DISCOUNT * self._followers[first] / count * alone

    def _alone(self, word: str) -> float:
        return (self.words[word] + 0.5) / (self._total + 0.5 * len(self.words) + 0.5)

    @cached_property
    def _total(self) -> int:
        return self.words.total()

    @cached_property
    def _followers(self) -> Counter[str]:
        """How many different words follow each."""
        return Counter(first for first, _ in self.pairs)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def _sorts(self) -> FloatArray:
        """For each word how often each telling word stands before and after it; square roots, of length 1."""
        telling = {word: column for column, (word, _) in enumerate(self.words.most_common(TELLING))}
        counts = np.zeros((len(self.words), 2 * len(telling)))
        for (first, second), count in self.pairs.items():
            if first in telling:
                counts[self._rows[second], telling[first]] += count
            if second in telling:
                counts[self._rows[first], len(telling) + telling[second]] += count
        roots = np.sqrt(counts)
        lengths = np.linalg.norm(roots, axis=1, keepdims=True)
        directions: FloatArray = np.divide(roots, lengths, out=np.zeros_like(roots), where=lengths > 0)
        return directions


def _ending(word: str) -> str:
    return next((ending for ending in ENDINGS if word.endswith(ending) and not word.endswith("ss")), "")


def likelihoods(language: Language, words: Words, places: Sequence[int], after: Sequence[str]) -> FloatArray:
    """`Language.change` of many options, one at a time."""
    return np.array(
        [language.change(words, place, word) for place, word in zip(places, after, strict=True)], dtype=float
    )
