"""Items and explanations in CSV, JSON-lines, Parquet or xlsx files, for a spec of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.studies.build.explanations import Key, has_explanations
from verax.studies.build.imports.imported_study import Imported, explanation, notes_on
from verax.studies.build.imports.records import (
    Record,
    Table,
    as_text,
    changed_text,
    class_names_of,
    class_number,
    each,
    needed,
    probabilities,
    read_table,
    whole_number,
)
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Item, Variant
from verax.studies.protocol.contract import Protocol, make_protocol

ROLES = ("learning", "test", "training", "evaluation")
CLASSES = ("label", "prediction", "variant_prediction")
NESTED = ("row", "variant", "explanation")
ROW, VARIANT, EXPLANATION = (f"{name}." for name in NESTED)
Row = tuple[tuple[str, str], ...]
KNOWN = ("id", "role", "part", "text", *CLASSES, "probabilities", "variant", "group", "worse")


@dataclass(frozen=True, eq=False)
class Entry:
    """An item and the record that it is made from."""

    item: Item
    record: Record

    @property
    def where(self) -> str:
        """Where it stands in its file."""
        return self.record.where


@dataclass(frozen=True, eq=False)
class ItemFile:
    """The items of a file.

    Attributes:
        table: the file.
        kind: "text" or "table".
        class_names: the spec's, or those in the file.
        entries: one for each record.
    """

    table: Table
    kind: str
    class_names: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """All items."""
        return tuple(entry.item for entry in self.entries)

    def unused(self) -> list[str]:
        """Columns that say nothing to us."""
        known = (ROW, VARIANT, EXPLANATION)
        return [name for name in self.table.columns if name not in KNOWN and not name.startswith(known)]


def read_items(table: Table, spec: StudySpec) -> ItemFile:
    """The items of a file, numbered in its order."""
    kind = _kind(table)
    _check_columns(table)
    names = tuple(spec.class_names or class_names_of(table.records, CLASSES))
    if len(names) < 2:
        raise VeraxError(
            f"The labels and predictions in {table.path} name {len(names)} classes ({', '.join(names)}); name all "
            "classes of the model in the spec's class_names."
        )
    _check_ids(table)
    columns = tuple(name.removeprefix(ROW) for name in table.columns if name.startswith(ROW))
    items = each(table.records, lambda record: _item(record, spec.dataset, names, columns))
    numbered = [replace(item, id=f"i{number:03d}") for number, item in enumerate(items, start=1)]
    return ItemFile(table, kind, names, tuple(map(Entry, numbered, table.records)))


def source_id(record: Record) -> str:
    """What an item is called where it was made."""
    return as_text(needed(record, "id")).strip()


def role_of(record: Record) -> str:
    """What an item is for; a test, if the record does not say."""
    role = as_text(record.cells.get("role", "test")).strip()
    if role not in ROLES:
        raise VeraxError(f"role is {role!r}; it must be {', '.join(ROLES[:-1])} or {ROLES[-1]}")
    return role


def part_of(record: Record) -> str:
    """What ids are unique in: a part of the dataset, or all items of one role."""
    return as_text(record.cells.get("part", role_of(record))).strip()


def _kind(table: Table) -> str:
    texts, rows = "text" in table.columns, any(name.startswith(ROW) for name in table.columns)
    if texts and rows:
        raise VeraxError(
            f"{table.path} has a column 'text' and columns '{ROW}...'; items are texts or rows of a table, "
            "not both."
        )
    if not texts and not rows:
        raise VeraxError(
            f"{table.path} has no inputs; name the column of texts 'text', or each column of a table "
            f"'{ROW}...' (it has: {', '.join(table.columns)})."
        )
    return "text" if texts else "table"


def _check_columns(table: Table) -> None:
    missing = [name for name in ("id", "label") if name not in table.columns]
    if not {"prediction", "probabilities"} & set(table.columns):
        missing.append("prediction")
    if missing:
        raise VeraxError(
            f"{table.path} has no column {missing[0]!r}{_more(len(missing) - 1)}; it has: "
            f"{', '.join(table.columns)}."
        )


def _check_ids(table: Table) -> None:
    keys = each(table.records, lambda record: (part_of(record), source_id(record)))
    counts = Counter(keys)
    repeated = [name for name in counts if counts[name] > 1]
    if repeated:
        places = [record.where for record, key in zip(table.records, keys, strict=True) if key == repeated[0]]
        more = f" ({len(repeated) - 1} more ids are there twice)" if len(repeated) > 1 else ""
        raise VeraxError(
            f"Two items have the id {repeated[0][1]!r}: {' and '.join(places[:2])}{more}; give each its own, "
            "or say in a column 'part' that they are from different parts of the data."
        )


def _item(record: Record, dataset: str, names: tuple[str, ...], columns: tuple[str, ...]) -> Item:
    shares = record.cells.get("probabilities")
    chances = () if shares is None else probabilities(shares, names, "probabilities")
    said = record.cells.get("prediction")
    if said is None and not chances:
        needed(record, "prediction")
    worse = record.cells.get("worse")
    given = _input(record, columns)
    group = record.cells.get("group")
    return Item(
        id="",
        role=role_of(record),
        input=given,
        label=class_number(needed(record, "label"), names, "label"),
        prediction=int(np.argmax(chances)) if said is None else class_number(said, names, "prediction"),
        probabilities=chances,
        dataset=dataset,
        part=part_of(record),
        group=0 if group is None else whole_number(group, "group"),
        variant=_variant(record, given, names),
        worse=None if worse is None else probabilities(worse, names, "worse"),
        source=source_id(record),
    )


def _input(record: Record, columns: tuple[str, ...]) -> str | Row:
    if not columns:
        return as_text(needed(record, "text"))
    row = tuple((name, as_text(record.cells.get(ROW + name, "missing"))) for name in columns)
    if not any(ROW + name in record.cells for name in columns):
        raise VeraxError(f"every column '{ROW}...' is empty; fill them in")
    return row


def _variant(record: Record, given: str | Row, names: tuple[str, ...]) -> Variant | None:
    edits = {
        name.removeprefix(VARIANT): as_text(value)
        for name, value in record.cells.items()
        if name.startswith(VARIANT)
    }
    text = record.cells.get("variant")
    if text is None and not edits:
        return None
    prediction = class_number(needed(record, "variant_prediction"), names, "variant_prediction")
    if isinstance(given, str):
        if text is None:
            raise VeraxError(f"a text has a changed version in the column 'variant', not in '{VARIANT}...'")
        return Variant(*changed_text(given, as_text(text)), prediction)
    return _changed_row(given, edits, prediction)


def _changed_row(row: Row, edits: dict[str, str], prediction: int) -> Variant:
    columns = [name for name, _ in row]
    unknown = [name for name in edits if name not in columns]
    if unknown or not edits:
        said = repr(VARIANT + unknown[0]) if unknown else "'variant'"
        raise VeraxError(
            f"{said} is no column of the row; write '{VARIANT}' before one of: {', '.join(columns)}"
        )
    changed = tuple(place for place, (name, value) in enumerate(row) if edits.get(name, value) != value)
    if not changed:
        raise VeraxError("the variant is the same as the row; change a value, or leave it out")
    return Variant(tuple((name, edits.get(name, value)) for name, value in row), changed, prediction)


def _more(count: int) -> str:
    return f" (and {count} more that it needs)" if count else ""


MODELS = ("model", "worse")


@dataclass(frozen=True, eq=False)
class Given:
    """An explanation as it was found: what it explains, the cell's content, and where that stands."""

    key: Key
    value: object
    where: str


