"""The codebook of an export: every file, table, column and question, for machines and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verax.studies.answers.exclusion_rules import limit_of
from verax.studies.answers.export.column_counts import TableCount
from verax.studies.answers.records import written
from verax.studies.model.screen import with_names
from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.version import VERSION

FORMAT = 1
ABOUT = {
    "participants": "One row for each participant, in the order in which they came.",
    "responses": (
        "One row for each answered question, by participant and step, and one without an answer for each step whose "
        "time was over. Pages without questions, and questions that were left open, have none."
    ),
    "events": "What happened beside the answers: reloads, copies of an answer, answers that were refused or too late.",
    "exclusions": "One row for each exclusion rule that holds, or once held, for a participant.",
}


def make_codebook(
    study: Study,
    counts: Mapping[str, TableCount],
    files: Sequence[Mapping[str, Any]],
    exported_at: str,
    *,
    identifying: bool,
    free_text: bool,
) -> dict[str, Any]:
    """The codebook as plain data."""
    spec = study.spec
    return {
        "format": FORMAT,
        "kind": "export",
        "title": spec.title,
        "hash": study.hash,
        "protocol": spec.protocol["name"],
        "exported_at": exported_at,
        "verax": VERSION,
        "identifying": identifying,
        "free_text": free_text,
        "files": [dict(file) for file in files],
        "tables": {name: _table(name, counted) for name, counted in counts.items()},
        "questions": _questions(study, counts["responses"]),
        "phases": [
            {"key": phase.key, "title": phase.title, "kind": phase.kind} for phase in study.phases.values()
        ],
        "conditions": [
            {"name": one.name, "kind": one.kind, "explainer": one.explainer, "like": one.like}
            for one in spec.conditions
        ],
        "classes": list(study.class_names),
        "exclusion_rules": [{"rule": one.rule, "limit": limit_of(one)} for one in spec.exclusion],
    }


def _table(name: str, counted: TableCount) -> dict[str, Any]:
    columns = [
        {
            "name": one.column.name,
            "type": one.column.type,
            "meaning": one.column.meaning,
            "identifying": one.column.identifying,
            **one.to_dict(),
        }
        for one in counted.columns
    ]
    return {"about": ABOUT[name], "rows": counted.rows, "columns": columns}


def _questions(study: Study, counted: TableCount) -> list[dict[str, Any]]:
    """Every question that any page asks, with all answers that any page offers for it."""
    scored = make_protocol(study.spec.protocol).scored
    found: dict[str, dict[str, Any]] = {}
    for screen in study.screens.values():
        for question in screen.questions:
            about = found.setdefault(
                question.name, {"name": question.name, "kind": question.kind, "prompts": {}, "labels": {}}
            )
            about["prompts"].setdefault(with_names(question.prompt, study.class_names))
            for option in question.options:
                label = with_names(option.label, study.class_names)
                about["labels"].setdefault(written(option.means), {}).setdefault(label)
    return [_question(about, counted, scored) for about in found.values()]


def _question(about: Mapping[str, Any], counted: TableCount, scored: str) -> dict[str, Any]:
    name, prompts = about["name"], list(about["prompts"])
    options = [
        {"answer": answer, "labels": list(labels), "count": counted.chosen[name, answer]}
        for answer, labels in about["labels"].items()
    ]
    answers = counted.written[name] + sum(option["count"] for option in options)
    return {
        "name": name,
        "kind": about["kind"],
        "prompts": prompts,
        "scored": name == scored,
        "answers": answers,
        "options": options,
    }


def to_markdown(codebook: Mapping[str, Any]) -> str:
    """The codebook for people."""
    who = "with identifying columns" if codebook["identifying"] else "anonymous"
    texts = "with" if codebook["free_text"] else "without"
    lines = [
        f"# Codebook: {_cell(codebook['title'])}",
        "",
        f"Exported {codebook['exported_at']} by Verax {codebook['verax']}; {who}, {texts} what people wrote.",
        f"Study hash `{codebook['hash']}`, protocol `{codebook['protocol']}`.",
        "",
        "In CSV, what is missing is an empty cell, booleans are `true` and `false`, lists and mappings are JSON, and a "
        "text that a spreadsheet would run as a formula has an apostrophe before it.",
        "",
        *_rows(("file", "rows", "bytes", "sha256"), [_file(file) for file in codebook["files"]]),
    ]
    for name, table in codebook["tables"].items():
        columns = [_column(column) for column in table["columns"]]
        lines += ["", f"## {name}", "", f"{table['about']} {table['rows']:,} rows.", ""]
        lines += _rows(("column", "type", "meaning", "values", "missing"), columns)
    lines += ["", "## Questions", ""]
    lines += _rows(("question", "kind", "asks", "answers"), [_asked(one) for one in codebook["questions"]])
    for question in codebook["questions"]:
        if question["options"]:
            lines += ["", f"### {question['name']}", ""]
            lines += _rows(
                ("answer", "on the page", "chosen"),
                [
                    (f"`{one['answer']}`", " / ".join(one["labels"]), one["count"])
                    for one in question["options"]
                ],
            )
    lines += ["", "## Phases and conditions", ""]
    lines += _rows(
        ("phase", "kind", "title"), [(one["key"], one["kind"], one["title"]) for one in codebook["phases"]]
    )
    lines += [
        "",
        *_rows(("condition", "kind", "explainer"), [_condition(one) for one in codebook["conditions"]]),
    ]
    classes = [(number, name) for number, name in enumerate(codebook["classes"])]
    lines += ["", *_rows(("class", "name"), classes)]
    return "\n".join(lines) + "\n"


def _rows(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    written_rows = ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *written_rows]


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def _file(file: Mapping[str, Any]) -> tuple[Any, ...]:
    return file["name"], file["rows"], file["bytes"], file["sha256"]


def _column(column: Mapping[str, Any]) -> tuple[Any, ...]:
    return column["name"], column["type"], column["meaning"], _values(column), column["missing"]


def _values(column: Mapping[str, Any]) -> str:
    if "levels" in column:
        return ", ".join(f"{level} ({count:,})" for level, count in column["levels"].items())
    if "lowest" in column:
        return f"{column['lowest']:g} to {column['highest']:g}"
    return ""


def _asked(question: Mapping[str, Any]) -> tuple[Any, ...]:
    name = f"{question['name']} (scored)" if question["scored"] else question["name"]
    prompts = question["prompts"]
    more = f" (and {len(prompts) - 1} more wordings)" if len(prompts) > 1 else ""
    return name, question["kind"], prompts[0] + more, question["answers"]


def _condition(one: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        one["name"],
        one["kind"],
        one["explainer"] if one["like"] is None else f"like {one['like']}, shuffled",
    )
