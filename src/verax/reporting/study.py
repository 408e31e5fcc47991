"""The report of one study: the verdict, a self-contained page of its analysis, and the page of changed inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from verax.codec import encoded
from verax.errors import VeraxError
from verax.phrases import say as say_phrase
from verax.reporting.explanations import page_environment
from verax.reporting.figures import figure_inline, figure_svg
from verax.reporting.page import page_script, page_style, write_report
from verax.results.figures import Figure, FlowChart, Interval, Intervals
from verax.results.tables import (
    Sources,
    Table,
    build_table,
    count,
    file_name,
    heading,
    interval,
    number,
    p_value,
    rows_of,
    text,
)
from verax.results.verdict import Judged, Reference, Verdict
from verax.stats.thresholds import FEWEST_PEOPLE
from verax.studies.definition.screen import Passage, Row
from verax.studies.definition.study import Item, Study
from verax.studies.display.stimulus import changes_marked, input_block, variant_block
from verax.studies.protocol.contract import question_of
from verax.studies.results.study_summary import Primary, PrimaryEstimate, Summary
from verax.text import counted, percent

say = partial(say_phrase, "analysis")


def study_verdict(summary: Summary) -> Verdict:
    """What the primary analysis says, for a reader who asks which explanation helps."""
    primary = summary.primary
    if primary is None or not primary.estimates:
        said = sentences((primary and primary.sentence) or say("verdict-no-answer"))
        return Verdict(said[0], (), "", tuple(filter(None, said[1:])))
    differences = all(line.is_difference for line in primary.estimates)
    judged = tuple(_judged(line, differences) for line in primary.estimates)
    unit = f" ({primary.unit})" if primary.unit else ""
    return Verdict(
        sentence=_sentence(primary, "bots" if summary.people == "bots" else "people")
        if differences
        else sentences(primary.sentence)[0],
        judged=judged,
        measure=f"{primary.measure}{unit}",
        rests_on=_rests_on(primary, differences),
        reference=Reference(say("no-difference"), 0.0) if differences else None,
        differences=differences,
        decimals=primary.unit.decimals,
    )


def sentences(text: str) -> tuple[str, str]:
    """The first sentence, which stands out, and the others."""
    first, *rest = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text.strip(), maxsplit=1)
    return first, "".join(rest)


def _judged(line: PrimaryEstimate, differences: bool) -> Judged:
    case = _case(line) if differences else "mean" if line.low is not None else "no-interval"
    words = say(f"judged-{case}", participants=line.participants)
    sign = line.sign if differences else "open"
    return Judged(line.condition, sign, words, line.estimate, line.low, line.high)


def _case(line: PrimaryEstimate) -> str:
    """What a difference shows: "yes" or "no" where it is clear, and why not where it is not."""
    if line.sign != "open":
        return line.sign
    if line.low is None:
        return "nothing-given"
    return "unclear" if line.conclusive else "uneven" if line.uneven else "too-little"


def _sentence(primary: Primary, people: str) -> str:
    """Who did better or worse, of whom that cannot be said, and why."""
    slots = {"people": people, "reference": primary.estimates[0].reference or "none-named"}
    cases: dict[str, list[str]] = {}
    for line in primary.estimates:
        case = _case(line)
        size = say("verdict-size", name=line.condition, size=primary.unit.said(line.estimate or 0.0))
        clear = case in ("yes", "no")
        cases.setdefault("too-little" if case == "nothing-given" else case, []).append(
            size if clear else line.condition
        )
    parts = [
        say(f"verdict-{how}", names=cases[case], **slots)
        for case, how in (("yes", "better"), ("no", "worse"))
        if case in cases
    ]
    if "unclear" in cases:
        parts.append(
            say("verdict-unclear-too" if parts else "verdict-unclear", names=cases["unclear"], **slots)
        )
    parts += [say(f"verdict-{case}", names=cases[case]) for case in ("uneven", "too-little") if case in cases]
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _rests_on(primary: Primary, differences: bool) -> tuple[str, ...]:
    """People and items, what could have been missed, and what the protocol's own sentence adds."""
    lines = primary.estimates
    people = _span([line.participants for line in lines])
    items = _span([line.items for line in lines])
    each = "comparison" if differences else "condition"
    said = [say("verdict-rests-on", each=each, people=people, items=items)]
    missed = [line.detectable for line in lines if line.detectable is not None and line.sign == "open"]
    if differences and missed:
        about = primary.unit.number(float(round(max(missed), primary.unit.decimals)))
        said.append(say("verdict-detectable", effect=f"{about}{primary.unit.noun}"))
    if differences and not all(line.conclusive or line.uneven for line in lines):
        said.append(say("verdict-needs", needed=FEWEST_PEOPLE))
    if not differences:
        said.append(sentences(primary.sentence)[1])
    return tuple(filter(None, said))


