"""What is public is on one page: every name that the docs and the examples import, and nothing that is not there."""

from __future__ import annotations

import ast
import json
import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

import verax

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "public.md").read_text(encoding="utf-8")
LISTED = {
    module: re.findall(r"`(\w+)`", names)
    for module, names in re.findall(r"^\| `(verax[\w.]*)` \| (.*) \|$", PAGE, re.MULTILINE)
}
# Layers of which every name in `__all__` is public.
WHOLE = set(re.findall(r"`(verax\.\w+)`", PAGE.split("| module |")[0]))


def pieces_of_code() -> list[str]:
    """The Python blocks of all pages, and the code of the examples."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    blocks = [
        dedent(block)
        for page in pages
        for block in re.findall(r"^ *```python[^\n]*\n(.*?)^ *```", page.read_text("utf-8"), re.S | re.M)
    ]
    notebooks = [json.loads(path.read_text("utf-8")) for path in (ROOT / "examples").rglob("*.ipynb")]
    cells = [
        "".join(cell["source"])
        for notebook in notebooks
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    scripts = [path.read_text("utf-8") for path in (ROOT / "examples").rglob("*.py")]
    return [*blocks, *cells, *scripts]


def imported() -> set[tuple[str, str]]:
    """Modules of verax with the names that are imported from them."""
    found = set()
    for code in pieces_of_code():
        try:
            tree = ast.parse(code)
        except SyntaxError:  # a block that shows a part of something
            continue
        found |= {
            (node.module, name.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "verax"
            for name in node.names
        }
    return found


def is_public(module: str, name: str) -> bool:
    if module == "verax":
        return name in dir(verax)
    if module in WHOLE:
        return name in import_module(module).__all__
    return name in LISTED.get(module, ())


def test_what_the_docs_import_is_called_public():
    used = imported()
    assert len(used) > 50  # or they are not found
    assert sorted(one for one in used if not is_public(*one)) == []


def test_the_page_names_nothing_that_the_docs_do_not_use():
    used = imported()
    assert [
        (module, name) for module, names in LISTED.items() for name in names if (module, name) not in used
    ] == []


@pytest.mark.parametrize("module", sorted({*LISTED, *WHOLE}))
def test_public_names_are_there(module):
    there = import_module(module)
    for name in LISTED.get(module, there.__all__ if module in WHOLE else ()):
        if not hasattr(there, name):
            import_module(f"{module}.{name}")
