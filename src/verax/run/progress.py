"""How far a run is: a line on standard error for people, nothing for files and pipes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from verax.run.jobs import Outcome

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

# Given a sentence on what is being done, something to do it in; the command line shows it meanwhile.
During = Callable[[str], AbstractContextManager[None]]


# Told what is being done, how much of it is done, and how much there is.
ProgressFunction = Callable[[str, int, int], None]


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Tells nobody."""


@contextmanager
def shown_progress(show: bool | None = None) -> Iterator[ProgressFunction]:
    """Something to tell how far a piece of work is, which is shown with an estimate of the time that is left.

    Args:
        show: whether it is shown, on standard error; by default if somebody looks there, in a terminal or a notebook.
    """
    if not (show or (show is None and (sys.stderr.isatty() or "ipykernel" in sys.modules))):
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as RichProgress

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task("beginning", total=None, state="")
        began, now = time.monotonic(), ""

        def tell(what: str, done: int, total: int) -> None:
            nonlocal began, now
            if what != now:
                began, now = time.monotonic(), what
            state = state_line(total, 0, done, 0, time.monotonic() - began)
            display.update(task, description=what, completed=done, total=total, state=state)

        yield tell


def quietly(_: str) -> AbstractContextManager[None]:
    """Does it without a word."""
    return nullcontext()


class Progress(Protocol):
    """What `execute` tells while it works."""

    def start(self, total: int, stored: Sequence[Outcome]) -> None:
        """There are `total` jobs, these are stored already."""

    def advance(self, outcome: Outcome) -> None:
        """One more job has ended."""

    def stop(self) -> None:
        """No more will come, for whatever reason."""


class Silent:
    """Tells nobody."""

    def start(self, total: int, stored: Sequence[Outcome]) -> None:
        """Nothing."""

    def advance(self, outcome: Outcome) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


def terminal_progress(label: str) -> Progress:
    """A progress bar on standard error if that is a terminal; else silence."""
    return Bar(label) if sys.stderr.isatty() else Silent()


class Bar:
    """A bar with done/total, rate, time left and failures."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._display: RichProgress | None = None

    def start(self, total: int, stored: Sequence[Outcome]) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._total, self._stored, self._new = total, len(stored), 0
        self._failed = sum(outcome.failed for outcome in stored)
        self._begin = time.monotonic()
        self._display = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            console=Console(stderr=True),
        )
        self._task: TaskID = self._display.add_task(
            self._label, total=total, completed=self._stored, state=self._state()
        )
        self._display.start()

    def advance(self, outcome: Outcome) -> None:
        """Move the bar by one job."""
        self._new += 1
        self._failed += outcome.failed
        if self._display is not None:
            self._display.update(self._task, completed=self._stored + self._new, state=self._state())

    def stop(self) -> None:
        """Leave the last state on the screen."""
        if self._display is not None:
            self._display.stop()
            self._display = None

    def _state(self) -> str:
        elapsed = time.monotonic() - self._begin
        return state_line(self._total, self._stored, self._new, self._failed, elapsed)


def state_line(total: int, stored: int, new: int, failed: int, elapsed: float) -> str:
    """What stands behind the bar; the rate is that of the jobs done in this run, not of the stored ones."""
    done = stored + new
    parts = [f"{done}/{total}"]
    if new and elapsed > 0:
        rate = new / elapsed
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min")
        if done < total:
            parts.append(f"{_clock((total - done) / rate)} left")
    if failed:
        parts.append(f"{failed} failed")
    return ", ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
