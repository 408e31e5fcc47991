"""``verax study`` as a person types it."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import pytest

from helpers import make_texts
from small_study import small_study
from verax.studies.definition.study_files import save_study

SPEC = """
title = "Reviews"
dataset = "made.csv"
protocol = { name = "forward", learning = 4, test = 8 }
participants = 5
seed = 1

[[conditions]]
name = "none"

[[conditions]]
name = "greedy"
explainer = "greedy"

[[conditions]]
name = "control"
like = "greedy"
"""


@pytest.fixture
def study(folder):
    """The current folder, with a spec and its data."""
    texts, labels = make_texts(500, seed=8, length=6)
    with (folder / "made.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((text, ("bad", "good")[label]) for text, label in zip(texts, labels, strict=True))
    (folder / "spec.toml").write_text(SPEC)
    return folder


def test_a_build_says_what_it_made_and_what_comes_next(verax, study):
    ended = verax("study", "build", "spec.toml", "--out", "built")
    assert (ended.status, ended.err) == (0, "")
    assert re.search(r"protocol +forward on made.csv", ended.out)
    right = r"right on \d\d\.\d% of 100 test inputs \(macro-F1 0\.\d\d\), learnt from 350"
    assert re.search(rf"model +logistic, {right}", ended.out)
    assert re.search(r"conditions +none \(none\), greedy \(method\), control \(control\)", ended.out)
    for name in ("bad", "good"):
        for right in ("right", "wrong"):
            assert re.search(rf"^{name} +{right} +1 +2 *$", ended.out, re.MULTILINE)
    assert "3 rows, 15 places; about " in ended.out
    assert re.search(r"hash +[0-9a-f]{64}\n", ended.out)
    assert ended.out.endswith("Next: verax study preview built\n")


def test_a_second_build_computes_nothing(verax, study):
    first = verax("study", "build", "spec.toml", "--out", "built")
    again = verax("study", "build", "spec.toml", "--out", "built")
    assert again.out == f"The study is already built in built; nothing was computed.\n{first.out}"


def test_a_folder_of_specs_becomes_a_folder_of_studies(verax, study):
    (study / "specs").mkdir()
    (study / "specs" / "short.toml").write_text(SPEC)
    (study / "specs" / "other.toml").write_text(SPEC.replace("Reviews", "Films"))
    ended = verax("study", "build", "specs", "--out", "built", "--json")
    assert ended.status == 0
    made = json.loads(ended.out)["studies"]
    assert [(one["folder"], one["title"]) for one in made] == [
        (str(Path("built/other")), "Films"),
        (str(Path("built/short")), "Reviews"),
    ]
    again = verax("study", "build", "specs", "--out", "built")
    assert again.out.count("nothing was computed") == 2
    assert again.out.endswith("Next: verax study preview built/short\n")


def test_a_folder_without_specs_is_a_sentence(verax, study):
    (study / "empty").mkdir()
    ended = verax("study", "build", "empty", "--out", "built")
    assert ended.status == 2
    assert "no file that ends in .toml" in ended.err


def test_another_spec_needs_force(verax, study):
    verax("study", "build", "spec.toml", "--out", "built")
    (study / "spec.toml").write_text(SPEC.replace("Reviews", "Films"))
    ended = verax("study", "build", "spec.toml", "--out", "built")
    assert ended.status == 2
    assert ended.err.startswith("Error: The folder 'built' holds a study of another spec")
    forced = verax("study", "build", "spec.toml", "--out", "built", "--force")
    assert forced.status == 0
    assert forced.out.startswith("Films\n")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('"greedy"\nexplainer = "greedy"', '"greedy"\nexplainer = "gredy"'), "no explainer called 'gredy'"),
        (('name = "forward"', 'name = "backward"'), "There is no study protocol called 'backward'"),
        (("test = 8", "test = 9"), "9 items cannot be balanced over 4 cells"),
        (("test = 8", "tests = 8"), "The protocol 'forward', tests: Extra inputs are not permitted; it has "),
        (("seed = 1", "sead = 1"), "spec.toml, sead: there is no such option; did you mean 'seed'?"),
        (
            ('like = "greedy"', 'like = "none"'),
            "which has no method's explanations; make it like one of: greedy",
        ),
        (("made.csv", "other.csv"), "There is no file or folder 'other.csv'"),
    ],
)
def test_a_bad_spec_is_one_sentence_and_status_2(verax, study, change, sentence):
    (study / "spec.toml").write_text(SPEC.replace(*change))
    ended = verax("study", "build", "spec.toml", "--out", "built")
    assert ended.status == 2
    assert ended.out == ""
    assert ended.err.startswith("Error: ")
    assert ended.err.count("\n") == 1
    assert sentence in ended.err


def test_reasons_are_given_when_asked(verax, study):
    ended = verax("study", "build", "spec.toml", "--out", "built", "-v")
    assert (
        "info: 100 texts of 5 to 60 words in the test part of 'made.csv' may become items, of 100"
        in ended.err
    )


def test_codes_let_participants_in(verax, study):
    (study / "spec.toml").write_text('entry = "code"\n' + SPEC)
    verax("study", "build", "spec.toml", "--out", "built")
    codes = verax("study", "codes", "built", "--n", "3").out.split()
    assert len(set(codes)) == 3
    from verax.studies.definition.study_files import load_study
    from verax.studies.store import open_store
    from verax.web.serve import default_database

    store = open_store(load_study("built"), default_database("built"))
    assert store.enter(code=codes[0])
    store.close()
    assert "already built" in verax("study", "build", "spec.toml", "--out", "built").out
    (study / "spec.toml").write_text(SPEC)
    ended = verax("study", "build", "spec.toml", "--out", "built", "--force")
    assert ended.status == 2
    assert "holds answers (answers.sqlite) and is never built over" in ended.err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("preview", "nowhere"), "The folder 'nowhere' has no manifest.json; build a study with"),
        (("serve", "nowhere"), "The folder 'nowhere' has no manifest.json; build a study with"),
        (
            ("codes", "nowhere", "--n", "2"),
            "The folder 'nowhere' has no manifest.json; build a study with",
        ),
        (("codes", "nowhere", "--n", "0"), "--n 0 makes no codes; give 1 or more."),
        (("build", "nowhere.toml", "--out", "x"), "There is no spec file 'nowhere.toml'; check the path."),
    ],
)
def test_what_is_not_there_is_one_sentence(verax, folder, command, sentence):
    ended = verax("study", *command)
    assert ended.status == 2
    assert ended.err.startswith(f"Error: {sentence}")


def test_rows_and_codes_that_a_study_does_not_have(verax, study):
    verax("study", "build", "spec.toml", "--out", "built")
    ended = verax("study", "preview", "built", "--row", "7")
    assert (ended.status, ended.err) == (2, "Error: There is no row 7; the design has the rows 0 to 2.\n")
    ended = verax("study", "codes", "built", "--n", "2")
    assert ended.status == 2
    assert "The study in 'built' is entered by link" in ended.err


def test_a_preview_can_be_served_at_another_address(verax, folder):
    save_study(small_study(), folder / "built")
    ended = verax("study", "preview", "built", "--host", "192.0.2.1", "--port", "0")  # no machine has it
    assert ended.status == 2
    assert ended.err.startswith("Error: Nothing can be served at 192.0.2.1, port 0 (")


def test_protocols_are_listed_with_their_parameters(verax):
    out = " ".join(verax("list", "protocols").out.split())
    for name in (
        "class-from-evidence",
        "counterfactual",
        "forward",
        "model-choice",
        "reverse-turing",
        "uncertain-case",
    ):
        assert name in out
    assert "learning=16, test=32" in out
    assert out.endswith("then: verax study build SPEC --out DIR.")


@pytest.mark.parametrize("command", [("serve",), ("preview",), ("codes", "--n", "2")])
def test_without_the_extra_the_sentence_says_what_to_install(verax, folder, monkeypatch, command):
    monkeypatch.setitem(sys.modules, "starlette", None)
    ended = verax("study", command[0], "nowhere", *command[1:])
    assert ended.status == 2
    assert "needs the package starlette; install it with pip install 'verax-xai[study]'" in ended.err


def test_the_help_lists_all_commands_in_the_order_of_a_studys_life(verax):
    listed = re.findall(r"^\W*([a-z]+)  +[A-Z]", verax("study", "--help").out, re.MULTILINE)
    assert listed == [
        "init", "build", "import", "review", "preview", "power", "bots", "pilot", "freeze", "account", "links",
        "check", "codes", "serve", "status", "actions", "withdraw", "purge", "backup", "restore", "move", "export",
        "analyze", "payments",
    ]  # fmt: skip
