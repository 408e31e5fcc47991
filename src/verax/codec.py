"""Dataclasses as plain values for JSON, and back: the one way in which anything is written to a file and read.

A dataclass needs nothing for it: its fields are written under their names and read by their annotations. What differs
from that is said in the class, not done by a method:

- ``JSON``, a class variable, names what is written besides the fields: ``("kind", ..., "verdict")``, where ``...`` are
  the fields, and the others are properties, methods without arguments, or constants of the class. A constant is checked
  when it is read: a string tells classes apart (a block of another ``type``), a number is the version of the file.
- ``field(metadata=written(...))`` gives a field another name in the file, or says when it is written.

`Record` is a base with ``to_dict`` and ``from_dict``, for classes that users hold in their hands.

Why not pydantic's ``TypeAdapter`` (measured, 2.14): it writes and reads by the annotation, so that the 0 of a ``float``
field becomes 0.0 in the file; it refuses numpy's integers, arrays, and units (a subclass of str) unless each gets a
schema of its own; and whether a field is written may depend on another one here, which would take a method again.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import repeat
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from verax.errors import VeraxError

T = TypeVar("T")
Names = tuple[str | types.EllipsisType, ...]
# Reads one value; exactly: names that are not known are refused.
Reader = Callable[[object, bool], object]


class Record:
    """A dataclass that users write to JSON and read themselves."""

    JSON: ClassVar[Names] = (...,)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return encoded(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """What ``to_dict`` wrote, also after a way through JSON."""
        return decode(cls, data)


@dataclass(frozen=True)
class _Form:
    """How a field stands in a file."""

    name: str = ""
    when: Callable[[Any], bool] | None = None
    none: object = None


def written(
    name: str = "", *, when: Callable[[Any], bool] | None = None, none: object = None
) -> dict[str, object]:
    """The metadata of a field whose form in the file is not just its own.

    Args:
        name: in the file.
        when: of the dataclass: whether the field is written.
        none: what stands in the file for None; an empty object is read as None where a dataclass may stand.
    """
    return {"json": _Form(name, when, none)}


NOT_WRITTEN = written(when=lambda _: False)


# ---- Writing


def encode(value: object) -> object:
    """The value made of dicts, lists, strings, finite numbers, booleans and None only: what is no number is null.

    Raises:
        VeraxError: something inside is of a type that has no form in JSON.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return dict(_items(value))
    if isinstance(value, Mapping):
        return {str(key): encode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if hasattr(value, "tolist"):  # a number or an array of numpy, which this module does without
        return encode(value.tolist())
    if hasattr(value, "model_dump"):  # a spec, checked by pydantic
        return encode(value.model_dump())
    kind = type(value)
    raise VeraxError(
        f"A {kind.__module__}.{kind.__qualname__} cannot be written to JSON; use dataclasses, dicts, lists, strings "
        "and numbers."
    )


def encoded(value: object) -> dict[str, object]:
    """A dataclass as the object that stands for it in JSON."""
    made = encode(value)
    if not isinstance(made, dict):
        raise TypeError(f"{type(value).__name__} is no object in JSON")
    return made


def _items(value: Any) -> Iterator[tuple[str, object]]:
    for name in getattr(value, "JSON", (...,)):
        if name is not ...:
            given = getattr(value, name)
            yield name, encode(given() if callable(given) else given)
            continue
        for attribute, form in _forms(value.__class__):
            if form.when is None or form.when(value):
                given = getattr(value, attribute)
                yield form.name, encode(form.none if given is None else given)


@cache
def _forms(kind: Any) -> tuple[tuple[str, _Form], ...]:
    """The fields of a dataclass, with their names and conditions in the file."""
    forms = ((one.name, one.metadata.get("json", _Form())) for one in fields(kind))
    return tuple((name, replace(form, name=form.name or name)) for name, form in forms)


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


# ---- Reading


class MisfitError(VeraxError):
    """What was read is not what stands there; the sentence says where.

    Attributes:
        reason: the same without what to do about it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; make it again with this version of Verax.")
        self.reason = reason


class _InnerMisfitError(Exception):
    """The same on its way out, which learns where it stands from what is around it."""

    def __init__(self, what: str, place: str = "") -> None:
        super().__init__(what)
        self.what, self.place = what, place

    def within(self, place: str) -> _InnerMisfitError:
        return _InnerMisfitError(self.what, f"{place}{self.place}")


def decode(kind: type[T], data: object, place: str = "the summary") -> T:
    """A dataclass from what JSON holds; names that it does not know are left out.

    Args:
        kind: the dataclass.
        data: from JSON.
        place: what errors call the data.

    Raises:
        MisfitError: something is missing, of another kind or of another version.
    """
    try:
        made = _read(kind, data, exact=False)
    except _InnerMisfitError as unfit:
        raise MisfitError(f"{place}{unfit.place} {unfit.what}") from None
    assert isinstance(made, kind)
    return made


def check_version(data: Mapping[str, object], known: int, place: str) -> None:
    """Refuses a file that is no dataclass and was written in another version; without ``format`` it is of the first."""
    if data.get("format", 1) != known:
        raise MisfitError(f"{place} {_other('format', data['format'], [known])}")


@dataclass(frozen=True)
class _Plan:
    """How a dataclass is read.

    Attributes:
        readers: of each field its attribute, its name in the file, and what reads it.
        needed: names in the file that must be there.
        known: all names in the file.
        constants: what must be as it is here, if it is there.
    """

    readers: tuple[tuple[str, str, Reader], ...]
    needed: frozenset[str]
    known: frozenset[str]
    constants: Mapping[str, str | int]

    def may_read(self, data: object) -> bool:
        """Whether no name is missing, and no constant says that the data are of another class."""
        if not isinstance(data, Mapping) or not self.needed <= data.keys():
            return False
        return all(data.get(name, known) == known for name, known in self.constants.items())


@cache
def _plan(kind: Any) -> _Plan:
    hints, forms = get_type_hints(kind), _forms(kind)
    more = {name: getattr(kind, name) for name in getattr(kind, "JSON", ()) if name is not ...}
    required = {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}
    return _Plan(
        readers=tuple((attribute, form.name, _reader(hints[attribute])) for attribute, form in forms),
        needed=frozenset(form.name for attribute, form in forms if attribute in required),
        known=frozenset((*(form.name for _, form in forms), *more)),
        constants={name: value for name, value in more.items() if isinstance(value, str | int)},
    )


def _read(kind: Any, data: object, exact: bool) -> object:
    """An instance of a dataclass."""
    known, plan = _typed(dict, data), _plan(kind)
    for name, value in plan.constants.items():
        if known.get(name, value) != value:
            raise _InnerMisfitError(_other(name, known[name], [value]))
    if not plan.needed <= known.keys():
        raise _InnerMisfitError(f"lacks {min(plan.needed - known.keys())!r}")
    if exact and not known.keys() <= plan.known:
        raise _InnerMisfitError("has names that are not known")
    values: dict[str, object] = {}
    for attribute, name, reader in plan.readers:
        if name in known:
            try:
                values[attribute] = reader(known[name], exact)
            except _InnerMisfitError as unfit:
                raise unfit.within(f".{name}") from None
    return kind(**values)


def _other(name: str, given: object, known: Sequence[str | int]) -> str:
    if isinstance(known[0], int):
        return f"has {name} {given!r}, and this version of Verax reads {known[0]}"
    return f"has the {name} {given!r}, which is none of {', '.join(map(repr, known))}"


def _typed(kind: type[T], data: object) -> T:
    if isinstance(data, kind):
        return data
    raise _InnerMisfitError(f"is {data!r}, which is not what stands there")


def _reader(hint: Any) -> Reader:
    """What reads a value of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union_reader(parts)
    if origin is tuple:
        return _tuple_reader(parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_reader(parts[1])
    if origin is Literal:
        return lambda data, _: _one_of(parts, data)
    if isinstance(origin, type) and origin.__module__ == "numpy":
        return lambda data, _: _array(data, get_args(parts[1])[0])
    if not isinstance(hint, type) or hint is object or origin is not None:
        return lambda data, _: data
    if is_dataclass(hint):
        return lambda data, exact: _read(hint, data, exact)
    if hasattr(hint, "from_dict"):  # the base of several kinds, which tells them apart
        return lambda data, _: hint.from_dict(_typed(dict, data))
    if hasattr(hint, "model_dump"):  # a spec, checked by pydantic
        return lambda data, _: hint(**_typed(dict, data))
    return _plain_reader(hint)


def _plain_reader(hint: type) -> Reader:
    if hint is float:
        return lambda data, _: data if isinstance(data, float) else _typed(int, data)
    if hint is int:
        return lambda data, exact: int(data) if not exact and _is_whole(data) else _typed(int, data)
    if hint is not str and issubclass(hint, str):  # a unit is a string with more to it
        return lambda data, _: hint(_typed(str, data))
    if hint is not dict and issubclass(hint, dict):
        return lambda data, _: hint(_typed(dict, data))
    return lambda data, _: _typed(hint, data)


def _is_whole(data: object) -> TypeGuard[float]:
    return isinstance(data, float) and data.is_integer()


def _one_of(values: tuple[object, ...], data: object) -> object:
    if data in values:
        return data
    raise _InnerMisfitError(f"is {data!r}, which is none of {', '.join(map(repr, values))}")


def _array(data: object, dtype: Any) -> object:
    import numpy as np

    try:
        return np.array(data, dtype=dtype)
    except (TypeError, ValueError):
        raise _InnerMisfitError("is no list of numbers") from None


def _tuple_reader(parts: tuple[Any, ...]) -> Reader:
    any_number = parts[-1] is ...
    readers = [_reader(part) for part in parts if part is not ...]

    def read(data: object, exact: bool) -> tuple[object, ...]:
        given: Sequence[object] = data if isinstance(data, tuple) else _typed(list, data)
        if not any_number and len(given) != len(readers):
            raise _InnerMisfitError(f"has {len(given)} values and not {len(readers)}")
        values: list[object] = []
        try:
            for reader, inner in zip(repeat(readers[0]) if any_number else readers, given, strict=False):
                values.append(reader(inner, exact))
        except _InnerMisfitError as unfit:
            raise unfit.within(f"[{len(values)}]") from None
        return tuple(values)

    return read


def _mapping_reader(hint: Any) -> Reader:
    reader = _reader(hint)

    def read(data: object, exact: bool) -> dict[str, object]:
        values: dict[str, object] = {}
        for key, inner in _typed(dict, data).items():
            try:
                values[str(key)] = reader(inner, exact)
            except _InnerMisfitError as unfit:
                raise unfit.within(f".{key}") from None
        return values

    return read


def _union_reader(parts: tuple[Any, ...]) -> Reader:
    """The first type that fits: before all, one that knows every name in the data."""
    kinds = [part for part in parts if part is not types.NoneType]
    classes = [kind for kind in kinds if is_dataclass(kind)]
    readers = {kind: _reader(kind) for kind in kinds}

    def read(data: object, exact: bool) -> object:
        if len(kinds) < len(parts) and (data is None or (classes and data == {})):
            return None
        likely = [kind for kind in kinds if kind not in classes or _plan(kind).may_read(data)]
        failed: _InnerMisfitError | None = None
        for exactly in (True,) if exact else (True, False):
            for kind in likely:
                try:
                    return readers[kind](data, exactly)
                except _InnerMisfitError as unfit:
                    failed = unfit
        raise failed or _InnerMisfitError(_none_of(classes, data))

    return read


def _none_of(classes: Sequence[Any], data: object) -> str:
    """What is said of data that are of none of some classes."""
    tags = [(name, tag) for kind in classes for name, tag in _plan(kind).constants.items()]
    if isinstance(data, Mapping) and tags and tags[0][0] in data:
        return _other(tags[0][0], data[tags[0][0]], [tag for name, tag in tags if name == tags[0][0]])
    return f"is none of {', '.join(kind.__name__ for kind in classes)}"
