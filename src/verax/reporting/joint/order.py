"""Do benchmarks predict what helps people? The order of methods in a benchmark against their order in a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from verax.phrases import Slot, first_of
from verax.phrases import say as say_phrase
from verax.reporting.joint.evaluations import Evaluation, Standing
from verax.results.findings import FLOOR
from verax.results.units import NONE
from verax.stats.rank_correlations import (
    Needed,
    RankCorrelation,
    methods_needed,
    rank_correlation,
    reliability,
)
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA, FEWEST_METHODS
from verax.text import NOTHING, SMALLEST_P, always_signed

say = partial(say_phrase, "joint")
# The correlation that would be worth knowing of, and the chance with which it should be seen.
WORTH, POWER = 0.7, 0.8
# With fewer methods no arrangement has p <= 0.05.
FEWEST_TO_TEST = 5
# So many methods are named in a sentence, and counted when it is asked how many it takes.
NAMED, COUNTED = 6, 500
# So many studies like these, averaged, as a way to need fewer methods.
MORE_STUDIES = 4
NORMAL_95 = 1.959964
RANK_DRAWS = 2000


@dataclass(frozen=True)
class OrderComparison:
    """One benchmark against one study, or the averages over several.

    Attributes:
        benchmark, study: the evaluations' names.
        simulated: whether the study's people were bots.
        methods: who was evaluated in both.
        first, second: their scores, higher is better.
        first_error, second_error: standard errors of the scores; None where an evaluation has no interval.
        correlation: None below three methods.
        needed: methods that it takes to see a correlation of 0.7, with the errors that there are.
        needed_with_more: the same with the people's scores from four such studies.
        needed_at_best: the same without any error.
        sentence: what it means.
        needs: how many methods it would take.
    """

    benchmark: str
    study: str
    simulated: bool
    methods: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    first_error: tuple[float, ...] | None
    second_error: tuple[float, ...] | None
    correlation: RankCorrelation | None
    needed: Needed | None
    needed_with_more: Needed | None
    needed_at_best: Needed
    sentence: str = ""
    needs: str = ""


def comparisons(evaluations: Sequence[Evaluation], seed: int = 0) -> list[OrderComparison]:
    """Every benchmark with every study, and where there are several, their average ranks."""
    benchmarks = [evaluation for evaluation in evaluations if evaluation.kind == "benchmark"]
    studies = [evaluation for evaluation in evaluations if evaluation.kind == "study"]
    made = [compare(benchmark, study, seed) for benchmark in benchmarks for study in studies]
    people = [evaluation for evaluation in studies if not evaluation.simulated] or studies
    if benchmarks and people and len(benchmarks) + len(people) > 2:
        averages = average_ranks(benchmarks, "benchmarks"), average_ranks(people, "studies")
        made.insert(0, compare(*averages, seed))
    # What says most comes first: people before bots, a correlation before none.
    return sorted(made, key=lambda each: (each.simulated, each.correlation is None))


@dataclass(frozen=True)
class OrderAgreement:
    """Two benchmarks: whether they order explainers alike.

    Attributes:
        first, second: their names.
        methods: who was evaluated in both, random aside: it is last in any benchmark, and would make any two agree.
        correlation: of their scores; None below three methods.
        sentence: what it means.
    """

    first: str
    second: str
    methods: tuple[str, ...]
    correlation: RankCorrelation | None
    sentence: str


def agreements(evaluations: Sequence[Evaluation], seed: int = 0) -> list[OrderAgreement]:
    """Every two benchmarks that measure different things."""
    benchmarks = [evaluation for evaluation in evaluations if evaluation.kind == "benchmark"]
    return [
        agree(first, second, seed)
        for first, second in combinations(benchmarks, 2)
        if first.measure != second.measure
    ]


def agree(first: Evaluation, second: Evaluation, seed: int = 0) -> OrderAgreement:
    """Whether two benchmarks order the explainers of both alike."""
    there = {standing.explainer: standing for standing in first.standings if standing.explainer != FLOOR}
    others = {standing.explainer: standing for standing in second.standings}
    methods = tuple(name for name in there if name in others)
    made = partial(OrderAgreement, first.name, second.name, methods)
    told = partial(say, first=first.name, second=second.name)
    if len(methods) < FEWEST_METHODS:
        return made(None, told("agree-too-few", names=methods))
    own, theirs = [there[name] for name in methods], [others[name] for name in methods]
    ranks = _correlated(_scores(own, first), _scores(theirs, second), _errors(own), _errors(theirs), seed)
    if ranks.spearman is None or ranks.p_spearman is None:
        return made(ranks, told("agree-no-order"))
    said = told("agree", names=first_of(methods, NAMED), **_slots(ranks, ranks.p_spearman, exact=False))
    return made(ranks, " ".join([said, *_no_interval(ranks)]))


@dataclass(frozen=True)
class MeasureOrders:
    """Automatic measures beside every other evaluation: do they order explainers as it does?

    Attributes:
        measures: in the order of how far they order explanations of known quality as the truth does.
        known: that order's tau with its interval, by measure; None where it is not known.
        others: the evaluations, studies first.
        compared: by measure and evaluation.
        p: of Spearman's test, by measure and evaluation, corrected by Holm over the measures of one evaluation.
        sentences: what is shown, one for each study; or why nothing can be.
    """

    measures: tuple[str, ...]
    known: tuple[tuple[float, float | None, float | None] | None, ...]
    others: tuple[str, ...]
    compared: tuple[tuple[OrderComparison, ...], ...]
    p: tuple[tuple[float | None, ...], ...]
    sentences: tuple[str, ...]


def measure_orders(evaluations: Sequence[Evaluation], seed: int = 0) -> MeasureOrders | None:
    """Every automatic measure with every study and benchmark; None where there is no measure."""
    measures = sorted(
        (one for one in evaluations if one.kind == "measure"),
        key=lambda one: -(one.order[0] if one.order else -2.0),
    )
    if not measures:
        return None
    studies = sorted(
        (one for one in evaluations if one.kind == "study"), key=lambda one: (one.simulated, one.name)
    )
    others = [*studies, *(one for one in evaluations if one.kind == "benchmark")]
    compared = tuple(tuple(compare(measure, other, seed) for other in others) for measure in measures)
    by_other = [
        holm(
            [None if (ranks := row[place].correlation) is None else ranks.p_spearman for row in compared]
        ).tolist()
        for place in range(len(others))
    ]
    p = tuple(
        tuple(None if math.isnan(own[row]) else own[row] for own in by_other) for row in range(len(measures))
    )
    said = [
        _measures_in_words([(row[place], own[place]) for row, own in zip(compared, p, strict=True)], measures)
        for place in range(len(studies))
    ]
    return MeasureOrders(
        tuple(one.name for one in measures),
        tuple(one.order for one in measures),
        tuple(one.name for one in others),
        compared,
        p,
        tuple(said) or (say("measures-no-study"),),
    )


def _measures_in_words(
    compared: Sequence[tuple[OrderComparison, float | None]], measures: Sequence[Evaluation]
) -> str:
    """Which measures are shown to order explainers as one study does, in a sentence that claims no more."""
    first, _ = max(compared, key=lambda pair: len(pair[0].methods))
    about: dict[str, Slot] = {"study": first.study, "bots": first.simulated}
    if len(first.methods) < FEWEST_METHODS:
        return say("measures-too-few", names=first.methods, needed=FEWEST_METHODS, **about)
    shown = [
        (one.name, found.correlation)
        for one, (found, p) in zip(measures, compared, strict=True)
        if p is not None and p <= ALPHA and found.correlation is not None
    ]
    slots: dict[str, Slot] = {**about, "many": len(measures), "methods": len(first.methods)}
    if not shown:
        least = min((found.correlation.smallest_p for found, _ in compared if found.correlation), default=1.0)
        return say("measures-not-shown", possible=len(measures) * least <= ALPHA, **slots)
    named = [
        say("measure-rho", name=name, rho=coefficient(ranks.spearman))
        for name, ranks in shown
        if ranks is not None
    ]
    return say("measures-shown", names=named, **slots)


def compare(benchmark: Evaluation, study: Evaluation, seed: int = 0) -> OrderComparison:
    """The rank correlation over the methods of both."""
    scores = {standing.explainer: standing for standing in benchmark.standings}
    others = {standing.explainer: standing for standing in study.standings}
    methods = tuple(name for name in scores if name in others)
    first = _scores([scores[name] for name in methods], benchmark)
    second = _scores([others[name] for name in methods], study)
    errors = _errors([scores[name] for name in methods]), _errors([others[name] for name in methods])
    made = OrderComparison(
        benchmark.name,
        study.name,
        study.simulated,
        methods,
        first,
        second,
        *errors,
        correlation=None,
        needed=None,
        needed_with_more=None,
        needed_at_best=methods_needed(WORTH, POWER),
    )
    if len(methods) >= FEWEST_METHODS:
        kept = _reliable(first, errors[0]), _reliable(second, errors[1])
        more = _reliable(
            second, None if errors[1] is None else tuple(e / MORE_STUDIES**0.5 for e in errors[1])
        )
        made = replace(
            made,
            correlation=_correlated(first, second, *errors, seed),
            needed=methods_needed(WORTH, POWER, kept),
            needed_with_more=methods_needed(WORTH, POWER, (kept[0], more)),
        )
    return replace(made, sentence=in_words(made), needs=needs(made))


def average_ranks(evaluations: Sequence[Evaluation], what: str) -> Evaluation:
    """An evaluation whose scores are mean ranks over several, the best first; errors by drawing every estimate anew."""
    if len(evaluations) == 1:
        return evaluations[0]
    names = [
        name
        for name in dict.fromkeys(standing.explainer for standing in evaluations[0].standings)
        if all(
            any(standing.explainer == name for standing in evaluation.standings) for evaluation in evaluations
        )
    ]
    rng = np.random.default_rng(0)
    shape = (RANK_DRAWS, len(names))
    ranks, drawn = np.zeros(len(names)), np.zeros(shape)
    for evaluation in evaluations:
        by_name = {standing.explainer: standing for standing in evaluation.standings}
        own = [by_name[name] for name in names]
        scores = np.array(_scores(own, evaluation))
        errors = np.array(_errors(own) or [np.nan] * len(own))
        ranks += _ranks(scores[None])[0] / len(evaluations)
        drawn += _ranks(scores + errors * rng.standard_normal(shape)) / len(evaluations)
    # Where one evaluation's errors are not known, those of the average are not either.
    spread = NORMAL_95 * drawn.std(axis=0) if names else np.zeros(0)
    known = bool(np.isfinite(spread).all())
    standings = tuple(
        Standing(
            name,
            name,
            float(rank),
            float(rank - margin) if known else None,
            float(rank + margin) if known else None,
            say(f"average-of-{what}", many=len(evaluations)),
        )
        for name, rank, margin in zip(names, ranks, spread, strict=True)
    )
    return Evaluation(
        say(f"average-{what}", many=len(evaluations)),
        evaluations[0].kind,
        "",
        say("mean-rank"),
        NONE,
        all(evaluation.simulated for evaluation in evaluations),
        False,
        standings,
    )


def in_words(comparison: OrderComparison) -> str:
    """What the comparison says, in a sentence or two that claim no more than it shows."""
    ranks, names = comparison.correlation, comparison.methods
    if ranks is None:
        return say("too-few-methods", names=names, benchmark=comparison.benchmark, study=comparison.study)
    if ranks.spearman is None or ranks.p_spearman is None:
        return say("no-order", methods=len(names), names=first_of(names, NAMED))
    slots = _slots(ranks, ranks.p_spearman, exact=ranks.exact)
    said = say("order", names=first_of(names, NAMED), bots=comparison.simulated, **slots)
    return " ".join([said, *_no_interval(ranks)])


def _slots(ranks: RankCorrelation, p: float, exact: bool) -> dict[str, Slot]:
    """What sentences on two orders say of their correlation."""
    small = p < SMALLEST_P
    return {
        "verdict": _verdict(ranks),
        "methods": ranks.n,
        "rho": coefficient(ranks.spearman),
        "interval": _ends(ranks),
        "p": say("p", exact=exact, small=small, p=f"{max(p, SMALLEST_P):.3f}"),
    }


def needs(comparison: OrderComparison) -> str:
    """How many methods it would take, in a sentence."""
    at_best = _methods(comparison.needed_at_best)
    wanted = {"worth": f"{WORTH}", "power": f"{POWER:.0%}", "at_best": at_best}
    if comparison.correlation is None:
        return say("needs-methods", needed=FEWEST_METHODS, to_test=FEWEST_TO_TEST, **wanted)
    now, more = _methods(comparison.needed), _methods(comparison.needed_with_more)
    return say("needs", now=now, more="no-fewer" if more == now else more, studies=MORE_STUDIES, **wanted)


def coefficient(value: float | None) -> str:
    """A correlation with its sign, "+0.40"."""
    return NOTHING if value is None else always_signed(value)


def _verdict(ranks: RankCorrelation) -> str:
    if ranks.p_spearman is None or ranks.spearman is None or ranks.p_spearman > ALPHA:
        return say("order-open")
    return say("order-alike") if ranks.spearman > 0 else say("order-reverse")


def _ends(ranks: RankCorrelation) -> str:
    if ranks.spearman_low is None:
        return say("interval-none")
    return say("interval", low=coefficient(ranks.spearman_low), high=coefficient(ranks.spearman_high))


def _no_interval(ranks: RankCorrelation) -> list[str]:
    """Why there is no interval; nothing where there is one."""
    if ranks.smallest_p > ALPHA:
        return [say("no-interval-few", methods=ranks.n, p=f"{ranks.smallest_p:.3f}".lstrip("0"))]
    return [say("no-interval-errors")] if ranks.spearman_low is None else []


def _correlated(
    first: tuple[float, ...],
    second: tuple[float, ...],
    first_error: tuple[float, ...] | None,
    second_error: tuple[float, ...] | None,
    seed: int,
) -> RankCorrelation:
    """The rank correlation; no interval where an evaluation's errors are not known, which would make it narrow."""
    found = rank_correlation(first, second, first_error, second_error, seed=seed)
    if first_error is not None and second_error is not None:
        return found
    return replace(found, spearman_low=None, spearman_high=None, kendall_low=None, kendall_high=None)


def _methods(needed: Needed | None) -> str:
    if needed is None or needed.methods is None:
        return say("many-methods", many=COUNTED)
    return str(needed.methods)


def _scores(standings: Sequence[Standing], evaluation: Evaluation) -> tuple[float, ...]:
    sign = 1.0 if evaluation.higher_is_better else -1.0
    return tuple(sign * standing.estimate for standing in standings)


def _errors(standings: Sequence[Standing]) -> tuple[float, ...] | None:
    """Standard errors from 95% intervals, read as normal ones: where few units made t intervals, a little too large."""
    if any(standing.low is None or standing.high is None for standing in standings):
        return None
    return tuple(
        (standing.high - standing.low) / (2 * NORMAL_95)
        for standing in standings
        if standing.high is not None and standing.low is not None
    )


def _reliable(scores: tuple[float, ...], errors: tuple[float, ...] | None) -> float:
    """The scores' reliability; 1 where it cannot be known."""
    share = None if errors is None else reliability(scores, errors)
    return 1.0 if share is None else share


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1), dtype=np.float64)
