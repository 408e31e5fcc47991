"""Checks the prose of the docs: words that stay out, and pages of results that grow too long.

    python scripts/prose.py

Part of ``make lint``; needs nothing but Python. Blocks of code, tables and folded parts are not looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What is not written, and what is written in its place.
WORDS = {
    r"\bon trial\b": "'evaluated' or 'compared'",
    r"\bin the dock\b|\bcourtroom\b": "a plain word",
    r"\bissued again\b|\bthe first issue\b": "nothing: what was before is told by commits",
    r"\bsix \*?protocols\b": "'seven protocols'",
    r"\bpre-registration\b": "'preregistration'",
    r"\b(?:utilize|utilise|leverage|seamless|cutting-edge)\w*": "a plain word",
    r"\b(the|a|an|of|to|is|are|and|or|in|on|for|with|by) \1\b": "the word once",
}
# Words that a page of results may have, outside of tables and folded parts.
MOST_WORDS = 1_200


def prose(page: str) -> str:
    """A page without its blocks of code, tables and folded parts; lines stay in their places."""
    folded = re.sub(r"(?s)<details.*?</details>", lambda part: "\n" * part[0].count("\n"), page)
    plain = re.sub(r"(?ms)^ *```.*?^ *```$", lambda part: "\n" * part[0].count("\n"), folded)
    return re.sub(r"(?m)^\|.*$|`[^`\n]*`|<!--.*?-->", "", plain)


def problems(place: str, page: str) -> Iterator[str]:
    """What is wrong with a page, a line for each."""
    text = prose(page)
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in WORDS.items():
            for found in re.finditer(pattern, line, re.IGNORECASE):
                yield f"{place}:{number}: {found[0]!r}: write {instead}."
    if place.startswith("docs/results/") and len(text.split()) > MOST_WORDS:
        yield f"{place}: {len(text.split()):,} words; a page of results has {MOST_WORDS:,} at the most."


def pages() -> Iterator[Path]:
    """All pages that are checked."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> int:
    """Prints what is wrong; status 1 if anything is."""
    found = [
        each
        for path in pages()
        for each in problems(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    print("\n".join(found) or "The prose is as it should be.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
