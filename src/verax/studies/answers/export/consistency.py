"""Checks that the tables of an export fit the study: whatever was edited so that it no longer does is one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from verax.errors import VeraxError
from verax.studies.answers.frames import USED
from verax.studies.answers.response_record import written
from verax.studies.model.screen import Meaning
from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol

if TYPE_CHECKING:
    import pandas as pd

K = TypeVar("K", str, int)


def check_tables(study: Study, folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Refuses tables that no export of this study could hold."""
    participants, responses, exclusions = (tables[name] for name in USED)
    for name, columns in USED.items():
        for column in columns:
            if column.values is not None:
                _known(folder, name, tables[name], column.name, column.values)
    twice = participants["participant"].duplicated()
    _refuse(folder, "participants", participants, "participant", twice, "is there twice")
    people = set(participants["participant"])
    for name, table in (("responses", responses), ("exclusions", exclusions)):
        _known(folder, name, table, "participant", people, "has no row in the table participants")
    rows = [row.number for row in study.rows]
    conditions = [condition.name for condition in study.spec.conditions]
    for name, table in (("participants", participants), ("responses", responses)):
        _known(folder, name, table, "design_row", rows)
        _known(folder, name, table, "condition", conditions)
        _known(folder, name, table, "phase", study.phases)
    _known(folder, "responses", responses, "item", study.items, "is no item of the study")
    _check_answers(study, folder, responses)


def _known(
    folder: Path, name: str, table: pd.DataFrame, column: str, known: Iterable[K], what: str = ""
) -> None:
    allowed = set(known)
    unknown = table[column].notna() & ~table[column].isin(allowed)
    listed = ", ".join(map(str, sorted(allowed))) if len(allowed) <= 8 else f"any of {len(allowed)}"
    _refuse(folder, name, table, column, unknown, what or f"is not what can stand there ({listed})")


def _check_answers(study: Study, folder: Path, responses: pd.DataFrame) -> None:
    """Every answer is one that its question has, and is worth what it says."""
    options = _options(study)
    _known(folder, "responses", responses, "question", options, "is no question of the study")
    pairs = list(zip(responses["question"], responses["answer"], strict=True))
    no_option = [
        question is not None
        and answer is not None
        and bool(options[question])
        and answer not in options[question]
        for question, answer in pairs
    ]
    _refuse(folder, "responses", responses, "answer", no_option, "is no answer to its question")
    worth = _worth(study, options)
    scored = make_protocol(study.spec.protocol).scored
    rows = zip(pairs, responses["phase_kind"], responses["item"], responses["score"], strict=True)
    wrong = [
        _differs(score, worth(item, answer))
        if question == scored and kind == "test" and item is not None and answer is not None
        else not math.isnan(score)  # where there can be none
        for (question, answer), kind, item, score in rows
    ]
    _refuse(folder, "responses", responses, "score", wrong, "is not what the answer is worth")


def _differs(score: float, worth: float) -> bool:
    return not abs(score - worth) < 1e-9


def _options(study: Study) -> dict[str, dict[str, Meaning]]:
    """By question: what its options mean, by how that is written; none if it is answered in own words."""
    options: dict[str, dict[str, Meaning]] = {}
    for screen in study.screens.values():
        for question in screen.questions:
            means = options.setdefault(question.name, {})
            means |= {str(written(option.means)): option.means for option in question.options}
    return options


def _worth(study: Study, options: Mapping[str, Mapping[str, Meaning]]) -> Callable[[str, str], float]:
    protocol = make_protocol(study.spec.protocol)

    @cache
    def worth(item: str, answer: str) -> float:
        return protocol.score(study.items[item], options[protocol.scored][answer])

    return worth


def _refuse(
    folder: Path,
    name: str,
    table: pd.DataFrame,
    column: str,
    wrong: Sequence[bool] | pd.Series,
    what: str,
) -> None:
    import numpy as np
    import pandas as pd

    places = np.flatnonzero(np.asarray(wrong, dtype=bool))
    if len(places) == 0:
        return
    value = table[column].tolist()[int(places[0])]
    shown = "that is missing" if pd.isna(value) else repr(value)
    more = f" ({len(places) - 1} more such rows)" if len(places) > 1 else ""
    raise VeraxError(
        f"The table {name} of the export {str(folder)!r}, row {int(places[0]) + 1}: {column} {shown} {what}{more}; "
        "put back what was exported."
    )