def _span(numbers: Sequence[int]) -> int | str:
    low, high = min(numbers), max(numbers)
    return low if low == high else say("verdict-span", low=str(low), high=str(high))


# The analysis whose table shows whether conclusions depend on who is counted.
SENSITIVITY = "sensitivity"


def write_study_report(folder: Path, summary: Summary) -> None:
    """Writes ``report.html`` and ``figures/*.svg`` into the folder of an analysis.

    Args:
        folder: made if absent.
        summary: what ``verax.studies.analysis`` found.
    """
    write_report(folder, render_study_report(summary), study_figures(summary))


def study_figures(summary: Summary) -> dict[str, str]:
    """The figures as SVG files, by name; the flow and the primary analysis are always among them."""
    return {file_name(figure.key) or "figure": figure_svg(figure) for figure in all_figures(summary)}


def all_figures(summary: Summary) -> list[Figure]:
    """The analysis' own figures, with the flow and the primary estimates where it has none."""
    given = [figure for figure in summary.figures if not figure.is_empty]
    primary, made = summary.primary, []
    if primary and not any(figure.key == "primary" for figure in given):
        rows = tuple(
            Interval(line.condition, line.estimate, line.low, line.high) for line in primary.estimates
        )
        label = f"{primary.measure} ({primary.unit})" if primary.unit else primary.measure
        if any(row.estimate is not None for row in rows):
            data = Intervals(label, 0, rows)
            made.append(Figure("primary", primary.measure, data, say("primary-figure")))
    if not any(figure.kind == FlowChart.KIND for figure in given):
        made.append(Figure("flow", say("flow-title"), FlowChart(summary.flow)))
    return [*made, *given]


def render_study_report(summary: Summary) -> str:
    """The page as HTML."""
    drawn = {
        figure.key: DrawnFigure(
            figure.kind, figure.title, _beside(figure, summary), figure_inline(figure, place)
        )
        for place, figure in enumerate(all_figures(summary))
    }
    again = _same_as_primary(summary)
    others = [table for table in summary.tables if table.key != SENSITIVITY and table is not again]
    seen: set[str] = set()
    # In the order of the page: a note that stands further up is not said again.
    primary = None if summary.primary is None else _once(_primary(summary.primary, again), seen)
    planned = [_once(_shown(table), seen) for table in others if table.planned]
    people = [
        _once(_shown(table), seen) for table in (summary.attrition, summary.balance) if table is not None
    ]
    exploratory = [_once(_shown(table), seen) for table in others if not table.planned]
    sensitivity = [_once(_shown(table), seen) for table in summary.tables if table.key == SENSITIVITY]
    beside = {table.key for table in summary.tables}
    return str(
        page_environment()
        .get_template("study.html")
        .render(
            style=page_style(),
            script=page_script(),
            title=summary.title,
            question=question_of(summary.protocol),
            asked=asked(summary),
            bots=summary.people == "bots",
            verdict=study_verdict(summary),
            primary=primary,
            flow=summary.flow,
            procedure=summary.procedure,
            flow_figure=next(figure for figure in drawn.values() if figure.kind == FlowChart.KIND),
            problems=summary.problems,
            people=people,
            planned=planned,
            exploratory=exploratory,
            sensitivity=sensitivity,
            items=summary.items,
            figures=drawn,
            others=[
                figure
                for key, figure in drawn.items()
                if figure.kind != FlowChart.KIND and key != "primary" and key not in beside
            ],
            estimators=_estimators(summary),
            plan=summary.analysis_plan,
            facts=_facts(summary),
        )
    )


