"""``verax study status``: how a study stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import one_sentence, output, plain_table, print_json
from verax.cli.options import AsJson, Database, Folder
from verax.errors import VeraxError
from verax.workflows.answers import answers

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from verax.studies.store import Store
    from verax.studies.store.status import Group, Overview

STATUS_EXAMPLES = """Examples:

verax study status studies/forward

verax study status studies/forward --watch

verax study status studies/forward --json > status.json
"""
EVERY = 2.0  # seconds
MOST_ROWS = 12  # of the design
STATUSES = {
    "invited": "asked",
    "declined": "declined",
    "full": "no place",
    "active": "active",
    "left": "left",
    "screened-out": "screened out",
    "withdrawn": "withdrew",
    "complete": "complete",
}


@one_sentence
def status_command(
    folder: Folder,
    *,
    database: Database = None,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until Ctrl-C.")] = False,
    last: Annotated[int, typer.Option(min=0, help="Of how many people to say where they are.")] = 10,
) -> None:
    """Say how a study stands: who is where, places filled, times, drop-outs, exclusions by the declared rules."""
    from verax.studies.definition.study_files import frozen

    if as_json and watch:
        raise VeraxError("Give --json or --watch, not both.")
    freeze = frozen(folder)
    frozen_at = None if freeze is None else freeze.at
    with answers(folder, database) as store:
        if watch:
            with suppress(KeyboardInterrupt):
                _watch(store, frozen_at, last)
            return
        seen = _overview(store, frozen_at, last)
    if as_json:
        print_json(asdict(seen))
        return
    console = output()
    for part in _parts(seen):
        console.print(part)


def _overview(store: Store, frozen_at: str | None, last: int) -> Overview:
    from verax.studies.answers.exclusion import apply_exclusions
    from verax.studies.store.status import overview

    apply_exclusions(store)
    return overview(store, frozen=frozen_at, last=last)


def _watch(store: Store, frozen_at: str | None, last: int) -> None:
    from rich.console import Group as Together
    from rich.live import Live

    with Live(console=output(), auto_refresh=False) as live:
        while True:
            live.update(Together(*_parts(_overview(store, frozen_at, last))), refresh=True)
            time.sleep(EVERY)


def _parts(seen: Overview) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(seen.title, style="bold")
    frozen = "not frozen" if seen.frozen is None else f"frozen {seen.frozen[:10]}"
    yield Text(f"{seen.state}, {frozen}, hash {seen.hash[:12]}; {seen.at}")
    yield Text("")
    yield _counts(seen)
    for group, who in ((seen.people, "people"), (seen.bots, "bots")):
        if group.came:
            yield from _group(group, who)
    if seen.last:
        yield Text("\nlast seen")
        yield _last(seen)
    if seen.unkept:
        yield Text(f"\n{seen.unkept:,} pages that were sent in vain were only counted, not kept.")
    if seen.retention_days is not None:
        due = f"{seen.due} are due: verax study purge" if seen.due else "none is due"
        yield Text(f"\nAnswers are kept for {seen.retention_days} days; {due}.")


def _counts(seen: Overview) -> Table:
    table = _table("", "came", *STATUSES.values())
    for who, group in (("people", seen.people), ("bots", seen.bots)):
        if who == "people" or group.came:
            _add(table, who, group.came, *(group.counts.get(status, 0) for status in STATUSES))
    return table


def _group(group: Group, who: str) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(f"\ndesign ({who})")
    yield _rows(group)
    if group.phases:
        yield Text(f"\nminutes on the pages of each part ({who})")
        table = _table("part", "behind", "quarter", "median", "three quarters", "dropped out")
        timed = {timing.phase: timing for timing in group.phases}
        for phase in dict.fromkeys([*timed, *group.dropped]):
            times: tuple[object, ...] = ("", "", "", "")
            if (timing := timed.get(phase)) is not None:
                minutes = (f"{number:.1f}" for number in (timing.low, timing.median, timing.high))
                times = (timing.people, *minutes)
            _add(table, phase, *times, group.dropped.get(phase, 0))
        yield table
    if group.excluded:
        yield Text(f"\nexcluded by the declared rules ({who}; nobody is deleted)")
        table = _table("rule", who)
        for rule, count in sorted(group.excluded.items()):
            _add(table, rule, count)
        yield table


def _rows(group: Group) -> Table:

    table = _table("row", "gives", "wanted", "complete", "active", "left")
    for row in group.rows[:MOST_ROWS]:
        _add(table, row.row, row.cells.in_words(), row.target, row.complete, row.active, row.left)
    others = group.rows[MOST_ROWS:]
    if others:
        sums = [
            sum(getattr(row, what) for row in others) for what in ("target", "complete", "active", "left")
        ]
        _add(table, "others", f"{len(others)} more rows", *sums)
    return table


def _last(seen: Overview) -> Table:
    table = _table("participant", "status", "row", "part", "step", "minutes", "ago", "excluded by")
    for person in seen.last:
        minutes = "" if person.minutes is None else f"{person.minutes:.1f}"
        name = f"{person.participant} (bot)" if person.bot else person.participant
        step = f"{person.step} of {person.steps}" if person.steps else ""
        row = "" if person.row is None else person.row
        where = (STATUSES[person.status], row, person.phase or "", step)
        _add(table, name, *where, minutes, _ago(person.ago), ", ".join(person.rules))
    return table


def _table(*heads: str) -> Table:
    texts = ("", "gives", "part", "rule", "participant", "status", "excluded by")
    return plain_table(*heads, left=texts, gap=2)


def _add(table: Table, *cells: object) -> None:
    table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells))


def _ago(minutes: float) -> str:
    for size, unit in ((24 * 60, "d"), (60, "h"), (1, "min")):
        if minutes >= size:
            return f"{minutes / size:.0f} {unit}"
    return f"{minutes * 60:.0f} s"
