"""A run's raw measurements as a table, what explaining cost, and inputs to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verax.benchmarks.rationale.plan import CEILING, Plan
from verax.benchmarks.rationale.rankings import oracle_scores, ranks
from verax.benchmarks.rationale.summarise import Input, Tried, input_errors

if TYPE_CHECKING:
    import pandas as pd

# Inputs of each target that are shown, and the fewest words that they should have.
EXAMPLES = 1
SHORTEST = 15


@dataclass(frozen=True)
class Timing:
    """Seconds and rows per explanation of one explainer on one target."""

    dataset: str
    target: str
    explainer: str
    seconds: float
    rows: float


@dataclass(frozen=True)
class ShownRanking:
    """One explainer's ranking of an input's words: their numbers, the most important first."""

    explainer: str
    order: tuple[int, ...]


@dataclass(frozen=True)
class ShownInput:
    """An input to look at.

    Attributes:
        dataset, target: where it comes from.
        text: the input.
        selected: numbers of the words that the target selects.
        relevant: of those among them that are clearly relevant.
        strict: whether it is strict.
        rankings: one per explainer.
    """

    dataset: str
    target: str
    text: str
    selected: tuple[int, ...]
    relevant: tuple[int, ...]
    strict: bool
    rankings: tuple[ShownRanking, ...]


def measurements(plan: Plan, tried: Sequence[Tried]) -> pd.DataFrame:
    """One row per (dataset, target, explainer, input); the columns are explained in docs/rationale.md."""
    import pandas as pd

    spec = plan.spec
    return pd.DataFrame(
        [
            {
                "dataset": each.target.dataset,
                "target": each.target.label,
                "difficulty": each.target.difficulty,
                "explainer": label,
                "input": given.partition.place,
                "strict": bool(given.partition.strict),
                "added": given.partition.added,
                "words": given.partition.words,
                "selected": len(given.partition.selected),
                "relevant": int(given.partition.relevant(spec.tau).sum()),
                "first": found.first,
                "misranked": found.misranked,
                "above": found.above,
                "auc": found.auc,
                "tied": found.tied,
            }
            for each in tried
            for given in each.inputs
            for label, found in input_errors(given, plan.explainers, spec.tau, spec.order, spec.seed)
        ]
    )


def timings(tried: Sequence[Tried]) -> list[Timing]:
    """What explaining cost, per target and explainer."""
    return [
        Timing(each.target.dataset, each.target.label, label, seconds, each.rows[label])
        for each in tried
        for label, seconds in each.seconds.items()
    ]


def examples(plan: Plan, tried: Sequence[Tried]) -> list[ShownInput]:
    """The shortest strict input of each target with so many words: none is chosen for what explainers say of it."""
    shown = []
    for each in tried:
        inputs = sorted(each.inputs, key=lambda given: (not given.partition.strict, given.partition.words))
        longer = [given for given in inputs if given.partition.words >= SHORTEST]
        inputs = longer or inputs
        shown += [_shown(plan, each, given) for given in inputs[:EXAMPLES]]
    return shown


def _shown(plan: Plan, tried: Tried, given: Input) -> ShownInput:
    spec = plan.spec
    relevant, irrelevant = given.partition.relevant(spec.tau), given.partition.irrelevant()
    scores = dict(given.scores) | {CEILING: oracle_scores(relevant, irrelevant)}
    rankings = []
    for label in plan.explainers:
        if label in scores:
            rank, _ = ranks(scores[label], spec.order, spec.seed, f"{label}\x1f{given.text}")
            rankings.append(ShownRanking(label, tuple(rank.argsort().tolist())))
    return ShownInput(
        tried.target.dataset,
        tried.target.label,
        given.text,
        given.partition.selected,
        tuple(relevant.nonzero()[0].tolist()),
        bool(given.partition.strict),
        tuple(rankings),
    )
