"""Collects a study's answers for analysis, from its database or from an export of it."""

from __future__ import annotations

from pathlib import Path

from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.export.read import read_export
from verax.studies.answers.flat_records import READERS, view
from verax.studies.answers.frames import USED, Collected, to_frame
from verax.studies.answers.schema import shown
from verax.studies.model.study import Study
from verax.studies.store.store import Store


def collect(store: Store) -> Collected:
    """All that a database holds, after the study's exclusion rules were applied; texts included."""
    apply_exclusions(store)
    with view(store, free_text=True) as seen:
        tables = {
            name: to_frame(READERS[name](seen), shown(columns, identifying=False))
            for name, columns in USED.items()
        }
    return Collected(store.study, **tables, source=f"the database {store.database.name}")


def collect_export(study: Study, folder: str | Path) -> Collected:
    """All that an export of the study holds, whichever format it has; what does not fit the study is one sentence."""
    tables, edited = read_export(study, Path(folder))
    return Collected(study, **tables, source=f"the export {folder}", edited=edited)
