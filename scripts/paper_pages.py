"""Writes docs/papers/NAME.md from finished runs of papers, in their small size.

    python scripts/paper_pages.py papers

The argument is the folder in which ``verax paper NAME`` ran. A test checks that the published numbers on the pages are
those of the papers' folders.
"""

from __future__ import annotations

import sys
from pathlib import Path

from verax.workflows.paper_files import known_papers, read_paper

PAGES = Path(__file__).parents[1] / "docs" / "papers"


def main(runs: Path) -> None:
    """Writes the pages of all papers that have a run."""
    PAGES.mkdir(exist_ok=True)
    for name in known_papers():
        tables = runs / name / "tables.md"
        if tables.is_file():
            title, rest = tables.read_text(encoding="utf-8").split("\n\n", 1)
            made = (
                f"Made by `verax paper {name}` from `examples/{read_paper(name).folder.name}`; `--full` runs it in the "
                "paper's size."
            )
            (PAGES / f"{name}.md").write_text(f"{title}\n\n{made}\n\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
