"""Imported explanations: from the columns of the items' file, or from a file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verax.errors import VeraxError
from verax.explain.explanation import Explanation
from verax.studies.build.explanations import Key, has_explanations
from verax.studies.build.imports.explanation_values import explanation
from verax.studies.build.imports.imported_items import EXPLANATION, ItemFile
from verax.studies.build.imports.record_files import Record, Table, each
from verax.studies.build.imports.record_values import as_text, needed
from verax.studies.model.item import Item
from verax.studies.model.spec import StudySpec
from verax.studies.protocol.contract import Protocol

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
        "--explanations."
    )
