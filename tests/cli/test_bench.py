"""``verax bench stain`` as a person types it."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from helpers import make_texts


@pytest.fixture
def reviews(folder):
    """A file that is large enough to be stained."""
    texts, labels = make_texts(600, seed=8, length=14)
    with (folder / "made.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(
            (f"{text} {number}", label)
            for number, (text, label) in enumerate(zip(texts, labels, strict=True))
        )
    return folder


OPTIONS = (
    "--dataset",
    "made.csv",
    "--models",
    "logistic,tree",
    "--stains",
    "2",
    "--inputs",
    "5",
    "--samples",
    "50",
)


def test_a_run_prints_its_estimates_and_writes_its_files(verax, reviews):
    ended = verax("bench", "stain", *OPTIONS, "--explainers", "greedy,lime(samples=80)", "--out", "run")
    assert ended.status == 0
    assert "recall of the stain's 2 features" in ended.out
    assert " lime " in ended.out
    assert ended.out.rstrip().endswith("in a browser.")
    written = {path.name for path in (reviews / "run").iterdir()}
    assert {
        "report.html",
        "summary.json",
        "results.parquet",
        "timings.json",
        "manifest.json",
        "figures",
    } <= written
    methods = json.loads((reviews / "run" / "summary.json").read_text())["explainers"]
    assert methods == ["greedy", "lime(samples=80)", "random", "ground-truth"]


def test_json_is_the_summary_and_nothing_else(verax, reviews):
    ended = verax("bench", "stain", *OPTIONS, "--explainers", "greedy", "--out", "run", "--json")
    assert ended.status == 0
    assert ended.out == (reviews / "run" / "summary.json").read_text()
    json.loads(ended.out)


def test_a_spec_file_gives_the_options_and_the_command_line_wins(verax, reviews):
    (reviews / "stain.toml").write_text(
        '[stain]\ndatasets = ["made.csv"]\nmodels = ["tree"]\nexplainers = ["greedy"]\nstains = 5\ninputs = 5\n'
    )
    ended = verax("bench", "stain", "--spec", "stain.toml", "--stains", "1", "--out", "run", "--json")
    assert ended.status == 0
    assert json.loads(ended.out)["spec"]["stains"] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--size", "7"), "size must be at most 4"),
        (("--models", "trie"), "There is no model called 'trie'"),
        (("--explainers", "lyme"), "There is no explainer called 'lyme'"),
        (("--dataset", "none.csv"), "There is no file or folder 'none.csv'"),
        (("--min-share", "0.99"), "lower --min-share or --size"),
        (("--spec", "none.toml"), "There is no spec file 'none.toml'"),
        (("--jobs", "0"), "jobs must be at least 1"),
    ],
)
def test_what_is_wrong_is_one_sentence(verax, reviews, options, sentence):
    ended = verax("bench", "stain", *OPTIONS, "--explainers", "greedy", "--out", "run", *options)
    assert ended.status == 2
    assert sentence in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_a_folder_of_another_run_is_refused(verax, reviews):
    assert verax("bench", "stain", *OPTIONS, "--explainers", "greedy", "--out", "run").status == 0
    ended = verax("bench", "stain", *OPTIONS, "--explainers", "greedy", "--out", "run", "--seed", "3")
    assert ended.status == 2
    assert "holds another run" in ended.err


def test_explainers_with_commas_between_are_those_that_python_is_given_one_by_one(verax, reviews):
    assert verax("bench", "stain", *OPTIONS, "--explainers", "greedy, random", "--out", "run").status == 0
    spec = json.loads((reviews / "run" / "manifest.json").read_text())["spec"]
    assert spec["explainers"] == ["greedy", "random"]


def test_the_worked_example_of_the_docs_runs_as_it_stands(verax, reviews):
    page = (Path(__file__).parents[2] / "docs" / "staining.md").read_text(encoding="utf-8")
    modules = re.findall(r"```python\n# (my_package/\w+\.py)\n(.*?)```", page, re.DOTALL)
    assert [name for name, _ in modules] == ["my_package/mine.py", "my_package/models.py"]
    (reviews / "my_package").mkdir()
    for name, code in modules:
        (reviews / name).write_text(code)
    typed = next(
        line for line in page.splitlines() if line.startswith("verax bench") and "my_package" in line
    )
    small = ("--dataset", "made.csv", "--stains", "2", "--inputs", "5", "--samples", "50", "--out", "run")
    ended = verax(*shlex.split(typed)[1:], *small, "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert found["failures"] == []
    assert "my_package.mine:Alone" in found["explainers"]
    assert [cell["errors"] for cell in found["cells"]] == [{}, {}]
    assert any("my_package.mine:Alone" in cell["explainers"] for cell in found["cells"])


def test_errors_name_columns_by_the_options_of_the_command(verax, folder):
    (folder / "mine.csv").write_text("review,stars\ngood film,1\nbad film,0\n")
    ended = verax("bench", "stain", "--dataset", "mine.csv")
    assert ended.status == 2
    assert "it has: review, stars. Name the right one with --label-column ..." in ended.err
    ended = verax("bench", "stain", "-d", "mine.csv", "--label-column", "stars", "--text-column", "body")
    assert ended.status == 2
    assert "it has: review, stars. Name the right one with --text-column ..." in ended.err