def asked(summary: Summary) -> str:
    """What kind of study it was, in a sentence."""
    model = summary.model
    first = say(
        "study-asked",
        protocol=summary.protocol,
        dataset=summary.dataset,
        model=model.name or "none",
        accuracy="none" if model.accuracy is None else percent(model.accuracy),
        analysed=counted(summary.flow.analysed, summary.people[:-1]),
    )
    return " ".join([first, *(other.sentence for other in model.others)])


@dataclass(frozen=True)
class DrawnFigure:
    """A figure on the page."""

    kind: str
    title: str
    sentence: str
    svg: str


@dataclass(frozen=True)
class Shown:
    """A table in words, ready to be set."""

    key: str
    title: str
    planned: bool
    sentence: str
    notes: Sequence[str]
    headings: list[str]
    rows: Sequence[Sequence[str]]


def _shown(table: Table) -> Shown:
    headings = [heading(column) for column in table.columns]
    return Shown(table.key, table.title, table.planned, table.sentence, table.notes, headings, rows_of(table))


def _beside(figure: Figure, summary: Summary) -> str:
    """The sentence of a figure; that of the flow stands above it already."""
    return (
        "" if figure.kind == FlowChart.KIND and figure.sentence == summary.flow.sentence else figure.sentence
    )


def _once(table: Shown | None, seen: set[str]) -> Shown | None:
    """The table without notes that stand further up; all of its notes are seen then."""
    if table is None:
        return None
    notes = [note for note in table.notes if note not in seen]
    seen.update(notes)
    return replace(table, notes=notes)


def _same_as_primary(summary: Summary) -> Table | None:
    """The analysis' own table of the primary estimates, which has more columns than the one that would be made here."""
    lines = () if summary.primary is None else summary.primary.estimates
    for table in summary.tables:
        corrected = [row.get("p_adjusted") for row in table.rows]
        if (
            lines
            and len(table.rows) == len(lines)
            and corrected == [line.p_adjusted for line in lines]
            and all(
                row.get("condition") == line.condition for row, line in zip(table.rows, lines, strict=True)
            )
        ):
            return table
    return None


def _primary(primary: Primary, again: Table | None) -> Shown | None:
    """The primary analysis as a table: the analysis' own where there is one."""
    if not primary.estimates:
        return None
    if again is not None:
        shown = _shown(again)
        # The analysis' own table says how its p-values are corrected.
        notes = list(dict.fromkeys([*shown.notes, *_notes(primary.estimates)]))
        planned = any(line.planned for line in primary.estimates)
        return replace(shown, title=primary.measure, notes=notes, planned=planned)
    unit = primary.unit
    sources: Sources[PrimaryEstimate] = (
        text("condition", say("column-primary-condition"), lambda line: line.condition),
        number("estimate", say("column-primary-estimate"), lambda line: line.estimate, unit),
        interval("interval", say("column-primary-interval"), lambda line: (line.low, line.high), unit),
        p_value("p_adjusted", say("column-primary-p-adjusted"), lambda line: line.p_adjusted),
        p_value("p", say("column-primary-p"), lambda line: line.p),
        number("detectable", say("column-primary-detectable"), lambda line: line.detectable, unit),
        count("participants", say("column-primary-participants"), lambda line: line.participants),
        count("items", say("column-primary-items"), lambda line: line.items),
        text(
            "marked", say("column-primary-planned"), lambda line: "planned" if line.planned else "exploratory"
        ),
    )
    adjusted = sorted({line.adjustment for line in primary.estimates} - {"none"})
    corrected = [say("primary-corrected", how=", ".join(adjusted))] if adjusted else []
    notes = [*corrected, *_notes(primary.estimates)]
    table = build_table("primary", primary.measure, primary.estimates, sources, "", notes)
    return _shown(replace(table, planned=any(line.planned for line in primary.estimates)))


