"""Verification with rationale models from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.contract import Planned
from verax.benchmarks.planning import Method, Objects
from verax.benchmarks.rationale.findings import RationaleSummary
from verax.benchmarks.rationale.plan import CEILING, make_plan
from verax.benchmarks.rationale.run import planned_run
from verax.benchmarks.rationale.spec import RationaleOptions, RationaleSpec
from verax.benchmarks.spec_files import spec_options
from verax.names import split_outside
from verax.options import RunSpec, checked_spec, default_of, split_options, takes_options
from verax.run.progress import During, quietly
from verax.workflows.bench import BenchmarkRun, run_own
from verax.workflows.given_objects import Gathered, Given, gather

if TYPE_CHECKING:
    from typing import Unpack

OUT = Path("runs/rationale")


RationaleRun = BenchmarkRun[RationaleSummary]


@takes_options(RationaleSpec, RunSpec)
def rationale(
    dataset: Given | None = None,
    models: Given | None = None,
    explainers: Given | None = None,
    *,
    spec: str | Path | RationaleSpec | Mapping[str, object] | None = None,
    out: str | Path = OUT,
    during: During = quietly,
    **options: Unpack[RationaleOptions],
) -> RationaleRun:
    """Explains models that provably ignore some words, and counts the explanations that rank such words high.

    A run that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing.

    Args:
        dataset: a name, a file, a `verax.Dataset` of texts or a DataFrame (with the options ``text`` and ``label``); or
            several.
        models: "rationale", which trains targets; the folder of a saved rationale model; or a model that selects words,
            with ``select(texts)`` and ``encode(selections)``; or several.
        explainers: names, with parameters in parentheses (``"shap(samples=500)"``), or objects with a method
            ``explain(model, inputs, targets)``. All three may be dicts, from what to call them to what they are.
        spec: a TOML file, its text, or its content as a dict; what is given here besides wins.
        out: the run's folder.
        during: told what is being done while it is done.
        options: those of a spec, and how the run is done; docs/rationale.md has all of them.
    """
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, "rationale") if spec is not None else {}) | own
    gathered = gather(asked, dataset, None, explainers)
    if models is not None:
        asked["models"] = gathered.add_targets(models)
    asked["explainers"] = _ranked(asked.get("explainers"), gathered)
    checked = checked_spec(RationaleSpec, asked)

    def plan(spec: RationaleSpec, methods: list[Method], objects: Objects) -> Planned[RationaleSummary]:
        return planned_run(make_plan(spec, methods, objects))

    return run_own(checked, gathered, plan, out, how, during)


def _ranked(given: object, gathered: Gathered) -> list[str]:
    """The explainers one by one, without the oracle, which takes part in any case."""
    if given is None:
        return list(default_of(RationaleSpec, "explainers"))
    names = [given] if isinstance(given, str) else given if isinstance(given, Sequence) else []
    return [
        one
        for name in names
        for one in ([name] if name in gathered.explainers else split_outside(str(name)))
        if one and one != CEILING
    ]
