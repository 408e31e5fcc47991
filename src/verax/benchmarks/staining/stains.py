"""Stains: rules on words or columns, drawn at random, and drawn again when their region cannot serve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, TypeAlias

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.benchmarks.staining.spec import StainRequest
from verax.errors import VeraxError

# What conditions look at: a (rows, features) array, dense or of scipy's sparse ones, which have no types.
Values: TypeAlias = Any


@dataclass(frozen=True)
class Literal:
    """A condition on one feature: its value lies above ``low`` and at most at ``high``, or (negated) does not.

    A word's value is how often it occurs: ``low=0`` is "occurs", ``low=1`` is "occurs twice". A column's value is its
    bin or category, so that ``low = code - 1, high = code`` is equality.

    Attributes:
        column: the feature's place.
        name: the feature's name: the word, or the column.
        shown: the whole condition for people.
    """

    column: int
    name: str
    low: float
    high: float
    negated: bool = False
    shown: str = ""

    def holds(self, values: Values) -> BoolArray:
        """Which rows of a (rows, features) array, sparse or dense, fulfil it."""
        own = column_of(values, self.column)
        inside: BoolArray = (own > self.low) & (own <= self.high)
        return ~inside if self.negated else inside


@dataclass(frozen=True)
class Rule:
    """All literals hold: the label is ``label``."""

    literals: tuple[Literal, ...]
    label: int

    def holds(self, values: Values) -> BoolArray:
        """Which rows it applies to."""
        holds: BoolArray = np.logical_and.reduce([literal.holds(values) for literal in self.literals])
        return holds

    def lacks_one(self, values: Values) -> BoolArray:
        """Which rows all literals but one hold for; none, where there is only one."""
        holding = np.sum([literal.holds(values) for literal in self.literals], axis=0)
        lacking: BoolArray = (holding == len(self.literals) - 1) & (len(self.literals) > 1)
        return lacking

    @property
    def features(self) -> tuple[str, ...]:
        """The features that an explanation should name; an absent word cannot be named, so negated ones are not."""
        return tuple(literal.name for literal in self.literals if not literal.negated)


@dataclass(frozen=True)
class Stain:
    """A rule list; inputs that no rule applies to keep their label."""

    rules: tuple[Rule, ...]

    def fired(self, values: Values) -> IntArray:
        """The number of the first rule that applies to each row, -1 for none: the stained region is the rest."""
        fired = np.full(values.shape[0], -1, dtype=np.int64)
        for number in reversed(range(len(self.rules))):
            fired[self.rules[number].holds(values)] = number
        return fired

    def labels(self, fired: IntArray, labels: IntArray) -> IntArray:
        """The stained labels."""
        of_rule = np.array([rule.label for rule in self.rules], dtype=np.int64)
        return np.where(fired >= 0, of_rule[np.maximum(fired, 0)], labels)

    def describe(self, class_names: tuple[str, ...]) -> str:
        """One line for people."""
        rules = [
            f"{' and '.join(literal.shown for literal in rule.literals)}: {class_names[rule.label]}"
            for rule in self.rules
        ]
        return "; else ".join(rules)


def column_of(values: Values, column: int) -> FloatArray:
    """One column of a sparse or dense array."""
    if hasattr(values, "toarray"):
        return np.asarray(values[:, [column]].toarray(), dtype=np.float64).reshape(-1)
    return np.asarray(values[:, column], dtype=np.float64)


# A stain that this many draws do not find is not to be had from these data.
MAX_DRAWS = 1_000
# Of more combinations of features than this, so many are looked at to tell how many stains there is room for.
LOOKED_AT = 2_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """Conditions that a stain may be made of.

    Attributes:
        literals: the conditions.
        correlated: conditions left out because they hold for exactly the same (or the opposite) training inputs as
            one on another feature, with that one.
    """

    literals: tuple[Literal, ...]
    correlated: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class DrawnStain:
    """A stain and how it was found: the reasons of the draws that could not serve, counted."""

    stain: Stain
    rejected: Counter[str]


def without_copies(literals: Iterable[Literal], values: Values) -> Candidates:
    """Leaves out conditions that are perfectly correlated with an earlier one on another feature, in training.

    The two values of a column are each other's opposites, and both may be stains.
    """
    seen: dict[bytes, Literal] = {}
    kept: list[Literal] = []
    correlated: list[tuple[str, str]] = []
    for literal in literals:
        holds = literal.holds(values)
        pattern = np.packbits(holds if holds[:1].all() else ~holds).tobytes()  # a condition or its opposite
        if pattern in seen and seen[pattern].name != literal.name:
            correlated.append((literal.shown, seen[pattern].shown))
        else:
            seen.setdefault(pattern, literal)
            kept.append(literal)
    return Candidates(tuple(kept), tuple(correlated))


def draw_stain(
    candidates: Candidates,
    request: StainRequest,
    train: tuple[Values, IntArray],
    test: tuple[Values, IntArray],
    n_classes: int,
    rng: np.random.Generator,
) -> DrawnStain:
    """Draws rules until each has a region that is large enough, has two classes, and flips enough test labels.

    Args:
        candidates: the conditions to draw from.
        request: what the stain should be like.
        train: what conditions look at, and labels, of the training inputs.
        test: the same of the test inputs.
        n_classes: how many classes there are.
        rng: of the draws.
    """
    features = sorted({literal.name for literal in candidates.literals})
    if len(features) < request.size:
        raise VeraxError(
            f"Only {len(features)} features occur in at least {request.min_share:.0%} of the training inputs, but a "
            f"stain needs {request.size}; lower min_share= or size=, or plant stains (plant=True)."
        )
    rejected: Counter[str] = Counter()
    rules: list[Rule] = []
    taken = np.zeros(len(train[1]), dtype=np.bool_)
    taken_test = np.zeros(len(test[1]), dtype=np.bool_)
    while len(rules) < request.rules:
        literals = _draw_literals(candidates, request, rng)
        region = np.logical_and.reduce([literal.holds(train[0]) for literal in literals]) & ~taken
        counts = np.bincount(train[1][region], minlength=n_classes)
        region_test = np.logical_and.reduce([literal.holds(test[0]) for literal in literals]) & ~taken_test
        reason = _reason(counts, request.smallest_region(len(train[1])))
        if reason is None:
            label = minority(counts, rng)
            if np.count_nonzero(test[1][region_test] != label) < request.min_flipped:
                reason = "too few flipped test inputs"
        if reason is None:
            rules.append(Rule(literals, label))
            taken |= region
            taken_test |= region_test
            continue
        rejected[reason] += 1
        if sum(rejected.values()) >= MAX_DRAWS:
            common = ", ".join(f"{name}: {count}" for name, count in rejected.most_common())
            raise VeraxError(
                f"No stain was found in {MAX_DRAWS} draws ({common}); lower min_region=, min_flipped= or "
                "size=, plant stains (plant=True), or use more data."
            )
    return DrawnStain(Stain(tuple(rules)), rejected)


@dataclass(frozen=True)
class StainCapacity:
    """How many stains a dataset has room for.

    Attributes:
        features: that stains are made of.
        stains: combinations of them whose region serves.
        counted: whether all combinations were looked at; else it is an estimate.
    """

    features: int
    stains: int
    counted: bool


def stain_capacity(
    candidates: Candidates,
    request: StainRequest,
    train: tuple[Values, IntArray],
    test: tuple[Values, IntArray],
    n_classes: int,
    rng: np.random.Generator,
) -> StainCapacity:
    """How many stains of one rule without negations there are; arguments as of `draw_stain`."""
    literals = candidates.literals
    features = len({literal.name for literal in literals})
    holds = [(literal.holds(train[0]), literal.holds(test[0])) for literal in literals]
    total = comb(len(literals), request.size)
    whole = total <= LOOKED_AT
    chosen: Iterable[tuple[int, ...]] = combinations(range(len(literals)), request.size)
    if not whole:
        draws = (rng.choice(len(literals), request.size, replace=False) for _ in range(LOOKED_AT))
        chosen = (tuple(int(place) for place in draw) for draw in draws)
    serving = 0
    for places in chosen:
        if len({literals[place].name for place in places}) < request.size:
            continue
        region, region_test = (
            np.logical_and.reduce([holds[place][part] for place in places]) for part in range(2)
        )
        counts = np.bincount(train[1][region], minlength=n_classes)
        if _reason(counts, request.smallest_region(len(train[1]))) is None:
            fewest = counts[counts > 0].min()
            labels = test[1][region_test]
            # The best label that a tie allows: the room is not smaller than what may be drawn.
            flipped = max(np.count_nonzero(labels != label) for label in np.flatnonzero(counts == fewest))
            serving += int(flipped >= request.min_flipped)
    return StainCapacity(features, serving if whole else round(serving * total / LOOKED_AT), whole)


def _draw_literals(
    candidates: Candidates, request: StainRequest, rng: np.random.Generator
) -> tuple[Literal, ...]:
    """Conditions on different features, some of them negated."""
    chosen: list[Literal] = []
    for place in rng.permutation(len(candidates.literals)):
        literal = candidates.literals[place]
        if all(literal.name != other.name for other in chosen):
            chosen.append(literal)
        if len(chosen) == request.size:
            break
    flipped = [
        replace(literal, negated=True, shown=f"not ({literal.shown})")
        for literal in chosen[: request.negated]
    ]
    # In the order of their names, so that equal rules look equal however they were drawn.
    return tuple(sorted([*flipped, *chosen[request.negated :]], key=lambda literal: literal.name))


def _reason(counts: IntArray, smallest: int) -> str | None:
    if counts.sum() < smallest:
        return "region too small"
    return "region of one class" if np.count_nonzero(counts) < 2 else None


def minority(counts: IntArray, rng: np.random.Generator) -> int:
    """The class of the region with the fewest inputs (of those it has); ties are drawn."""
    present = np.flatnonzero(counts)
    fewest = present[counts[present] == counts[present].min()]
    return int(rng.choice(fewest))
