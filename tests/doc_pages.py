"""The README and the docs as tests read them: their blocks, and the commands in these."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# How a line of a shell begins; the rest of a block without a language is what a command prints.
PROGRAMS = ("verax", "pip", "make", "python", "dask", "for ", "done", ".venv/bin/")


def name_of(page: Path) -> str:
    """A page's place in the repository."""
    return page.relative_to(ROOT).as_posix()


def python_blocks(page: Path) -> list[str]:
    """The blocks of Python without a title: a title names the file that a block belongs into."""
    return [
        body
        for language, title, body in BLOCK.findall(page.read_text(encoding="utf-8"))
        if (language, title) == ("python", "")
    ]


def shell_lines(page: Path) -> Iterator[str]:
    """What a reader pastes into a shell: lines that end with a backslash go on, remarks are left out."""
    for language, _, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = re.sub(r"\\\n\s*", " ", body).splitlines()
        if language == "sh" or (language == "" and lines and lines[0].startswith(PROGRAMS)):
            yield from (line.strip() for line in lines if line.strip())


def script(page: Path) -> list[str]:
    """The lines of a page's blocks for a shell, with loops written out; lines that only remark are left out."""
    played: list[str] = []
    loop: tuple[str, list[str], list[str]] | None = None
    for line in shell_lines(page):
        begins = re.match(r"for (\w+) in ([^;]+); do$", line)
        if begins is not None:
            loop = begins[1], begins[2].split(), []
        elif line == "done":
            assert loop is not None
            name, values, lines = loop
            played += [each.replace(f"${name}", value) for value in values for each in lines]
            loop = None
        elif not line.startswith("#"):
            (played if loop is None else loop[2]).append(line)
    return played


def commands(page: Path) -> list[list[str]]:
    """The arguments of every ``verax`` that a page has in its blocks for a shell."""
    found = []
    for line in script(page):
        written = re.search(r"^(?:\S*/|docker .* )?verax (.*)", line)
        if written is not None:
            words = shlex.split(written[1], comments=True)
            found.append(words[: words.index(">")] if ">" in words else words)
    return found
