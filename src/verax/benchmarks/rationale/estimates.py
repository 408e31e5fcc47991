"""From targets and scores to estimates: over the inputs of one target, and over targets that differ in their seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.contract import Failure
from verax.benchmarks.rationale.explaining import Explained
from verax.benchmarks.rationale.findings import (
    SETS,
    STRICT,
    AtTau,
    ExplainerErrors,
    Group,
    GroupSet,
    OnInputs,
    RationaleSummary,
    TargetSet,
    TargetSummary,
    Texts,
)
from verax.benchmarks.rationale.plan import CEILING, Piece, Plan, Target
from verax.benchmarks.rationale.rankings import Errors, Order, Partition, errors, oracle_scores
from verax.benchmarks.rationale.target import TargetResult, load_texts
from verax.codec import decode
from verax.results.findings import FLOOR
from verax.run.jobs import Outcome
from verax.stats import Estimate, any_share, binomial_share, mean_interval, mean_share, paired_differences

# Larger thresholds at which the metrics are shown besides the one asked for.
TAUS = (0.15, 0.2, 0.3, 0.4, 0.5)
MEASURES = ("first", "misranked", "above", "auc")


@dataclass(frozen=True, eq=False)
class Input:
    """An input of a target as it was explained.

    Attributes:
        partition: what its words are to the target.
        text: the input.
        scores: by explainer, one number per word.
    """

    partition: Partition
    text: str
    scores: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class ExplainedTarget:
    """A target with its inputs, and who failed on them.

    Attributes:
        target: as it was planned.
        result: of its training and pruning.
        inputs: explained.
        rows: asked of the model per explanation, by explainer.
        seconds: per explanation, by explainer.
        failed: what explainers raised, by label.
    """

    target: Target
    result: TargetResult
    inputs: tuple[Input, ...]
    rows: Mapping[str, float]
    seconds: Mapping[str, float]
    failed: Mapping[str, tuple[str, ...]]


def explained_targets(
    plan: Plan, results: Mapping[str, TargetResult], given: Sequence[Piece], outcomes: Mapping[str, Outcome]
) -> list[ExplainedTarget]:
    """All targets that can serve, with the scores of all explainers that gave some for all inputs.

    Args:
        plan: what was planned.
        results: of the targets, by the keys of their jobs.
        given: the explanations that were planned.
        outcomes: of these, by the keys of their jobs.
    """
    tried = []
    for target in plan.targets:
        result = results.get(target.job.key)
        if result is None:
            continue
        texts = load_texts(plan.sources[target.dataset], plan.spec.max_words).test.inputs
        scores: dict[str, dict[int, FloatArray]] = defaultdict(dict)
        rows: dict[str, list[int]] = defaultdict(list)
        seconds: dict[str, list[float]] = defaultdict(list)
        failed: dict[str, list[str]] = defaultdict(list)
        for piece in (each for each in given if each.target == target):
            outcome = outcomes[piece.job.key]
            if outcome.value is None:
                failed[piece.explainer].append(outcome.error or "")
                continue
            explained = decode(Explained, outcome.value, outcome.name)
            for place, numbers in zip(piece.places, explained.scores, strict=True):
                scores[piece.explainer][place] = np.array(numbers)
            rows[piece.explainer] += explained.rows
            seconds[piece.explainer] += [explained.seconds] * len(piece.places)
        scored = [label for label in plan.explainers if label in scores and label not in failed]
        inputs = tuple(
            Input(each, str(texts[each.place]), {label: scores[label][each.place] for label in scored})
            for each in result.explained
        )
        tried.append(
            ExplainedTarget(
                target,
                result,
                inputs,
                {label: float(np.mean(rows[label])) for label in scored},
                {label: float(np.median(seconds[label])) for label in scored},
                {label: tuple(sentences) for label, sentences in failed.items()},
            )
        )
    return tried


def summarise(plan: Plan, tried: Sequence[ExplainedTarget], failures: Sequence[Failure]) -> RationaleSummary:
    """Everything that the run found."""
    targets = tuple(_target(plan, each) for each in tried)
    kinds = dict.fromkeys((target.dataset, target.difficulty) for target in targets)
    return RationaleSummary(
        spec=plan.spec,
        explainers=plan.explainers,
        claims=plan.claims(),
        hashes=dict(plan.hashes),
        targets=targets,
        groups=tuple(
            _group([each for each in targets if (each.dataset, each.difficulty) == kind]) for kind in kinds
        ),
        failures=tuple(failures),
        texts={name: _texts(plan, tried, name) for name in SETS},
    )


def _texts(plan: Plan, tried: Sequence[ExplainedTarget], name: str) -> dict[str, Texts]:
    """On how many texts of a set each explainer errs; a text that several targets were given is one text."""
    spec = plan.spec
    erred: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    for each in tried:
        for given in of_set(each.inputs, name):
            text = each.target.dataset, given.text
            for label, found in input_errors(given, plan.explainers, spec.tau, spec.order, spec.seed):
                erred[label][text] = erred[label].get(text, False) or bool(found.misranked)
    return {label: Texts(len(texts), sum(texts.values())) for label, texts in erred.items()}


def input_errors(
    given: Input, explainers: Sequence[str], tau: float, order: Order, seed: int
) -> Iterator[tuple[str, Errors]]:
    """The errors of every explainer on one input, the oracle's too."""
    relevant, irrelevant = given.partition.relevant(tau), given.partition.irrelevant()
    for label in explainers:
        scores = oracle_scores(relevant, irrelevant) if label == CEILING else given.scores.get(label)
        if scores is not None:
            # Each explainer has its own draws: a text's ties are not broken alike for all of them.
            yield label, errors(scores, relevant, irrelevant, order, seed, f"{label}\x1f{given.text}")


