"""``verax study analyze``: what it prints and what it writes, from a database and from an export."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import pandas as pd
import pytest

from studies.analysis.frames import THREE, sample_study
from verax.studies.definition.study_files import save_study
from verax.studies.store import open_store
from verax.studies.store.together import open_together
from verax.web.serve import default_database

EACH = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small forward study with the answers of four people in each of two conditions."""
    path = tmp_path_factory.mktemp("studies") / "forward"
    study = save_study(
        sample_study(
            {"name": "forward", "learning": 2, "test": 4, "strategy": True},
            {"learning": 2, "test": 4},
            conditions=THREE[:2],
            participants=EACH,
            analysis={"primary": "lime against none"},
        ),
        path,
    )
    with closing(open_store(study, default_database(path))) as store:
        for person in range(2 * EACH):
            token = store.enter()
            store.consent(token, True)
            walk(store, token, person)
    return path


def walk(store, token, person):
    """Answers all pages; who answers differs a little from person to person and page to page."""
    while (where := store.look(token)) is not None and where.status == "active":
        shown = store.show(token)
        given = {
            question.name: str(1 + (person + shown.ord) % 3 % len(question.options))
            if question.options
            else "My secret"
            for question in shown.screen.questions
        }
        assert store.submit(token, shown.ord, shown.nonce, given, {}).stored


def test_the_terminal_has_the_flow_the_primary_analysis_and_where_the_report_is(verax, folder, tmp_path):
    ended = verax("study", "analyze", str(folder), "--out", str(tmp_path / "out"), "--replicates", "100")
    assert ended.status == 0
    title, verdict, flow = [line for line in ended.out.splitlines() if line][:3]
    assert (title, flow) == ("A study", "8 arrived, 8 complete, 8 analysed.")
    assert verdict == "Of lime nothing is claimed, there is too little data."
    assert "planned" in ended.out
    assert "report.html" in ended.out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    (estimate,) = summary["primary"]["estimates"]
    assert f"{abs(estimate['estimate']):.1f}" in ended.out
    assert summary["primary"]["sentence"] in ended.out
    for problem in summary["problems"]:
        assert problem in ended.err


def test_the_folder_holds_summary_results_manifest_tables_and_page(verax, folder, tmp_path):
    out = tmp_path / "out"
    assert verax("study", "analyze", str(folder), "--out", str(out), "--replicates", "100").status == 0
    summary = json.loads((out / "summary.json").read_text())
    names = {"attrition", "balance", *(table["key"] for table in summary["tables"])}
    assert {path.stem for path in (out / "tables").glob("*.md")} == names
    assert {path.stem for path in (out / "tables").glob("*.tex")} == names
    assert "<html" in (out / "report.html").read_text()
    results = pd.read_parquet(out / "results.parquet")
    assert results["participant"].nunique() == 8
    assert "My secret" not in set(results["answer"])
    assert results.loc[results["question"] == "strategy", "withheld"].all()
    assert b"My secret" not in (out / "results.parquet").read_bytes()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["study"] == summary["hash"]
    assert manifest["options"]["replicates"] == 100


def test_studies_that_were_served_together_are_pooled_from_their_database(verax, folder, tmp_path):
    folders, studies = [tmp_path / "one", tmp_path / "two"], []
    for path in folders:
        made = sample_study(
            {"name": "forward", "learning": 2, "test": 4}, {"learning": 2, "test": 4}, conditions=THREE[:2]
        )
        spec = made.spec.model_copy(update={"title": path.name, "participants": EACH})
        studies.append(save_study(replace(made, spec=spec), path))
    database = f"sqlite:///{tmp_path / 'answers.sqlite'}"
    with closing(open_together(studies, database)) as together:
        for person in range(12):
            store, token = together.enter()
            store.consent(token, True)
            walk(store, token, person)
    pooled = ("study", "analyze", str(folders[0]), "--with", str(folders[1]), "--database", database)
    # A study that is not in the database has its answers in its own folder.
    ended = verax(*pooled, "--with", str(folder), "--replicates", "100", "--json")
    assert ended.status == 0, ended.err
    [table] = [one for one in json.loads(ended.out)["tables"] if one["key"] == "ratings-by-domain"]
    assert str(2 * EACH + 12) in json.dumps(table) or "3 studies" in json.dumps(table)


