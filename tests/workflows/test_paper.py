"""Papers from their folders to their tables: what is read, what is left out, every cell beside the published one."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.staining.spec import StainSpec
from verax.errors import VeraxError
from verax.models.ready import check_model
from verax.options import checked_spec
from verax.results.tables import Column, Table
from verax.studies.definition.spec import make_study_spec
from verax.workflows.paper import changed_spec, registered, run_paper, study_numbers
from verax.workflows.paper_files import PaperBenchmark, known_papers, read_paper, with_changes, with_data

ROOT = Path(__file__).parents[2]
PAPERS = ["camburu-2020", "hase-bansal", "human-grounded", "reverse-turing", "sippy-2020"]


def test_all_five_papers_are_there_also_by_author_and_year():
    assert known_papers() == PAPERS
    for name, folder in (
        ("hase-bansal-2020", "hase-bansal"),
        ("lertvittayakumjorn-2019", "human-grounded"),
        ("gonzalez-sogaard-2020", "reverse-turing"),
    ):
        assert read_paper(name).name == folder
    with pytest.raises(
        VeraxError, match="There is no paper 'nobody-1999'; there are: camburu-2020, hase-bansal"
    ):
        read_paper("nobody-1999")


@pytest.mark.parametrize("name", PAPERS)
def test_a_papers_folder_is_whole_and_its_specs_are_in_order(name):
    paper = read_paper(name)
    assert (paper.folder / "README.md").is_file()
    assert paper.published
    assert paper.about.differences
    assert paper.about.rerun.startswith(("yes", "no, because"))
    for size in (paper.about.small, paper.about.full):
        assert size.note
        for run in size.runs:
            kind = StainSpec if run.benchmark == "stain" else RationaleSpec
            spec = checked_spec(kind, run.options)
            for dataset in spec.datasets:
                spec.source(dataset)
            for model in spec.models:
                check_model(model)
        if size.studies is not None:
            for file in size.studies.specs:
                changes = with_changes(size.studies.changes, size.studies.own.get(file, {}))
                make_study_spec(changed_spec(paper.folder / file, changes))


def test_changes_go_into_tables_and_named_conditions_and_take_entries_away():
    spec = {
        "model": "a",
        "source": {"format": "sst", "label": "x"},
        "conditions": [{"name": "none"}, {"name": "lime", "parameters": {"samples": 5000, "features": 5}}],
    }
    changes = {
        "model": "b",
        "source": {"format": "", "limit": 9},
        "conditions": [{"name": "lime", "parameters": {"samples": 10}}],
    }
    assert with_changes(spec, changes) == {
        "model": "b",
        "source": {"label": "x", "limit": 9},
        "conditions": [{"name": "none"}, {"name": "lime", "parameters": {"samples": 10, "features": 5}}],
    }
    assert spec["model"] == "a"


def test_files_that_are_not_there_are_left_out_and_named(tmp_path):
    run = PaperBenchmark(
        name="r",
        benchmark="stain",
        groups=["One", "Two", "Three"],
        options={"datasets": ["imdb", "{data}/phones.json(format=amazon)", "{data}/books.json"]},
    )
    left, missing = with_data(run, None)
    assert (left.options["datasets"], left.groups) == (["imdb"], ["One"])
    assert missing == ["phones.json", "books.json"]
    (tmp_path / "phones.json").touch()
    left, missing = with_data(run, tmp_path)
    assert left.options["datasets"] == ["imdb", f"{tmp_path}/phones.json(format=amazon)"]
    assert (left.groups, missing) == (["One", "Two"], ["books.json"])
    only_files = run.model_copy(update={"options": {"datasets": ["{data}/a.csv"]}, "groups": ["One"]})
    assert with_data(only_files, None) == (None, ["a.csv"])


def test_rows_of_a_table_are_methods_whatever_they_were_given():
    assert registered("lime-package(samples=50)") == "lime"
    assert registered("l2x-camburu(k=23)") == "l2x"
    assert registered("greedy") == "greedy"


def test_numbers_of_a_study_are_printed_as_their_columns_say():
    columns = (
        Column("condition", "Method", "text"),
        Column("n", "n", "count"),
        Column("pre", "Pre", "percent"),
        Column("change", "Change"),
        Column("p", "p", "p"),
    )
    rows = ({"condition": "lime", "n": 1144, "pre": 0.6267, "change": -1.934, "p": 0.0144},)
    found = study_numbers([Table("paper-1", "", columns, rows, "")])
    assert found == {"paper-1": {"lime": {"n": "1,144", "pre": "62.67", "change": "-1.93", "p": "0.014"}}}


@pytest.fixture
def own_paper(tmp_path):
    """A paper of one verification and one staining run on made-up texts, small enough for a test."""
    rng = np.random.default_rng(3)
    filler = [
        "film",
        "plot",
        "the",
        "actor",
        "scene",
        "story",
        "with",
        "about",
        "some",
        "of",
        "its",
        "own",
        "slow",
        "quick",
        "then",
        "here",
    ]
    with (tmp_path / "films.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(400):
            words = [*rng.choice(filler, 8), rng.choice((("bad", "poor"), ("good", "fine"))[number % 2])]
            writer.writerow([" ".join(rng.permutation(words)), ("negative", "positive")[number % 2]])
    folder = tmp_path / "own" / "paper"
    folder.mkdir(parents=True)
    films = json.dumps(str(tmp_path / "films.csv"))
    (folder / "run.toml").write_text(
        f"""
