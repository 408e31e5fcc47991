"""Verification with rationale models from end to end: what is asked in, a run's folder with its report out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from verax.benchmarks.rationale.findings import RationaleSummary
from verax.benchmarks.rationale.plan import CEILING, make_plan
from verax.benchmarks.rationale.run import VerificationRun, run_rationale
from verax.benchmarks.rationale.spec import RationaleOptions, RationaleSpec
from verax.benchmarks.spec_files import spec_options
from verax.installed import require
from verax.names import split_outside
from verax.options import RunSpec, checked_spec, default_of, split_options, takes_options
from verax.phrases import say
from verax.results.findings import Finding, to_frame
from verax.run.identity import at_hand
from verax.run.progress import During, quietly, terminal_progress
from verax.workflows.given_objects import Gathered, Given, gather

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd

OUT = Path("runs/rationale")


@dataclass(frozen=True, eq=False, repr=False)
class RationaleRun:
    """A finished verification.

    Attributes:
        folder: where it lies.
        run: all that it found.
    """

    folder: Path
    run: VerificationRun

    @property
    def summary(self) -> RationaleSummary:
        """The estimates and their intervals; its ``to_dict()`` is what stands in summary.json."""
        return self.run.summary

    @property
    def results(self) -> pd.DataFrame:
        """One row per explanation, as in results.parquet; docs/rationale.md says what the columns mean."""
        return self.run.measurements

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each explainer, as rows: overall, and with single models and datasets."""
        return self.summary.findings

    def to_frame(self) -> pd.DataFrame:
        """The findings as a DataFrame."""
        return to_frame(self.findings)

    def report(self) -> Path:
        """Writes report.html and its figures into the run's folder; where the page is."""
        from verax.reporting.rationale.page import write_rationale_report

        run = self.run
        write_rationale_report(self.folder, run.summary, run.examples, run.timings, run.manifest)
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"RationaleRun({str(self.folder)!r}, {len(self.results):,} explanations)"

    def _repr_html_(self) -> str:
        from verax.reporting.rationale.verdict import verdict

        return (
            f"<p>{escape(verdict(self.summary))}</p>"
            f"<p>{escape(say('common', 'report-is', path=str(self.folder / 'report.html')))}</p>"
        )


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
    require("A benchmark", "matplotlib", "pyarrow", extra="bench")
    how, own = split_options(RunSpec, options)
    asked = (spec_options(spec, "rationale") if spec is not None else {}) | own
    gathered = gather(asked, dataset, None, explainers)
    if models is not None:
        asked["models"] = gathered.add_targets(models)
    asked["explainers"] = _ranked(asked.get("explainers"), gathered)
    checked = checked_spec(RationaleSpec, asked)
    folder = Path(out)
    with at_hand(gathered.things):
        with during(f"loading {', '.join(checked.datasets)}"):
            methods = gathered.methods(checked) if checked.explainers else []
            plan = make_plan(checked, methods, gathered.objects)
        done = run_rationale(
            plan,
            folder,
            workers=how.jobs,
            cluster=how.cluster,
            progress=terminal_progress,
            retry_failed=how.retry_failed,
            fresh=how.fresh,
        )
    run = RationaleRun(folder, done)
    with during("writing the report"):
        run.report()
    return run


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
