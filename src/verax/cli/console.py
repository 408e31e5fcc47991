"""What the command line prints and where: results to standard output, everything else to standard error."""

from __future__ import annotations

import errno
import functools
import io
import json
import logging
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from verax.errors import OwnCodeError, VeraxError, reason
from verax.foreign import typed
from verax.text import visible

P = ParamSpec("P")
R = TypeVar("R")

WIDEST = 100
# A command that did its work, but of which a part failed, has a status of its own.
WRONG_INPUT, BUG, INCOMPLETE, INTERRUPTED = 2, 1, 3, 130


def output() -> Console:
    """Standard output, at most 100 columns wide; colours and bold only in a terminal."""
    return _console(stderr=False)


def messages() -> Console:
    """Standard error, for progress and problems."""
    return _console(stderr=True)


def say(*lines: str) -> None:
    """Lines of the result, which a terminal wraps where it likes: what they name can be copied whole."""
    console = output()
    for line in lines:
        console.print(line, soft_wrap=True)


def note(*lines: str) -> None:
    """The same on standard error."""
    console = messages()
    for line in lines:
        console.print(line, soft_wrap=True)


def end_if_failed(failed: Sequence[str], *, told: Sequence[str] = ()) -> None:
    """A command of which a part failed says what, and ends with a status that scripts notice.

    Args:
        failed: a sentence for each part.
        told: more of them, which the result on standard output has already.
    """
    if failed or told:
        note(*failed, "What failed is stored; mend it and say --retry-failed.")
        raise typer.Exit(INCOMPLETE)


def print_file(path: Path) -> None:
    """A text file as it is, and nothing else."""
    sys.stdout.write(path.read_text(encoding="utf-8"))
    sys.stdout.flush()


def print_json(value: object) -> None:
    """A result for other programs: what ``--json`` prints, and nothing else on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def plain_table(*heads: str, left: Collection[str] = (), gap: int = 3) -> Table:
    """A table without lines; numbers stand to the right, the columns ``left`` to the left."""
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bold")
    for head in heads:
        table.add_column(head, justify="left" if head in left else "right")
    return table


class _Shown(Console):
    """Shows characters only: what people and files of others say moves no cursor and writes into no clipboard."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces, whose styles become codes of the terminal later."""
        for piece in super().render(renderable, options):
            shown = piece.text if piece.control else visible(piece.text)
            yield piece if shown == piece.text else piece._replace(text=shown)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        # A terminal that cannot show a character shows its code instead of failing.
        stream.reconfigure(errors="backslashreplace")
    columns = min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
    return _Shown(stderr=stderr, width=columns, highlight=False, markup=False, emoji=False)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says what is being done while it is done, if somebody is looking at standard error."""
    console = messages()
    if not console.is_terminal:
        yield
        return
    with console.status(Text(what + " ...")):
        yield


def show_reasons(verbose: bool) -> None:
    """Sends the library's log to standard error: warnings always, reasons for what was done if asked."""
    logging.captureWarnings(True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    for name in ("verax", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if verbose else logging.WARNING)


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The message in one line; of a Python warning, its text without the source line."""
        first = record.getMessage().strip().splitlines()[0]
        if record.name == "py.warnings":
            first = first.split(": ", maxsplit=2)[-1]
        return f"{record.levelname.lower()}: {first}"


def one_sentence(command: Callable[P, R]) -> Callable[P, R]:
    """Makes a command end in one sentence on standard error instead of a traceback.

    What the user can mend ends with status 2, an interrupt with 130, a mistake of ours with 1. The arguments are
    what the user typed, as it was parsed: code that is named there may run.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        for parameter, value in kwargs.items():
            typed(parameter, value)
        try:
            return command(*args, **kwargs)
        except OwnCodeError as error:
            raise _ended(f"{str(error).rstrip('.')}; {_where(error)}.", BUG) from error
        except VeraxError as error:
            raise _ended(str(error), WRONG_INPUT) from error
        except KeyboardInterrupt as error:
            raise _ended("Interrupted; nothing more was done.", INTERRUPTED) from error
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise _unexpected(error) from error
            # Whoever read our output has gone; Python must not complain of it when it closes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BUG) from error
        except typer.Exit:
            raise
        except Exception as error:
            raise _unexpected(error) from error

    return guarded


def _unexpected(error: Exception) -> typer.Exit:
    hint = _where(error)
    return _ended(f"This should not have happened: {type(error).__name__} ({reason(error)}); {hint}.", BUG)


def _where(error: Exception) -> str:
    """How to see where an error arose; shown at once if the command was asked to say more."""
    if not logging.getLogger("verax").isEnabledFor(logging.INFO):
        return "run the command again with -v to see where"
    traceback.print_exception(error)
    return "the lines above say where"


def _ended(sentence: str, status: int) -> typer.Exit:
    messages().print(Text("Error: ", style="bold red") + Text(sentence), soft_wrap=True)
    return typer.Exit(status)