def _notes(estimates: Sequence[PrimaryEstimate]) -> list[str]:
    notes = [f"{line.condition}: {note}" for line in estimates for note in line.notes]
    if not all(line.conclusive for line in estimates):
        notes.append("Where the numbers allow no claim, only the estimate is to be read.")
    return notes


def _estimators(summary: Summary) -> list[tuple[str, list[str]]]:
    """Every estimator with what it says of itself; the numbers are in the tables and in summary.json."""
    about = {name: given if isinstance(given, Mapping) else {} for name, given in summary.estimators.items()}
    said = {
        name: [str(given[key]) for key in ("label", "note") if given.get(key)]
        for name, given in about.items()
    }
    return [
        (name, [sentence[:1].upper() + sentence[1:].rstrip(".") + "." for sentence in texts])
        for name, texts in said.items()
    ]


def _facts(summary: Summary) -> list[tuple[str, str]]:
    """What makes the analysis this one: hash, dates, options, versions."""
    options = encoded(summary.options)
    facts = [
        ("The study's hash", summary.hash),
        (
            "The plan",
            f"frozen on {summary.frozen}, before the analysis" if summary.frozen else NOT_FROZEN,
        ),
        ("The answers", summary.source),
        ("Options", ", ".join(f"{name} {value}" for name, value in options.items())),
        ("Versions", ", ".join(f"{name} {version}" for name, version in summary.versions.items() if version)),
    ]
    return [(name, value) for name, value in facts if value]


NOT_FROZEN = "not frozen: nothing shows that it was made before the answers were seen"


# A piece of a text or a row, and whether it differs from the other one of the pair.
Piece = tuple[str, bool]


@dataclass(frozen=True)
class Pair:
    """An input and its changed version.

    Attributes:
        item: the item's id.
        strike: what to write into ``struck`` to leave the input out of the next build; empty where none is built.
        original, changed: both in pieces.
        before, after: what the model says of each.
        likelihood: how well the least likely of the new words reads; None where nobody asked.
    """

    item: str
    strike: str
    original: tuple[Piece, ...]
    changed: tuple[Piece, ...]
    before: str
    after: str
    likelihood: float | None


def pairs_of(study: Study) -> list[Pair]:
    """All pairs of a study, the least likely first; items without a changed version are left out."""
    names = study.spec.class_names or study.class_names
    changed = [item for item in study.items.values() if item.variant is not None]
    pairs = [_pair(item, names) for item in changed]
    return sorted(pairs, key=lambda pair: (pair.likelihood is None, pair.likelihood or 0.0, pair.item))


def write_review(study: Study, path: Path) -> int:
    """Writes the page; how many pairs it lists."""
    pairs = pairs_of(study)
    if not pairs:
        raise VeraxError(
            f"The study {study.spec.title!r} has no changed inputs to review; only 'counterfactual' ones have."
        )
    page = (
        page_environment()
        .get_template("review.html")
        .render(style=page_style(), title=study.spec.title, pairs=pairs)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(str(page).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The page cannot be written to {str(path)!r} ({error.strerror}); choose another file."
        ) from error
    return len(pairs)


def _pair(item: Item, names: Sequence[str]) -> Pair:
    assert item.variant is not None
    return Pair(
        item=item.id,
        strike=f"{item.part} {item.place}" if item.place >= 0 else "",
        original=_pieces(changes_marked(item, input_block(item))),
        changed=_pieces(variant_block(item)),
        before=names[item.prediction],
        after=names[item.variant.prediction],
        likelihood=item.variant.likelihood,
    )


def _pieces(block: Passage | Row) -> tuple[Piece, ...]:
    if isinstance(block, Passage):
        return tuple((token.text, token.changed) for token in block.tokens)
    return tuple((f"{cell.column}: {cell.value}; ", cell.changed) for cell in block.cells)
