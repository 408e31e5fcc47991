"""Translations of a spec: what they may say otherwise, and how they are laid over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What a translation of a spec may say otherwise.
TRANSLATABLE = (
    "title",
    "dataset",
    "source",
    "model",
    "class_names",
    "about",
    "labels",
    "rating",
    "screening",
    "texts",
    "conditions",
    "questions",
)


@dataclass(frozen=True)
class Edition:
    """A study in one of its further languages.

    Attributes:
        titles: of the phases, by key.
        class_names: the dataset's.
        own_items: whether it has items of its own; otherwise they are those of the first language.
    """

    titles: Mapping[str, str]
    class_names: tuple[str, ...]
    own_items: bool = False


def merged(first: Any, over: Any) -> Any:
    """A table with another one over it; tables in a list are known by their names, ready-made blocks by theirs."""
    if isinstance(first, dict) and isinstance(over, dict):
        return {**first, **{name: merged(first.get(name), value) for name, value in over.items()}}
    if isinstance(first, list) and isinstance(over, list) and first and all(map(name_of, (*first, *over))):
        by_name = {name_of(one): one for one in over}
        return [merged(one, by_name.get(name_of(one), {})) for one in first]
    return over


def name_of(table: Any) -> str:
    """What a table in a list is known by; empty if by nothing."""
    return str(table.get("name") or table.get("block") or "") if isinstance(table, dict) else ""


def without_answers(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The translation of a question without that of its answers."""
    return {name: value for name, value in asked.items() if name != "answers"}
