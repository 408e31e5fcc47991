"""Data staining from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.contract import Planned
from verax.benchmarks.planning import Method, Objects
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.plan import make_plan
from verax.benchmarks.staining.run import check_objects, planned_run
from verax.benchmarks.staining.spec import StainOptions, StainSpec, make_spec, read_spec
from verax.benchmarks.staining.training import is_own
from verax.data import datasets as known_datasets
from verax.options import RunSpec, split_options, takes_options
from verax.run.progress import During, quietly
from verax.workflows.bench import BenchmarkRun, run_own
from verax.workflows.given_objects import Given, Refitting, gather

if TYPE_CHECKING:
    from typing import Unpack

logger = logging.getLogger(__name__)

OUT = Path("runs/stain")


StainRun = BenchmarkRun[StainSummary]


@takes_options(StainSpec, RunSpec)
def stain(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    refit: Refitting | None = None,
    spec: str | Path | StainSpec | Mapping[str, object] | None = None,
    out: str | Path = OUT,
    during: During = quietly,
    tell: Callable[[str], object] = logger.info,
    **options: Unpack[StainOptions],
) -> StainRun:
    """Plants known flaws in models and sees which explainers show them.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        dataset: a name, a file, a `verax.Dataset`, a DataFrame (with the options ``text`` and ``label``) or (inputs,
            labels); or several.
        models: names, or scikit-learn classifiers and pipelines, which are fitted anew on stained labels; or functions
            from a dataset to a fitted model.
        explainers: names, with parameters in parentheses (``"shap(samples=500)"``), or objects with a method
            ``explain(model, inputs, targets)``. All three may be dicts, from what to call them to what they are.
        refit: from (inputs, labels) to something fitted, for a model that is an object and cannot be fitted anew
            otherwise: a function, a network, a pipeline of Hugging Face. Inputs are texts or a DataFrame, labels the
            numbers of the classes; where it takes ``sample_weight``, it is given weights, and else copies of inputs.
            For several models a dict, by what they are called.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder.
        during: told what is being done while it is done.
        tell: told, before anything is fitted, how many stains each dataset has room for.
        options: those of a spec, and how the run is done; docs/staining.md has all of them.
    """
    how, own = split_options(RunSpec, options)
    asked = (read_spec(spec) if spec is not None else {}) | own
    gathered = gather(asked, dataset, models, explainers, refit)
    checked = make_spec(_planted_by_default(asked, own=bool(gathered.datasets or gathered.models)))

    def plan(spec: StainSpec, methods: list[Method], objects: Objects) -> Planned[StainSummary]:
        made = make_plan(spec, methods, objects)
        if not made.choosing:
            check_objects(made, gathered.models)
        for sentence in made.room.values():
            tell(sentence)
        return planned_run(made)

    run = run_own(checked, gathered, plan, out, how, during)
    for facts in run.summary.datasets.values():
        for sentence in facts.planted[:1]:
            tell(sentence)
    return run


# What only drawn stains have: who asks for it wants those.
DRAWN_ONLY = ("rules", "min_share")


def _planted_by_default(asked: Mapping[str, object], *, own: bool) -> dict[str, object]:
    """What is asked, with stains planted in data and models of somebody's own, unless it says otherwise.

    Args:
        asked: the options.
        own: whether a dataset or a model is an object.
    """
    options = dict(asked)
    if "plant" not in options and not any(name in options for name in DRAWN_ONLY):
        names = [name.partition("(")[0] for name in _names(options.get("datasets"))]
        files = any(name not in known_datasets.names() for name in names)
        options["plant"] = own or files or any(is_own(name) for name in _names(options.get("models")))
    if options.get("plant") is True:
        options.setdefault("weight", "auto")
    return options


def _names(given: object) -> list[str]:
    return [str(name) for name in given] if isinstance(given, list | tuple) else []
