"""The report of a verification: its tables, one self-contained page, and a summary in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from verax.benchmarks.contract import Found
from verax.benchmarks.rationale.findings import (
    SETS,
    ExplainerErrors,
    Group,
    RationaleSummary,
    TargetSummary,
)
from verax.benchmarks.rationale.rankings import Spread
from verax.benchmarks.rationale.run import Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.phrases import first_of
from verax.phrases import say as say_phrase
from verax.reporting.page import failed_jobs, short_names
from verax.reporting.rationale.figures import error_figure, error_panels, heat_maps, tau_panels
from verax.reporting.rationale.verdict import (
    INPUTS,
    answers,
    compared,
    place,
    rationale_verdict,
    shown,
    targets_of,
)
from verax.reporting.run_page import (
    Block,
    Brief,
    Drawn,
    Folded,
    Numbers,
    Panels,
    Paragraph,
    Part,
    Questions,
    RunPage,
    View,
    own_html,
)
from verax.results.tables import Table, words_table
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import NOTHING, duration, percent

say = partial(say_phrase, "rationale")
# Columns of the terminal, which its legend explains.
SHORT = ("explainer", "claim", "A, %", "B, %", "C", "AUC, %")
METRICS = ("column-first", "column-misranked", "column-above", "column-area")
# So many targets are named in a note.
NAMED = 6
OWN = "rationale_parts.html"


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


def failed_explainers(summary: RationaleSummary) -> list[str]:
    """One sentence for each explainer that failed on a target, with its first error."""
    return [
        say("explainer-failed", target=target.label, name=label, error=errors[0])
        for target in summary.targets
        for label, errors in target.errors.items()
    ]


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


def _page(found: Found[RationaleSummary]) -> RunPage:
    """The report of a run."""
    summary, timings = found.summary, found.timings
    names = short_names(summary.explainers)
    cost, sets, examples = (
        cost_table(timings, names),
        table_2(summary.targets),
        heat_maps(found.examples, names),
    )
    by_group = [(table_1(group, summary, names), differences(group, names)) for group in summary.groups]
    files = [
        replace(table, key=f"{table.key}-{number}" if len(by_group) > 1 else table.key)
        for number, tables in enumerate(by_group, start=1)
        for table in (*tables[0], *tables[1])
    ]
    rests_on = [
        Paragraph(own_html(OWN, "rationale_is", f"{summary.spec.tau:g}")),
        Questions(answers(summary, timings)),
    ]
    tau = [Panels(tau_panels(summary, names), say("tau-figure"))]
    about_sets = [Numbers(sets), Paragraph(own_html(OWN, "sets_how", summary.spec.subsets), "small how")]
    parts = [
        Part("rests-on", say("part-rests-on"), rests_on, opened=True),
        Part("errors", say("part-errors"), _errors(summary, names, by_group)),
        Part("tau", say("part-tau"), tau),
        Part("sets", say("part-sets"), about_sets),
        *(
            [Part("examples", say("part-examples"), [Drawn(own_html(OWN, "heat_maps", examples))])]
            if examples
            else []
        ),
        Part("targets", say("part-targets"), _targets(summary, names)),
        Part("cost", say("part-cost"), [Numbers(cost)]),
    ]
    figure = error_figure(summary, names)
    return RunPage(
        title=say("page-title"),
        window=say("page-window"),
        asked=say("page-asked", asked=asked(summary)),
        verdict=rationale_verdict(summary),
        notices=notes(summary),
        parts=parts,
        failures=summary.failures,
        again=[own_html(OWN, "hashes", summary.hashes)],
        source=say("page-source"),
        tables=[one for one in (*files, sets, cost) if one.rows],
        figures={} if figure is None else {"errors": figure},
    )


def _errors(
    summary: RationaleSummary, names: Mapping[str, str], by_group: Sequence[tuple[list[Table], list[Table]]]
) -> list[Block]:
    blocks: list[Block] = [Panels(error_panels(summary, names), say("errors-figure"))]
    for tables, pairs in by_group:
        blocks += map(Numbers, tables)
        if pairs:
            blocks.append(Folded(say("differences-folded"), list(map(Numbers, pairs))))
    parameters = [label for label in summary.explainers if names[label] != label]
    return [*blocks, Paragraph(own_html(OWN, "errors_how", summary.spec.order, parameters), "small how")]


def _targets(summary: RationaleSummary, names: Mapping[str, str]) -> list[Block]:
    blocks: list[Block] = [Paragraph(say("one-target"))]
    for number, target in enumerate(summary.targets):
        tables = (*target_tables(target, summary, names), *tau_tables(target, summary, names))
        own: list[Block] = [Numbers(table) for table in tables]
        for label, sentences in target.errors.items():
            own.append(Paragraph(own_html(OWN, "explainer_failed", label, sentences[0]), "notice"))
        if target.training:
            epochs = ", ".join(f"{100 * share:.0f}%/{100 * right:.1f}%" for share, right in target.training)
            own.append(Paragraph(say("target-training", epochs=epochs), "small how"))
        blocks.append(Folded(f"{target.dataset}, {target.label}", own, opened=number == 0))
    return blocks


def _brief(summary: RationaleSummary) -> Brief:
    """The errors of every group and set, with short headings that the legend explains."""
    names = short_names(summary.explainers)
    tables = []
    for group in summary.groups:
        for given in table_1(group, summary, names):
            columns = [replace(one, title=short) for one, short in zip(given.columns, SHORT, strict=True)]
            tables.append(replace(given, columns=tuple(columns)))
    return Brief(rationale_verdict(summary), tables, [say("legend")], broken=True)


RATIONALE = View(
    _page, _brief, lambda summary: [*failed_jobs(summary.failures, "job"), *failed_explainers(summary)]
)
