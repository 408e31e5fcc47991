"""The report of a verification: its tables, one self-contained page, and a summary in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.text import Text

from verax.benchmarks.contract import Found
from verax.benchmarks.rationale.findings import (
    SETS,
    ExplainerErrors,
    Group,
    RationaleSummary,
    TargetSummary,
)
from verax.benchmarks.rationale.rankings import Spread
from verax.benchmarks.rationale.run import ShownInput, Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.notebook import paragraph_html
from verax.phrases import first_of
from verax.phrases import say as say_phrase
from verax.reporting.explanations import page_environment
from verax.reporting.page import (
    View,
    failed_jobs,
    manifest_words,
    page_script,
    page_style,
    short_names,
    spec_toml,
    terminal_table,
    write_report,
)
from verax.reporting.rationale.figures import error_figure, error_panels, heat_maps, tau_panels
from verax.reporting.rationale.verdict import (
    INPUTS,
    answers,
    compared,
    place,
    rationale_verdict,
    shown,
    targets_of,
    verdict,
)
from verax.results.tables import Table, verdict_lines, words_table
from verax.run.manifest import Manifest
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import NOTHING, duration, percent

say = partial(say_phrase, "rationale")
# Columns of the terminal, which its legend explains.
SHORT = ("explainer", "claim", "A, %", "B, %", "C", "AUC, %")
METRICS = ("column-first", "column-misranked", "column-above", "column-area")
# So many targets are named in a note.
NAMED = 6


def table_1(group: Group, summary: RationaleSummary, names: Mapping[str, str]) -> list[Table]:
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
        caption = say(
            "error-table",
            place=place(group),
            inputs=say(INPUTS[kind]),
            targets=found.targets,
            intervals="few" if few else found.targets >= FEWEST_UNITS,
        )
        headings = _headings("column-explainer", "column-claim", *METRICS)
        tables.append(words_table(f"errors-{kind}", caption, headings, rows, texts=2))
    return tables


def target_tables(target: TargetSummary, summary: RationaleSummary, names: Mapping[str, str]) -> list[Table]:
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
        caption = say("target-table", inputs=say(INPUTS[kind]), number=found.inputs)
        headings = _headings("column-explainer", *METRICS, "column-ties", "column-rows")
        tables.append(words_table(f"target-{kind}", caption, headings, rows))
    return tables


def tau_tables(target: TargetSummary, summary: RationaleSummary, names: Mapping[str, str]) -> list[Table]:
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
        headings = (
            say("column-explainer"),
            *(say("tau-column", tau=f"{point.tau:g}", inputs=point.inputs) for point in first),
        )
        rows = tuple(
            (names[label], *(f"{percent(point.misranked)}, {point.above:.2f}" for point in curve))
            for label, curve in curves.items()
        )
        tables.append(words_table(f"tau-{kind}", say("tau-table", inputs=say(INPUTS[kind])), headings, rows))
    return tables


def table_2(targets: Sequence[TargetSummary]) -> Table:
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
    return words_table("test-sets", say("test-set-table"), headings, rows)


def differences(group: Group, names: Mapping[str, str]) -> list[Table]:
    """Who is right more often than whom, over targets."""
    headings = _headings("column-pair", "column-difference", "column-p", "column-ahead")
    return [
        words_table(
            f"differences-{kind}",
            say(
                "difference-table",
                place=place(group),
                inputs=say(INPUTS[kind]),
                targets=group.sets[kind].targets,
            ),
            headings,
            tuple(compared(each, names) for each in group.sets[kind].differences),
        )
        for kind in SETS
        if group.sets[kind].differences and group.sets[kind].targets > 1
    ]


def cost_table(timings: Sequence[Timing], names: Mapping[str, str]) -> Table:
    """Seconds and rows per explanation."""
    rows = tuple(
        (names.get(timing.explainer, timing.explainer), f"{timing.dataset}, {timing.target}",
         duration(timing.seconds), f"{timing.rows:,.0f}")
        for timing in timings
    )  # fmt: skip
    headings = _headings("column-explainer", "column-target", "column-time", "column-rows-of-model")
    return words_table("cost", say("cost-table"), headings, rows, texts=2)


def _headings(*cases: str) -> tuple[str, ...]:
    return tuple(map(say, cases))


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
            columns = [replace(one, title=short) for one, short in zip(given.columns, SHORT, strict=True)]
            parts += [terminal_table(replace(given, columns=tuple(columns)), range(2, len(columns))), Text()]
    parts.append(Text(say("legend")))
    return Lines(*parts)


def failed_explainers(summary: RationaleSummary) -> list[str]:
    """One sentence for each explainer that failed on a target, with its first error."""
    return [
        say("explainer-failed", target=target.label, name=label, error=errors[0])
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
    """Writes ``report.html``, ``figures/*.svg`` and ``tables/*.md`` and ``*.tex`` into the folder of a run.

    Args:
        folder: the run's.
        summary: what it found.
        examples: inputs to look at.
        timings: seconds and rows per explanation.
        manifest: versions and machine, as far as they are known.
    """
    names = short_names(summary.explainers)
    figure = error_figure(summary, names)
    page = render_rationale_report(summary, examples, timings, manifest)
    tables = [
        replace(table, key=f"{table.key}-{number}" if len(summary.groups) > 1 else table.key)
        for number, group in enumerate(summary.groups, start=1)
        for table in (*table_1(group, summary, names), *differences(group, names))
    ]
    tables += [table_2(summary.targets), cost_table(timings, names)]
    write_report(
        folder, page, {} if figure is None else {"errors": figure}, [one for one in tables if one.rows]
    )


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
    return say(
        "asked",
        targets=len(summary.targets),
        datasets=summary.spec.datasets,
        inputs=sum(target.sets["published"].inputs for target in summary.targets),
        names=list(short_names(summary.explainers).values()),
    )


def notes(summary: RationaleSummary) -> list[str]:
    """What a reader must know before reading any interval."""
    sentences = []
    if any(group.targets == 1 for group in summary.groups):
        sentences.append(say("note-one-target", needed=FEWEST_UNITS))
    elif any(group.targets < FEWEST_UNITS for group in summary.groups):
        sentences.append(say("note-few-targets", needed=FEWEST_UNITS))
    few = [
        say("few-strict", dataset=target.dataset, target=target.label, inputs=target.sets["strict"].inputs)
        for target in summary.targets
        if target.sets["strict"].inputs < ENOUGH
    ]
    if few:
        sentences.append(say("note-few-strict", needed=ENOUGH, places=first_of(few, NAMED)))
    return sentences


def _write(folder: Path, found: Found[RationaleSummary], manifest: Manifest) -> None:
    write_rationale_report(folder, found.summary, found.examples, found.timings, manifest)


RATIONALE = View(
    _write,
    terminal_summary,
    lambda summary: paragraph_html(verdict(summary)),
    lambda summary: [*failed_jobs(summary.failures, "job"), *failed_explainers(summary)],
)
