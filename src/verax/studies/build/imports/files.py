"""Items and explanations in CSV, JSON-lines, Parquet or xlsx files, for a spec of one's own."""

from __future__ import annotations

from pathlib import Path

from verax.errors import VeraxError
from verax.studies.build.imports.assemble import Imported
from verax.studies.build.imports.imported_explanations import read_explanations
from verax.studies.build.imports.imported_items import NESTED, Entry, ItemFile, read_items
from verax.studies.build.imports.notes import notes_on
from verax.studies.build.imports.readers import each, read_table
from verax.studies.model.spec import StudySpec
from verax.studies.protocols import Protocol, make_protocol
from verax.studies.protocols.counterfactual.protocol import Counterfactual
from verax.studies.protocols.uncertain_case.protocol import UncertainCase


def import_files(spec: StudySpec, items: str | Path, explanations: str | Path | None = None) -> Imported:
    """Reads items, and explanations from the same file, from a second one, or from both.

    Args:
        spec: knows the protocol and the conditions.
        items: a file with one record for each item, see ``docs/importing.md``.
        explanations: a file with columns ``item``, ``condition`` and ``explanation``.
    """
    protocol = make_protocol(spec.protocol)
    file = read_items(read_table(items, NESTED), spec)
    _check_needs(file, protocol)
    own = None if explanations is None else read_table(explanations)
    found, left = read_explanations(file, own, spec, protocol)
    unused = file.unused()
    notes = [f"Columns that are not used: {', '.join(unused)}."] if unused else []
    return Imported(
        kind=file.kind,
        class_names=file.class_names,
        items=file.items,
        explanations=found,
        notes=(*notes, *left, *notes_on(file.items, file.class_names, protocol)),
    )


def _check_needs(file: ItemFile, protocol: Protocol) -> None:
    """What some protocols show of every item must be there."""

    def check(entry: Entry) -> None:
        item = entry.item
        if isinstance(protocol, Counterfactual) and item.variant is None and item.role == "test":
            raise VeraxError("there is no changed version; fill in 'variant' and 'variant_prediction'")
        if isinstance(protocol, UncertainCase) and not item.probabilities:
            raise VeraxError("the cell 'probabilities' is empty; fill it in")
        if protocol.explains_worse and item.worse is None:
            raise VeraxError("the cell 'worse' is empty; fill in the probabilities of the worse model")
        if protocol.explains_worse and item.worse and item.worse[item.prediction] < max(item.worse):
            raise VeraxError("the two models predict different classes; leave the item out")

    each(file.entries, check)
