"""Options: each is declared once, in a pydantic spec, and everything else is derived from there.

The fields of a spec give the command line its options (`verax.cli.options`), a function of Python its keywords
(`takes_options`), a TOML file its entries, and the docs their table (scripts/options_tables.py).
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from verax.errors import VeraxError

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=BaseModel)


class Spec(BaseModel):
    """Options that belong together; ``objects`` names those that are arguments of their own in Python."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    objects: ClassVar[tuple[str, ...]] = ()
    # Whether a TOML file may give them, so that the command line must be able to take them back.
    in_files: ClassVar[bool] = False
    # Whether a function of Python has them as keywords.
    in_python: ClassVar[bool] = True
    # Options that change what is shown of a run and not its numbers: a finished run may be asked with others.
    only_shown: ClassVar[tuple[str, ...]] = ()


class DatasetSpec(Spec):
    """How a dataset is read: options of every command that takes one."""

    split: str | None = Field(
        default=None,
        description="Shares of train, validation and test, e.g. 80/10/10; the dataset's own if not given.",
    )
    limit: int | None = Field(default=None, description="Use at most so many inputs of each dataset.")
    text: str | None = Field(
        default=None,
        description="A file's column of texts; 'text' if not given. Several: premise,hypothesis.",
    )
    label: str | None = Field(default=None, description="A file's column of labels; 'label' if not given.")
    format: str | None = Field(default=None, description="A published format (verax list formats).")


class DatasetOptions(TypedDict, total=False):
    """The types of `DatasetSpec` for editors and type checkers; a test compares the two."""

    split: str | None
    limit: int | None
    text: str | None
    label: str | None
    format: str | None


class RunSpec(Spec):
    """How the jobs of a run are done: options of every benchmark, which change none of its numbers."""

    jobs: int = Field(default=1, ge=1, description="Processes on this machine.")
    cluster: str | None = Field(
        default=None,
        description="A Dask scheduler's address, e.g. tcp://host:8786; its workers do the jobs.",
    )
    retry_failed: bool = Field(default=False, description="Do again what failed.")
    fresh: bool = Field(default=False, description="Do everything again, whatever is stored.")


class RunOptions(TypedDict, total=False):
    """The types of `RunSpec` for editors and type checkers; a test compares the two."""

    jobs: int
    cluster: str | None
    retry_failed: bool
    fresh: bool


@dataclass(frozen=True)
class Option:
    """An option as a spec declares it.

    Attributes:
        name: of the field.
        type: what a value is, without its range.
        default: the value if none is given.
        allowed: the range or the choices, in words; empty if there are none.
        help: what the option means.
        in_files: whether a TOML file may give it.
    """

    name: str
    type: Any
    default: Any
    allowed: str
    help: str
    in_files: bool = False

    @property
    def sentence(self) -> str:
        """What it means, and what it may be."""
        return f"{self.help.removesuffix('.')} ({self.allowed})." if self.allowed else self.help

    @property
    def many(self) -> bool:
        """Whether it is a list of names."""
        return get_origin(self.type) in (list, Sequence)

    @property
    def plain(self) -> type[bool | int | float | str | Path]:
        """The type that is written on the command line: text for lists, and where there are several types."""
        types = [one for one in get_args(self.type) or (self.type,) if one is not NoneType]
        if Path in types:
            return Path
        single = len(types) == 1 and not self.many
        return types[0] if single and types[0] in (bool, int, float) else str


def options_of(kind: type[BaseModel]) -> list[Option]:
    """All options that a spec declares: what takes objects in Python, its own, and what it shares with others."""
    types = get_type_hints(kind)
    options = [
        Option(
            name=name,
            type=types[name],
            default=default_of(kind, name),
            allowed=_allowed(field.annotation, field.metadata),
            help=field.description or "",
            in_files=getattr(kind, "in_files", True),
        )
        for name, field in kind.model_fields.items()
    ]
    objects = objects_of(kind)
    return sorted(options, key=lambda one: -1 if one.name in objects else _distance(kind, one.name))


def objects_of(kind: type[BaseModel]) -> tuple[str, ...]:
    """The fields that are arguments of their own in Python, which take objects as well as names."""
    return getattr(kind, "objects", ())


