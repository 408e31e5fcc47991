"""A study's answers as data frames, for analysis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, Column
from verax.studies.model.study import Study

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 20_000  # records that wait to become a table
DTYPES = {"number": "float64", "text": "object", "json": "object"}
USED = {"participants": PARTICIPANTS, "responses": RESPONSES, "exclusions": EXCLUSIONS}


@dataclass(frozen=True, eq=False)
class Collected:
    """All answers to a study, people's and bots', with everything but what is identifying.

    Attributes:
        study: the frozen study.
        participants, responses, exclusions: the columns of `verax.studies.answers.schema`. Integers and booleans that
            may be missing are pandas' nullable ones, others plain; texts and JSON are objects, None where missing.
        source: where they come from, for people to read.
        edited: files of an export that were changed since, in a way that still fits the study.
    """

    study: Study
    participants: pd.DataFrame
    responses: pd.DataFrame
    exclusions: pd.DataFrame
    source: str
    edited: tuple[str, ...] = ()


def to_frame(records: Iterator[Mapping[str, object]], columns: tuple[Column, ...]) -> pd.DataFrame:
    """Records as a table with the dtypes of the columns, also if there are none."""
    import pandas as pd

    parts = []
    while some := list(islice(records, AT_ONCE)):
        parts.append(_frame(some, columns))
    return pd.concat(parts, ignore_index=True) if parts else _frame([], columns)


def _frame(records: list[Mapping[str, object]], columns: tuple[Column, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {column.name: pd.Series(_values(records, column), dtype=dtype_of(column)) for column in columns}
    )


def _values(records: list[Mapping[str, object]], column: Column) -> list[object]:
    """What stands in a column; only one that came later may be missing in a record."""
    if column.later:
        return [record.get(column.name) for record in records]
    return [record[column.name] for record in records]


def dtype_of(column: Column) -> str:
    """The pandas dtype of a column."""
    match column.type:
        case "integer":
            return "int64" if column.always else "Int64"
        case "boolean":
            return "bool" if column.always else "boolean"
    return DTYPES[column.type]