def of_set(inputs: Sequence[Input], name: str) -> list[Input]:
    """The strict inputs, or those that the paper would keep: a random sample, without strict ones that were added."""
    if name == STRICT:
        return [given for given in inputs if given.partition.strict]
    return [given for given in inputs if not given.partition.added]


def _target(plan: Plan, tried: ExplainedTarget) -> TargetSummary:
    target, result = tried.target, tried.result
    return TargetSummary(
        dataset=target.dataset,
        label=target.label,
        difficulty=target.difficulty,
        seed=target.seed,
        accuracy=result.accuracy,
        validation_accuracy=result.validation_accuracy,
        share=result.share,
        test_set=result.test_set,
        strict=binomial_share([1] * result.strict + [0] * (result.checked - result.strict)),
        sets={name: _target_set(plan, of_set(tried.inputs, name)) for name in SETS},
        rows=tried.rows,
        errors=tried.failed,
        training=result.training,
        squared_error=result.squared_error,
    )


def _target_set(plan: Plan, inputs: Sequence[Input]) -> TargetSet:
    spec = plan.spec
    made: dict[str, dict[int, Errors]] = defaultdict(dict)
    for number, given in enumerate(inputs):
        for label, found in input_errors(given, plan.explainers, spec.tau, spec.order, spec.seed):
            made[label][number] = found
    curves = _curves(plan, inputs)
    explainers = {
        label: OnInputs(
            _scored(list(found.values())), sum(each.tied for each in found.values()), tuple(curves[label])
        )
        for label, found in made.items()
    }
    # Fewer misranked inputs are better, and differences are of what is better when higher.
    right = {
        label: {number: 1.0 - each.misranked for number, each in found.items()}
        for label, found in made.items()
        if label != CEILING
    }
    differences = tuple(paired_differences(right)) if len(right) > 1 else ()
    return TargetSet(len(inputs), explainers, differences)


def _scored(found: Sequence[Errors]) -> ExplainerErrors:
    return ExplainerErrors(
        binomial_share([each.first for each in found]),
        binomial_share([each.misranked for each in found]),
        _not_below_0(mean_interval([each.above for each in found])),
        mean_share([each.auc for each in found]),
    )


def _not_below_0(estimate: Estimate) -> Estimate:
    """The interval of a number of words, which is never below 0."""
    return estimate if estimate.low is None else replace(estimate, low=max(0.0, estimate.low))


def _curves(plan: Plan, inputs: Sequence[Input]) -> dict[str, list[AtTau]]:
    spec = plan.spec
    curves: dict[str, list[AtTau]] = defaultdict(list)
    for tau in (spec.tau, *(tau for tau in TAUS if tau > spec.tau)):
        made: dict[str, list[Errors]] = defaultdict(list)
        for given in inputs:
            if given.partition.relevant(tau).any():
                for label, found in input_errors(given, plan.explainers, tau, spec.order, spec.seed):
                    made[label].append(found)
        for label, several in made.items():
            rows = np.array([[float(value) for value in asdict(each).values()] for each in several])
            first, misranked, above, auc, _ = rows.mean(axis=0).tolist()
            curves[label].append(AtTau(tau, len(several), first, misranked, above, auc))
    return curves


def _group(targets: Sequence[TargetSummary]) -> Group:
    first = targets[0]
    return Group(
        first.dataset, first.difficulty, len(targets), {name: _group_set(targets, name) for name in SETS}
    )


def _group_set(targets: Sequence[TargetSummary], name: str) -> GroupSet:
    sets = {target.label: target.sets[name] for target in targets if target.sets[name].inputs}
    if not sets:
        return GroupSet(0, {}, (), ())
    known = list(next(iter(sets.values())).explainers)
    labels = [label for label in known if all(label in each.explainers for each in sets.values())]
    explainers = {
        label: ExplainerErrors(
            *(
                _over_targets(
                    measure,
                    [getattr(each.explainers[label].scored, measure).mean for each in sets.values()],
                )
                for measure in MEASURES
            )
        )
        for label in labels
    }
    right = {
        label: {place: 1.0 - each.explainers[label].scored.misranked.mean for place, each in sets.items()}
        for label in labels
        if label != CEILING
    }
    differences = tuple(paired_differences(right)) if len(right) > 1 else ()
    return GroupSet(len(sets), explainers, differences, tuple(_least(each) for each in sets.values()))


def _over_targets(measure: str, means: Sequence[float]) -> Estimate:
    """The mean over targets, from five on with an interval for others that are trained alike with other seeds.

    One target in five may be far from the others, so that nothing is supposed about how they spread. A number of words
    has no upper end, and so there is no such interval of it.
    """
    if measure == "above":
        return replace(mean_interval(means), low=None, high=None)
    return any_share(means)


def _least(given: TargetSet) -> tuple[str, ...]:
    shares = {
        label: found.scored.misranked.mean
        for label, found in given.explainers.items()
        if label not in (FLOOR, CEILING)
    }
    return tuple(label for label, share in shares.items() if share == min(shares.values()))