def read_explanations(
    file: ItemFile, own: Table | None, spec: StudySpec, protocol: Protocol
) -> tuple[dict[Key, Explanation], tuple[str, ...]]:
    """The explanations of all items that the protocol explains, and notes on others that were left out.

    Args:
        file: the items; columns ``explanation.CONDITION`` hold explanations.
        own: a file of explanations: columns ``item``, ``condition`` and ``explanation``.
        spec: the conditions.
        protocol: knows which items are explained.
    """
    items = {item.id: item for item in file.items}
    given = [*_from_columns(file, spec), *(() if own is None else _from_file(file, own, spec))]
    by_key: dict[Key, Given] = {}
    for entry in given:
        if entry.key in by_key:
            raise VeraxError(
                f"The item {items[entry.key[0]].source!r} has two explanations in the condition "
                f"{entry.key[1]!r}: in {by_key[entry.key].where} and in {entry.where}; keep one."
            )
        by_key[entry.key] = entry
    wanted = _wanted(file, spec, protocol)
    _refuse_missing(file, wanted, by_key)

    def read(entry: Given) -> Explanation:
        name, condition, _ = entry.key
        return explanation(entry.value, items[name], file.class_names, spec.condition(condition))

    explanations = each([by_key[key] for key in wanted], read)
    left = len(by_key) - len(wanted)
    notes = (f"Explanations left out, because this protocol does not show them: {left}.",) if left else ()
    return dict(zip(wanted, explanations, strict=True)), notes


