"""A whole verification: its stages, its raw measurements as a table, what it cost and what is shown of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.contract import Failure, Found, Planned, Stage, Stages
from verax.benchmarks.rationale.estimates import (
    ExplainedTarget,
    Input,
    explained_targets,
    input_errors,
    summarise,
)
from verax.benchmarks.rationale.findings import RationaleSummary
from verax.benchmarks.rationale.plan import CEILING, TRAINED, Piece, Plan, pieces
from verax.benchmarks.rationale.rankings import oracle_scores, ranks
from verax.benchmarks.rationale.target import (
    TargetResult,
    Training,
    kept_in,
    load_texts,
    reference_of,
    target_model,
    weights_of,
)
from verax.codec import decode
from verax.errors import VeraxError
from verax.run.jobs import Job

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


def measurements(plan: Plan, tried: Sequence[ExplainedTarget]) -> pd.DataFrame:
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


def timings(tried: Sequence[ExplainedTarget]) -> list[Timing]:
    """What explaining cost, per target and explainer."""
    return [
        Timing(each.target.dataset, each.target.label, label, seconds, each.rows[label])
        for each in tried
        for label, seconds in each.seconds.items()
    ]


def examples(plan: Plan, tried: Sequence[ExplainedTarget]) -> list[ShownInput]:
    """The inputs that were asked for, of all targets that have them.

    Where none was, the shortest strict input of each target with so many words: none is chosen for what explainers say
    of it.
    """
    if plan.spec.show:
        return _asked_for(plan, tried)
    shown = []
    for each in tried:
        inputs = sorted(each.inputs, key=lambda given: (not given.partition.strict, given.partition.words))
        longer = [given for given in inputs if given.partition.words >= SHORTEST]
        inputs = longer or inputs
        shown += [_shown(plan, each, given) for given in inputs[:EXAMPLES]]
    return shown


def _asked_for(plan: Plan, tried: Sequence[ExplainedTarget]) -> list[ShownInput]:
    found = [
        (place, each, given)
        for place in plan.spec.show
        for each in tried
        for given in each.inputs
        if given.partition.place == place
    ]
    absent = set(plan.spec.show) - {place for place, _, _ in found}
    if absent:
        raise VeraxError(
            f"The input {min(absent)} is not among those that were explained, so that there is nothing to show; choose "
            "from the column 'input' of results.parquet."
        )
    return [_shown(plan, each, given) for _, each, given in found]


def _shown(plan: Plan, tried: ExplainedTarget, given: Input) -> ShownInput:
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


def planned_run(plan: Plan) -> Planned[RationaleSummary]:
    """The run of a plan: targets first, then the explanations of their inputs.

    Targets are trained on this machine, since another would train other weights from the same seed; explanations are
    made wherever there is room.
    """

    def stages(folder: Path) -> Stages[RationaleSummary]:
        trained = yield Stage([target.job for target in plan.targets], "targets", here=True)
        results = {
            outcome.key: decode(TargetResult, outcome.value, outcome.name)
            for outcome in trained
            if outcome.value is not None
        }
        if not results:
            raise VeraxError((trained[0].error or "").removeprefix("VeraxError: "))
        given = pieces(plan, results)

        def models(waiting: Sequence[Job]) -> dict[str, object]:
            keys = {job.key for job in waiting}
            return _models(plan, results, [each for each in given if each.job.key in keys])

        explained = yield Stage([each.job for each in given], "explanations", objects=models)
        _keep_targets(plan, results, folder)
        failures = [
            Failure(outcome.name, outcome.error or "") for outcome in (*trained, *explained) if outcome.failed
        ]
        tried = explained_targets(plan, results, given, {outcome.key: outcome for outcome in explained})
        summary = summarise(plan, tried, failures)
        return Found(summary, measurements(plan, tried), timings(tried), examples(plan, tried))

    return Planned("rationale", plan.spec, stages, plan.hashes, plan.code(), plan.objects, plan.explainers)


def _models(plan: Plan, results: Mapping[str, TargetResult], waiting: Sequence[Piece]) -> dict[str, object]:
    """The target models that are still to be explained, by their references."""
    models: dict[str, object] = {}
    for target in dict.fromkeys(each.target for each in waiting):
        arguments = target.job.arguments
        data = load_texts(plan.sources[target.dataset], plan.spec.max_words)
        model = target_model(arguments["model"], data, Training.from_arguments(arguments))
        result = results[target.job.key]
        if weights_of(model) != result.weights:
            raise VeraxError(
                f"The target {target.label!r} is not the model that this run began with (trained on another machine, "
                "or changed since); start a new run."
            )
        models[reference_of(result)] = model
    return models


def _keep_targets(plan: Plan, results: Mapping[str, TargetResult], folder: Path) -> None:
    """Copies of the trained models, so that the run's folder has all that it is about."""
    for target in plan.targets:
        arguments = target.job.arguments
        if arguments["model"] != TRAINED or target.job.key not in results:
            continue
        data = load_texts(plan.sources[target.dataset], plan.spec.max_words)
        kept = kept_in(data, Training.from_arguments(arguments))
        name = f"{Path(target.dataset).name}-{target.label}".replace(", ", "-").replace(" ", "-")
        copied = folder / "targets" / name
        if kept.is_dir() and not copied.exists():
            # Under another name until it is whole: a process killed meanwhile leaves nothing that looks like a target.
            unfinished = folder / "targets" / f".{name}.unfinished"
            shutil.copytree(kept, unfinished, dirs_exist_ok=True)
            unfinished.rename(copied)
