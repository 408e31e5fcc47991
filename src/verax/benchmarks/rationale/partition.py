"""What is known of an input of a rationale model, word by word, and which inputs can serve as a test (Camburu 2020).

The words of an input fall into three sets: N_x, which are not selected and do nothing; SR_x, clearly relevant: without
such a word the output moves by tau or more; and SDK_x, the other selected ones, of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.data.words import split_words
from verax.models.capabilities import Selecting, Selection
from verax.seeds import stream

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
