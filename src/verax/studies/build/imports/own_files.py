"""Items and explanations in CSV, JSON-lines, Parquet or xlsx files, for a spec of one's own."""

from __future__ import annotations

from pathlib import Path

from verax.studies.build.imports.balance_notes import notes_on
from verax.studies.build.imports.imported_explanations import read_explanations
from verax.studies.build.imports.imported_items import NESTED, read_items
from verax.studies.build.imports.imported_study import Imported
from verax.studies.build.imports.record_files import each, read_table
from verax.studies.model.spec import StudySpec
from verax.studies.protocol.contract import make_protocol


def import_files(spec: StudySpec, items: str | Path, explanations: str | Path | None = None) -> Imported:
    """Reads items, and explanations from the same file, from a second one, or from both.

    Args:
        spec: knows the protocol and the conditions.
        items: a file with one record for each item, see ``docs/importing.md``.
        explanations: a file with columns ``item``, ``condition`` and ``explanation``.
    """
    protocol = make_protocol(spec.protocol)
    file = read_items(read_table(items, NESTED), spec)
    each(file.entries, lambda entry: protocol.check_item(entry.item))
    own = None if explanations is None else read_table(explanations)
    read, left = read_explanations(file, own, spec, protocol)
    unused = file.unused()
    notes = [f"Columns that are not used: {', '.join(unused)}."] if unused else []
    return Imported(
        kind=file.kind,
        class_names=file.class_names,
        items=file.items,
        explanations=read,
        notes=(*notes, *left, *notes_on(file.items, file.class_names, protocol)),
    )
