"""Rankings of the positions of a text, what is known of each word (Camburu 2020), and the errors of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution
from verax.models.capabilities import Selecting, Selection
from verax.seeds import stream
from verax.text import listed

# How scores become an order: by their size, or by their value, what speaks against the prediction last.
Order = Literal["absolute", "signed"]


@runtime_checkable
class Ranking(Protocol):
    """An explanation of any kind."""

    def as_attribution(self) -> Attribution | None:
        """The same as scores; None for a kind that ranks nothing, such as a composite."""


def position_scores(explanation: object, text: str) -> FloatArray:
    """A score for every word of a text: that of the feature which stands there.

    A feature that is a distinct word gives its score to every occurrence. Where features overlap, a position has the
    score of the largest magnitude.

    Args:
        explanation: scores, or something that can be read as scores.
        text: the input, word by word.
    """
    scored = explanation.as_attribution() if isinstance(explanation, Ranking) else None
    if scored is None:
        raise VeraxError(
            f"A ranking of words is needed, and a {type(explanation).__name__} has none; leave this explainer out."
        )
    words = split_words(text)
    known = scored.scores.tolist()
    scores: list[float | None] = [None] * len(words)
    if scored.spans is None:
        by_word = dict(zip(scored.features, known, strict=True))
        scores = [by_word.get(word) for word in words.words]
    else:
        for places, score in zip(scored.spans, known, strict=True):
            for number, (start, end) in enumerate(zip(words.starts, words.ends, strict=True)):
                before = scores[number]
                covered = any(first < end and start < last for first, last in places)
                if covered and (before is None or abs(score) > abs(before)):
                    scores[number] = score
    missing = [word for word, score in zip(words.words, scores, strict=True) if score is None]
    if missing:
        named = listed([repr(word) for word in dict.fromkeys(missing)], most=3)
        raise VeraxError(
            f"The explainer scored {len(words) - len(missing)} of {len(words)} words ({named} not); every word needs a "
            "score, 0 for those that do not count."
        )
    return np.array(scores, dtype=np.float64)


def ranks(scores: FloatArray, order: Order, seed: int, text: str) -> tuple[FloatArray, BoolArray]:
    """The rank of each position, 0 for the most important, and which positions tie with another.

    Ties are broken at random, by the seed and the text.
    """
    importance = np.abs(scores) if order == "absolute" else scores
    drawn = stream(seed, "ties", text).random(len(scores))
    places = np.lexsort((drawn, -importance))
    rank = np.empty(len(scores))
    rank[places] = np.arange(len(scores))
    _, inverse, counts = np.unique(importance, return_inverse=True, return_counts=True)
    tied: BoolArray = counts[inverse] > 1
    return rank, tied


@dataclass(frozen=True)
class Errors:
    """What is wrong with one ranking.

    Attributes:
        first: whether the first word does nothing (metric A).
        misranked: whether a word that does nothing stands above a clearly relevant one (B).
        above: how many such words stand above the lowest clearly relevant one (C).
        auc: the share of pairs of a clearly relevant word and one that does nothing in which the first scores higher;
            a tie is half a pair.
        tied: whether a word that does nothing ties with a clearly relevant one, so that chance decides.
    """

    first: bool
    misranked: bool
    above: int
    auc: float
    tied: bool


def errors(
    scores: FloatArray, relevant: BoolArray, irrelevant: BoolArray, order: Order, seed: int, text: str
) -> Errors:
    """The errors of a ranking of all positions.

    Args:
        scores: one per position.
        relevant: SR_x, of which there is at least one.
        irrelevant: N_x, the same.
        order: how scores become an order.
        seed: of ties.
        text: whose words these are.
    """
    rank, _ = ranks(scores, order, seed, text)
    lowest = rank[relevant].max()
    above = int((rank[irrelevant] < lowest).sum())
    importance = np.abs(scores) if order == "absolute" else scores
    margin = importance[relevant][:, None] - importance[irrelevant][None, :]
    return Errors(
        first=bool(irrelevant[np.argmin(rank)]),
        misranked=above > 0,
        above=above,
        auc=float(np.mean((margin > 0) + 0.5 * (margin == 0))),
        tied=bool((margin == 0).any()),
    )


def oracle_scores(relevant: BoolArray, irrelevant: BoolArray) -> FloatArray:
    """The ranking that makes no error: SR_x, then SDK_x, then N_x."""
    return np.where(relevant, 2.0, np.where(irrelevant, 0.0, 1.0))


# Outputs that differ by less are the same: the size of a batch shows in the last digits.
SAME = 1e-6


@dataclass(frozen=True)
class Partition:
    """The words of one input, as the target model uses them.

    Attributes:
        place: of the input in the test part.
        words: how many it has.
        selected: the numbers of those that the model selects.
        effects: for each of them, how far the output moves without it.
        handshake: whether selecting again from the selection gives another selection (equation 3); an empty selection
            gives itself, and falls out for want of a clearly relevant word.
        strict: whether no deletion of words outside the selection that was tried changes the output; None if none was.
        added: whether it was drawn only among strict inputs, so that there are enough of them.
    """

    place: int
    words: int
    selected: tuple[int, ...]
    effects: tuple[float, ...]
    handshake: bool
    strict: bool | None = None
    added: bool = False

    def relevant(self, tau: float) -> BoolArray:
        """SR_x as a mask over the words: selected, and the output moves by tau or more without it."""
        mask = np.zeros(self.words, dtype=np.bool_)
        mask[
            [number for number, effect in zip(self.selected, self.effects, strict=True) if effect >= tau]
        ] = True
        return mask

    def irrelevant(self) -> BoolArray:
        """N_x as a mask over the words: all that are not selected."""
        mask = np.ones(self.words, dtype=np.bool_)
        mask[list(self.selected)] = False
        return mask

    def kept(self, tau: float) -> bool:
        """Whether it can serve: no handshake, a clearly relevant word, and a word that does nothing."""
        return not self.handshake and bool(self.relevant(tau).any()) and len(self.selected) < self.words


def partition(model: Selecting, texts: Sequence[str]) -> list[Partition]:
    """What each text's words are to the model; places are those in the list. Whether it is strict is left open."""
    selections = model.select(texts)
    again = model.select([selection.text for selection in selections])
    effects = _effects(model, selections)
    return [
        Partition(
            place,
            len(split_words(text)),
            selection.places,
            tuple(effect.tolist()),
            handshake=len(second) != len(selection),
        )
        for place, (text, selection, second, effect) in enumerate(
            zip(texts, selections, again, effects, strict=True)
        )
    ]


