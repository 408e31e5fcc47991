"""``verax report`` from the command line: what it prints, where it writes, and what it says of wrong folders."""

import json

import pytest

from reporting.joint.test_joint_report import ERRING, FOUR, STUDY, stain, verification
from reporting.run_summaries import written
from verax.run.manifest import note_results, start_manifest


@pytest.fixture
def both(folder):
    for name, given in (("run", stain({("a", "tree"): FOUR})), ("study", STUDY)):
        (folder / name).mkdir()
        (folder / name / "summary.json").write_text(json.dumps(written(given)))
    return folder


def test_the_answer_is_printed_and_the_page_lies_where_it_says(both, verax):
    ended = verax("report", "run", "study")
    assert ended.status == 0, ended.err
    assert ended.out.startswith("Neither shown nor excluded: over 4 methods (lime, shap, greedy and random)")
    assert ended.out.splitlines()[-2:] == [
        "The report is report.html; its numbers are in report.json.",
        "Next: open report.html in a browser.",
    ]
    assert (both / "report.html").exists()
    assert max(len(line) for line in ended.out.splitlines()) <= 100


def test_two_benchmarks_are_told_to_agree_or_not(both, verax):
    (both / "rationale").mkdir()
    (both / "rationale" / "summary.json").write_text(
        json.dumps(written(verification({("rt", "easy"): ERRING})))
    )
    ended = verax("report", "run", "rationale")
    said = " ".join(ended.out.split())
    assert "Do Staining, a and Rationale models, rt order explainers alike?" in said


def test_json_is_the_file_and_nothing_else(both, verax):
    ended = verax("report", "run", "study", "--out", "out", "--json")
    assert ended.out == (both / "out" / "summary.json").read_text(encoding="utf-8")
    assert json.loads(ended.out)["explainers"] == ["lime", "greedy", "shap", "random"]


def test_a_wrong_folder_is_one_sentence(both, verax):
    ended = verax("report", "run", "nowhere")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.strip() == (
        "Error: There is no folder 'nowhere'; name folders of benchmark runs and of analysed studies."
    )
    assert not (both / "report.html").exists()


def test_a_report_says_that_a_file_was_edited_and_so_does_verify(both, verax):
    start_manifest(both / "run", {})
    note_results(both / "run", ["summary.json"])
    assert "not those that were computed" not in verax("report", "run", "study").out
    unedited = verax("verify", "run")
    assert (unedited.status, unedited.out) == (0, "run: 1 files are as they were written.\n")
    summary = both / "run" / "summary.json"
    summary.write_text(summary.read_text() + " ")
    said = " ".join(verax("report", "run", "study").out.split())
    sentence = "summary.json was changed after it was written."
    assert f"Note: The numbers of run are not those that were computed: {sentence}" in said
    assert sentence in (both / "report.html").read_text()
    edited = verax("verify", "run")
    assert (edited.status, edited.err) == (3, f"run: {sentence}\n")
    assert json.loads(verax("verify", "run", "--json").out)[0]["problems"] == [sentence[:-1]]


def test_a_folder_without_a_manifest_cannot_be_verified(both, verax):
    ended = verax("verify", "study")
    assert ended.status == 2
    assert ended.err.startswith("Error: There is no manifest.json in 'study'; name the folder of a run")
