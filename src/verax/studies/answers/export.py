"""A study's answers as files: CSV, JSON lines and Parquet, with a codebook that says what everything means."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypedDict

from verax.errors import VeraxError
from verax.installed import VERSION
from verax.studies.answers.exclusion import apply_exclusions, limit_of
from verax.studies.answers.export_files import SCRIPT, WRITERS, Part, TableCount, r_script, replaced
from verax.studies.answers.flat_records import READERS, View, view
from verax.studies.answers.response_record import written
from verax.studies.answers.schema import TABLES, RecordColumn, shown
from verax.studies.definition.screen import Question, with_names
from verax.studies.definition.study import Study
from verax.studies.protocol.contract import make_protocol
from verax.studies.store.clock import from_micros
from verax.studies.store.store import Store

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
            **count.counts(),
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


FORMATS = tuple(WRITERS)
AT_ONCE = 10_000  # rows in memory, and in a row group of Parquet
CODEBOOK, READABLE = "codebook.json", "codebook.md"
NAMES = {f"{table}.{format}" for table in TABLES for format in FORMATS} | {CODEBOOK, READABLE, SCRIPT}


@dataclass(frozen=True)
class Exported:
    """What was exported.

    Attributes:
        folder: where it is.
        rows: by table.
        files: the data files: name, table, format, rows, bytes and sha256 of each.
        identifying, free_text: whether they hold what could lead to a person, and what people wrote.
    """

    folder: Path
    rows: Mapping[str, int]
    files: tuple[ExportedFile, ...]
    identifying: bool
    free_text: bool


def export_study(
    store: Store,
    folder: str | Path,
    formats: Sequence[str] = ("csv",),
    identifying: bool = False,
    free_text: bool = False,
) -> Exported:
    """Writes participants, responses, events and exclusions with a codebook; an older export there is replaced.

    Args:
        store: whose exclusion rules are applied first.
        folder: to be made; it is there whole or not at all.
        formats: of "csv", "jsonl" and "parquet".
        identifying: with times, completion codes and hashes of persons.
        free_text: with what people wrote.
    """
    formats = _check_formats(formats)
    apply_exclusions(store)
    with replaced(Path(folder), NAMES.__contains__) as unfinished:
        with view(store, identifying=identifying, free_text=free_text) as seen:
            counts = {table: _write_table(unfinished, table, formats, seen) for table in TABLES}
        rows = {table: counted.rows for table, counted in counts.items()}
        files = [
            _about_file(unfinished / f"{table}.{format}", table, format, rows[table])
            for table in TABLES
            for format in formats
        ]
        codebook = make_codebook(
            store.study,
            counts,
            files,
            from_micros(seen.work.now).isoformat(timespec="seconds"),
            identifying=identifying,
            free_text=free_text,
        )
        text = json.dumps(codebook, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        (unfinished / CODEBOOK).write_text(text, encoding="utf-8")
        (unfinished / READABLE).write_text(to_markdown(codebook), encoding="utf-8")
        if "csv" in formats:
            (unfinished / SCRIPT).write_text(r_script(store.study), encoding="utf-8")
    return Exported(Path(folder), rows, tuple(files), identifying, free_text)


def _check_formats(formats: Sequence[str]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(formats))
    unknown = [format for format in wanted if format not in FORMATS]
    if unknown or not wanted:
        what = f"{', '.join(map(repr, unknown))} is none of them" if unknown else "none is asked for"
        raise VeraxError(f"An export can be written as {', '.join(FORMATS)}; {what}.")
    return wanted


def _write_table(folder: Path, table: str, formats: Sequence[str], seen: View) -> TableCount:
    columns = shown(TABLES[table], identifying=seen.identifying)
    counted = TableCount(columns)
    with ExitStack() as stack:
        writers = [
            stack.enter_context(closing(WRITERS[format](folder / f"{table}.{format}", columns)))
            for format in formats
        ]
        for part in _parts(READERS[table](seen), columns):
            counted.add(part)
            for writer in writers:
                writer.write(part)
    return counted


def _parts(records: Iterator[Mapping[str, object]], columns: Sequence[RecordColumn]) -> Iterator[Part]:
    names = [column.name for column in columns]
    values_of = itemgetter(*names)
    while some := list(islice(records, AT_ONCE)):
        yield dict(zip(names, zip(*map(values_of, some), strict=True), strict=True))


def _about_file(path: Path, table: str, format: str, rows: int) -> ExportedFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "name": path.name,
        "table": table,
        "format": format,
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": sha256,
    }
