"""The published stimuli of Gonzalez and Sogaard (2020): texts, labels and the model's answers, in three sets a task.

Their repository has a folder for each task, with ``train_set1.csv`` to ``train_set3.csv`` (25 texts each) and
``test_set1.csv`` to ``test_set3.csv`` (10 each). Every row has a text of the training part (``train_*``) and one of the
test part (``test_*``): people learnt from the former of a train set and were tested on the latter of the test set. LIME
was shown in pictures, which are not there: its scores come from a file of one's own.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from verax.errors import VeraxError
from verax.studies.build.imports.imported_study import Imported
from verax.studies.build.imports.own_files import import_tables
from verax.studies.build.imports.records import Record, Table, as_text, each, needed, read_table
from verax.studies.definition.spec import StudySpec, parse_study_spec

SETS = (1, 2, 3)
# The column with the number of a row in the whole.
ROW = "Unnamed: 0"
TRAINING, EVALUATION = "training", "evaluation"
# What begins the columns of what people learnt from, and of what they were tested on.
COLUMNS = {TRAINING: "train", EVALUATION: "test"}


@dataclass(frozen=True)
class StimuliTask:
    """A task: its folder, its name in Table 1, what people know of it, and its classes."""

    folder: str
    name: str
    about: str | None
    classes: tuple[str, ...]


TASKS = {
    task.folder: task
    for task in (
        StimuliTask(
            "binary",
            "SST",
            "A computer program, the model, reads sentences from film reviews. For each it says whether the sentence "
            "is negative or positive.",
            ("negative", "positive"),
        ),
        StimuliTask("sentence_length", "Sent Len", None, tuple("012345")),
        StimuliTask("subj_number", "Subj Number", None, ("NN", "NNS")),
        StimuliTask("obj_number", "Obj Number", None, ("NN", "NNS")),
        StimuliTask("past_present", "Tense", None, ("PAST", "PRES")),
    )
}


def stimuli_spec(task: StimuliTask, *, explained: bool) -> str:
    """The spec of a task as the text of a TOML file: the paper's design, as far as the stimuli go.

    Args:
        task: which.
        explained: whether there are explanations; without them there is one condition, and one set.
    """
    conditions = '[[conditions]]\nname = "none"\n'
    if explained:
        conditions += """
[[conditions]]
name = "lime"
explainer = "lime"

[[conditions]]
name = "random"
like = "lime"
"""
    said = f"task = {json.dumps(task.about)}\n" if task.about else ""
    return f"""\
# The published stimuli of Gonzalez and Sogaard (2020), "The Reverse Turing Test for Evaluating Interpretability Methods
# on Unknown Tasks". To change this file: verax study import reverse-turing FOLDER --spec FILE
title = "Imitate a machine"
name = {json.dumps(f"published stimuli, {task.name}")}
dataset = {json.dumps(f"reverse-turing-{task.folder}")}
model = "bert-lstm"
class_names = {json.dumps(list(task.classes))}
participants = 1
screening = false

[protocol]
name = "reverse-turing"
training = 25
evaluation = 10
masked = {json.dumps(task.about is None)}
task = {json.dumps(task.name)}
strategy = true

{conditions}
[display]
features = 3

[texts]
{said}contact = "the person who invited you"
"""


def import_stimuli(
    folder: str | Path, explanations: str | Path | None = None, text: str | None = None
) -> tuple[StudySpec, str, Imported]:
    """A task of the published stimuli as a study, and the text of its spec.

    Args:
        folder: of the task, as published: "binary", "sentence_length", "subj_number", "obj_number" or "past_present".
        explanations: a file with columns ``item`` ("training 1-78": role, set and the number of the row), ``condition``
            and ``explanation``, see ``docs/importing.md``.
        text: of a spec in place of our own.
    """
    task = TASKS.get(Path(folder).resolve().name)
    if task is None or not Path(folder).is_dir():
        raise VeraxError(
            f"{str(folder)!r} is no folder of a task of the published stimuli; there are: {', '.join(TASKS)}."
        )
    text = text or stimuli_spec(task, explained=explanations is not None)
    spec = parse_study_spec(text)
    sets = SETS[: len(spec.conditions)]
    records = [
        record
        for number in sets
        for role, begins in COLUMNS.items()
        for record in _records(Path(folder) / f"{begins}_set{number}.csv", number, role, begins, task)
    ]
    columns = ("id", "role", "part", "group", "text", "label", "prediction")
    own = None if explanations is None else read_table(explanations)
    made = import_tables(spec, Table(Path(folder), columns, tuple(records)), own)
    if len(sets) == len(SETS):
        return spec, text, made
    note = (
        f"Of the three sets only the first {len(sets)} are used, one for each condition; give LIME's scores with "
        "--explanations-file for the paper's three conditions."
    )
    return (
        spec,
        text,
        Imported(made.kind, made.class_names, made.items, made.explanations, (note, *made.notes)),
    )


def _records(file: Path, number: int, role: str, begins: str, task: StimuliTask) -> list[Record]:
    def record(row: Record) -> Record:
        place = as_text(needed(row, ROW))
        numbered = row.cells.get(f"{begins}_enlabel", row.cells.get(f"{begins}_label"))
        cells = {
            "id": f"{role} {number}-{place}",
            "role": role,
            "part": f"{role} {number}",
            "group": number - 1,
            "text": as_text(needed(row, f"{begins}_text")).strip(),
            "label": _class(numbered, f"{begins}_label", task),
            "prediction": _class(needed(row, f"{begins}_model_pred"), f"{begins}_model_pred", task),
        }
        return Record(cells, row.where)

    return each(_rows(file), record)


def _rows(file: Path) -> list[Record]:
    """The rows of a file; its first column has no name, which `read_table` would not take beside the second's."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except FileNotFoundError as error:
        raise VeraxError(f"There is no file {str(file)!r}; get the published files again.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise VeraxError(f"{str(file)!r} cannot be read as a CSV file ({error}).") from error
    return [
        Record({name: cell for name, cell in row.items() if cell}, f"row {number} of {file.name}")
        for number, row in enumerate(rows, start=1)
    ]


def _class(value: object, column: str, task: StimuliTask) -> str:
    """A class by its number."""
    said = as_text(value) if value is not None else ""
    classes = {str(number): name for number, name in enumerate(task.classes)}
    if said not in classes:
        raise VeraxError(
            f"{column} is {said[:60]!r}, which is no class of {task.folder}; get the published files again"
        )
    return classes[said]
