"""Options and arguments that several commands share."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from verax.errors import VeraxError
from verax.names import split_outside

if TYPE_CHECKING:
    from pydantic import BaseModel

    from verax.options import Option

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
NAMES_OF_TYPES = {bool: "yes or no", int: "whole number", float: "number", str: "text", Path: "path"}

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built study.")]
Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR...", help="The folder of a built study, or of several that are served together."
    ),
]
Database = Annotated[
    str | None,
    typer.Option(help="The URL of the answers' database; a SQLite file in the study's folder by default."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes on this machine.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")]
SummaryJson = Annotated[bool, typer.Option("--json", help="Print summary.json, and nothing else.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
RunFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The run's folder; a stopped run goes on there.")
]
SpecFile = Annotated[
    Path | None, typer.Option("--spec", help="A TOML file with these options; the command line wins.")
]


def split_names(names: str) -> list[str]:
    """Names with commas between; those inside parentheses belong to a name's options."""
    return [name for name in split_outside(names) if name]


# How the command line spells options of a spec, where it is not the name of the field.
SPELLINGS = {
    "datasets": ("--dataset", "--datasets", "-d"),
    "models": ("--model", "--models", "-m"),
    "dataset": ("--dataset", "-d"),
    "model": ("--model", "-m"),
    "explainers": ("--explainers", "-e"),
    "text": ("--text-column",),
    "label": ("--label-column",),
    "jobs": ("--jobs", "-j"),
    "n": ("--n", "-n"),
    "out": ("--out", "-o"),
    "texts": ("--text",),
    "numbers": ("--input", "-i"),
    "together": ("--with",),  # which Python keeps for itself
}
# Lists that are given one by one: what they hold may have commas.
REPEATED = ("texts", "numbers", "together")


def with_spec_options(*kinds: type[BaseModel]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with an option for each field of some specs, in the place of its argument ``given``.

    The command gets those that were given on the command line as a dict: the others are left to a spec file and to the
    spec, which also checks ranges.
    """
    from verax.options import options_of

    options = [option for kind in kinds for option in options_of(kind)]

    def derive(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        parameters = []
        for one in own.parameters.values():
            parameters += [_parameter(option) for option in options] if one.name == "given" else [one]
        parameters += [inspect.Parameter("context", KEYWORD_ONLY, annotation=typer.Context)]

        @functools.wraps(command)
        def run(*, context: typer.Context, **values: Any) -> None:
            given = {}
            for option in options:
                value = values.pop(option.name)
                source = context.get_parameter_source(option.name)
                if source is not None and source.name != "DEFAULT":
                    split = option.many and option.name not in REPEATED
                    given[option.name] = split_names(value) if split else value
            command(given=given, **values)

        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return derive


def _parameter(option: Option) -> inspect.Parameter:
    shown = typer.Option(*spellings(option), help=_help(option))
    kind: Any = option.plain
    if option.name in REPEATED:
        kind = list[int] if int in get_args(option.type) else list[str]
    default = option.default if option.default is None or option.plain is not str else written(option)
    if option.name in REPEATED:
        default = None
    return inspect.Parameter(
        option.name, KEYWORD_ONLY, default=default, annotation=Annotated[kind | None, shown]
    )


def _help(option: Option) -> str:
    many = "" if not option.many else "may be given again" if option.name in REPEATED else "commas between"
    more = "; ".join(words for words in (option.allowed, many) if words)
    return f"{option.help.removesuffix('.')} ({more})." if more else option.help


def spellings(option: Option) -> tuple[str, ...]:
    """How an option of a spec is written on the command line."""
    name = option.name.replace("_", "-")
    taken_back = option.plain is bool and (option.in_files or option.default is not False)
    usual = f"--{name}/--no-{name}" if taken_back else f"--{name}"
    return SPELLINGS.get(option.name, (usual,))


def written(option: Option) -> str:
    """The default of an option as it is written on the command line; nothing if there is none."""
    if option.default is None:
        return ""
    return ",".join(map(str, option.default)) if option.many else str(option.default)


def options_table(*kinds: type[BaseModel]) -> str:
    """The options of specs as a table in Markdown, for the docs."""
    from verax.options import options_of

    options = [option for kind in kinds for option in options_of(kind)]
    in_files = any(option.in_files for option in options)
    rows: list[tuple[str, ...]] = [
        ("option", "in Python and TOML" if in_files else "in Python", "values", "default", "meaning"),
        ("---",) * 5,
    ]
    for option in options:
        spelt = ", ".join(f"`{one}`" for one in "/".join(spellings(option)).split("/"))
        sort, default = NAMES_OF_TYPES[option.plain], f"`{written(option)}`".removeprefix("``")
        numbers = option.many and get_args(option.type)[0] is int
        if option.plain is bool and option.default is not None:
            default = "yes" if option.default else "no"
        elif option.plain is str and (option.many or option.allowed):
            sort = "whole numbers" if numbers else "names" if option.many else ""
        if option.name in REPEATED:
            sort = f"{'whole number' if numbers else 'text'}, several times"
        values = ", ".join(words for words in (sort, option.allowed) if words)
        name = f"`{option.name}`" + (", in Python only" if in_files and not option.in_files else "")
        rows.append((spelt, name, values, default, option.help.replace("|", r"\|")))
    if not all(getattr(kind, "in_python", True) for kind in kinds):
        rows = [(row[0], *row[2:]) for row in rows]
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


# What a sentence of `load_dataset` calls an option of the command line.
NUMBERED = (
    "plant_share",
    "decoy_share",
    "min_region",
    "min_flipped",
    "min_share",
    "new_words",
    "plant",
    "split",
    "size",
    "weight",
    "fragments",
)
ARGUMENTS = {"text": "--text-column ", "label": "--label-column ", "format": "--format "}


@contextmanager
def options_for_arguments() -> Iterator[None]:
    """Lets a sentence that names an argument of ``load_dataset`` name the option of the command line."""
    try:
        yield
    except VeraxError as error:
        sentence = str(error)
        raise VeraxError(as_options(sentence)) from error


def as_options(sentence: str) -> str:
    """A sentence that names arguments of Python, with the options of the command line in their place."""
    for argument, option in ARGUMENTS.items():
        sentence = re.sub(rf"\b{argument}=\s?", option, sentence)
    for argument in NUMBERED:
        option = f"--{argument.replace('_', '-')}"
        sentence = re.sub(rf"\b{argument}=True", option, sentence)
        sentence = re.sub(rf"\b{argument}=\"?([\w./]*\w)\"?", rf"{option} \1", sentence)
        sentence = re.sub(rf"\b{argument}=", option, sentence)
    return sentence