def test_tables_of_an_earlier_analysis_do_not_stay(verax, folder, tmp_path):
    out = tmp_path / "out"
    (out / "tables").mkdir(parents=True)
    (out / "tables" / "mine.md").write_text("somebody else's")
    asked = ("study", "analyze", str(folder), "--out", str(out), "--replicates", "100", "--estimator")
    assert verax(*asked, "both").status == 0
    assert (out / "tables" / "change-hase2020.md").exists()
    assert verax(*asked, "crossed").status == 0
    assert not (out / "tables" / "change-hase2020.md").exists()
    assert not (out / "tables" / "change-hase2020.tex").exists()
    assert (out / "tables" / "mine.md").exists()


def test_a_file_cannot_be_the_folder(verax, folder, tmp_path):
    (tmp_path / "taken").write_text("")
    ended = verax("study", "analyze", str(folder), "--out", str(tmp_path / "taken"), "--replicates", "100")
    assert ended.status == 2
    assert "cannot be the folder of the analysis (File exists); name another with --out." in ended.err


def test_an_unknown_defect_is_refused_before_anything_is_written(verax, folder, tmp_path):
    ended = verax("study", "analyze", str(folder), "--mend", "all", "--out", str(tmp_path / "out"))
    assert ended.status == 2
    assert ended.err.startswith("Error: There is no defect 'all' of the published procedure")
    assert not (tmp_path / "out").exists()


def test_an_export_gives_the_same_numbers(verax, folder, tmp_path):
    assert verax("study", "export", str(folder), "--out", str(tmp_path / "exported")).status == 0
    asked = ("--replicates", "100", "--json", "--out", str(tmp_path / "out"))
    exported = verax("study", "analyze", str(folder), "--export", str(tmp_path / "exported"), *asked)
    stored = verax("study", "analyze", str(folder), *asked)
    assert (exported.status, stored.status) == (0, 0)
    first, second = json.loads(exported.out), json.loads(stored.out)
    assert first.pop("source") != second.pop("source")
    assert first == second


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("responses.csv", lambda lines: [*lines, lines[-1]]),
        ("responses.csv", lambda lines: [line.replace(",i003,", ",i999,") for line in lines]),
        ("responses.csv", lambda lines: [line.rsplit(",", 1)[0] for line in lines]),
        ("participants.csv", lambda lines: lines[:-1]),
    ],
    ids=["a row twice", "an unknown item", "a column gone", "a participant gone"],
)
def test_an_export_that_was_edited_by_hand_is_one_sentence(verax, folder, tmp_path, name, edit):
    assert verax("study", "export", str(folder), "--out", str(tmp_path / "exported")).status == 0
    file = tmp_path / "exported" / name
    file.write_text("\n".join(edit(file.read_text().splitlines())) + "\n")
    ended = verax(
        "study",
        "analyze",
        str(folder),
        "--export",
        str(tmp_path / "exported"),
        "--out",
        str(tmp_path / "out"),
    )
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Error: ")
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err


def test_an_export_that_lacks_a_row_is_analysed_and_it_is_said(verax, folder, tmp_path):
    assert verax("study", "export", str(folder), "--out", str(tmp_path / "exported")).status == 0
    file = tmp_path / "exported" / "responses.csv"
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    asked = (
        "--export",
        str(tmp_path / "exported"),
        "--out",
        str(tmp_path / "out"),
        "--replicates",
        "100",
        "--json",
    )
    ended = verax("study", "analyze", str(folder), *asked)
    assert ended.status == 0
    assert [
        one for one in json.loads(ended.out)["problems"] if one.startswith("responses.csv was changed after")
    ]


def test_people_and_bots_have_folders_of_their_own(verax, folder):
    ended = verax("study", "analyze", str(folder), "--bots", "--replicates", "100")
    assert ended.status == 0
    assert "These are bots, not people." in ended.out
    assert "No bot has come yet (8 people did: leave --bots out)" in ended.err
    assert (folder / "analysis-bots" / "summary.json").exists()


def test_no_answers_and_wrong_options_are_one_sentence(verax, folder, tmp_path):
    study = tmp_path / "new"
    save_study(sample_study({"name": "forward", "learning": 2, "test": 4}, {"learning": 2, "test": 4}), study)
    ended = verax("study", "analyze", str(study))
    assert ended.status == 2
    assert "There are no answers yet" in ended.err
    assert not (study / "answers.sqlite").exists()
    ended = verax("study", "analyze", str(folder), "--estimator", "best")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "estimator must be 'crossed', 'hase2020' or 'both', not 'best'." in ended.err
    ended = verax("study", "analyze", str(folder), "--export", "x", "--database", "y")
    assert (ended.status, "not both" in ended.err) == (2, True)
