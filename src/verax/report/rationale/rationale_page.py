"""The report of a verification: one self-contained page, the verdict first, and its figures as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from verax.benchmarks.rationale.results import ShownInput, Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.benchmarks.rationale.summary import Summary
from verax.errors import VeraxError
from verax.report.common.page import page_script, page_style
from verax.report.common.run_facts import manifest_words, short_names, spec_toml
from verax.report.explanations.explanations_page import _environment
from verax.report.rationale.figures import error_figure, error_panels, tau_panels
from verax.report.rationale.heat_maps import heat_maps
from verax.report.rationale.rationale_tables import (
    cost_table,
    differences,
    table_1,
    table_2,
    target_tables,
    tau_tables,
)
from verax.report.rationale.verdict import answers, rationale_verdict
from verax.run.manifest import Manifest
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import counted, listed


def write_rationale_report(
    folder: Path,
    summary: Summary,
    examples: Sequence[ShownInput],
    timings: Sequence[Timing],
    manifest: Manifest,
) -> None:
    """Writes ``report.html`` and ``figures/*.svg`` into the folder of a run.

    Args:
        folder: the run's.
        summary: what it found.
        examples: inputs to look at.
        timings: seconds and rows per explanation.
        manifest: versions and machine, as far as they are known.
    """
    page = render_rationale_report(summary, examples, timings, manifest)
    figure = error_figure(summary, short_names(summary.explainers))
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        if figure is not None:
            (folder / "figures" / "errors.svg").write_bytes(figure.encode("utf-8", "replace"))
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error


def render_rationale_report(
    summary: Summary, examples: Sequence[ShownInput], timings: Sequence[Timing], manifest: Manifest
) -> str:
    """The page as HTML; see `write_rationale_report`."""
    names = short_names(summary.explainers)
    return str(
        _environment()
        .get_template("rationale.html")
        .render(
            style=page_style(),
            script=page_script(),
            asked=asked(summary),
            verdict=rationale_verdict(summary),
            answers=answers(summary, timings),
            notes=notes(summary),
            error_panels=error_panels(summary, names),
            tau_panels=tau_panels(summary, names),
            groups=[(table_1(group, summary, names), differences(group, names)) for group in summary.groups],
            table_2=table_2(summary.targets),
            targets=[
                (f"{target.dataset}, {target.label}", target_tables(target, summary, names),
                 tau_tables(target, summary, names), target.errors, target.training)
                for target in summary.targets
            ],
            cost=cost_table(timings, names),
            examples=heat_maps(examples, names),
            failures=summary.failures,
            order=summary.spec.order,
            tau=f"{summary.spec.tau:g}",
            subsets=summary.spec.subsets,
            hashes=summary.hashes,
            spec=spec_toml(summary.spec.model_dump(), "rationale"),
            manifest=manifest_words(manifest),
            parameters=[label for label in summary.explainers if names[label] != label],
        )
    )  # fmt: skip


def asked(summary: Summary) -> str:
    """What the run did, in a sentence."""
    names = list(short_names(summary.explainers).values())
    inputs = sum(target.sets["published"].inputs for target in summary.targets)
    return (
        f"{counted(len(summary.targets), 'target')} on {listed(summary.spec.datasets)}, {counted(inputs, 'input')} "
        f"drawn at random among those that can serve, the explainers {listed(names)}."
    )


def notes(summary: Summary) -> list[str]:
    """What a reader must know before reading any interval."""
    sentences = []
    if any(group.targets == 1 for group in summary.groups):
        sentences.append(
            "One target is one observation: its intervals are over inputs, and say nothing of another model, even one "
            f"trained alike. Use {FEWEST_UNITS} targets or more."
        )
    elif any(group.targets < FEWEST_UNITS for group in summary.groups):
        sentences.append(
            f"Fewer than {FEWEST_UNITS} targets of a kind have no interval for other targets, trained on the same data "
            f"with other seeds: their values are shown one by one. Use {FEWEST_UNITS} or more for one (--targets)."
        )
    few = [
        f"{target.dataset}, {target.label} ({target.sets['strict'].inputs})"
        for target in summary.targets
        if target.sets["strict"].inputs < ENOUGH
    ]
    if few:
        sentences.append(f"Fewer than {ENOUGH} strict inputs could be found for {listed(few, most=6)}.")
    return sentences