def _distance(kind: type[BaseModel], name: str) -> int:
    """From a spec to the class that first declares a field: a spec's own options stand before what it shares."""
    return max(
        number for number, base in enumerate(kind.__mro__) if name in getattr(base, "model_fields", {})
    )


def default_of(kind: type[BaseModel], name: str) -> Any:
    """The default of an option, for code that works without a spec."""
    return kind.model_fields[name].get_default(call_default_factory=True)


def _allowed(annotation: Any, limits: Collection[object]) -> str:
    """The range or the choices of a type, in words."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        field = next((one for one in inside[1:] if isinstance(one, FieldInfo)), None)
        return _allowed(inside[0], field.metadata if field else limits)
    if origin in (Union, UnionType):
        every = [_allowed(one, limits) for one in inside if one is not NoneType]
        return ", or ".join(words for words in every if words)
    if origin is Literal:
        return " or ".join(map(str, inside))
    if origin in (list, Sequence):
        return (
            f"any of {', '.join(map(str, get_args(inside[0])))}" if get_origin(inside[0]) is Literal else ""
        )
    found = {
        name: getattr(one, name) for one in limits for name in ("ge", "gt", "le", "lt") if hasattr(one, name)
    }
    if "ge" in found and "le" in found:
        return f"{found['ge']} to {found['le']}"
    words = {"ge": "{} or more", "gt": "above {}", "le": "at most {}", "lt": "below {}"}
    return ", ".join(words[name].format(limit) for name, limit in found.items())


def takes_options(*kinds: type[BaseModel]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gives a function with ``**options`` the keywords of specs: shown in its signature, and no others taken.

    In the function's docstring a line for each of them takes the place of the argument ``options``.
    """

    def derive(function: Callable[P, R]) -> Callable[P, R]:
        own = inspect.signature(function)
        named = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        options = [one for kind in kinds for one in options_of(kind) if one.name not in objects_of(kind)]
        derived = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
            for one in options
            if one.name not in own.parameters
        ]
        signature = own.replace(parameters=[*named, *derived])

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    raise VeraxError(no_such_option(name, signature.parameters))
            return function(*args, **kwargs)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        lines = "\n".join(f"    {one.name}: {one.sentence}" for one in options)
        checked.__doc__ = re.sub(
            r"^    options: (.|\n)*?(?=\n\n|\Z)",
            lambda _: lines,
            inspect.getdoc(function) or "",
            flags=re.MULTILINE,
        )
        return checked

    return derive


def split_options(kind: type[S], options: Mapping[str, Any]) -> tuple[S, dict[str, Any]]:
    """The spec that some of the options belong to, and the others."""
    own = {name: value for name, value in options.items() if name in kind.model_fields}
    return checked_spec(kind, own), {name: value for name, value in options.items() if name not in own}


def no_such_option(name: str, known: Collection[str]) -> str:
    """A sentence on an option that nobody knows, with the one that may be meant."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
    return f"There is no option {name!r}; {hint}"


def checked_spec(kind: type[S], options: Mapping[str, Any]) -> S:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return kind(**options)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            raise VeraxError(no_such_option(str(first["loc"][-1]), kind.model_fields)) from error
        where, what, given = ".".join(map(str, first["loc"])), plain_problem(first["msg"]), first.get("input")
        if not where:
            raise VeraxError(f"{what}.") from error
        if what.startswith(MUST):
            raise VeraxError(f"{where} {what}, not {given!r}.") from error
        raise VeraxError(f"{where}: {what} (given: {given!r}).") from error


# What pydantic says of a value, as people would.
MUST = "must be "
PLAIN = {
    "Input should be greater than or equal to ": MUST + "at least ",
    "Input should be greater than ": MUST + "more than ",
    "Input should be less than or equal to ": MUST + "at most ",
    "Input should be a valid integer": MUST + "a whole number",
    "Input should be a valid number": MUST + "a number",
    "Input should be ": MUST,
}


def plain_problem(message: str) -> str:
    """What is wrong with a value, of what pydantic says of it: behind the value's name, where it begins with "must"."""
    message = message.removeprefix("Value error, ")
    for beginning, plain in PLAIN.items():
        if message.startswith(beginning):
            return plain + message.removeprefix(beginning).partition(", unable to parse")[0]
    return message
