"""Writes docs/papers.md from the papers' folders: their settings beside those of our specs and code, and what differs.

    python scripts/papers_page.py

A test checks that the page is what this writes, and that every value is what the paper has.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from verax.studies.protocol.contract import protocols
from verax.toml_text import to_toml
from verax.workflows.paper_files import known_papers, papers_folder, read_paper

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers.md"
SETTINGS = "paper/settings.toml"
HEAD = """# The papers

Verax implements five papers. For each, this page has what the paper says in numbers beside what our specs and code
have, and what is not as published in full size. It is written from the papers' folders under `examples/` by
`scripts/papers_page.py`; a test reads every value where the last column says, and compares it.

```sh
verax paper
```

lists them, and `verax paper NAME` runs all of a paper that needs no people, small (half a minute to two minutes of one
core) or (`--full`) in its own size, and writes its tables with the published number beside ours in every cell. Studies
with people are built, and rehearsed by bots: no paper's answers are public, so no result with people is reproduced.
"""


def settings_of(name: str) -> dict[str, Any]:
    """The rows of a paper: element, what the paper says, where ours stands, and its value."""
    return tomllib.loads((papers_folder() / name / SETTINGS).read_text(encoding="utf-8"))


def value_of(where: str) -> Any:
    """What the code or an example has."""
    kind, path = where.split(" ", 1)
    if kind == "protocol":
        name, field = path.split(".")
        return protocols.get(name).model_fields[field].default
    if kind == "example":
        file, entry = path.split(" ")
        spec = tomllib.loads((ROOT / "examples" / file).read_text(encoding="utf-8"))
        return reduce(_inside, re.findall(r"[^.\[\]]+", entry), spec)
    module, name = path.split(":")
    if kind == "python":
        first, *inside = name.split(".")
        return reduce(_inside, inside, getattr(import_module(module), first))
    of, field = name.split(".")
    made = getattr(import_module(module), of)
    if kind == "default":
        return inspect.signature(made).parameters[field].default
    if issubclass(made, BaseModel):
        return made.model_fields[field].default
    return next(one.default for one in dataclasses.fields(made) if one.name == field)


def _inside(table: Any, part: str) -> Any:
    return table[int(part)] if isinstance(table, Sequence) else table[part]


def plain(value: Any) -> Any:
    """As TOML has it."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_section(name) for name in known_papers())])


def _section(name: str) -> str:
    paper, settings = read_paper(name), settings_of(name)
    rows = [
        f"| {element} | {said} | `{_shown(value_of(where))}` | `{_place(where, name)}` |"
        for element, said, where, _ in settings["rows"]
    ]
    lines = [
        f"## {paper.about.title}",
        "",
        f"{paper.about.citation}. {settings['text'].strip()}",
        "",
        f"Folder: `examples/{name}`. Tables: [{name}](papers/{name}.md).",
        "",
        "| element | the paper | here | where |",
        "|---|---|---|---|",
        *(line.replace("|F|", r"\|F\|") for line in rows),
        "",
        "What is not as published, or not said there:",
        "",
        *(f"- {sentence}" for sentence in paper.about.differences),
        "",
        f"Could be re-run by its authors: {paper.about.rerun}.",
        "",
    ]
    return "\n".join(lines)


def _place(where: str, paper: str) -> str:
    """Where a value stands, for readers: a file of the paper's folder and its entry, or a name in the code."""
    return where.split(" ", 1)[1].removeprefix(f"{paper}/")


def _shown(value: Any) -> str:
    return to_toml({"x": plain(value)}).strip().removeprefix("x = ").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
