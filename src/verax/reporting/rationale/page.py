"""The report of a verification: its tables, one self-contained page, and a summary in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from verax.benchmarks.rationale.findings import (
    PUBLISHED,
    SETS,
    STRICT,
    ExplainerErrors,
    Group,
    RationaleSummary,
    TargetSummary,
)
from verax.benchmarks.rationale.rankings import Spread
from verax.benchmarks.rationale.run import ShownInput, Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.errors import VeraxError
from verax.reporting.explanations import page_environment
from verax.reporting.page import manifest_words, page_script, page_style, short_names, spec_toml
from verax.reporting.rationale.figures import error_figure, error_panels, heat_maps, tau_panels
from verax.reporting.rationale.verdict import answers, compared, place, rationale_verdict, shown, targets_of
from verax.results.tables import verdict_lines
from verax.run.manifest import Manifest
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import NOTHING, counted, duration, listed, percent

SET_NAMES = {STRICT: "strict inputs", PUBLISHED: "all inputs that the paper keeps"}
METRICS = (
    "first word does nothing (A)",
    "some such word above a relevant one (B)",
    "such words above (C)",
    "area (AUC)",
)


@dataclass(frozen=True)
class TextTable:
    """A heading, columns and rows of text."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_1(group: Group, summary: RationaleSummary, names: Mapping[str, str]) -> list[TextTable]:
    """Error rates over the targets of a group; one table per set of inputs."""
    tables = []
    for kind in SETS:
        found = group.sets[kind]
        if not found.explainers:
            continue
        own = [
            target.sets[kind].explainers for target in targets_of(summary, group) if target.sets[kind].inputs
        ]
        few = 1 < found.targets < FEWEST_UNITS
        rows = tuple(
            (
                names[label],
                summary.claims.get(label, ""),
                *_with_values(
                    _metrics(found.explainers[label]), [each[label].scored for each in own] if few else []
                ),
            )
            for label in summary.explainers
            if label in found.explainers
        )
        caption = f"{place(group)}, {SET_NAMES[kind]}: mean over {counted(found.targets, 'target')}" + (
            " with 95% intervals for others that are trained on the same data with other seeds"
            if found.targets >= FEWEST_UNITS
            else f", in parentheses the value of each; {found.targets} are too few for an interval of others that are "
            "trained on the same data with other seeds"
            if few
            else ""
        )
        tables.append(TextTable(caption, ("explainer", "claim", *METRICS), rows))
    return tables


def target_tables(
    target: TargetSummary, summary: RationaleSummary, names: Mapping[str, str]
) -> list[TextTable]:
    """Error rates on the inputs of one target."""
    tables = []
    for kind in SETS:
        found = target.sets[kind]
        if not found.inputs:
            continue
        rows = tuple(
            (
                names[label],
                *_metrics(found.explainers[label].scored, spread=True),
                str(found.explainers[label].ties),
                _number(target.rows.get(label)),
            )
            for label in summary.explainers
            if label in found.explainers
        )
        caption = f"{SET_NAMES[kind]} ({found.inputs}), 95% intervals over inputs, standard deviations in parentheses"
        tables.append(TextTable(caption, ("explainer", *METRICS, "inputs with ties", "rows asked"), rows))
    return tables


def tau_tables(target: TargetSummary, summary: RationaleSummary, names: Mapping[str, str]) -> list[TextTable]:
    """The share of misranked inputs as a function of tau."""
    tables = []
    for kind in SETS:
        found = target.sets[kind]
        curves = {
            label: found.explainers[label].curve for label in summary.explainers if label in found.explainers
        }
        if not curves:
            continue
        first = next(iter(curves.values()))
        headings = ("explainer", *(f"tau = {point.tau:g} ({point.inputs} inputs)" for point in first))
        rows = tuple(
            (names[label], *(f"{percent(point.misranked)}, {point.above:.2f}" for point in curve))
            for label, curve in curves.items()
        )
        tables.append(
            TextTable(
                f"{SET_NAMES[kind]}: misranked inputs (B) and such words above (C) by tau", headings, rows
            )
        )
    return tables


def table_2(targets: Sequence[TargetSummary]) -> TextTable:
    """What is left of the test part with each target, and of what size."""
    headings = (
        "target", "accuracy", "words selected", "test texts", "N", "|x|", "|S_x|", "|SR_x|", "|N_x|",
        "% (S_Sx ≠ S_x)", "% (|SR_x| = 0)", "% strict",
    )  # fmt: skip
    rows = tuple(
        (
            f"{target.dataset}, {target.label}",
            percent(target.accuracy),
            percent(target.share),
            f"{target.test_set.inputs:,}",
            f"{target.test_set.kept:,}",
            *(_spread(each) for each in (target.test_set.words, target.test_set.selected)),
            *(_spread(each) for each in (target.test_set.relevant, target.test_set.irrelevant)),
            percent(target.test_set.handshakes),
            percent(target.test_set.without_relevant),
            shown(target.strict),
        )
        for target in targets
    )
    return TextTable(
        "The test sets, as in the paper's Table 2: means with standard deviations", headings, rows
    )


