"""Writes the tables of options in the docs from the specs that declare them.

    python scripts/options_tables.py

A table stands between ``<!-- options of MODULE:SPEC and MODULE:SPEC -->`` and ``<!-- end of options -->``. A test
checks that the pages are what this writes.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from verax.cli.options import options_table

DOCS = Path(__file__).parents[1] / "docs"
PLACE = re.compile(r"(<!-- options of ([\w.: ]+) -->\n).*?(<!-- end of options -->)", re.DOTALL)


def with_tables(page: str) -> str:
    """The text of a page with its tables written anew."""

    def table(place: re.Match[str]) -> str:
        begin, specs, end = place.groups()
        named = [spec.split(":") for spec in specs.split(" and ")]
        kinds = [getattr(import_module(module), name) for module, name in named]
        return f"{begin}\n{options_table(*kinds)}\n\n{end}"

    return PLACE.sub(table, page)


def main() -> None:
    """Writes all pages that have such a table."""
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        if with_tables(page) != page:
            path.write_text(with_tables(page), encoding="utf-8")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
