"""A whole verification: targets, explanations, estimates, raw measurements as a table, and the files of its folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.contract import Failure
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
from verax.codec import decode, encode
from verax.errors import VeraxError
from verax.run import Outcome, Progress, Store, execute, write_json
from verax.run.jobs import Job
from verax.run.manifest import Manifest, finish_manifest, note_results, start_manifest

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
    """The shortest strict input of each target with so many words: none is chosen for what explainers say of it."""
    shown = []
    for each in tried:
        inputs = sorted(each.inputs, key=lambda given: (not given.partition.strict, given.partition.words))
        longer = [given for given in inputs if given.partition.words >= SHORTEST]
        inputs = longer or inputs
        shown += [_shown(plan, each, given) for given in inputs[:EXAMPLES]]
    return shown


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


# What is told of each finished job, given what the jobs are.
ProgressOf = Callable[[str], Progress]


@dataclass(frozen=True, eq=False)
class VerificationRun:
    """What a run found: what its folder holds, and what a report needs."""

    summary: RationaleSummary
    measurements: pd.DataFrame
    timings: list[Timing]
    examples: list[ShownInput]
    manifest: Manifest


def run_rationale(
    plan: Plan,
    folder: Path,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: ProgressOf | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> VerificationRun:
    """Does what is planned and not yet done, and writes everything but the report into the folder.

    Targets are trained on this machine, since another would train other weights from the same seed; explanations are
    made wherever there is room.

    Args:
        plan: from :func:`verax.benchmarks.rationale.plan.make_plan`.
        folder: where the run lives; a run of another spec there is refused.
        workers: processes on this machine.
        cluster: a Dask scheduler's address, whose workers then explain.
        progress: makes what is told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
    """
    spec = {"benchmark": "rationale", **plan.spec.model_dump(), "methods": list(plan.explainers)}
    start_manifest(folder, spec, plan.hashes, plan.spec.seed, plan.code())
    store = Store(folder)

    def done(
        jobs: Sequence[Job], what: str, cluster: str | None, objects: Mapping[str, object]
    ) -> list[Outcome]:
        return execute(
            jobs,
            store,
            workers=workers,
            cluster=cluster,
            progress=progress(what) if progress else None,
            retry_failed=retry_failed,
            fresh=fresh,
            objects=objects,
        )

    trained = done([target.job for target in plan.targets], "targets", None, plan.objects)
    results = {
        outcome.key: decode(TargetResult, outcome.value, outcome.name)
        for outcome in trained
        if outcome.value is not None
    }
    if not results:
        raise VeraxError((trained[0].error or "").removeprefix("VeraxError: "))
    given = pieces(plan, results)
    waiting = [each for each in given if fresh or _is_missing(store, each.job, retry_failed)]
    models = _models(plan, results, waiting)
    explained = done([each.job for each in given], "explanations", cluster, {**plan.objects, **models})
    _keep_targets(plan, results, folder)
    manifest = finish_manifest(folder)
    failures = [
        Failure(outcome.name, outcome.error or "") for outcome in (*trained, *explained) if outcome.failed
    ]
    tried = explained_targets(plan, results, given, {outcome.key: outcome for outcome in explained})
    run = VerificationRun(
        summary=summarise(plan, tried, failures),
        measurements=measurements(plan, tried),
        timings=timings(tried),
        examples=examples(plan, tried),
        manifest=manifest,
    )
    write_json(folder / "summary.json", run.summary.to_dict())
    write_json(folder / "timings.json", encode(run.timings))
    run.measurements.to_parquet(folder / "results.parquet", index=False)
    note_results(folder, ("summary.json", "timings.json", "results.parquet"))
    return run


def _is_missing(store: Store, job: Job, retry_failed: bool) -> bool:
    outcome = store.get(job.key)
    return outcome is None or (retry_failed and outcome.failed)


def _models(plan: Plan, results: Mapping[str, TargetResult], waiting: Sequence[Piece]) -> dict[str, object]:
    """The target models that are still to be explained, by their references."""
    models: dict[str, object] = {}
    for target in dict.fromkeys(each.target for each in waiting):
        arguments = target.job.arguments
        data = load_texts(plan.sources[target.dataset], plan.spec.max_words)
        model = target_model(arguments["model"], data, Training.of(arguments))
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
        kept = kept_in(data, Training.of(arguments))
        name = f"{Path(target.dataset).name}-{target.label}".replace(", ", "-").replace(" ", "-")
        copied = folder / "targets" / name
        if kept.is_dir() and not copied.exists():
            # Under another name until it is whole: a process killed meanwhile leaves nothing that looks like a target.
            unfinished = folder / "targets" / f".{name}.unfinished"
            shutil.copytree(kept, unfinished, dirs_exist_ok=True)
            unfinished.rename(copied)
