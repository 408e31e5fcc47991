"""A benchmark that comes as a package from outside: what it is, its run, and the files of its folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel

from verax.benchmarks.spec_files import BenchmarkSpec
from verax.codec import Record
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
from verax.run.manifest import Manifest, finish_manifest, start_manifest
from verax.run.worker import import_function
from verax.text import listed


@dataclass(frozen=True)
class Failure:
    """A job that failed."""

    job: str
    error: str


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


benchmarks: Registry[type[Benchmark[BaseModel]]] = Registry("benchmark", "verax.benchmarks")


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


def run_benchmark(
    name: str,
    benchmark: Benchmark[BaseModel],
    spec: BaseModel,
    folder: Path,
    *,
    hashes: Mapping[str, str],
    code: Mapping[str, str],
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
) -> tuple[BenchmarkSummary, Manifest]:
    """Does what is not yet done, and writes everything but the report into the folder.

    Args:
        name: of the benchmark.
        benchmark: from :func:`verax.benchmarks.contract.benchmark_named`.
        spec: what is asked.
        folder: where the run lives; a run of another spec there is refused.
        hashes: of the datasets' content, by name.
        code: hashes of code and files of somebody's own, the benchmark's among them.
        workers: processes on this machine.
        cluster: a Dask scheduler's address instead.
        progress: told of each finished job.
        retry_failed: do jobs again that failed.
        fresh: do all jobs again.
    """
    asked = spec.model_dump(mode="json")
    planned = benchmark.jobs(spec)
    if not planned:
        raise VeraxError(f"The benchmark {name!r} has nothing to do with these options; check them.")
    start_manifest(folder, {"benchmark": name, **asked}, hashes, asked.get("seed"), code)
    outcomes = execute(
        [_keyed(job, hashes, code) for job in planned],
        Store(folder),
        workers=workers,
        cluster=cluster,
        progress=progress,
        retry_failed=retry_failed,
        fresh=fresh,
    )
    if all(one.failed for one in outcomes):
        raise VeraxError(f"All jobs of the benchmark {name!r} failed: {_reason(outcomes[0])}.")
    summary = summarise(name, benchmark, spec, outcomes, hashes)
    write_json(folder / "summary.json", summary.to_dict())
    to_frame(summary.findings).to_csv(folder / "findings.csv", index=False)
    return summary, finish_manifest(folder)


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