def _effects(model: Selecting, selections: Sequence[Selection]) -> list[FloatArray]:
    """How far the output moves without each selected word: the largest change of a class's probability."""
    whole = model.encode(selections)
    changed = [
        (owner, selection.without(number))
        for owner, selection in enumerate(selections)
        for number in range(len(selection))
    ]
    moved = np.zeros(len(changed))
    if changed:
        probabilities = model.encode([shorter for _, shorter in changed])
        moved = np.abs(probabilities - whole[[owner for owner, _ in changed]]).max(axis=1)
    ends = np.cumsum([len(selection) for selection in selections])
    return np.split(moved, ends[:-1]) if len(selections) else []


def is_strict(model: Selecting, text: str, selection: Selection, subsets: int, seed: int) -> bool:
    """Whether the output stays when words outside the selection are deleted: each alone, and random subsets of them.

    That selecting again from the selection gives the same says this of deleting all of them at once, and of nothing
    less.

    Args:
        model: the target.
        text: an input.
        selection: what it selects from it.
        subsets: how many random subsets are tried, each of a size drawn evenly between 2 and all but one.
        seed: of the subsets.
    """
    words = split_words(text).words
    outside = np.setdiff1d(np.arange(len(words)), selection.places)
    several: list[IndexArray] = []
    if len(outside) > 2:
        rng = stream(seed, "subsets", text)
        sizes = rng.integers(2, len(outside), subsets)
        several = [rng.choice(outside, size, replace=False) for size in sizes]
    whole = model.encode([selection])
    # Subsets first: they are few, and most inputs that are not strict show it there.
    for deleted in (several, [np.array([number]) for number in outside]):
        variants = [_without(words, some) for some in deleted]
        # What was selected is all that the second half sees: the same words give the same output.
        other = {found.words: found for found in model.select(variants) if found.words != selection.words}
        if other and np.abs(model.encode(list(other.values())) - whole).max() > SAME:
            return False
    return True


def _without(words: Sequence[str], deleted: IndexArray) -> str:
    gone = set(deleted.tolist())
    return " ".join(word for number, word in enumerate(words) if number not in gone)


@dataclass(frozen=True)
class Spread:
    """A mean and a standard deviation over inputs."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class TestSet:
    """The paper's Table 2 for one target: what is left of the test part, and of what size.

    Attributes:
        inputs: in the test part.
        empty: how many of them have an empty selection.
        everything: how many are selected whole.
        kept: how many can serve.
        words: of those kept: |x|,
        selected: |S_x|,
        relevant: |SR_x|,
        irrelevant: |N_x|.
        handshakes: the share of all inputs eliminated because selecting again gives another selection.
        without_relevant: the share of the others eliminated because no word is clearly relevant.
        without_irrelevant: the share of what is then left that was eliminated because every word is selected.
    """

    __test__ = False  # no test class, whatever its name looks like

    inputs: int
    empty: int
    everything: int
    kept: int
    words: Spread | None
    selected: Spread | None
    relevant: Spread | None
    irrelevant: Spread | None
    handshakes: float
    without_relevant: float
    without_irrelevant: float


def describe(partitions: Sequence[Partition], tau: float) -> TestSet:
    """Table 2 of a test part."""
    whole = [each for each in partitions if not each.handshake]
    relevant = [each for each in whole if each.relevant(tau).any()]
    kept = [each for each in relevant if each.kept(tau)]
    return TestSet(
        inputs=len(partitions),
        empty=sum(not each.selected for each in partitions),
        everything=sum(len(each.selected) == each.words > 0 for each in partitions),
        kept=len(kept),
        words=_spread([each.words for each in kept]),
        selected=_spread([len(each.selected) for each in kept]),
        relevant=_spread([int(each.relevant(tau).sum()) for each in kept]),
        irrelevant=_spread([each.words - len(each.selected) for each in kept]),
        handshakes=_share_lost(partitions, whole),
        without_relevant=_share_lost(whole, relevant),
        without_irrelevant=_share_lost(relevant, kept),
    )


def _spread(numbers: Sequence[int]) -> Spread | None:
    return Spread(float(np.mean(numbers)), float(np.std(numbers))) if numbers else None


def _share_lost(before: Sequence[Partition], after: Sequence[Partition]) -> float:
    return 1 - len(after) / len(before) if before else 0.0
