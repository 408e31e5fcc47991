"""Writes the reference of options and fields in docs/reference/ from the specs that declare them.

    python scripts/options_tables.py

A table of options stands between ``<!-- options of MODULE:SPEC and MODULE:SPEC -->`` and ``<!-- end of options -->``,
a table of what a TOML file may say between ``<!-- fields of MODULE:CLASS -->`` and ``<!-- end of fields
-->``. A test checks that the pages are what this writes.
"""

from __future__ import annotations

import inspect
import json
import re
import types
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from verax.cli.options import options_table

DOCS = Path(__file__).parents[1] / "docs"
OPTIONS = re.compile(r"(<!-- options of ([\w.: ]+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
FIELDS = re.compile(r"(<!-- fields of ([\w.]+):(\w+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)
WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}
BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def with_tables(page: str) -> str:
    """The text of a page with its tables written anew."""

    def options(place: re.Match[str]) -> str:
        begin, specs, end = place.groups()
        kinds = [_named(*spec.split(":")) for spec in specs.split(" and ")]
        return f"{begin}\n{options_table(*kinds)}\n\n{end}"

    def fields(place: re.Match[str]) -> str:
        begin, module, name, end = place.groups()
        return f"{begin}\n{fields_table(_named(module, name))}\n\n{end}"

    return FIELDS.sub(fields, OPTIONS.sub(options, page))


def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def fields_table(kind: type[BaseModel]) -> str:
    """What a table of a TOML file may say, from the class that reads it and its docstring."""
    said = described(kind)
    rows = [("field", "values", "default", "meaning"), ("---",) * 4]
    for name, field in kind.model_fields.items():
        rows.append((f"`{name}`", values_of(field), default_of(field), said[name].replace("|", r"\|")))
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


def described(kind: type) -> dict[str, str]:
    """What the docstrings of a class and of those below it say of each attribute."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")[2]
        for names, sentence in re.findall(r"(?m)^ {4}([\w, ]+): ((?:.*\n?)(?:(?: {8}.*)\n?)*)", text):
            found |= dict.fromkeys(names.split(", "), " ".join(sentence.replace("``", "`").split()))
    linked = {name: re.sub(r"docs/([\w-]+)\.md", r"[\1](../\1.md)", one) for name, one in found.items()}
    return {name: one[:1].upper() + one[1:] for name, one in linked.items()}


def values_of(field: FieldInfo) -> str:
    """What a field takes, in words."""
    bounds = [
        f"{words} {value:g}"
        for one in field.metadata
        for bound, words in BOUNDS.items()
        if (value := getattr(one, bound, None)) is not None
    ]
    return ", ".join([_type(field.annotation), *bounds])


def _type(kind: Any) -> str:
    origin, inner = get_origin(kind), [one for one in get_args(kind) if one is not type(None)]
    if kind in WORDS:
        return WORDS[kind]
    if origin is Literal:
        return " or ".join(f'`"{one}"`' for one in inner)
    if origin is Annotated:
        return _type(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_type, inner)))
    if origin in (list, tuple):
        return f"list of {_type(inner[0])}"
    return "table"


def default_of(field: FieldInfo) -> str:
    """A field's default as a TOML file would say it."""
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True)
    if value in (None, "", {}, [], ()) or isinstance(value, BaseModel):
        return ""
    return f"`{json.dumps(value)}`"


def main() -> None:
    """Writes all pages that have such a table."""
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        if with_tables(page) != page:
            path.write_text(with_tables(page), encoding="utf-8")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
