"""Specs of benchmarks: the one place where an option is declared, and what is derived from it."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.fields import FieldInfo

from verax.data import Dataset, Part
from verax.errors import VeraxError
from verax.names import parse_name
from verax.toml_text import parse_toml

ExplainedPart = Literal["test", "train", "all"]


def with_explained_part(dataset: Dataset, part: ExplainedPart) -> Dataset:
    """The dataset with the inputs that are explained in the place of its test part; models learn from the same ones.

    Args:
        dataset: as it was split.
        part: its training part, or all three.
    """
    if part == "test":
        return dataset
    if part == "train":
        return replace(dataset, test=dataset.train)
    parts = list(dataset.parts.values())
    inputs = (
        [text for one in parts for text in one.inputs]
        if dataset.kind == "text"
        else np.concatenate([np.asarray(one.inputs) for one in parts])
    )
    rated = [one.ratings for one in parts if one.ratings is not None]
    ratings = np.concatenate(rated) if len(rated) == len(parts) else None
    return replace(dataset, test=Part(inputs, np.concatenate([one.labels for one in parts]), ratings))


P = ParamSpec("P")
R = TypeVar("R")
Spec = TypeVar("Spec", bound=BaseModel)

# What is tested. In Python these are arguments of their own, which take objects as well as names.
TESTED = ("datasets", "models", "explainers")
# What belongs to a dataset: it may stand behind its name as well as in the spec, where it is meant for all of them.
OF_A_DATASET = ("split", "limit", "text", "label", "format")
OPTIONS_BEHIND = re.compile(r"(?P<name>[^()]+)\((?P<options>[^()]*=[^()]*)\)")


class BenchmarkSpec(BaseModel):
    """What every benchmark is asked; its own options come beside these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    datasets: list[str] = Field(
        default=["rotten-tomatoes"],
        min_length=1,
        description="Names or files; what holds for one of them alone stands behind it: phones.json(format=amazon).",
    )
    models: list[str] = Field(min_length=1, description="What is explained.")
    explainers: list[str] = Field(
        default=["lime", "shap", "greedy"],
        description="Names with parameters, e.g. 'lime,shap(samples=500),my_package.mine:Mine'.",
    )
    samples: int = Field(
        default=1000, ge=2, description="Budget of every explainer that samples and was not given its own."
    )
    inputs: int = Field(ge=1, description="Inputs explained for each model, at most.")
    seed: int = Field(default=0, description="Seed of everything that is random.")
    split: str | None = Field(
        default=None,
        description="Shares of train, validation and test, e.g. 80/10/10; the dataset's own if not given.",
    )
    limit: int | None = Field(default=None, description="Use at most so many inputs of each dataset.")
    text: str | None = Field(default=None, description="A file's column of texts; 'text' if not given.")
    label: str | None = Field(default=None, description="A file's column of labels; 'label' if not given.")
    format: str | None = Field(default=None, description="A published format (verax list formats).")
    part: ExplainedPart = Field(
        default="test",
        description="Whose inputs are explained: those of the test part, of the training part, or all of them.",
    )

    @field_validator("datasets", "models", "explainers")
    @classmethod
    def _no_repeats(cls, names: list[str]) -> list[str]:
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise ValueError(f"{repeated[0]!r} is named twice")
        return names

    def source(self, dataset: str) -> dict[str, object]:
        """The arguments of ``load_dataset`` for one of the datasets, and the part that is explained if not the test.

        Options that stand behind the dataset's own name count before those of the spec.
        """
        name, own = _with_options(dataset)
        options = {option: getattr(self, option) for option in OF_A_DATASET}
        return {"name_or_path": name, "seed": self.seed, **self.explained()} | {
            option: value for option, value in (options | own).items() if value is not None
        }

    def explained(self) -> dict[str, object]:
        """What a source says of the part that is explained: nothing if it is the test part."""
        return {} if self.part == "test" else {"part": self.part}


