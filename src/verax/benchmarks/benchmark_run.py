"""A run of a benchmark from outside: its jobs, what they say, and the files of its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from verax.benchmarks.contract import Benchmark
from verax.benchmarks.failure import Failure
from verax.benchmarks.spec_files import BenchmarkSpec
from verax.codec import decode, encoded
from verax.errors import VeraxError
from verax.results.figures import Figure
from verax.results.findings import FORMAT, Finding, content_key, findings_json, to_frame
from verax.results.overview import findings_verdict, overview
from verax.results.tables import Table
from verax.results.verdict import Verdict
from verax.run import Job, Outcome, Progress, Store, execute, write_json
from verax.run.manifest import Manifest, finish_manifest, start_manifest
from verax.run.perform import import_function
from verax.text import listed


@dataclass(frozen=True)
class Summary:
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
        findings_format: version of the file.
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
    findings_format: int = FORMAT

    def to_dict(self) -> dict[str, object]:
        """What stands in summary.json."""
        return encoded(self) | findings_json(self.findings)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Summary:
        """What summary.json holds."""
        return decode(cls, dict(data))


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
) -> tuple[Summary, Manifest]:
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
) -> Summary:
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
    return Summary(
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
