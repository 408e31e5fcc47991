"""Other people's code: what a file names is run only if the user has said so.

A name such as ``my_protocols:Mine`` in a spec or a study's folder is imported, and a saved model is unpickled: both run
whatever is in them. A Python program that uses Verax decides for itself. The command line guards itself with `guard`:
what is typed there is meant, what only stands in a file is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verax.errors import VeraxError


class _Guard:
    """What the user has said so far.

    Attributes:
        on: whether anything has to be said.
        typed: the arguments of the command.
        trusted: names of modules and files.
        ask: asks the user, if there is one to be asked.
    """

    on: bool = False
    typed: Sequence[str] = ()
    trusted: frozenset[str] = frozenset()
    ask: Callable[[str], bool] | None = None


_guard = _Guard()


def guard(typed: Sequence[str], ask: Callable[[str], bool] | None = None) -> None:
    """From now on, runs foreign code only if it stands in what was typed, was trusted, or is agreed to.

    Args:
        typed: the arguments of the command.
        ask: puts a question to the user; None if nobody is there.
    """
    _guard.on, _guard.typed, _guard.ask = True, tuple(typed), ask


def trust(names: Sequence[str]) -> None:
    """Lets the code of these modules and files run."""
    _guard.trusted |= frozenset(names)


def check_foreign(name: str, noun: str) -> None:
    """Makes sure that the user knows that this code runs.

    Args:
        name: ``module:Name``, or the path of a file.
        noun: what it is: "protocol", "saved model".

    Raises:
        VeraxError: nobody has said so.
    """
    module = name.partition(":")[0]
    if not _guard.on or {name, module} & _guard.trusted or any(name in typed for typed in _guard.typed):
        return
    if _guard.ask is not None and _guard.ask(
        f"The {noun} {name!r} is code that comes with the files. It can do everything that you can do. Run it?"
    ):
        trust([module])
        return
    raise VeraxError(
        f"The {noun} {name!r} is code that comes with the files, and nothing of it was run; if you trust it, write "
        f"verax --trust {module} before the rest of the command."
    )
