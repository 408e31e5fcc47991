"""``verax bench``: tests of explainers without people, ours and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main

from verax.benchmarks.contract import benchmark_named, benchmarks
from verax.benchmarks.measures.spec import MeasuresSpec
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.spec_files import spec_options
from verax.benchmarks.staining.spec import StainSpec
from verax.benchmarks.students.spec import StudentsSpec
from verax.cli.console import (
    end_if_failed,
    note,
    one_sentence,
    output,
    print_file,
    say,
    show_reasons,
    working,
)
from verax.cli.options import (
    RunFolder,
    SpecFile,
    SummaryJson,
    Verbose,
    as_options,
    options_for_arguments,
    with_spec_options,
)
from verax.errors import VeraxError
from verax.options import RunSpec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from verax.workflows.bench import BenchmarkRun

bench = typer.Typer(name="bench")


@dataclass(frozen=True)
class Command:
    """A benchmark as a command; what it takes is its spec.

    Attributes:
        name: of the command, its section in a spec, and its folder below runs/.
        spec: its options.
        do: its function of Python, given once it is called.
        files: of the run's folder, beside the page and the summary.
    """

    name: str
    spec: type[BaseModel]
    do: Callable[..., BenchmarkRun[Any]]
    files: str = "results.parquet"

    def made(self) -> Callable[..., None]:
        """The function behind the command."""

        @with_spec_options(self.spec, RunSpec)
        def run(
            *,
            out: RunFolder = Path("runs") / self.name,
            spec: SpecFile = None,
            given: dict[str, Any],
            as_json: SummaryJson = False,
            verbose: Verbose = False,
        ) -> None:
            show_reasons(verbose)
            asked = {} if spec is None else spec_options(spec, self.name)
            how = {option: given.pop(option) for option in RunSpec.model_fields if option in given}
            with options_for_arguments():
                done = self.do(spec=asked | given, out=out, during=working, **how)
            from verax.reporting.run_page import in_terminal, view_of

            view, summary = view_of(done.summary), done.summary
            if as_json:
                print_file(out / "summary.json")
                end_if_failed([*view.failed(summary), *view.printed(summary)])
                return
            output().print(in_terminal(view.brief(summary)))
            say(
                f"The run is in {done.folder}: report.html, summary.json, {self.files}.",
                f"Next: open {done.folder / 'report.html'} in a browser.",
            )
            end_if_failed(view.failed(summary), told=view.printed(summary))

        return one_sentence(run)


def _stain(**asked: Any) -> BenchmarkRun[Any]:
    from verax.workflows.stain import stain

    return stain(**asked, tell=lambda sentence: note(as_options(sentence)))


def _rationale(**asked: Any) -> BenchmarkRun[Any]:
    from verax.workflows.rationale import rationale

    return rationale(**asked)


def _measures(**asked: Any) -> BenchmarkRun[Any]:
    from verax.workflows.measures import bench_measures

    return bench_measures(**asked)


def _students(**asked: Any) -> BenchmarkRun[Any]:
    from verax.workflows.measures import bench_students

    return bench_students(**asked)


STAIN = """Plant a known flaw in models and see which explainers show it (data staining).

Every stain makes models err in a known way: inputs with certain words get one label. An explainer is scored by how many
of these words are among its top b, on inputs whose label was flipped."""
RATIONALE = """See which explainers rank words that provably do nothing (Camburu et al. 2020).

Targets select words of a text and predict from these alone. An explainer errs where it ranks a word that is not
selected above one without which the prediction moves."""
MEASURES = """See which automatic measures of explanations agree with reasons that are known.

Reasons are planted in models. A measure is compared with the truth on explanations of known quality: does it order them
as they are true, and does it prefer the truer of two?"""
STUDENTS = """See which explanations help a learner predict the model, on new inputs and on changed ones.

Students learn from a few examples what a model says, with explanations of them and without. Reasons are planted and the
names of classes hidden, so that nothing can be known beforehand."""
# In the order of the help: what the command says of itself, an example, its page in the docs.
OWN = (
    (
        Command("stain", StainSpec, _stain),
        STAIN,
        "verax bench stain --explainers lime,shap,greedy --stains 20 --out runs/rt",
        "staining",
    ),
    (
        Command("rationale", RationaleSpec, _rationale, files="results.parquet, targets/"),
        RATIONALE,
        "verax bench rationale --explainers lime,shap,greedy --inputs 200 --out runs/rationale",
        "rationale",
    ),
    (
        Command("measures", MeasuresSpec, _measures),
        MEASURES,
        "verax bench measures --stains 20 --models logistic,tree,forest --out runs/measures",
        "measures",
    ),
    (
        Command("students", StudentsSpec, _students),
        STUDENTS,
        "verax bench students --explainers lime,shap --stains 20 --out runs/students",
        "students",
    ),
)
for _own, _about, _example, _page in OWN:
    bench.command(_own.name, help=_about, epilog=f"Example: {_example}\n\nMore: verax docs {_page}")(
        _own.made()
    )


def _outside(name: str) -> Command:
    """A benchmark of an installed package."""

    def do(**asked: Any) -> BenchmarkRun[Any]:
        from verax.workflows.bench import bench as run_bench

        return run_bench(name, **asked)

    return Command(name, benchmark_named(name).spec, do, files="findings.csv")


def outside_names() -> list[str]:
    """The benchmarks of installed packages."""
    return benchmarks.names()


def outside_command(name: str) -> Any:
    """The command of a benchmark; of one that cannot be had, a command that says why."""
    app = typer.Typer(add_completion=False)
    try:
        kind = type(benchmark_named(name))
        about = (kind.__doc__ or "").strip() or kind.title
        command = _outside(name).made()
    except Exception as error:  # code of others: it must not take the other commands with it
        about, command = f"Cannot be loaded: {error}", one_sentence(_broken(name, error))
    app.command(name, help=about)(command)
    return typer.main.get_command(app)


def _broken(name: str, error: Exception) -> Callable[[], None]:
    def run() -> None:
        said = str(error) if isinstance(error, VeraxError) else f"{type(error).__name__}: {error}"
        raise VeraxError(
            f"The benchmark {name!r} cannot be loaded: {said.rstrip('.')}; mend or remove its package."
        )

    return run
