"""From the outcomes of all trials to estimates: the stain is the unit, and all claims of a run are one family."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from verax.arrays import FloatArray, IntArray
from verax.benchmarks.contract import Failure
from verax.benchmarks.staining.choosing import ChosenPlanting
from verax.benchmarks.staining.findings import (
    Accuracies,
    ExplainerScores,
    LeftOut,
    Pair,
    StainedDataset,
    StainSummary,
    TwinAccuracies,
    UnshownStain,
)
from verax.benchmarks.staining.jobs import checks
from verax.benchmarks.staining.plan import Plan, Trial
from verax.benchmarks.staining.scores import BUDGETS, Failed, Scores, TrialResult, result_of
from verax.benchmarks.staining.scores import NAME as GROUND_TRUTH
from verax.benchmarks.staining.spec import StainSpec
from verax.benchmarks.staining.stainable import make_stainable
from verax.run.jobs import Outcome
from verax.stats import Estimate, Ranking, average_ranks, joint_differences, mean_share, sharing
from verax.stats.means import share_around
from verax.stats.thresholds import FEWEST_UNITS

Outcomes = Mapping[str, Outcome]
Results = Sequence[tuple[Trial, TrialResult | None]]
# A stain with its dataset: the unit of everything that is said over models and datasets.
Unit = tuple[str, str]
MEASURES = ("auc", "mrr")


@dataclass(frozen=True)
class _StainMeans:
    """One value per measure of one stain: the mean over its inputs."""

    recall: FloatArray
    auc: float
    mrr: float
    rows: float
    inputs: int
    nonsense: int | None


def trial_results(plan: Plan, outcomes: Outcomes) -> Results:
    """All trials with what they gave; None where the job failed."""
    return [(trial, result_of(outcomes[trial.job.key])) for trial in plan.trials]


def summarise(plan: Plan, outcomes: Outcomes, results: Results) -> StainSummary:
    """Everything that the run found.

    Args:
        plan: what was asked.
        outcomes: of all jobs, by job key.
        results: of the trials among them.
    """
    found = [
        _pair(plan, dataset, model, outcomes, results)
        for dataset in plan.spec.datasets
        for model in plan.spec.models
    ]
    parts = _parts(results)
    pairs = _compared([pair for pair, _ in found], [means for _, means in found], parts)
    return StainSummary(
        spec=plan.spec,
        explainers=(*plan.explainers, GROUND_TRUTH),
        budgets=BUDGETS,
        datasets={name: _dataset(plan, name, results) for name in plan.spec.datasets},
        failures=tuple(
            Failure(job.name, outcomes[job.key].error or "")
            for job in plan.jobs
            if outcomes[job.key].value is None
        ),
        ranks=_ranks(pairs),
        overall=_overall([means for _, means in found], parts, float(most_recall(plan.spec).mean())),
        pairs=pairs,
    )


def _dataset(plan: Plan, dataset: str, results: Results) -> StainedDataset:
    stains: dict[int, TrialResult] = {}
    for trial, result in results:
        if trial.dataset == dataset and result is not None:
            stains.setdefault(trial.stain, result)
    drawn = [stains[number] for number in sorted(stains)]
    redrawn: Counter[str] = Counter()
    for result in drawn:
        redrawn.update(result.stain.rejected)
    return StainedDataset(
        hash=plan.hashes[dataset],
        stains=tuple(result.stain.shown for result in drawn),
        distinct_stains=len({result.stain.shown for result in drawn}),
        distinct_words=len(frozenset().union(*stain_words(drawn).values())),
        region=tuple(len(result.region) for result in drawn),
        redrawn=dict(sorted(redrawn.items())),
        correlated=tuple(tuple(same) for same in plan.correlated[dataset]),
        facts=plan.facts[dataset],
        planted=_planting_of(plan.chosen.get(dataset)),
    )


def _planting_of(chosen: ChosenPlanting | None) -> tuple[str, ...]:
    """How reasons were planted, in sentences."""
    if chosen is None:
        return ()
    hint = "plant_share= and decoy_share= choose a way without trying."
    return (*chosen.sentences(), *([hint] if chosen.stopped else []))


# Per explainer and stain the means over inputs.
_Means = Mapping[str, Mapping[str, _StainMeans]]
# Of each pair of dataset and model: the dataset, and the means.
_PairMeans = tuple[str, _Means]


def _pair(
    plan: Plan, dataset: str, model: str, outcomes: Outcomes, results: Results
) -> tuple[Pair, _PairMeans]:
    """One pair without its differences, which are tested over all pairs, and what these are made of."""
    own = [(trial, result) for trial, result in results if (trial.dataset, trial.model) == (dataset, model)]
    done = [(trial, result) for trial, result in own if result is not None]
    learnt = [(trial, result) for trial, result in done if result.learnt]
    used = [(trial, result) for trial, result in learnt if result.reasoned]
    twin = outcomes[plan.twins[dataset, model].key].value
    spec = plan.spec
    data = make_stainable(plan.sources[dataset], spec.words, spec.min_share, spec.at_least)
    labels = data.dataset.test.labels
    errors: dict[str, list[str]] = defaultdict(list)
    for trial, result in learnt:
        for label, given in result.explainers.items():
            if isinstance(given, Failed):
                errors[label].append(f"stain {trial.stain}: {given.error}")
    per_stain = _per_stain([result for _, result in used])
    words = stain_words([result for _, result in used])
    possible = most_recall(plan.spec)
    pair = Pair(
        dataset=dataset,
        model=model,
        stains_used=len(used),
        stains_left_out=tuple(
            LeftOut(
                trial.stain,
                result.stain.shown,
                **asdict(result.checks),
                weight=result.weight,
                reason=result.checks.why_not(spec.learnt),
            )
            for trial, result in done
            if not result.learnt
        ),
        stains_failed=tuple(trial.stain for trial, result in own if result is None),
        explainers={label: _scored(stains, words, possible) for label, stains in per_stain.items()},
        errors={label: tuple(sentences) for label, sentences in errors.items()},
        differences={},
        stains_apart=tuple(
            UnshownStain(trial.stain, result.stain.shown, result.reasons or 0.0)
            for trial, result in learnt
            if not result.reasoned
        ),
        weights=tuple(result.weight for _, result in used if result.weight is not None),
        accuracies=_accuracies(
            [result for _, result in done], labels, None if twin is None else np.array(twin["predicted"])
        ),
    )
    return pair, (dataset, per_stain)


def _accuracies(
    results: Sequence[TrialResult], labels: IntArray, twin_predicted: IntArray | None
) -> Accuracies | None:
    """Of the stained models and of their unstained twin, over all stains."""
    if not results:
        return None
    words = stain_words(results)
    trained = [result.checks.stained_region_train for result in results]

    def over(shares: Sequence[float]) -> Estimate:
        """Over stains of one share per trial; a stain drawn twice counts once, as the mean of its trials."""
        by_stain: dict[str, list[float]] = {stain: [] for stain in words}
        for result, share in zip(results, shares, strict=True):
            by_stain[result.stain.shown].append(share)
        return mean_share([float(np.mean(own)) for own in by_stain.values()], sharing(list(words.values())))

    twin = None
    if twin_predicted is not None:
        twin_checks = [
            checks(twin_predicted, labels, labels, np.isin(np.arange(len(labels)), result.region))
            for result in results
        ]
        twin = TwinAccuracies(
            over([check.original_region for check in twin_checks]),
            over([check.outside for check in twin_checks]),
        )
    return Accuracies(
        over([result.checks.stained_region for result in results]),
        over([result.checks.original_region for result in results]),
        over([result.checks.outside for result in results]),
        over([share for share in trained if share is not None]),
        twin,
    )


def stain_words(results: Sequence[TrialResult]) -> dict[str, frozenset[str]]:
    """The words (or columns) of each stain, by which stains that share some are known; a stain is told by its words."""
    return {
        result.stain.shown: frozenset(
            str(literal["feature"]) for rule in result.stain.rules for literal in _literals(rule)
        )
        for result in results
    }


def _literals(rule: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    literals = rule["literals"]
    assert isinstance(literals, Sequence)
    return literals


def most_recall(spec: StainSpec) -> FloatArray:
    """The highest recall at each budget: b features can hold b of |F| at the most; negated ones are not to be named."""
    return np.minimum(1.0, np.array(BUDGETS) / max(spec.size - spec.negated, 1))


def _per_stain(results: Sequence[TrialResult]) -> dict[str, dict[str, _StainMeans]]:
    """Per explainer and stain the means over inputs; a stain drawn twice counts once."""
    by_explainer: dict[str, dict[str, list[Scores]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for label, scores in result.scored().items():
            by_explainer[label][result.stain.shown].append(scores)
    return {
        label: {stain: _stain_means(trials) for stain, trials in stains.items()}
        for label, stains in by_explainer.items()
    }


def _stain_means(trials: Sequence[Scores]) -> _StainMeans:
    recall = np.mean([np.mean(scores.recall, axis=0) for scores in trials], axis=0)
    return _StainMeans(
        recall=recall,
        auc=float(recall.mean()),
        mrr=float(np.mean([np.mean(scores.mrr) for scores in trials])),
        rows=float(np.mean([np.mean(scores.rows) for scores in trials])),
        inputs=sum(len(scores.mrr) for scores in trials),
        nonsense=_together([scores.nonsense for scores in trials]),
    )


def _together(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _scored(
    by_stain: Mapping[str, _StainMeans], words: Mapping[str, frozenset[str]], possible: FloatArray
) -> ExplainerScores:
    means = list(by_stain.values())
    recall = np.array([stain.recall for stain in means])
    shared = sharing([words[stain] for stain in by_stain])
    return ExplainerScores(
        stains=len(means),
        inputs=sum(stain.inputs for stain in means),
        recall=tuple(
            mean_share(recall[:, place], shared, float(most)) for place, most in enumerate(possible)
        ),
        auc=mean_share([stain.auc for stain in means], shared, float(possible.mean())),
        mrr=mean_share([stain.mrr for stain in means], shared),
        rows=float(np.mean([stain.rows for stain in means])),
        words=shared.parts,
        nonsense=_together([stain.nonsense for stain in means]),
    )


def _parts(results: Results) -> dict[Unit, frozenset[Unit]]:
    """The words of each stain, both with their dataset: the same word of two datasets is two."""
    by_dataset: dict[str, list[TrialResult]] = defaultdict(list)
    for trial, result in results:
        if result is not None:
            by_dataset[trial.dataset].append(result)
    return {
        (dataset, stain): frozenset((dataset, word) for word in words)
        for dataset, own in by_dataset.items()
        for stain, words in stain_words(own).items()
    }


def _compared(
    pairs: Sequence[Pair], means: Sequence[_PairMeans], parts: Mapping[Unit, frozenset[Unit]]
) -> tuple[Pair, ...]:
    """The pairs with the differences between explainers, all of which are one family.

    Whatever a report claims of any model, by any measure, it claims beside all the others.
    """
    tables = [
        {
            label: {(dataset, stain): getattr(of_stain, measure) for stain, of_stain in stains.items()}
            for label, stains in by_label.items()
            if label != GROUND_TRUTH
        }
        for dataset, by_label in means
        for measure in MEASURES
    ]
    found = iter(joint_differences(tables, parts))
    return tuple(
        replace(pair, differences={measure: tuple(next(found)) for measure in MEASURES}) for pair in pairs
    )


def _overall(
    means: Sequence[_PairMeans], parts: Mapping[Unit, frozenset[Unit]], most: float
) -> dict[str, Estimate]:
    """Each explainer's area, mean over the pairs that it was scored with.

    Models share stains, so a stain is one unit, whatever the number of models: what it adds to the mean, over all of
    them. Below five stains with some model nothing tells how much that model's mean varies, and there is no interval.
    """
    labels = dict.fromkeys(label for _, by_label in means for label in by_label)
    found = {}
    for label in labels:
        own = [(dataset, by_label[label]) for dataset, by_label in means if label in by_label]
        of_pairs = [math.fsum(stain.auc for stain in stains.values()) / len(stains) for _, stains in own]
        mean = math.fsum(of_pairs) / len(own)
        added: dict[Unit, float] = defaultdict(float)
        for (dataset, stains), of_pair in zip(own, of_pairs, strict=True):
            for stain, of_stain in stains.items():
                added[dataset, stain] += (of_stain.auc - of_pair) / (len(stains) * len(own))
        if min(len(stains) for _, stains in own) < FEWEST_UNITS:
            found[label] = Estimate(mean, None, None, len(added), None)
            continue
        values = mean + len(added) * np.array(list(added.values()))
        found[label] = share_around(mean, values, sharing([parts[unit] for unit in added]), most)
    return found


def _ranks(pairs: Sequence[Pair]) -> Ranking | None:
    """Average ranks by area under the recall curve, over the pairs that all explainers have."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for pair in pairs:
        for label, scored in pair.explainers.items():
            if label != GROUND_TRUTH:
                table[label][f"{pair.dataset}, {pair.model}"] = scored.auc.mean
    return average_ranks(table) if len(table) > 1 else None
