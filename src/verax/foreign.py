"""Other people's code: what a file names is run only if the user has said so.

A name such as ``my_protocols:Mine`` in a spec or a study's folder is imported, and a saved model is unpickled: both run
whatever is in them. A Python program that uses Verax decides for itself. The command line guards itself with `guard`:
what is typed there is meant, what only stands in a file is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from verax.errors import VeraxError
from verax.names import parse_name, split_outside

SAVED_MODEL = "saved model"
# Parameters of commands that name code, and what sort of thing each names. Those in the plural take several.
CODE = {
    "model": "model",
    "models": "model",
    "explainer": "explainer",
    "explainers": "explainer",
    "data": "dataset",
    "dataset": "dataset",
    "datasets": "dataset",
    "format": "format",
    "measures": "measure",
    "protocol": "protocol",
}


@dataclass
class _Guard:
    """What the user has said so far.

    Attributes:
        on: whether anything has to be said.
        typed: names that the user typed where code is named, each with the sort of thing that it names there.
        trusted: names of modules and files.
        ask: asks the user, if there is one to be asked.
    """

    on: bool = False
    typed: set[tuple[str, str]] = field(default_factory=set)
    trusted: set[str] = field(default_factory=set)
    ask: Callable[[str], bool] | None = None


_guard = _Guard()


def guard(ask: Callable[[str], bool] | None = None) -> None:
    """From now on, runs foreign code only if it is named in what was typed, was trusted, or is agreed to.

    Args:
        ask: puts a question to the user; None if nobody is there.
    """
    _guard.on, _guard.ask = True, ask


def typed(parameter: str, value: object) -> None:
    """Notes what a user typed for a parameter of a command: the code that it names is meant.

    What stands in other parameters, such as the path of a spec, names no code.
    """
    sort = CODE.get(parameter)
    if sort is None or not isinstance(value, str):
        return
    for part in split_outside(value) if parameter.endswith("s") else [value]:
        _guard.typed.add((sort, part))
        try:
            _guard.typed.add((sort, parse_name(part, sort, "").name))
        except VeraxError:
            continue  # a path with blanks, or something that the command itself refuses


def trust(names: Iterable[str]) -> None:
    """Lets the code of these modules and files run."""
    _guard.trusted.update(names)


def check_foreign(name: str, noun: str) -> None:
    """Makes sure that the user knows that this code runs.

    Args:
        name: ``module:Name``, or the path of a file for a `SAVED_MODEL`.
        noun: what it is: "protocol", "saved model".

    Raises:
        VeraxError: nobody has said so.
    """
    if not _guard.on or _is_meant(name, noun):
        return
    unit = name if noun == SAVED_MODEL else _module(name)
    if _guard.ask is not None and _guard.ask(
        f"The {noun} {name!r} is code that comes with the files. It can do everything that you can do. Run it?"
    ):
        trust([unit])
        return
    raise VeraxError(
        f"The {noun} {name!r} is code that comes with the files, and nothing of it was run; if you trust it, write "
        f"verax --trust {unit} before the rest of the command."
    )


def _is_meant(name: str, noun: str) -> bool:
    if noun == SAVED_MODEL:
        # The same file may be written in several ways; any other file may not.
        path = Path(name).resolve()
        models = [given for sort, given in _guard.typed if sort == "model"]
        return any(Path(given).resolve() == path for given in (*models, *_guard.trusted))
    return bool({name, _module(name)} & _guard.trusted) or (noun, name) in _guard.typed


def _module(name: str) -> str:
    return name.partition(":")[0]