title = "Own"
citation = "Nobody (2000)"
rerun = "yes"
differences = ["All of it."]
[full]
[small]
note = "Small."
[[small.runs]]
name = "stain"
benchmark = "stain"
groups = ["FILMS", "BOOKS"]
[small.runs.options]
datasets = [{films}, "{{data}}/books.json"]
models = ["tree"]
explainers = ["greedy"]
stains = 1
inputs = 3
plant = false
part = "train"
min_share = 0.1
min_region = 5
[[small.runs]]
name = "rationale"
benchmark = "rationale"
groups = ["FILMS"]
[small.runs.options]
datasets = [{films}]
models = ["rationale(rate=0.01,dimensions=12)"]
difficulty = ["published"]
target_models = 1
share = 0.25
epochs = 8
inputs = 6
explainers = ["greedy"]
part = "all"
""",
        encoding="utf-8",
    )
    (folder / "published.toml").write_text(
        """
[[tables]]
key = "figure-2"
name = "Figure 2"
title = "Accuracy on R"
columns = [["Films", "FILMS"], ["Books", "BOOKS"]]
rows = [["Tree", "tree", [100, 99.5]]]
[[tables]]
key = "table-1"
name = "Table 1"
page = 7
title = "Errors"
best = "low"
columns = [["% first", "FILMS.first"], ["avg misrnk", "FILMS.above"]]
rows = [["Greedy", "greedy", [4.24, "7.02 (24.12)"]], ["Random", "random", [14.5, ""]], ["Oracle", "oracle", ["", ""]]]
""",
        encoding="utf-8",
    )
    return folder.parent


def test_a_paper_runs_from_its_folder_to_its_tables_and_a_second_time_computes_nothing(
    own_paper, tmp_path, monkeypatch
):
    pytest.importorskip("torch")
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    told = []
    run = run_paper(own_paper, tmp_path / "out", tell=told.append)
    assert told == ["stain: books.json is not there (--data FOLDER), so it is left out."]
    page = run.tables.read_text(encoding="utf-8")
    assert "## Figure 2: Accuracy on R" in page
    assert "## Table 1, page 7: Errors" in page
    assert "| Tree | 100 · 100.0 | 99.5 · – |" in page
    # The lowest of a column is bold, among what was published and among ours: the oracle makes no error.
    assert "| Oracle | – · **0.00** | – · **0.00 (0.00)** |" in page
    assert "| Greedy | **4.24** · " in page
    cells = {
        (cell["row"], cell["column"]): (cell["published"], cell["ours"])
        for table in json.loads((tmp_path / "out" / "tables.json").read_text())["tables"]
        for cell in table["cells"]
    }
    rows = run_rows(tmp_path / "out" / "rationale")
    above = rows[rows["explainer"] == "random"]["above"]
    assert cells["Random", "avg misrnk"] == ("", f"{above.mean():.2f} ({above.std(ddof=0):.2f})")
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("jobs/*/*.json")}
    again = run_paper(own_paper, tmp_path / "out")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("jobs/*/*.json")} == stamps
    assert again.numbers == run.numbers


def test_a_run_that_fails_is_told_and_the_others_are_printed(own_paper, tmp_path):
    path = own_paper / "paper" / "run.toml"
    text = path.read_text(encoding="utf-8")
    before, after = text.rsplit("datasets = [", 1)
    path.write_text(f'{before}datasets = ["no-such-file.csv"{after[after.index("]") :]}', encoding="utf-8")
    run = run_paper(own_paper, tmp_path / "out")
    assert any(note.startswith("rationale: ") and "no-such-file.csv" in note for note in run.notes)
    page = run.tables.read_text(encoding="utf-8")
    assert "| Tree | 100 · 100.0 | 99.5 · – |" in page
    assert "no-such-file.csv" in page


def run_rows(folder):
    import pandas as pd

    rows = pd.read_parquet(folder / "results.parquet")
    return rows[~rows["added"]]


def test_what_is_wrong_with_a_folder_is_a_sentence(own_paper):
    published = own_paper / "paper" / "published.toml"
    text = published.read_text(encoding="utf-8")
    published.write_text(text.replace("[100, 99.5]", "[100]"), encoding="utf-8")
    with pytest.raises(VeraxError, match="the row 'Tree' of Figure 2 has 1 cells for 2 columns"):
        read_paper(own_paper)
    published.write_text("tables = [", encoding="utf-8")
    with pytest.raises(VeraxError, match="is not TOML"):
        read_paper(own_paper)
    assert tomllib.loads((own_paper / "paper" / "run.toml").read_text())["title"] == "Own"


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_of_a_paper_prints_what_was_published(name):
    """Every published number of the folder stands on the page, in its row and column; ours stand beside it."""
    paper = read_paper(name)
    page = (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")
    for table in paper.published:
        assert f"## {table.name}" in page
        part = page.split(f"## {table.name}", 1)[1].split("\n## ", 1)[0]
        lines = {line.split(" | ")[0].removeprefix("| "): line for line in part.splitlines()}
        for heading, _, cells in table.rows:
            shown = [cell.split(" · ")[0].strip(" *|") for cell in lines[heading].split(" | ")[1:]]
            wanted = [
                cell.strip("*")
                if isinstance(cell, str)
                else f"{cell:g}"
                if isinstance(cell, float)
                else f"{cell:,}"
                for cell in cells
            ]
            assert [one.replace("–", "") for one in shown] == wanted
    assert f"Could be re-run by its authors: {paper.about.rerun}" in page
    if paper.about.small.studies is not None:
        assert "bots, which are no people" in page