def _with_options(dataset: str) -> tuple[str, dict[str, object]]:
    """A dataset's name or path, and the options behind it: ``phones.json(format=amazon, limit=5000)``."""
    written = OPTIONS_BEHIND.fullmatch(dataset)
    if written is None or Path(dataset).exists():
        return dataset, {}
    # A path may hold what a name may not: only the options are read as those of a name.
    own = dict(parse_name(f"dataset({written['options']})", "dataset", "phones.json(format=amazon)").options)
    known = (*OF_A_DATASET, "ratings")
    for option in own:
        if option not in known:
            raise VeraxError(no_such_option(option, known))
    return written["name"], own


class BenchmarkOptions(TypedDict, total=False):
    """The types of `BenchmarkSpec` for editors and type checkers; a test compares the two."""

    samples: int
    inputs: int
    seed: int
    split: str | None
    limit: int | None
    text: str | None
    label: str | None
    format: str | None
    part: ExplainedPart


@dataclass(frozen=True)
class Option:
    """An option as a spec declares it.

    Attributes:
        name: of the field.
        type: what a value is, without its range.
        default: the value if none is given.
        allowed: the range or the choices, in words; empty if there are none.
        help: what the option means.
    """

    name: str
    type: Any
    default: Any
    allowed: str
    help: str

    @property
    def many(self) -> bool:
        """Whether it is a list of names."""
        return get_origin(self.type) is list

    @property
    def plain(self) -> type[bool | int | float | str]:
        """The type that is written on the command line: text for lists, and where there are several types."""
        types = [one for one in get_args(self.type) or (self.type,) if one is not NoneType]
        single = len(types) == 1 and not self.many
        return types[0] if single and types[0] in (bool, int, float) else str


def options_of(kind: type[BaseModel]) -> list[Option]:
    """All options that a spec declares: what is tested, the benchmark's own, and what every benchmark has."""
    types = get_type_hints(kind)
    options = [
        Option(
            name=name,
            type=types[name],
            default=default_of(kind, name),
            allowed=_allowed(field.annotation, field.metadata),
            help=field.description or "",
        )
        for name, field in kind.model_fields.items()
    ]
    shared = BenchmarkSpec.model_fields
    return sorted(options, key=lambda one: 0 if one.name in TESTED else 2 if one.name in shared else 1)


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
    if origin is list:
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


def takes_options(kind: type[BaseModel]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gives a function with ``**options`` the keywords of a spec: shown in its signature, and no others taken."""

    def derive(function: Callable[P, R]) -> Callable[P, R]:
        own = inspect.signature(function)
        named = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        derived = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
            for one in options_of(kind)
            if one.name not in TESTED
        ]
        signature = own.replace(parameters=[*named, *derived])

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    raise VeraxError(no_such_option(name, signature.parameters))
            return function(*args, **kwargs)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked

    return derive


def no_such_option(name: str, known: Collection[str]) -> str:
    """A sentence on an option that nobody knows, with the one that may be meant."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
    return f"There is no option {name!r}; {hint}"


def checked_spec(kind: type[Spec], options: Mapping[str, Any]) -> Spec:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return kind(**options)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "extra_forbidden":
            raise VeraxError(no_such_option(str(first["loc"][-1]), kind.model_fields)) from error
        where = ".".join(str(part) for part in first["loc"]) or "the spec"
        what = first["msg"].removeprefix("Value error, ")
        raise VeraxError(f"{where}: {what} (given: {first.get('input')!r}).") from error


def spec_options(spec: str | Path | BaseModel | Mapping[str, object], section: str) -> dict[str, object]:
    """The options of a spec: a TOML file or its text, under a section or at the top, or what such a file holds."""
    if isinstance(spec, BaseModel):
        return spec.model_dump(exclude_unset=True)
    if isinstance(spec, Mapping):
        options = dict(spec)
    else:
        is_text = isinstance(spec, str) and ("\n" in spec or "=" in spec)
        try:
            text = str(spec) if is_text else Path(spec).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise VeraxError(f"There is no spec file {str(spec)!r}; check the path.") from error
        options = parse_toml(text, "The spec" if is_text else f"The spec {str(spec)!r}")
    inside = options.get(section, options)
    if isinstance(inside, list):
        inside = options  # an option that is called like the section: the measures of [measures]
    if not isinstance(inside, Mapping):
        raise VeraxError(f"{section} is {inside!r} in the spec; write its options below a line [{section}].")
    return dict(inside)
