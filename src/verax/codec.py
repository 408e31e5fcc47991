"""Dataclasses as plain values for JSON, and back: the one place where a summary meets its file.

A class may say more about its form in the file with two methods:

- ``json_names(self)``: the attributes that are written, where they are not just all fields;
- ``completed(cls, data)``: what was read, with what the file does not say added to it.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from verax.errors import VeraxError

T = TypeVar("T")


def encode(value: object) -> object:
    """The value made of dicts, lists, strings, finite numbers, booleans and None only: what is no number is null."""
    if is_dataclass(value) and not isinstance(value, type):
        names = value.json_names() if hasattr(value, "json_names") else [one.name for one in fields(value)]
        return {name: encode(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): encode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return encode(value.tolist())
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def encoded(value: object) -> dict[str, object]:
    """A dataclass as the object that stands for it in JSON."""
    made = encode(value)
    if not isinstance(made, dict):
        raise TypeError(f"{type(value).__name__} is no object in JSON")
    return made


def cleaned(value: T) -> T:
    """The same dataclass with plain values inside: what is read from it is what its file says."""
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} is no dataclass")
    return replace(value, **{one.name: _cleaned(getattr(value, one.name)) for one in fields(value)})


def _cleaned(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return cleaned(value)
    if isinstance(value, tuple):
        return tuple(_cleaned(inner) for inner in value)
    return encode(value)


def decode(kind: type[T], data: object, place: str = "the summary") -> T:
    """A dataclass from what JSON holds; names that it does not know are left out.

    Raises:
        VeraxError: something is missing or of another kind; the sentence says where.
    """
    made = _decoded(kind, data, place)
    if not isinstance(made, kind):
        raise TypeError(f"{place} was not read as a {kind.__name__}")
    return made


def _decoded(hint: object, data: object, place: str) -> object:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(parts, data, place)
    if origin is tuple:
        return tuple(
            _decoded(parts[0], inner, f"{place}[{n}]") for n, inner in enumerate(_typed(list, data, place))
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        known = _typed(dict, data, place)
        return {str(key): _decoded(parts[1], inner, f"{place}.{key}") for key, inner in known.items()}
    if is_dataclass(hint) and isinstance(hint, type):
        return _read(hint, _typed(dict, data, place), place)
    if origin is Literal:
        if data not in parts:
            raise VeraxError(f"{place} is {data!r}, which is none of {', '.join(map(repr, parts))}.")
        return data
    if hint is object or not isinstance(hint, type) or origin is not None:
        return data
    if hint is float and isinstance(data, int):
        return data
    if issubclass(hint, str):  # a unit is a string with more to it
        return hint(_typed(str, data, place))
    return _typed(hint, data, place)


def _one_of(parts: tuple[object, ...], data: object, place: str) -> object:
    """The kind of a union that the data fit: of several dataclasses, the first all of whose fields are there."""
    kinds = [part for part in parts if part is not type(None)]
    if type(None) in parts and (data is None or data == {}):
        return None
    if len(kinds) == 1:
        return _decoded(kinds[0], data, place)
    classes = [kind for kind in kinds if isinstance(kind, type) and is_dataclass(kind)]
    for kind in classes:
        if isinstance(data, dict) and _needed(kind) <= set(data):
            return _read(kind, data, place)
    if classes:
        raise VeraxError(f"{place} is none of {', '.join(kind.__name__ for kind in classes)}.")
    return data


def _needed(kind: type) -> set[str]:
    return {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}


def _read(kind: type, data: dict[str, object], place: str) -> object:
    missing = sorted(_needed(kind) - set(data))
    if missing:
        raise VeraxError(f"{place} lacks {missing[0]!r}; make it again.")
    known = kind.completed(data) if hasattr(kind, "completed") else data
    hints = get_type_hints(kind)
    return kind(
        **{
            one.name: _decoded(hints[one.name], known[one.name], f"{place}.{one.name}")
            for one in fields(kind)
            if one.name in known
        }
    )


def _typed(kind: type[T], data: object, place: str) -> T:
    if isinstance(data, kind):
        return data
    raise VeraxError(f"{place} is {data!r}, which is not what stands there; make it again.")