def _from_columns(file: ItemFile, spec: StudySpec) -> Iterator[Given]:
    for column in file.table.columns:
        if not column.startswith(EXPLANATION):
            continue
        name, _, which = column.removeprefix(EXPLANATION).partition(".")
        problem = _problem(name, which or "model", spec)
        if problem:
            raise VeraxError(f"{file.table.path} has a column {column!r}, but {problem}.")
        for entry in file.entries:
            if column in entry.record.cells:
                yield Given((entry.item.id, name, which or "model"), entry.record.cells[column], entry.where)


def _from_file(file: ItemFile, own: Table, spec: StudySpec) -> list[Given]:
    missing = [name for name in ("item", "condition", "explanation") if name not in own.columns]
    if missing:
        raise VeraxError(f"{own.path} has no column {missing[0]!r}; it has: {', '.join(own.columns)}.")

    def read(record: Record) -> Given:
        name = as_text(needed(record, "condition")).strip()
        which = as_text(record.cells.get("model", "model")).strip()
        problem = _problem(name, which, spec)
        if problem:
            raise VeraxError(f"condition is {name!r}, but {problem}")
        return Given((_find(file, record).id, name, which), needed(record, "explanation"), record.where)

    return each(own.records, read)


def _problem(name: str, which: str, spec: StudySpec) -> str:
    """Why explanations cannot belong to a condition; nothing if they can."""
    known = [condition.name for condition in spec.conditions]
    if name not in known:
        return f"the spec has no such condition; it has {', '.join(known)}"
    condition = spec.condition(name)
    if condition.like is not None:
        return f"in the spec the condition {name!r} is like {condition.like!r}; leave one of them out"
    if condition.kind == "none":
        return f'the spec gives the condition {name!r} no explainer; write explainer = "imported" there'
    return "" if which in MODELS else f"the model is {which!r}; it must be {' or '.join(MODELS)}"


def _find(file: ItemFile, record: Record) -> Item:
    name = as_text(needed(record, "item")).strip()
    role = record.cells.get("role")
    same_name = [item for item in file.items if item.source == name and role in (None, item.role)]
    if not same_name:
        raise VeraxError(f"there is no item {name!r} in {file.table.path.name}")
    if len(same_name) > 1:
        roles = ", ".join(item.role for item in same_name)
        raise VeraxError(f"there are {len(same_name)} items {name!r} ({roles}); say which in a column 'role'")
    return same_name[0]


def _wanted(file: ItemFile, spec: StudySpec, protocol: Protocol) -> list[Key]:
    models = MODELS if protocol.explains_worse else MODELS[:1]
    return [
        (item.id, condition.name, which)
        for condition in filter(has_explanations, spec.conditions)
        for item in file.items
        if item.role in protocol.explained
        for which in models
    ]


def _refuse_missing(file: ItemFile, wanted: list[Key], by_key: dict[Key, Given]) -> None:
    missing = [key for key in wanted if key not in by_key]
    if not missing:
        return
    name, condition, which = missing[0]
    entry = next(entry for entry in file.entries if entry.item.id == name)
    column = EXPLANATION + condition + ("" if which == "model" else f".{which}")
    more = f" ({len(missing)} of {len(wanted)} explanations are missing)" if len(missing) > 1 else ""
    raise VeraxError(
        f"The item {entry.item.source!r} ({entry.where}) has no explanation in the condition "
        f"{condition!r}{more}; fill in the column {column!r}, or give a file of explanations with "
        "--explanations-file."
    )


def import_files(spec: StudySpec, items: str | Path, explanations: str | Path | None = None) -> Imported:
    """Reads items, and explanations from the same file, from a second one, or from both.

    Args:
        spec: knows the protocol and the conditions.
        items: a file with one record for each item, see ``docs/importing.md``.
        explanations: a file with columns ``item``, ``condition`` and ``explanation``.
    """
    own = None if explanations is None else read_table(explanations)
    return import_tables(spec, read_table(items, NESTED), own)


def import_tables(spec: StudySpec, items: Table, own: Table | None) -> Imported:
    """The same of records that are read already."""
    protocol = make_protocol(spec.protocol)
    file = read_items(items, spec)
    each(file.entries, lambda entry: protocol.check_item(entry.item))
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
