"""Drawing a stain at random, and drawing again when its region cannot serve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from verax.arrays import IntArray
from verax.benchmarks.staining.rules import Literal, Rule, Stain, Values
from verax.errors import VeraxError

# A stain that this many draws do not find is not to be had from these data.
MAX_DRAWS = 1_000


@dataclass(frozen=True)
class Wish:
    """What a stain should be like.

    Attributes:
        size: how many features a rule has, |F|.
        rules: how many rules.
        negated: how many of a rule's features are negated.
        min_share: a feature's condition holds in at least this share of the training inputs.
        min_region: a rule's region has at least so many training inputs.
        min_flipped: at least so many test inputs have their label flipped by a rule.
    """

    size: int = 2
    rules: int = 1
    negated: int = 0
    min_share: float = 0.15
    min_region: int = 30
    min_flipped: int = 5


@dataclass(frozen=True, eq=False)
class Candidates:
    """Conditions that a stain may be made of.

    Attributes:
        literals: the conditions.
        correlated: conditions left out because they hold for exactly the same (or the opposite) training inputs as
            another one, with that one.
    """

    literals: tuple[Literal, ...]
    correlated: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A stain and how it was found: the reasons of the draws that could not serve, counted."""

    stain: Stain
    rejected: Counter[str]


def without_copies(literals: Iterable[Literal], values: Values) -> Candidates:
    """Leaves out conditions that are perfectly correlated with an earlier one on the training inputs."""
    seen: dict[bytes, Literal] = {}
    kept: list[Literal] = []
    correlated: list[tuple[str, str]] = []
    for literal in literals:
        holds = literal.holds(values)
        pattern = np.packbits(holds if holds[:1].all() else ~holds).tobytes()  # a condition or its opposite
        if pattern in seen:
            correlated.append((literal.shown, seen[pattern].shown))
        else:
            seen[pattern] = literal
            kept.append(literal)
    return Candidates(tuple(kept), tuple(correlated))


def draw_stain(
    candidates: Candidates,
    wish: Wish,
    train: tuple[Values, IntArray],
    test: tuple[Values, IntArray],
    n_classes: int,
    rng: np.random.Generator,
) -> Drawn:
    """Draws rules until each has a region that is large enough, has two classes, and flips enough test labels.

    Args:
        candidates: the conditions to draw from.
        wish: what the stain should be like.
        train: what conditions look at, and labels, of the training inputs.
        test: the same of the test inputs.
        n_classes: how many classes there are.
        rng: of the draws.
    """
    features = sorted({literal.name for literal in candidates.literals})
    if len(features) < wish.size:
        raise VeraxError(
            f"Only {len(features)} features occur in at least {wish.min_share:.0%} of the training inputs, but a "
            f"stain needs {wish.size}; lower --min-share or --size."
        )
    rejected: Counter[str] = Counter()
    rules: list[Rule] = []
    taken = np.zeros(len(train[1]), dtype=np.bool_)
    taken_test = np.zeros(len(test[1]), dtype=np.bool_)
    while len(rules) < wish.rules:
        literals = _draw_literals(candidates, wish, rng)
        region = np.logical_and.reduce([literal.holds(train[0]) for literal in literals]) & ~taken
        counts = np.bincount(train[1][region], minlength=n_classes)
        region_test = np.logical_and.reduce([literal.holds(test[0]) for literal in literals]) & ~taken_test
        reason = _reason(counts, wish)
        if reason is None:
            label = _minority(counts, rng)
            if np.count_nonzero(test[1][region_test] != label) < wish.min_flipped:
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
                f"No stain was found in {MAX_DRAWS} draws ({common}); lower --min-region, --min-flipped or --size, "
                "or use more data."
            )
    return Drawn(Stain(tuple(rules)), rejected)


def _draw_literals(candidates: Candidates, wish: Wish, rng: np.random.Generator) -> tuple[Literal, ...]:
    """Conditions on different features, some of them negated."""
    chosen: list[Literal] = []
    for place in rng.permutation(len(candidates.literals)):
        literal = candidates.literals[place]
        if all(literal.name != other.name for other in chosen):
            chosen.append(literal)
        if len(chosen) == wish.size:
            break
    flipped = [
        replace(literal, negated=True, shown=f"not ({literal.shown})") for literal in chosen[: wish.negated]
    ]
    # In the order of their names, so that equal rules look equal however they were drawn.
    return tuple(sorted([*flipped, *chosen[wish.negated :]], key=lambda literal: literal.name))


def _reason(counts: IntArray, wish: Wish) -> str | None:
    if counts.sum() < wish.min_region:
        return "region too small"
    return "region of one class" if np.count_nonzero(counts) < 2 else None


def _minority(counts: IntArray, rng: np.random.Generator) -> int:
    """The class of the region with the fewest inputs (of those it has); ties are drawn."""
    present = np.flatnonzero(counts)
    fewest = present[counts[present] == counts[present].min()]
    return int(rng.choice(fewest))
