"""``verax bench NAME`` for benchmarks that other packages bring: its options are those of the benchmark's spec."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
import typer.main

from verax.benchmarks.contract import benchmark_named, benchmarks
from verax.benchmarks.spec_files import spec_options
from verax.cli.console import end_if_failed, one_sentence, output, print_file, say, show_reasons, working
from verax.cli.options import (
    Cluster,
    Fresh,
    Jobs,
    RetryFailed,
    RunFolder,
    SpecFile,
    SummaryJson,
    Verbose,
    options_for_arguments,
    with_spec_options,
)
from verax.errors import VeraxError


def outside_names() -> list[str]:
    """The benchmarks of installed packages."""
    return benchmarks.names()


def outside_command(name: str) -> Any:
    """The command of a benchmark; of one that cannot be had, a command that says why."""
    app = typer.Typer(add_completion=False)
    try:
        kind = type(benchmark_named(name))
        about = (kind.__doc__ or "").strip() or kind.title
        command = _command(name)
    except Exception as error:  # code of others: it must not take the other commands with it
        about, command = f"Cannot be loaded: {error}", _broken(name, error)
    app.command(name, help=about)(one_sentence(command))
    return typer.main.get_command(app)


def _command(name: str) -> Callable[..., None]:
    @with_spec_options(benchmark_named(name).spec)
    def run(
        *,
        out: RunFolder = Path("runs") / name,
        spec: SpecFile = None,
        given: dict[str, object],
        jobs: Jobs = 1,
        cluster: Cluster = None,
        retry_failed: RetryFailed = False,
        fresh: Fresh = False,
        as_json: SummaryJson = False,
        verbose: Verbose = False,
    ) -> None:
        show_reasons(verbose)
        from verax.report.common.failures import failed_jobs
        from verax.results.render import verdict_lines
        from verax.workflows.bench import bench

        options = {} if spec is None else spec_options(spec, name)
        with options_for_arguments():
            done = bench(
                name,
                spec=options | given,
                out=out,
                jobs=jobs,
                cluster=cluster,
                retry_failed=retry_failed,
                fresh=fresh,
                during=working,
            )
        if as_json:
            print_file(out / "summary.json")
        else:
            for line in verdict_lines(done.summary.verdict):
                output().print(line, markup=False, highlight=False)
            say(
                f"The run is in {done.folder}: report.html, summary.json, findings.csv.",
                f"Next: open {done.folder / 'report.html'} in a browser.",
            )
        end_if_failed(failed_jobs(done.summary.failures, "job"))

    return run


def _broken(name: str, error: Exception) -> Callable[[], None]:
    def run() -> None:
        said = str(error) if isinstance(error, VeraxError) else f"{type(error).__name__}: {error}"
        raise VeraxError(
            f"The benchmark {name!r} cannot be loaded: {said.rstrip('.')}; mend or remove its package."
        )

    return run
