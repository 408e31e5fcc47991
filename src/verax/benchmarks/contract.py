"""What every benchmark is: a plan whose jobs are done stage by stage, what it found, and the files of its folder.

A benchmark of Verax's own makes a `Planned` of its spec and of what it is given; one from outside is
a subclass of `Benchmark`, of which `plan_outside` makes the same. `run_planned` does both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel

from verax.benchmarks.spec_files import BenchmarkSpec
from verax.codec import Record, encode
from verax.errors import VeraxError
from verax.registry import Registry
from verax.results.figures import Figure
from verax.results.findings import (
    FORMAT,
    Finding,
    content_key,
    findings_verdict,
    overview,
    to_frame,
)
from verax.results.tables import Table
from verax.results.verdict import Verdict
from verax.run import Job, Outcome, Progress, Store, execute, write_json
from verax.run.manifest import Manifest, check_manifest, finish_manifest, note_results, start_manifest
from verax.run.progress import During, quietly
from verax.run.worker import import_function
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Failure:
    """A job that failed."""

    job: str
    error: str


@dataclass(frozen=True)
class Execution:
    """How the jobs of a run are done.

    Attributes:
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: given what the jobs are, makes what is told of each finished one.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
        during: told what is being done while it is done, besides the jobs.
    """

    workers: int = 1
    cluster: str | None = None
    progress: Callable[[str], Progress] | None = None
    retry_failed: bool = False
    fresh: bool = False
    during: During = quietly


ONE_PROCESS = Execution()


@dataclass(frozen=True, eq=False)
class Stage:
    """Jobs that do not depend on each other; those of the next stage may depend on what these gave.

    Attributes:
        jobs: to be done.
        what: they are, for people: "trials".
        here: whether they are done on this machine, even where others are at hand.
        objects: more objects that the jobs refer to, made for those that are still to be done.
        before: what is found out by them before the run begins, in words; what they refuse leaves no run behind.
    """

    jobs: Sequence[Job]
    what: str = "jobs"
    here: bool = False
    objects: Callable[[Sequence[Job]], Mapping[str, object]] | None = None
    before: str = ""


class Summary(Protocol):
    """What a run found, as it stands in summary.json."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Jobs that failed."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each method, as rows."""

    def to_dict(self) -> dict[str, object]:
        """As plain data."""


R = TypeVar("R", bound=Summary)


@dataclass(frozen=True, eq=False)
class Found(Generic[R]):
    """What a run found: what its folder holds, and what a report needs.

    Attributes:
        summary: estimates and intervals.
        results: one row per measurement; None where the jobs' outcomes are all there is.
        timings: what explaining cost.
        examples: explanations to look at.
    """

    summary: R
    results: pd.DataFrame | None = None
    timings: Sequence[Any] = ()
    examples: Sequence[Any] = ()


# A benchmark as it is done: gives stages, is given their outcomes, and ends with what was found.
Stages = Generator[Stage, list[Outcome], Found[R]]


@dataclass(frozen=True, eq=False)
class Planned(Generic[R]):
    """A run before anything is done.

    Attributes:
        benchmark: its name.
        spec: what is asked.
        stages: begins it, in its folder.
        hashes: of the datasets' content, by name.
        code: hashes of code and files of somebody's own that jobs depend on.
        objects: what the jobs refer to, by reference.
        methods: labels of the explainers; None where the benchmark chooses its own.
    """

    benchmark: str
    spec: BaseModel
    stages: Callable[[Path], Stages[R]]
    hashes: Mapping[str, str]
    code: Mapping[str, str]
    objects: Mapping[str, object] = field(default_factory=dict)
    methods: Sequence[str] | None = None


def run_planned(planned: Planned[R], folder: Path, how: Execution = ONE_PROCESS) -> tuple[Found[R], Manifest]:
    """Does what is not yet done, and writes everything but the report into the folder.

    Args:
        planned: what is to be done.
        folder: where the run lives; a run of another spec there is refused.
        how: it is done.
    """
    asked = planned.spec.model_dump(mode="json", exclude=set(getattr(planned.spec, "only_shown", ())))
    spec = {"benchmark": planned.benchmark, **asked}
    if planned.methods is not None:
        spec["methods"] = list(planned.methods)
    seed = spec.get("seed")
    check_manifest(folder, spec, planned.hashes, seed)
    store = Store(folder)
    stages = planned.stages(folder)
    begun = False
    try:
        stage = next(stages)
        while True:
            if not stage.before and not begun:
                start_manifest(folder, spec, planned.hashes, seed, planned.code)
                begun = True
            stage = stages.send(_done(stage, store, planned.objects, how))
    except StopIteration as end:
        found: Found[R] = end.value
    manifest = finish_manifest(folder)
    _write(found, folder)
    return found, manifest


def _done(stage: Stage, store: Store, objects: Mapping[str, object], how: Execution) -> list[Outcome]:
    """The outcomes of a stage, in the order of its jobs."""
    if stage.before:
        with how.during(stage.before):
            return execute(stage.jobs, store, retry_failed=True, fresh=how.fresh, objects=objects)
    if stage.objects is not None:
        kept = {job.key: None if how.fresh else store.get(job.key) for job in stage.jobs}
        waiting = [
            job
            for job in stage.jobs
            if (outcome := kept[job.key]) is None or (how.retry_failed and outcome.failed)
        ]
        objects = {**objects, **stage.objects(waiting)}
    return execute(
        stage.jobs,
        store,
        workers=how.workers,
        cluster=None if stage.here else how.cluster,
        progress=how.progress(stage.what) if how.progress else None,
        retry_failed=how.retry_failed,
        fresh=how.fresh,
        objects=objects,
    )


def _write(found: Found[R], folder: Path) -> None:
    """The files of a run, and their hashes in its manifest."""
    written = ["summary.json"]
    write_json(folder / "summary.json", found.summary.to_dict())
    if found.timings:
        write_json(folder / "timings.json", encode(list(found.timings)))
        written.append("timings.json")
    if found.results is not None:
        found.results.to_parquet(folder / "results.parquet", index=False)
        written.append("results.parquet")
    if found.summary.findings:
        to_frame(found.summary.findings).to_csv(folder / "findings.csv", index=False)
        written.append("findings.csv")
    note_results(folder, written)


S = TypeVar("S", bound=BaseModel)


class Benchmark(ABC, Generic[S]):
    """A test of explainers without people; the first line of its docstring is what the command says of itself.

    Attributes:
        title: what readers call it, such as "Repetition".
        spec: its options, a frozen pydantic model; see `verax.benchmarks.spec_files.BenchmarkSpec`.
    """

    title: ClassVar[str]
    spec: ClassVar[type[BaseModel]]

    @abstractmethod
    def jobs(self, spec: S) -> Sequence[Job]:
        """What is to be done; jobs may not depend on each other.

        A job's arguments hold all that its outcome depends on, but for the code of the benchmark and of explainers and
        models that the spec names, and the content of its datasets: these are added to its key.
        """

    @abstractmethod
    def findings(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Finding]:
        """What was found of each method.

        Source, name, title, dataset, model and key of a finding are filled in where they are empty.

        Args:
            spec: what was asked.
            outcomes: of the jobs, in their order; a failed one has no value and an error.
        """

    def verdict(self, spec: S, outcomes: Sequence[Outcome]) -> Verdict | None:  # noqa: ARG002
        """The first thing that the report says; by default made of the findings."""
        return None

    def tables(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Table]:  # noqa: ARG002
        """Tables beside those of the findings."""
        return ()

    def figures(self, spec: S, outcomes: Sequence[Outcome]) -> Sequence[Figure]:  # noqa: ARG002
        """Figures beside those of the findings; one with the key of a table stands beside it."""
        return ()


benchmarks: Registry[type[Benchmark[BaseModel]]] = Registry(
    "benchmark", "verax.benchmarks", home="verax.benchmarks"
)


def benchmark_named(name: str) -> Benchmark[BaseModel]:
    """The benchmark of an installed package, or ``package.module:Class``.

    Raises:
        VeraxError: There is none, it cannot be imported, or it breaks the contract.
    """
    try:
        kind = benchmarks.get(name)
    except ImportError as error:
        raise VeraxError(
            f"The benchmark {name!r} cannot be imported ({error}); mend or remove its package."
        ) from error
    if not isinstance(kind, type) or not issubclass(kind, Benchmark):
        raise VeraxError(f"{name!r} is no benchmark; name a subclass of verax.benchmarks.contract.Benchmark.")
    lacking = [one for one in ("title", "spec") if not hasattr(kind, one)]
    if lacking or kind.__abstractmethods__:
        what = (*lacking, *sorted(kind.__abstractmethods__))[0]
        raise VeraxError(f"The benchmark {name!r} has no {what}; write it into the class {kind.__name__}.")
    return kind()


@dataclass(frozen=True)
class BenchmarkSummary(Record):
    """Everything that a run found, without a trace of when or where it ran.

    Attributes:
        benchmark: its name.
        title: what readers call it.
        about: what it asks, in a sentence.
        spec: what was asked.
        verdict: the first thing that its report says.
        findings: of each method.
        tables: of the findings, then the benchmark's own.
        figures: the same.
        failures: jobs that failed.
    """

    benchmark: str
    title: str
    about: str
    spec: Mapping[str, object]
    verdict: Verdict
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    failures: tuple[Failure, ...] = ()

    findings_format: ClassVar = FORMAT
    JSON: ClassVar = (..., "findings_format")


def plan_outside(
    name: str,
    benchmark: Benchmark[BaseModel],
    spec: BaseModel,
    hashes: Mapping[str, str],
    code: Mapping[str, str],
) -> Planned[BenchmarkSummary]:
    """The run of a benchmark that comes as a package.

    Args:
        name: of the benchmark.
        benchmark: from :func:`verax.benchmarks.contract.benchmark_named`.
        spec: what is asked.
        hashes: of the datasets' content, by name.
        code: hashes of code and files of somebody's own, the benchmark's among them.
    """
    jobs = [_keyed(job, hashes, code) for job in benchmark.jobs(spec)]
    if not jobs:
        raise VeraxError(f"The benchmark {name!r} has nothing to do with these options; check them.")

    def stages(_: Path) -> Stages[BenchmarkSummary]:
        outcomes = yield Stage(jobs)
        if all(one.failed for one in outcomes):
            raise VeraxError(f"All jobs of the benchmark {name!r} failed: {_reason(outcomes[0])}.")
        return Found(summarise(name, benchmark, spec, outcomes, hashes))

    return Planned(name, spec, stages, hashes, code)


def summarise(
    name: str,
    benchmark: Benchmark[BaseModel],
    spec: BaseModel,
    outcomes: Sequence[Outcome],
    hashes: Mapping[str, str],
) -> BenchmarkSummary:
    """What the outcomes say, in the form of all benchmarks."""
    asked = spec.model_dump(mode="json")
    datasets, models = (spec.datasets, spec.models) if isinstance(spec, BenchmarkSpec) else ([], [])
    title = f"{benchmark.title}, {listed(datasets, most=2)}" if datasets else benchmark.title
    key = content_key(name, asked, dict(hashes))
    findings = tuple(
        replace(
            one,
            name=one.name or name,
            title=one.title or title,
            dataset=one.dataset or ", ".join(datasets),
            model=one.model or ", ".join(models),
            key=one.key or key,
        )
        for one in benchmark.findings(spec, outcomes)
    )
    tables, figures = overview(findings)
    return BenchmarkSummary(
        benchmark=name,
        title=title,
        about=(benchmark.__doc__ or "").strip().split("\n")[0],
        spec=asked,
        verdict=benchmark.verdict(spec, outcomes) or findings_verdict(findings),
        findings=findings,
        tables=(*tables, *benchmark.tables(spec, outcomes)),
        figures=(*figures, *benchmark.figures(spec, outcomes)),
        failures=tuple(Failure(one.name, one.error or "") for one in outcomes if one.failed),
    )


def call(
    function: str,
    arguments: Mapping[str, object],
    code: Mapping[str, str],  # noqa: ARG001
    data: Mapping[str, str],  # noqa: ARG001
) -> object:
    """A job of a benchmark from outside: the function that it names; code and data are there for its key."""
    return import_function(function)(**arguments)


def _keyed(job: Job, hashes: Mapping[str, str], code: Mapping[str, str]) -> Job:
    """The job with a key that also holds the code and the data that its outcome depends on."""
    own: Callable[..., object] = call
    arguments = {
        "function": job.function,
        "arguments": dict(job.arguments),
        "code": dict(code),
        "data": dict(hashes),
    }
    return Job(job.name, f"{own.__module__}:{own.__name__}", arguments, job.version)


def _reason(outcome: Outcome) -> str:
    return (outcome.error or "").removeprefix("VeraxError: ").rstrip(".")
