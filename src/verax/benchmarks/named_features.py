"""Necessity and sufficiency of named features: what a model's answer does without them, and with nothing but them.

A set of features is *needed* as far as the explained class's probability falls when it is taken away, and *enough* as
far as it rises when nothing else is left. Both are asked, since either alone misses something: of two words that each
do the same, neither is needed while the other stands; and of two that only work together, neither is enough. The worth
of a set is the mean of both; what speaks against the class is worth nothing, and not less. Beside the named set stand
random sets of as many features, and the best set of at most so many as an explainer may name, found by search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb

import numpy as np

from verax.arrays import FloatArray
from verax.data.dataset import contents
from verax.measures.case import output_spread
from verax.models.base import Inputs, Model
from verax.perturb import Masks, Path, Prepared, path_for
from verax.seeds import stream

# An explainer may name so many features of an input, and never more than half of them: naming all is no choice.
TOP = 3
# Random sets for each input: so many over all inputs, and at least so many for each, so that one input alone can show
# something after correction and many inputs cost no more than they must.
DRAWS_IN_ALL, FEWEST_DRAWS = 1_000, 100
# All sets are looked at up to so many. Above, the best is looked for step by step: the best few by each of the three
# values are kept, and a feature of the most promising ones is added.
MOST_SETS = 300
KEPT, PROMISING = 3, 14

NEEDED, ENOUGH = 0, 1
# A set of features by their places, in order.
Places = tuple[int, ...]


def allowed(n_features: int) -> int:
    """How many features of an input an explainer may name."""
    return min(TOP, max(1, n_features // 2))


def worth_of(values: FloatArray, counted: Sequence[int] = (NEEDED, ENOUGH)) -> FloatArray:
    """The worth of sets from how far each is needed and enough, which are the last axis; ``counted`` says which count.

    Where the probability rises without a set, the set speaks against the class; it is not needed, and that is all.
    Otherwise an explainer that names what does nothing would seem better than random sets that hold such features.
    """
    return np.asarray(np.maximum(values[..., list(counted)], 0.0).mean(axis=-1))


@dataclass(frozen=True, eq=False)
class Beside:
    """What a named set of one input is compared with; values are worths, as shares of probability.

    Attributes:
        pool: of random sets of as many features and of the named one: any of them a random choice might have named.
        best: of the best set that was found, of as many features as may be named or fewer.
    """

    pool: FloatArray
    best: float


class NamedFeatures:
    """The worth of sets of features of some inputs; a set is asked for once."""

    def __init__(
        self,
        model: Model,
        inputs: Inputs,
        targets: Sequence[int],
        *,
        seed: int = 0,
        counted: Sequence[int] = (NEEDED, ENOUGH),
    ) -> None:
        self.counted = counted
        self._path: Path[Prepared] = path_for(model)
        self._prepared = self._path.prepare(inputs)
        self._targets = targets
        self._scale = output_spread(model, inputs) if model.output == "number" else 1.0
        self._known: list[dict[Places, FloatArray]] = [{} for _ in self._prepared]
        self._streams = [(seed, "judge", content.hex()) for content in contents(inputs)]
        self.features = [ready.features for ready in self._prepared]

    def values(self, sets: Sequence[Iterable[Places]]) -> list[FloatArray]:
        """By input, how far each of its sets is needed and enough: an array with a row per set."""
        wanted = [list(own) for own in sets]
        self._ask([[places for places in own if places not in known] for own, known in self._each(wanted)])
        return [
            np.array([known[places] for places in own]).reshape(len(own), 2)
            for own, known in self._each(wanted)
        ]

    def _each(self, sets: list[list[Places]]) -> Iterable[tuple[list[Places], dict[Places, FloatArray]]]:
        return zip(sets, self._known, strict=True)

    def _ask(self, sets: list[list[Places]]) -> None:
        asked = [number for number, own in enumerate(sets) if own]
        masks = [self._masks(len(self.features[number]), sets[number]) for number in asked]
        answers = self._path.evaluate([self._prepared[number] for number in asked], masks)
        for number, answer in zip(asked, answers, strict=True):
            all_in, none_in, *variants = answer.probabilities[:, self._targets[number]]
            without, alone = np.reshape(variants, (-1, 2)).T
            worth = np.stack([all_in - without, alone - none_in], axis=1)
            self._known[number].update(zip(sets[number], worth / self._scale, strict=True))

    def _masks(self, n_features: int, sets: Sequence[Places]) -> Masks:
        """Everything, nothing, and for each set the input without it and the set alone."""
        present = np.zeros((2 + 2 * len(sets), n_features), dtype=np.bool_)
        present[0] = True
        present[2::2] = True
        for row, places in enumerate(sets):
            present[2 + 2 * row, list(places)] = False
            present[3 + 2 * row, list(places)] = True
        return Masks.from_rows(present)

    def beside(self, named: Sequence[Sequence[Places]], n_inputs: int | None = None) -> list[list[Beside]]:
        """By input, what each of the sets named for it is compared with.

        Args:
            named: by input, the set that each explainer names; an empty one names nothing.
            n_inputs: how many inputs are judged in all, which decides how many random sets each of them needs.
        """
        draws = max(FEWEST_DRAWS, ceil(DRAWS_IN_ALL / (n_inputs or len(named))))
        sizes = [sorted({len(places) for places in own if places}) for own in named]
        random = [
            {size: self._random_sets(number, size, draws) for size in own} for number, own in enumerate(sizes)
        ]
        self.values([[places for drawn in own.values() for places in drawn] for own in random])
        self.values(named)
        self._search()
        worths = [
            {places: float(worth_of(values, self.counted)) for places, values in own.items()}
            for own in self._known
        ]
        found = []
        for number, own in enumerate(named):
            most = allowed(len(self.features[number]))
            best = max(0.0, *(worth for places, worth in worths[number].items() if len(places) <= most))
            pools = {
                size: np.array([worths[number][places] for places in drawn])
                for size, drawn in random[number].items()
            }
            found.append([Beside(self._pool(number, places, pools, worths[number]), best) for places in own])
        return found

    def best(self) -> list[FloatArray]:
        """By input, how far the most needed of the known sets is needed, and the most sufficient one enough."""
        return [
            np.max([worth for places, worth in own.items() if len(places) <= allowed(len(features))], axis=0)
            for own, features in zip(self._known, self.features, strict=True)
        ]

    def _pool(
        self, number: int, places: Places, pools: dict[int, FloatArray], worths: dict[Places, float]
    ) -> FloatArray:
        if not places:
            return np.zeros(1)
        pool = pools[len(places)]
        # All sets hold the named one; drawn ones get it added, since a random choice might have been just this.
        complete = len(pool) == comb(len(self.features[number]), len(places))
        return pool if complete else np.append(pool, worths[places])

    def _random_sets(self, number: int, size: int, draws: int) -> list[Places]:
        features = self.features[number]
        if comb(len(features), size) <= draws:
            return list(combinations(range(len(features)), size))
        # Other inputs have other draws: shared ones would make the inputs' tests depend on each other.
        rng = stream(*self._streams[number], size)
        return [tuple(sorted(rng.choice(len(features), size, replace=False).tolist())) for _ in range(draws)]

    def _search(self) -> None:
        """Looks for the best set of as many features as may be named, or fewer; what is found is known then."""
        counts = [len(features) for features in self.features]
        sizes = [range(1, allowed(count) + 1) for count in counts]
        few = [
            sum(comb(count, size) for size in own) <= MOST_SETS
            for count, own in zip(counts, sizes, strict=True)
        ]
        self.values(
            [
                [
                    places
                    for size in (own if all_of_them else (1,))
                    for places in combinations(range(count), size)
                ]
                for count, own, all_of_them in zip(counts, sizes, few, strict=True)
            ]
        )
        searched = [number for number, all_of_them in enumerate(few) if not all_of_them]
        singles = {number: self._best(number, 1, PROMISING) for number in searched}
        for size in range(1, TOP):
            longer: list[list[Places]] = [[] for _ in counts]
            for number in searched:
                added = [place for (place,) in singles[number]]
                longer[number] = sorted(
                    {
                        tuple(sorted({*places, place}))
                        for places in self._best(number, size, KEPT)
                        for place in added
                        if place not in places
                    }
                )
            self.values(longer)

    def _best(self, number: int, size: int, count: int) -> list[Places]:
        """The best known sets of a size, so many by each of being needed, being enough, and both."""
        sets = [places for places in self._known[number] if len(places) == size]
        worth = np.array([self._known[number][places] for places in sets])
        found: dict[Places, None] = {}
        for value in (worth[:, NEEDED], worth[:, ENOUGH], worth_of(worth, self.counted)):
            found |= dict.fromkeys(sets[place] for place in np.argsort(-value, kind="stable")[:count])
        return list(found)