def differences(group: Group, names: Mapping[str, str]) -> list[TextTable]:
    """Who is right more often than whom, over targets."""
    headings = ("pair", "inputs ranked right, first minus second, in points", "p (Holm)", "ahead")
    return [
        TextTable(
            f"{place(group)}, {SET_NAMES[kind]}: {group.sets[kind].targets} targets are the units",
            headings,
            tuple(compared(each, names) for each in group.sets[kind].differences),
        )
        for kind in SETS
        if group.sets[kind].differences and group.sets[kind].targets > 1
    ]


def cost_table(timings: Sequence[Timing], names: Mapping[str, str]) -> TextTable:
    """Seconds and rows per explanation."""
    rows = tuple(
        (names.get(timing.explainer, timing.explainer), f"{timing.dataset}, {timing.target}",
         duration(timing.seconds), f"{timing.rows:,.0f}")
        for timing in timings
    )  # fmt: skip
    return TextTable("Cost per explanation", ("explainer", "target", "time", "rows asked of the model"), rows)


def _metrics(scored: ExplainerErrors, spread: bool = False) -> tuple[str, str, str, str]:
    return shown(scored.first), shown(scored.misranked), _plain(scored.above, spread), shown(scored.auc)


def _with_values(cells: tuple[str, ...], own: Sequence[ExplainerErrors]) -> tuple[str, ...]:
    """Means with the value of each target behind them."""
    if not own:
        return cells
    values = (
        [f"{100 * one.first.mean:.1f}" for one in own],
        [f"{100 * one.misranked.mean:.1f}" for one in own],
        [f"{one.above.mean:.2f}" for one in own],
        [f"{100 * one.auc.mean:.1f}" for one in own],
    )
    return tuple(f"{cell} ({', '.join(each)})" for cell, each in zip(cells, values, strict=True))


def _plain(given: Estimate, spread: bool) -> str:
    """A number with its interval, or its standard deviation in parentheses, as the paper has it."""
    ends = "" if given.low is None or given.high is None else f" [{given.low:.2f}, {given.high:.2f}]"
    deviation = f" ({given.spread:.2f})" if spread and given.spread is not None else ""
    return f"{given.mean:.2f}{deviation}{ends}".replace("-", "−")


def _spread(given: Spread | None) -> str:
    return NOTHING if given is None else f"{given.mean:.1f} ({given.deviation:.1f})"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def terminal_summary(summary: RationaleSummary) -> RenderableType:
    """The verdict, then the errors of every group and set."""
    names = short_names(summary.explainers)
    parts: list[RenderableType] = [*map(Text, verdict_lines(rationale_verdict(summary))), Text()]
    for group in summary.groups:
        for given in table_1(group, summary, names):
            table = Table(title=given.caption, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for number, heading in enumerate(("explainer", "claim", "A, %", "B, %", "C", "AUC, %")):
                table.add_column(heading, justify="left" if number < 2 else "right", no_wrap=number > 1)
            for row in given.rows:
                table.add_row(*row)
            parts += [table, Text()]
    parts.append(
        Text(
            "A: the first word does nothing. B: some word that does nothing stands above a clearly relevant one. C: "
            "how many such words do. Lower is better."
        )
    )
    return Lines(*parts)


def failed_explainers(summary: RationaleSummary) -> list[str]:
    """One sentence for each explainer that failed on a target, with its first error."""
    return [
        f"{target.label}: {label} failed and is not scored there ({errors[0]})."
        for target in summary.targets
        for label, errors in target.errors.items()
    ]


def write_rationale_report(
    folder: Path,
    summary: RationaleSummary,
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
    summary: RationaleSummary, examples: Sequence[ShownInput], timings: Sequence[Timing], manifest: Manifest
) -> str:
    """The page as HTML; see `write_rationale_report`."""
    names = short_names(summary.explainers)
    return str(
        page_environment()
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


def asked(summary: RationaleSummary) -> str:
    """What the run did, in a sentence."""
    names = list(short_names(summary.explainers).values())
    inputs = sum(target.sets["published"].inputs for target in summary.targets)
    return (
        f"{counted(len(summary.targets), 'target')} on {listed(summary.spec.datasets)}, {counted(inputs, 'input')} "
        f"drawn at random among those that can serve, the explainers {listed(names)}."
    )


def notes(summary: RationaleSummary) -> list[str]:
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
            "with other seeds: their values are shown one by one. Use "
            f"{FEWEST_UNITS} or more for one (--target-models)."
        )
    few = [
        f"{target.dataset}, {target.label} ({target.sets['strict'].inputs})"
        for target in summary.targets
        if target.sets["strict"].inputs < ENOUGH
    ]
    if few:
        sentences.append(f"Fewer than {ENOUGH} strict inputs could be found for {listed(few, most=6)}.")
    return sentences
