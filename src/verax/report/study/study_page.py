"""The report of one study: a self-contained page from the summary of its analysis, and its figures as files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.report.explanations.explanations_page import _environment
from verax.report.study.figures import figure_inline, figure_svg
from verax.report.study.study_tables import heading, rows_of
from verax.studies.protocol.contract import question_of
from verax.text import counted, percent

Summary = Mapping[str, Any]
# The analysis whose table shows whether conclusions hang on who is counted.
SENSITIVITY = "sensitivity"
PRIMARY_COLUMNS: tuple[dict[str, str], ...] = (
    {"key": "condition", "title": "Condition", "kind": "text", "unit": ""},
    {"key": "estimate", "title": "Estimate", "kind": "number", "unit": ""},
    {"key": "interval", "title": "95% interval", "kind": "interval", "unit": ""},
    {"key": "p_adjusted", "title": "p, corrected", "kind": "p", "unit": ""},
    {"key": "p", "title": "p, alone", "kind": "p", "unit": ""},
    {"key": "detectable", "title": "Found in 80% of such studies", "kind": "number", "unit": ""},
    {"key": "participants", "title": "Participants", "kind": "count", "unit": ""},
    {"key": "items", "title": "Items", "kind": "count", "unit": ""},
    {"key": "marked", "title": "Planned", "kind": "text", "unit": ""},
)


def write_study_report(folder: Path, summary: Summary) -> None:
    """Writes ``report.html`` and ``figures/*.svg`` into the folder of an analysis.

    Args:
        folder: made if absent.
        summary: what ``verax.studies.analysis`` found, as in its ``summary.json``.
    """
    page = render_study_report(summary)
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for name, svg in study_figures(summary).items():
            (folder / "figures" / f"{name}.svg").write_bytes(svg.encode("utf-8", "replace"))
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        (folder / "report.html").write_bytes(page.encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error


def study_figures(summary: Summary) -> dict[str, str]:
    """The figures as SVG files, by name; the flow and the primary analysis are always among them."""
    return {_file_name(figure["key"]): figure_svg(figure) for figure in all_figures(summary)}


def all_figures(summary: Summary) -> list[Mapping[str, Any]]:
    """The analysis' own figures, with the flow and the primary estimates where it has none."""
    given = [figure for figure in summary.get("figures") or () if _drawable(figure)]
    keys = {figure["key"] for figure in given}
    primary = summary.get("primary")
    made: list[Mapping[str, Any]] = []
    if primary and "primary" not in keys and any(one["estimate"] is not None for one in primary["estimates"]):
        made.append(primary_figure(primary))
    if not any(figure["kind"] == "flow" for figure in given):
        flow = summary.get("flow") or {}
        made.append(
            {"key": "flow", "title": "Flow of participants", "kind": "flow", "data": flow, "sentence": ""}
        )
    return [*made, *given]


def primary_figure(primary: Mapping[str, Any]) -> Mapping[str, Any]:
    """The primary estimates as a figure of intervals around 0."""
    rows = [{"label": one["condition"], "group": "", **one} for one in primary["estimates"]]
    label = f"{primary['measure']} ({primary['unit']})" if primary["unit"] else primary["measure"]
    return {
        "key": "primary",
        "title": primary["measure"],
        "kind": "intervals",
        "data": {"x_label": label, "reference": 0, "rows": rows, "unit": primary["unit"]},
        "sentence": "Points are estimates, lines their 95% intervals.",
    }


def render_study_report(summary: Summary) -> str:
    """The page as HTML."""
    drawn = {figure["key"]: _drawn(figure, place) for place, figure in enumerate(all_figures(summary))}
    flow = next((one for one in drawn.values() if one["kind"] == "flow"), None)
    if flow is not None and flow["sentence"] == (summary.get("flow") or {}).get("sentence"):
        flow["sentence"] = ""  # it stands above the figure already
    tables = [_shown(table) for table in summary.get("tables") or ()]
    beside = {table["key"] for table in tables}
    return str(
        _environment()
        .get_template("study.html")
        .render(
            style=page_style(),
            title=summary["title"],
            question=question_of(summary["protocol"]),
            asked=asked(summary),
            bots=summary.get("people") == "bots",
            answer=sentences((summary.get("primary") or {}).get("sentence") or NO_ANSWER),
            primary=_primary(summary),
            primary_figure=drawn.get("primary"),
            flow=summary.get("flow") or {},
            flow_figure=flow,
            problems=list(summary.get("problems") or ()),
            people=[_shown(summary[key]) for key in ("attrition", "balance") if _is_table(summary.get(key))],
            planned=[one for one in tables if one["planned"] and one["key"] != SENSITIVITY],
            exploratory=[one for one in tables if not one["planned"] and one["key"] != SENSITIVITY],
            sensitivity=[one for one in tables if one["key"] == SENSITIVITY],
            figures=drawn,
            others=[
                one
                for key, one in drawn.items()
                if one["kind"] != "flow" and key != "primary" and key not in beside
            ],
            estimators=_estimators(summary),
            plan=dict(summary.get("analysis_plan") or {}),
            facts=_facts(summary),
        )
    )


NO_ANSWER = "The primary question cannot be answered with these data; what could not be estimated is below."


def page_style() -> str:
    """The stylesheet of every report."""
    static = files("verax.report").joinpath("static")
    return "\n".join(
        static.joinpath(name).read_text(encoding="utf-8") for name in ("verax.css", "report.css")
    )


def sentences(text: str) -> tuple[str, str]:
    """The first sentence, which stands out, and the others."""
    first, *rest = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text.strip(), maxsplit=1)
    return first, "".join(rest)


def asked(summary: Summary) -> str:
    """What kind of study it was, in a sentence."""
    model = summary.get("model") or {}
    accuracy = model.get("accuracy")
    right = f", right on {percent(accuracy)} of its test inputs" if accuracy is not None else ""
    who = "bots" if summary.get("people") == "bots" else "participants"
    number = int((summary.get("flow") or {}).get("analysed") or 0)
    return (
        f"A {summary['protocol']} study on {summary['dataset']} with the model "
        f"{model.get('name', 'given')}{right}; {counted(number, who[:-1])} analysed."
    )


def _primary(summary: Summary) -> dict[str, Any] | None:
    """The primary analysis as a table."""
    primary = summary.get("primary")
    if not primary or not primary["estimates"]:
        return None
    unit = primary.get("unit") or ""
    columns = [
        {**column, "unit": unit if column["key"] in ("estimate", "interval", "detectable") else ""}
        for column in PRIMARY_COLUMNS
    ]
    rows = [
        {
            **one,
            "interval": [one.get("low"), one.get("high")],
            "marked": "planned" if one.get("planned") else "exploratory",
        }
        for one in primary["estimates"]
    ]
    notes = [f"{one['condition']}: {note}" for one in primary["estimates"] for note in one.get("notes") or ()]
    adjusted = sorted({str(one.get("adjustment") or "none") for one in primary["estimates"]} - {"none"})
    if adjusted:
        notes.insert(0, f"p is corrected for all lines together ({', '.join(adjusted)}).")
    if not all(one.get("conclusive", True) for one in primary["estimates"]):
        notes.append("Where the numbers allow no claim, only the estimate is to be read.")
    table = {
        "key": "primary",
        "title": primary["measure"],
        "columns": columns,
        "rows": rows,
        "notes": notes,
        "planned": any(one.get("planned") for one in primary["estimates"]),
    }
    return _shown({**table, "sentence": ""})


def _shown(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table in words, ready to be set."""
    return {
        "key": str(table["key"]),
        "title": table["title"],
        "planned": bool(table.get("planned")),
        "sentence": table.get("sentence") or "",
        "notes": list(table.get("notes") or ()),
        "headings": [heading(column) for column in table["columns"]],
        "rows": rows_of(table),
    }


def _drawn(figure: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "key": figure["key"],
        "kind": figure["kind"],
        "title": figure["title"],
        "sentence": figure.get("sentence") or "",
        "svg": figure_inline(figure, place),
    }


def _drawable(figure: Mapping[str, Any]) -> bool:
    """A figure without any row, line or bar is not drawn; its table says that there is nothing."""
    data = figure["data"]
    return figure["kind"] == "flow" or any(data.get(part) for part in ("rows", "lines", "bars"))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value.get("columns")) and "rows" in value


def _estimators(summary: Summary) -> list[tuple[str, list[str]]]:
    """Every estimator with what it says of itself; the numbers are in the tables and in summary.json."""
    found = []
    for name, about in (summary.get("estimators") or {}).items():
        said = [str(about[key]) for key in ("label", "note") if isinstance(about, Mapping) and about.get(key)]
        found.append((str(name), [one[:1].upper() + one[1:].rstrip(".") + "." for one in said]))
    return found


def _facts(summary: Summary) -> list[tuple[str, str]]:
    """What makes the analysis this one: hash, dates, options, versions."""
    versions = summary.get("versions") or {}
    options = summary.get("options") or {}
    frozen = summary.get("frozen")
    plan = f"frozen on {frozen}, before the analysis" if frozen else NOT_FROZEN
    facts: Sequence[tuple[str, str]] = [
        ("The study's hash", str(summary["hash"])),
        ("The plan", plan),
        ("The answers", str(summary.get("source") or "")),
        ("Options", ", ".join(f"{name} {value}" for name, value in options.items())),
        ("Versions", ", ".join(f"{name} {version}" for name, version in versions.items() if version)),
    ]
    return [(name, value) for name, value in facts if value]


NOT_FROZEN = "not frozen: nothing shows that it was made before the answers were seen"


def _file_name(key: str) -> str:
    return (
        "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(key)) or "figure"
    )
