"""A study's answers for analysis, from its database or from an export of it, checked against the study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.studies.answers.schema import EXCLUSIONS, PARTICIPANTS, RESPONSES, Column, shown
from verax.studies.model.study import Study

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.store.store import Store

AT_ONCE = 20_000  # records that wait to become a table
DTYPES = {"number": "float64", "text": "object", "json": "object"}
USED = {"participants": PARTICIPANTS, "responses": RESPONSES, "exclusions": EXCLUSIONS}


@dataclass(frozen=True, eq=False)
class Collected:
    """All answers to a study, people's and bots', with everything but what is identifying.

    Attributes:
        study: the frozen study.
        participants, responses, exclusions: the columns of `verax.studies.answers.rows`. Integers and booleans that
        may be
            missing are pandas' nullable ones, others plain; texts and JSON are objects, None where missing.
        source: where they come from, for people to read.
        edited: files of an export that were changed since, in a way that still fits the study.
    """

    study: Study
    participants: pd.DataFrame
    responses: pd.DataFrame
    exclusions: pd.DataFrame
    source: str
    edited: tuple[str, ...] = ()


def collect(store: Store) -> Collected:
    """All that a database holds, after the study's exclusion rules were applied; texts included."""
    from verax.studies.answers.exclusion import apply_exclusions
    from verax.studies.answers.rows import READERS, view

    apply_exclusions(store)
    with view(store, free_text=True) as seen:
        tables = {
            name: to_frame(READERS[name](seen), shown(columns, identifying=False))
            for name, columns in USED.items()
        }
    return Collected(store.study, **tables, source=f"the database {store.database.name}")


def to_frame(records: Iterator[dict[str, Any]], columns: tuple[Column, ...]) -> pd.DataFrame:
    """Records as a table with the dtypes of the columns, also if there are none."""
    import pandas as pd

    parts = []
    while some := list(islice(records, AT_ONCE)):
        parts.append(_frame(some, columns))
    return pd.concat(parts, ignore_index=True) if parts else _frame([], columns)


def _frame(records: list[dict[str, Any]], columns: tuple[Column, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            column.name: pd.Series([record[column.name] for record in records], dtype=dtype_of(column))
            for column in columns
        }
    )


def dtype_of(column: Column) -> str:
    """The pandas dtype of a column."""
    match column.type:
        case "integer":
            return "int64" if column.always else "Int64"
        case "boolean":
            return "bool" if column.always else "boolean"
    return DTYPES[column.type]


def collect_export(study: Study, folder: str | Path) -> Collected:
    """All that an export of the study holds, whichever format it has; what does not fit the study is one sentence."""
    from verax.studies.answers.export.reading import read_export

    tables, edited = read_export(study, Path(folder))
    return Collected(study, **tables, source=f"the export {folder}", edited=edited)
