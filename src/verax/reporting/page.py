"""What reports share: style and script, how a page is written and kept, facts of the run, what failed."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from verax.benchmarks.contract import Failure
from verax.errors import VeraxError
from verax.installed import VERSION
from verax.phrases import say
from verax.results.tables import Table, file_name, heading, rows_of, to_latex, to_markdown
from verax.run.manifest import Manifest, library_versions, note_page


def page_style() -> str:
    """The stylesheet of every report."""
    return "\n".join(_static(name) for name in ("verax.css", "report.css"))


def page_script() -> str:
    """Sorting and filtering of tables, folded parts that open where somebody goes or prints; a page works without."""
    return _static("report.js")


def _static(name: str) -> str:
    return files("verax.reporting").joinpath("static", name).read_text(encoding="utf-8")


def write_report(
    folder: Path, page: str, figures: Mapping[str, str] | None = None, tables: Sequence[Table] = ()
) -> Path:
    """Writes ``report.html``, ``figures/*.svg`` and ``tables/*.md`` and ``*.tex`` into a folder; where the page is.

    Args:
        folder: made if absent.
        page: as HTML.
        figures: as SVG, by name.
        tables: to be pasted elsewhere.
    """
    # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
    written = {folder / "figures" / f"{name}.svg": svg for name, svg in (figures or {}).items()}
    for table in tables:
        place = folder / "tables" / file_name(table.key)
        written |= {place.with_suffix(".md"): to_markdown(table), place.with_suffix(".tex"): to_latex(table)}
    try:
        (folder / "figures" if figures else folder).mkdir(parents=True, exist_ok=True)
        if tables:
            (folder / "tables").mkdir(exist_ok=True)
        written |= {folder / "report.html": page}
        for path, text in written.items():
            path.write_bytes(text.encode("utf-8", "replace"))
        note_page(folder, written)
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error
    return folder / "report.html"


def terminal_table(table: Table, whole: Collection[int] = (0,)) -> TerminalTable:
    """A table for a terminal; the columns at the places ``whole`` are never broken into lines."""
    shown = TerminalTable(title=table.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, column in enumerate(table.columns):
        justify: Literal["left", "right"] = "left" if column.kind == "text" else "right"
        shown.add_column(heading(column), justify=justify, no_wrap=number in whole)
    for row in rows_of(table):
        shown.add_row(*map(str, row))
    return shown


@dataclass(frozen=True)
class FittedTable:
    """A table with as many of its first columns as a terminal has room for, and how many are left to the report."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        rows = [list(map(str, row)) for row in rows_of(self.table)]
        widths = [
            max(max(map(len, heading(column).split()), default=0), *(len(row[place]) for row in rows), 1) + 3
            for place, column in enumerate(self.table.columns)
        ]
        # The first two always: what a row is about, and what is said of it.
        fitting = max(2, sum(reached <= options.max_width for reached in accumulate(widths)))
        yield terminal_table(replace(self.table, columns=self.table.columns[:fitting]), (0, 1))
        if (more := len(widths) - fitting) > 0:
            yield Text(say("common", "more-columns", more=more), style="dim")


LONGEST = 200  # bytes at the end of a page that hold its mark


def page_key(*parts: object) -> str:
    """What a page depends on, in one hash: its numbers, and the code and libraries that draw it.

    Args:
        parts: plain data.
    """
    about = [VERSION, library_versions(), _sources(), *parts]
    written = json.dumps(about, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()


def marked(page: str, key: str) -> str:
    """A page that says what it was made of, where only programs look."""
    return f"{page}\n<!-- made of {key} -->\n"


def is_kept(path: Path, key: str) -> bool:
    """Whether the page that lies there was made of the same."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LONGEST))
            return file.read().endswith(f"<!-- made of {key} -->\n".encode())
    except OSError:
        return False


@cache
def _sources() -> str:
    """The state of the code that draws and of what it says: an edited template or phrase makes new pages."""
    states = [
        (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
        for folder in (Path(str(files("verax.reporting"))), Path(str(files("verax.phrases"))))
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".html", ".css", ".js", ".svg", ".ftl")
    ]
    return hashlib.sha256(repr(states).encode()).hexdigest()


def short_names(labels: Sequence[str]) -> dict[str, str]:
    """Labels without their parameters, wherever that still tells them apart."""
    bare = {label: label.split("(", 1)[0].rsplit(":", 1)[-1] for label in labels}
    alike = list(bare.values())
    return {label: name if alike.count(name) == 1 else label for label, name in bare.items()}


def spec_toml(spec: Mapping[str, object], section: str) -> str:
    """A spec as a TOML file that asks for the same run."""
    # JSON spells strings, numbers, booleans and lists as TOML does; what is None is left out.
    lines = [f"{name} = {json.dumps(value)}" for name, value in spec.items() if value is not None]
    return "\n".join([f"[{section}]", *lines])


def manifest_words(manifest: Manifest) -> dict[str, str]:
    """Command, versions, machine and times in words; empty where the manifest says nothing."""
    versions = [f"{name} {version}" for name, version in manifest.get("versions", {}).items() if version]
    machine = [f"{name} {value}" for name, value in manifest.get("machine", {}).items() if value]
    times = [str(manifest[name]) for name in ("started", "finished") if manifest.get(name)]
    return {
        "command": str(manifest.get("command") or ""),
        "versions": ", ".join(versions),
        "machine": ", ".join(machine),
        "times": " to ".join(times),
        "continued": str(len(manifest.get("continued", [])) or ""),
    }


MOST_NAMED = 3


def failed_jobs(failures: Iterable[Failure], job: Literal["job", "trial"]) -> list[str]:
    """One sentence for each reason why jobs failed, with the jobs; ``job`` is what one of them is: "job" or "trial"."""
    names: dict[str, list[str]] = defaultdict(list)
    for failure in failures:
        names[failure.error.removeprefix("VeraxError: ").rstrip(".")].append(failure.job)
    # A job's name has commas of its own, so that others between the names would say nothing.
    return [
        say(
            "common",
            "failed-jobs",
            jobs=len(jobs),
            job=job,
            names="; ".join(jobs[:MOST_NAMED]),
            more=max(0, len(jobs) - MOST_NAMED),
            reason=reason,
        )
        for reason, jobs in names.items()
    ]
