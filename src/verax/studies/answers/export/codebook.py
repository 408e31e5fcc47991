"""The codebook of an export: every file, table, column and question, for machines and for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from verax.studies.answers.exclusion_rules import limit_of
from verax.studies.answers.export.column_counts import TableCount
from verax.studies.answers.response_record import written
from verax.studies.model.screen import Question, with_names
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
    "pages": "One row for each page that a participant was shown, with its time, the window and the device.",
    "exclusions": "One row for each exclusion rule that holds, or once held, for a participant.",
}


class ExportedFile(TypedDict):
    """A data file of an export."""

    name: str
    table: str
    format: str
    rows: int
    bytes: int
    sha256: str


def make_codebook(
    study: Study,
    counts: Mapping[str, TableCount],
    files: Sequence[ExportedFile],
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
        "files": list(files),
        "tables": {name: _table(name, counted) for name, counted in counts.items()},
        "questions": _questions(study, counts["responses"]),
        "phases": [
            {"key": phase.key, "title": phase.title, "kind": phase.kind} for phase in study.phases.values()
        ],
        "conditions": [
            {
                "name": condition.name,
                "kind": condition.kind,
                "explainer": condition.explainer,
                "like": condition.like,
            }
            for condition in spec.conditions
        ],
        "classes": list(study.class_names),
        "exclusion_rules": [{"rule": rule.rule, "limit": limit_of(rule)} for rule in spec.exclusion],
    }


def _table(name: str, counted: TableCount) -> dict[str, object]:
    columns = [
        {
            "name": count.column.name,
            "type": count.column.type,
            "meaning": count.column.meaning,
            "identifying": count.column.identifying,
            **count.to_dict(),
        }
        for count in counted.columns
    ]
    return {"about": ABOUT[name], "rows": counted.rows, "columns": columns}


def _questions(study: Study, counted: TableCount) -> list[dict[str, object]]:
    """Every question that any page asks, with all answers that any page offers for it."""
    scored = make_protocol(study.spec.protocol).scored
    asked: dict[str, list[Question]] = {}
    for screen in study.screens.values():
        for question in screen.questions:
            asked.setdefault(question.name, []).append(question)
    return [
        {"name": name, "kind": questions[0].kind}
        | _asked_and_answered(questions, study.class_names, counted, scored=name == scored)
        for name, questions in asked.items()
    ]


def _asked_and_answered(
    questions: Sequence[Question], names: Sequence[str], counted: TableCount, *, scored: bool
) -> dict[str, object]:
    """What is asked under one name, on whatever page, and how often each answer was given."""
    name = questions[0].name
    labels: dict[str, dict[str, None]] = {}  # by answer
    for question in questions:
        for option in question.options:
            labels.setdefault(str(written(option.means)), {}).setdefault(with_names(option.label, names))
    chosen = {answer: counted.chosen[name, answer] for answer in labels}
    return {
        "prompts": list(dict.fromkeys(with_names(question.prompt, names) for question in questions)),
        "scored": scored,
        "answers": counted.written[name] + sum(chosen.values()),
        "options": [
            {"answer": answer, "labels": list(said), "count": chosen[answer]}
            for answer, said in labels.items()
        ],
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
        *_rows(
            ("file", "rows", "bytes", "sha256"),
            [(file["name"], file["rows"], file["bytes"], file["sha256"]) for file in codebook["files"]],
        ),
    ]
    for name, table in codebook["tables"].items():
        columns = [
            (column["name"], column["type"], column["meaning"], _values(column), column["missing"])
            for column in table["columns"]
        ]
        lines += ["", f"## {name}", "", f"{table['about']} {table['rows']:,} rows.", ""]
        lines += _rows(("column", "type", "meaning", "values", "missing"), columns)
    lines += ["", "## Questions", ""]
    lines += _rows(("question", "kind", "asks", "answers"), map(_asked, codebook["questions"]))
    for question in codebook["questions"]:
        if question["options"]:
            options = [
                (f"`{option['answer']}`", " / ".join(option["labels"]), option["count"])
                for option in question["options"]
            ]
            lines += ["", f"### {question['name']}", ""]
            lines += _rows(("answer", "on the page", "chosen"), options)
    lines += ["", "## Phases and conditions", ""]
    phases = [(phase["key"], phase["kind"], phase["title"]) for phase in codebook["phases"]]
    lines += _rows(("phase", "kind", "title"), phases)
    lines += ["", *_rows(("condition", "kind", "explainer"), map(_condition, codebook["conditions"]))]
    lines += ["", *_rows(("class", "name"), enumerate(codebook["classes"]))]
    return "\n".join(lines) + "\n"


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    written_rows = ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *written_rows]


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def _values(column: Mapping[str, Any]) -> str:
    if "levels" in column:
        return ", ".join(f"{level} ({count:,})" for level, count in column["levels"].items())
    if "lowest" in column:
        return f"{column['lowest']:g} to {column['highest']:g}"
    return ""


def _asked(question: Mapping[str, Any]) -> tuple[object, ...]:
    name = f"{question['name']} (scored)" if question["scored"] else question["name"]
    prompts = question["prompts"]
    more = f" (and {len(prompts) - 1} more wordings)" if len(prompts) > 1 else ""
    return name, question["kind"], prompts[0] + more, question["answers"]


def _condition(condition: Mapping[str, object]) -> tuple[object, ...]:
    like = condition["like"]
    shows = condition["explainer"] if like is None else f"like {like}, shuffled"
    return condition["name"], condition["kind"], shows
