"""How likely a word is between its neighbours: a small language model of the texts that a model was trained on.

It has no notion of a whole sentence. It knows how frequent a word is, which words and marks stood before and after
it, and with which of the frequent ones it goes on either side, which tells nouns, verbs and adjectives apart well
enough to keep "don't city your money" away. So versions of a text are found that read like language: no unlikely
words, and of many versions the likeliest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.data.words import Words, split_words
from verax.perturb.counterfactual.text_versions import Options, Versions
from verax.perturb.counterfactual.thesaurus import Candidates, is_adposition

# What is taken off every count of a pair and given to pairs that were not seen (absolute discounting).
DISCOUNT = 0.75
# So many of the most frequent words and marks tell by standing beside a word what sort of word it is.
TELLING = 150
# Words that are less alike than this, before or after them, are of different sorts: one does not replace the other.
SAME_SORT = 0.5
# A word that was seen so often counts half of what its neighbours say: a few of them prove nothing.
HALF_PROOF = 4
# How much the sort of word counts, and how much its frequency, beside its neighbours. A frequent word fits everywhere a
# little, and would otherwise win everywhere.
SORT_WEIGHT = 3.0
FREQUENCY_WEIGHT = 0.5
# What an ending costs that the word did not have: "hang" becomes "cling" rather than "clings".
OTHER_ENDING = 2.0
ENDINGS = ("ing", "ed", "ly", "est", "s")
# A word that such a mark joins to another is a part of it: "one-of-a-kind" has no "one-of-a-real".
JOINS = ("-", "'", "\u2019", "/")
# A word that is no option here at all.
UNFIT = -math.inf
EDGE = ""  # before the first word and after the last


@dataclass(frozen=True, eq=False)
class Language:
    """Counts of words and marks, and of pairs of neighbours, without case.

    Attributes:
        words: how often each word or mark occurs; the edge of a text is one.
        pairs: how often two stand next to each other.
    """

    words: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def from_texts(cls, texts: Iterable[str]) -> Language:
        """Counts the words and marks of some texts."""
        words: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        for text in texts:
            row = _tokens(split_words(text))
            words.update(row)
            pairs.update(pairwise(row))
        return cls(words, pairs)

    def change(self, words: Words, place: int, after: str) -> float:
        """How much more likely the text is with this word there than as it was: a logarithm, 0 for as likely.

        The neighbours before and after, how frequent each word is, and whether both are of one sort. Minus infinity for
        a word of another sort, one that was never seen beside either neighbour, a part of a longer word, and a change
        of an adposition: "from the right track" is no other way to be on it.
        """
        before, following = _neighbours(words, place)
        old, new = words.words[place].casefold(), after.casefold()
        alike = self.alike(old, new)
        seen = self.pairs[before, new] or self.pairs[new, following]
        if is_adposition(old) or alike < SAME_SORT or not seen or before in JOINS or following in JOINS:
            return UNFIT
        fits = self._fit(before, new, following) - self._fit(before, old, following)
        ending = OTHER_ENDING if _ending(old) != _ending(new) else 0.0
        return fits + SORT_WEIGHT * math.log(alike) - ending

    def alike(self, one: str, other: str) -> float:
        """Whether two words go with the same frequent words and marks, from 0 to 1.

        The cosine of how often these stand before them, or after them if that is less: a noun and an adjective both
        follow "the", but a noun does not go on to the next noun. Less for words that were seldom seen.
        """
        rows = self._rows
        if one not in rows or other not in rows:
            return 0.0
        cosine = min(float(side[rows[one]] @ side[rows[other]]) for side in self._sorts)
        return cosine * math.sqrt(self._proof(one) * self._proof(other))

    def _proof(self, word: str) -> float:
        return self.words[word] / (self.words[word] + HALF_PROOF)

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
    def _sorts(self) -> tuple[FloatArray, FloatArray]:
        """For each word how often each telling one stands before it, and after it; square roots, of length 1."""
        telling = {word: column for column, (word, _) in enumerate(self.words.most_common(TELLING))}
        before, after = (np.zeros((len(self.words), len(telling))) for _ in range(2))
        for (first, second), count in self.pairs.items():
            if first in telling:
                before[self._rows[second], telling[first]] += count
            if second in telling:
                after[self._rows[first], telling[second]] += count
        return _directions(before), _directions(after)


def _directions(counts: FloatArray) -> FloatArray:
    roots = np.sqrt(counts)
    lengths = np.linalg.norm(roots, axis=1, keepdims=True)
    directions: FloatArray = np.divide(roots, lengths, out=np.zeros_like(roots), where=lengths > 0)
    return directions


def _tokens(words: Words) -> list[str]:
    """The words of a text with the marks between them, and an edge on either side."""
    row, end = [EDGE], 0
    for word, (start, stop) in zip(words.words, words.places, strict=True):
        row += [*_marks(words.text[end:start]), word.casefold()]
        end = stop
    return [*row, *_marks(words.text[end:]), EDGE]


def _marks(gap: str) -> str:
    """The first and the last mark of what stands between two words; the others have no word beside them."""
    marks = gap.strip()
    return marks[:1] + marks[1:][-1:]


def _neighbours(words: Words, place: int) -> tuple[str, str]:
    """The word or mark before a word, and that after it."""
    text, last = words.text, place + 1 == len(words)
    before = text[words.ends[place - 1] if place else 0 : words.starts[place]].strip()
    after = text[words.ends[place] : len(text) if last else words.starts[place + 1]].strip()
    return (
        before[-1:] or (words.words[place - 1].casefold() if place else EDGE),
        after[:1] or (EDGE if last else words.words[place + 1].casefold()),
    )


def _ending(word: str) -> str:
    return next((ending for ending in ENDINGS if word.endswith(ending) and not word.endswith("ss")), "")


def likelihoods(language: Language, words: Words, places: Sequence[int], after: Sequence[str]) -> FloatArray:
    """`Language.change` of many options, one at a time."""
    return np.array(
        [language.change(words, place, word) for place, word in zip(places, after, strict=True)], dtype=float
    )


# Words that are less likely than this, as `Language.change` has it, are not used; each further attempt takes a little
# less likely ones, down to the last limit.
FLOOR, STEP, LAST_FLOOR = -2.5, 0.25, -4.0
# Two changed words next to each other were judged by neighbours that are not there any more.
NEIGHBOURS_COST = 3.0
# Each further changed word is one more that may be wrong.
FURTHER_COST = 0.5
# One is drawn among the likeliest so large a share of the versions, and among so many at least.
BEST_SHARE, FEWEST = 0.05, 5


@dataclass(frozen=True, eq=False)
class LikelyCandidates:
    """Options that read well, with how likely each is."""

    candidates: Candidates
    likelihoods: FloatArray


def likely_candidates(candidates: Candidates, language: Language, attempt: int) -> LikelyCandidates:
    """The options that are likely enough for an attempt, counted from 0."""
    options = candidates.options
    scores = likelihoods(language, options.words, options.places.tolist(), options.after)
    kept = np.flatnonzero(scores >= max(FLOOR - STEP * attempt, LAST_FLOOR))
    after = tuple(options.after[option] for option in kept.tolist())
    fewer = Options(options.words, options.places[kept], after)
    return LikelyCandidates(Candidates(fewer, candidates.similarities[kept]), scores[kept])


def version_likelihoods(versions: Versions, scores: FloatArray) -> FloatArray:
    """How likely each version is: as its least likely word, for one bad word spoils a text; fewer changes are better.

    Args:
        versions: with one edit at least each.
        scores: of the options.
    """
    starts, chosen = versions.starts[:-1], versions.chosen
    worst: FloatArray = np.minimum.reduceat(scores[chosen], starts)
    places = versions.options.places[chosen]
    beside = np.diff(places, prepend=-2) == 1
    beside[starts] = False
    further = versions.edits - 1
    return worst - FURTHER_COST * further - NEIGHBOURS_COST * np.logical_or.reduceat(beside, starts)


def likeliest(likely: FloatArray) -> IndexArray:
    """The places of the best of some versions, the best first."""
    count = max(FEWEST, int(np.ceil(BEST_SHARE * len(likely))))
    order: IndexArray = np.argsort(-likely, kind="stable")[:count]
    return order
