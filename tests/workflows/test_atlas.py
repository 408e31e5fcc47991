"""``verax.atlas``: the same numbers from nothing, going on where it stopped, and an explainer from outside."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

import verax
from verax.benchmarks.atlas.findings import AtlasSummary
from verax.run.manifest import verify
from verax.workflows.atlas import GIVEN, features_of

TINY = {
    "size": "small",
    "datasets": ["breast-cancer"],
    "models": ["tree"],
    "explainers": ["greedy", "lime"],
    "tests": ["planted", "students", "measures", "sanity"],
    "stains": 6,
    "inputs": 2,
    "samples": 16,
    "budgets": [4],
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A whole atlas, as small as can be."""
    return verax.atlas(out=tmp_path_factory.mktemp("atlas") / "one", **TINY)


def given_files(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob(f"runs/*/{GIVEN}")}


def test_every_benchmark_gives_findings_and_one_table_holds_them(tiny):
    frame = tiny.to_frame()
    assert set(frame["name"]) == {"planted", "students", "measures", "sanity"}
    assert set(frame["method"]) == {"greedy", "lime", "lime(samples=4)", "random"}
    assert {"summary.json", "results.parquet", "findings.csv", "index.html"} <= {
        path.name for path in tiny.folder.iterdir()
    }
    found = verify(tiny.folder)
    assert (found.files, found.problems) == (4, ())


def test_from_nothing_twice_gives_the_same_numbers_and_what_is_there_is_not_done_again(tiny, tmp_path):
    """A second one is stopped after its first run, and goes on."""

    class StoppedError(Exception):
        pass

    told = []

    def stop(sentence):
        told.append(sentence)
        if len(told) == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        verax.atlas(out=tmp_path / "two", tell=stop, **TINY)
    before = given_files(tmp_path / "two")
    assert len(before) == 1
    again = verax.atlas(out=tmp_path / "two", **TINY)
    after = given_files(tmp_path / "two")
    assert {name: after[name] for name in before} == before
    assert (tmp_path / "two" / "summary.json").read_bytes() == (tiny.folder / "summary.json").read_bytes()
    third = []
    verax.atlas(out=tmp_path / "two", tell=third.append, **TINY)
    assert third == []
    assert given_files(tmp_path / "two") == after
    assert again.summary == tiny.summary


def test_an_explainer_from_outside_is_added_by_one_command_and_nothing_else_is_done(
    tmp_path, monkeypatch, capsys
):
    from verax.cli.main import app

    (tmp_path / "my_backwards.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = {**TINY, "tests": ["sanity"]}
    verax.atlas(out=tmp_path / "atlas", **asked)
    before = given_files(tmp_path / "atlas")
    app(["atlas", "add", "my_backwards:Backwards", "--out", "atlas", "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert found["added"] == ["my_backwards:Backwards"]
    after = given_files(tmp_path / "atlas")
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 1
    methods = {one["method"] for one in found["findings"]}
    assert "my_backwards:Backwards" in methods
    assert "my_backwards:Backwards" in (tmp_path / "atlas" / "index.html").read_text()
    # Asked for again, the atlas keeps what was added.
    assert "my_backwards:Backwards" in set(verax.atlas(out=tmp_path / "atlas", **asked).to_frame()["method"])


def test_the_command_of_a_cell_makes_its_number_again(tiny, tmp_path, monkeypatch, capsys):
    from verax.cli.main import app

    cell = next(
        one
        for one in tiny.summary.cells
        if (one.finding.name, one.finding.method, one.finding.scope) == ("planted", "lime", "part")
    )
    monkeypatch.chdir(tmp_path)
    app([*shlex.split(cell.command)[1:], "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    area = found["cells"][0]["explainers"]["lime"]["auc"]
    assert 100 * area["mean"] == pytest.approx(cell.finding.estimate)
    assert area["n"] == cell.finding.n


def test_runs_in_several_processes_give_the_same_numbers(tiny, tmp_path):
    made = verax.atlas(out=tmp_path, jobs=2, **{**TINY, "tests": ["sanity"], "models": ["tree", "logistic"]})

    def of_tree(summary):
        found = [
            cell.finding
            for cell in summary.cells
            if (cell.finding.name, cell.finding.model) == ("sanity", "tree")
        ]
        return {(one.method, one.scope): one.estimate for one in found}

    assert of_tree(made.summary) == of_tree(tiny.summary)


def test_what_is_wrong_is_one_sentence(tmp_path):
    with pytest.raises(verax.VeraxError, match="There is no atlas in"):
        verax.add_to_atlas("lime", out=tmp_path)
    with pytest.raises(verax.VeraxError, match="reads any of its datasets"):
        verax.atlas(out=tmp_path, datasets=["breast-cancer"], models=["cnn"], tests=["planted"])
    with pytest.raises(verax.VeraxError, match="size must be 'small' or 'full'"):
        verax.atlas(out=tmp_path, size="huge")


def test_published_tables_that_need_no_people_are_cells_beside_ours(tmp_path, monkeypatch):
    from verax.workflows import paper_files

    paper = paper_files.read_paper("sippy-2020")
    little = {
        "datasets": ["imdb(limit=700)"],
        "models": ["tree"],
        "explainers": ["greedy"],
        "stains": 1,
        "inputs": 2,
        "samples": 30,
    }
    run = paper.about.small.runs[0]
    small = paper.about.small.model_copy(
        update={"runs": [run.model_copy(update={"options": run.options | little})]}
    )
    tiny = replace(paper, about=paper.about.model_copy(update={"small": small}))
    monkeypatch.setattr(paper_files, "known_papers", lambda: ["sippy-2020"])
    monkeypatch.setattr(paper_files, "read_paper", lambda _: tiny)
    made = verax.atlas(
        out=tmp_path / "one", **TINY | {"tests": ["papers", "sanity"], "explainers": ["greedy"]}
    )
    tables = {table.title.partition(":")[0]: table for table in made.summary.published}
    # Figure 2 has no decision trees.
    assert [title.partition(",")[0] for title in tables] == ["Table 2", "Figure 3", "Figure 4"]
    # The paper has 50,000 reviews, half of them positive; the run has 700 of them.
    sizes = dict(tables["Table 2, section 4, datasets"].rows)["IMDb"]
    assert [published for published, _ in sizes] == ["50,000", "50", "0.62"]
    assert sizes[0][1] == "700"
    assert tables["Table 2, section 4, datasets"].command == "verax paper sippy-2020"
    page = (made.folder / "index.html").read_text(encoding="utf-8")
    assert "Published tables, made again" in page
    assert "<td>50,000 · 700</td>" in page
    assert (made.folder / "papers" / "sippy-2020" / "tables.md").is_file()
    assert AtlasSummary.from_dict(json.loads((made.folder / "summary.json").read_bytes())) == made.summary


def test_columns_of_a_stain_are_read_from_its_words():
    assert features_of("good and film: positive") == ("film", "good")
    assert features_of("0.1 < mean size <= 0.2 and age > 30: no") == ("age", "mean size")


OWN = '''
from dataclasses import dataclass, replace

import verax


@dataclass(frozen=True)
class Backwards(verax.Explainer):
    """What matters least comes first."""

    def explain(self, model, inputs, targets=None):
        found = verax.explainer("greedy").explain(model, inputs, targets)
        return [replace(one, scores=1 / (1e-6 + abs(one.scores))) for one in found]
'''
