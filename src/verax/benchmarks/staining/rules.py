"""Staining functions: lists of rules on words or columns, the first that holds decides the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray

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

    def to_dict(self) -> dict[str, str | bool]:
        """Plain data."""
        return {"feature": self.name, "condition": self.shown, "negated": self.negated}


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
