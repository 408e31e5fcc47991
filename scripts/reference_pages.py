"""Pages of the site's reference: every public name with its docstring and an example, every command with its options.

Nothing is listed by hand: names are those of a package's ``__all__``, commands those of the program; examples are the
blocks of ``reference_examples.py``.
``scripts/site_pages.py`` puts the pages into the site while it is built; nothing is written into docs/.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from verax.registry import Registry

# Packages whose names people import, and what a reader finds there.
PACKAGES = {
    "verax": "What most people need, straight from `verax`: data, models, explainers, verdicts, studies.",
    "verax.explain": "Explainers, kinds of explanation, and explanations of other packages.",
    "verax.data": "Where inputs come from.",
    "verax.models": "What is explained.",
    "verax.measures": "Automatic measures of explanations.",
    "verax.stats": "Estimates with uncertainty; [as a library](../statistics-library.md).",
    "verax.perturb": "Masked variants of inputs, and how they reach a model.",
    "verax.run": "Many jobs, stored and resumed; [about runs](../running.md).",
}


def pages() -> dict[str, str]:
    """Each page by its place in docs/."""
    found = {f"reference/{package}.md": package_page(package) for package in PACKAGES}
    return found | {"reference/commands.md": commands_page()}


def names() -> dict[str, list[str]]:
    """The public names of each package; a name that two packages have is the first one's."""
    taken: set[int] = set()
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        module = import_module(package)
        own = [name for name in module.__all__ if not name.startswith("__")]
        found[package] = [name for name in own if id(getattr(module, name)) not in taken]
        taken |= {id(getattr(module, name)) for name in own}
    return found


@cache
def examples() -> dict[str, str]:
    """The example of each public name; under "" what all of them suppose."""
    written = Path(__file__).with_name("reference_examples.py").read_text(encoding="utf-8")
    blocks = re.split(r"^# %%(.*)\n", written, flags=re.MULTILINE)[1:]
    return {
        name.strip(): code.strip()
        for names, code in zip(blocks[::2], blocks[1::2], strict=True)
        for name in names.split(",")
    }


def example(name: str) -> list[str]:
    """The lines of a page with a name's example."""
    return ["**Example**", "", "```python", examples()[name], "```", ""]


def package_page(package: str) -> str:
    """The page of a package: what it is for, and each of its names by mkdocstrings, with an example."""
    module = import_module(package)
    lines = [f"# {package}", "", PACKAGES[package], ""]
    lines += [
        "Examples go on from one another, and begin with this:",
        "",
        "```python",
        examples()[""],
        "```",
        "",
    ]
    for name in names()[package]:
        found = getattr(module, name)
        if inspect.isclass(found) or inspect.isroutine(found):
            lines += [f"::: {home_of(module, name)}", "", *example(f"{package}.{name}")]
        else:
            # Links are by the name as it is written, which headings are not.
            lines += [f"### {name} {{ #{package}.{name} }}", "", f"`{package}.{name}`: {_about(found)}", ""]
            lines += example(f"{package}.{name}")
    return "\n".join(lines)


def home_of(module: ModuleType, name: str) -> str:
    """Where a name is defined, as mkdocstrings asks for it."""
    found = getattr(module, name)
    home = getattr(found, "__module__", None)
    return (
        f"{home}.{found.__qualname__}"
        if home and hasattr(found, "__qualname__")
        else f"{module.__name__}.{name}"
    )


def _about(found: object) -> str:
    """What is said of a name that is neither a class nor a function."""
    if isinstance(found, Registry):
        return "everything of its sort that has a name; `verax list` shows it, `.register(name)` adds to it."
    return ", ".join(map(str, found)) if isinstance(found, tuple) else f"a {type(found).__name__}."


def commands_page() -> str:
    """Every command of the program with its arguments and options."""
    from verax.cli.main import app

    lines = [
        "# Every command",
        "",
        "What `--help` prints, on one page. [Tasks and their commands](../command-line.md) is the page to begin with.",
        "",
    ]
    for words, command in commands(typer.main.get_command(app), ["verax"]):
        lines += [f"## {' '.join(words)}", "", *_described(command), ""]
    return "\n".join(lines)


def commands(command: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
    """A command and all below it, with the words that call it; those that are hidden are left out."""
    group = hasattr(command, "list_commands")
    if not group or (command.invoke_without_command and len(words) > 1):
        yield words, command
    if group:
        context = typer.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from commands(below, [*words, name])


def _described(command: Any) -> Iterator[str]:
    yield inspect.cleandoc(command.help or "").replace("\b", "")
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    if rows:
        yield from ("", "| | default | |", "|---|---|---|", *rows)
    if command.epilog:
        yield from ("", inspect.cleandoc(command.epilog).replace("\b", ""))


def _row(parameter: Any) -> str:
    options = [*parameter.opts, *parameter.secondary_opts]
    if not options[0].startswith("-"):  # an argument
        options = [parameter.metavar or options[0].upper()]
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool)
    help_ = " ".join((parameter.help or "").split())
    named = ", ".join(f"`{_cell(one)}`" for one in options)
    return f"| {named} | {_cell(str(default)) if plain else ''} | {_cell(help_)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
