"""The published forms of Hase and Bansal (2020) as studies, against the workbooks read on their own."""

from __future__ import annotations

import shutil
from collections import Counter

import openpyxl
import pytest
import typer
from typer.testing import CliRunner

from helpers import shared_data
from verax.cli.study_make import import_command
from verax.errors import VeraxError
from verax.studies.build.imports import import_hase_bansal, make_study
from verax.studies.build.imports.hase_bansal import ALL_METHODS, METHODS, hase_bansal_spec
from verax.studies.definition.screen import Passage, Quote, Row
from verax.studies.definition.spec import parse_study_spec
from verax.studies.definition.study_files import load_study
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_answers, check_phases

STUDIES = [(domain, test) for domain in ("text", "tabular") for test in ("forward", "counterfactual")]
CLASSES = {"neg": 0, "pos": 1, "below $50K": 0, "above $50K": 1}


@pytest.fixture(scope="module")
def published():
    return shared_data("hase-bansal-hit")


def workbook(published, domain, name):
    """The rows of a form by id, read without any of our code."""
    [path] = (published / domain).rglob(name)
    header, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    return {str(row[0]): dict(zip(header, row, strict=True)) for row in rows}


@pytest.fixture(scope="module")
def studies(published, tmp_path_factory):
    """All four studies with all methods, each made once and loaded again from its folder."""
    found = {}
    for domain, test in STUDIES:
        text = hase_bansal_spec(domain, test, ALL_METHODS)
        spec = parse_study_spec(text)
        folder = tmp_path_factory.mktemp(f"{domain}-{test}")
        imported = import_hase_bansal(spec, published, domain)
        make_study(spec, text, imported, folder)
        found[domain, test] = load_study(folder), imported.notes
    return found


def of_role(study, role):
    return [item for item in study.items.values() if item.role == role]


@pytest.mark.parametrize(("domain", "test"), STUDIES)
def test_items_are_balanced_as_published(studies, domain, test):
    study, _ = studies[domain, test]
    for role, each in (("learning", 4), ("test", 8)):
        items = of_role(study, role)
        cells = Counter((item.label, item.prediction) for item in items)
        if test == "forward" or role == "test":
            assert cells == {(label, said): each for label in (0, 1) for said in (0, 1)}
        else:
            assert items == []
    if test == "counterfactual":
        flips = Counter((item.label, item.prediction, item.flips) for item in study.items.values())
        assert set(flips.values()) == {4}
        assert sum(item.flips for item in study.items.values()) == 16
        assert len(flips) == 8


@pytest.mark.parametrize(("domain", "test"), STUDIES)
def test_every_item_is_that_of_the_master(studies, published, domain, test):
    study, _ = studies[domain, test]
    master = workbook(published, domain, f"master-{test}.xlsx")
    items = of_role(study, "test")
    assert {item.source for item in items} == master.keys()
    for item in items:
        row = master[item.source]
        assert (item.label, item.prediction) == (CLASSES[row["label"]], CLASSES[row["model"]])
        assert (item.dataset, item.part, item.place) == (
            f"hase-bansal-2020-{domain}",
            "test",
            int(item.source),
        )
        assert as_written(item.input) == row["context"]
        if test == "counterfactual":
            assert item.variant.prediction == CLASSES[row["perturbation_model"]]


def as_written(given):
    return given if isinstance(given, str) else "".join(f"{name} = {value}\n" for name, value in given)


def test_changed_words_are_exactly_those_that_differ(studies, published):
    study, _ = studies["text", "counterfactual"]
    master = workbook(published, "text", "master-counterfactual.xlsx")
    for item in study.items.values():
        before, after = item.input.split(" "), item.variant.input.split(" ")
        marked = [item.variant.input[start:end] for start, end in item.variant.changed]
        assert marked == [new for old, new in zip(before, after, strict=True) if old != new]
        starred = [f"**{new}**" if old != new else new for old, new in zip(before, after, strict=True)]
        assert " ".join(starred) == master[item.source]["perturbation"]
        assert "*" not in item.variant.input
        shown = study.screens[f"pre:{item.id}"].blocks[-1]
        assert isinstance(shown, Passage)
        assert any(token.changed for token in shown.tokens)


def test_changed_values_are_exactly_those_that_differ(studies, published):
    study, _ = studies["tabular", "counterfactual"]
    master = workbook(published, "tabular", "master-counterfactual.xlsx")
    for item in study.items.values():
        changes = [
            f"{column} : {old} --> {new}"
            for (column, old), (_, new) in zip(item.input, item.variant.input, strict=True)
            if old != new
        ]
        assert sorted(changes) == sorted(master[item.source]["perturbation"].splitlines())
        assert [item.input[place][0] for place in item.variant.changed] == [
            one.split(" : ")[0] for one in changes
        ]
        shown = study.screens[f"pre:{item.id}"].blocks[-1]
        assert isinstance(shown, Row)
        assert sum(cell.changed for cell in shown.cells) == len(changes)


@pytest.mark.parametrize(("domain", "test"), STUDIES)
@pytest.mark.parametrize("method", ALL_METHODS)
def test_every_explanation_is_shown_as_it_stands_in_the_form(studies, published, domain, test, method):
    study, _ = studies[domain, test]
    form = {"forward": f"learning-{method}.xlsx", "counterfactual": f"counterfactual-post-{method}.xlsx"}[
        test
    ]
    rows = workbook(published, domain, form)
    columns = ["explanation_a", "explanation_b"] if method == "composite" else ["explanation"]
    kept = {one["item"]: one["explanation"] for one in study.explanations if one["condition"] == method}
    explained = of_role(study, "learning" if test == "forward" else "test")
    assert kept.keys() == {item.id for item in explained}
    phase = "explained" if test == "forward" else "post"
    for item in explained:
        texts = [rows[item.source][column] for column in columns]
        assert kept[item.id]["paragraphs"] == texts
        assert (kept[item.id]["target"], kept[item.id]["input"]) == (item.prediction, shown(item.input))
        [quote] = [b for b in study.screens[f"{phase}:{item.id}:{method}"].blocks if isinstance(b, Quote)]
        assert quote.text == "\n\n".join(text.strip("\n") for text in texts)
        assert quote.legend


def shown(given):
    return given if isinstance(given, str) else [f"{name} = {value}" for name, value in given]


def test_equal_ids_of_different_splits_are_different_items(studies):
    study, _ = studies["text", "forward"]
    learning, test = [item for item in study.items.values() if item.source == "363"]
    assert (learning.part, test.part) == ("validation", "test")
    assert learning.input != test.input
    keys = [(item.dataset, item.part, item.source) for item in study.items.values()]
    assert len(set(keys)) == len(keys) == 48


@pytest.mark.parametrize(("domain", "test"), STUDIES)
def test_participants_of_every_row_have_their_steps(studies, domain, test):
    study, _ = studies[domain, test]
    assert [row.condition for row in study.rows] == list(ALL_METHODS)
    # Instructions, two attempts at the screening test with instructions between, and the debriefing; then four rounds
    # of 16 and 32 items twice, or two of 32, with a page before each.
    count = 5 + (4 + 2 * (16 + 32) if test == "forward" else 2 + 2 * 32)
    for row in study.rows:
        steps = participant_steps(study, row, 1)
        assert len(steps) == count
        check_phases(study, steps)
        check_answers(study, make_protocol(study.spec.protocol), steps)
    pre, post = (
        [step.item for step in participant_steps(study, study.rows[0], 1) if step.phase == phase]
        for phase in ("pre", "post")
    )
    assert pre != post
    assert sorted(pre) == sorted(post) == [item.id for item in of_role(study, "test")]


@pytest.mark.parametrize(("domain", "test"), STUDIES)
def test_people_are_asked_about_their_own_method(studies, domain, test):
    study, _ = studies[domain, test]
    piece = "word" if domain == "text" else "value"
    expected = {
        "LIME": (f"What do the weights of the {piece}s tell you?", f"How much each {piece} speaks for"),
        "Anchor": (
            "An explanation gives conditions. What do they mean?",
            "While they hold, the model nearly always",
        ),
        "prototype": ("An explanation shows an example. What is it?", "that the model has learned from"),
        "decision_boundary": (
            "An explanation shows steps. What are they?",
            "Changes that lead the model to another",
        ),
        "composite": (
            "An explanation has several parts. What are they?",
            "Different explanations of the same",
        ),
    }
    expected["omission"] = expected["LIME"]
    assert set(expected) == set(ALL_METHODS)
    assert study.spec.screening.method == "excludes"
    for row in study.rows:
        screens = [step.screen for step in participant_steps(study, row, 1) if "screening:" in step.screen]
        asked = [study.screens[screen].questions for screen in screens]
        assert len(asked) == 2
        for questions in asked:
            own = questions[-1]
            prompt, right = expected[row.condition]
            assert own.prompt == prompt
            # One key judges all: the question on the method is not answered by a guess at the first place.
            [answer] = [option for option in own.options if option.means == study.screening.answers[own.name]]
            assert right in answer.label
            assert sum(right in option.label for option in own.options) == 1
            assert {question.name for question in questions} == set(study.screening.answers)


@pytest.mark.parametrize(("domain", "test"), STUDIES)
def test_it_is_said_which_forms_agree(studies, domain, test):
    _, notes = studies[domain, test]
    assert (
        notes
        == {
            "forward": (
                "6 forms agree with learning-blackbox.xlsx on all 16 items.",
                "12 forms agree with master-forward.xlsx on all 32 items.",
            ),
            "counterfactual": ("12 forms agree with master-counterfactual.xlsx on all 32 items.",),
        }[test]
    )


@pytest.fixture
def copied(published, tmp_path):
    """The text forms of LIME, to be changed."""

    def only_lime(_, names):
        return [name for name in names if name.endswith(".xlsx") and not keep(name)]

    def keep(name):
        return "LIME" in name or "master" in name or "blackbox" in name

    shutil.copytree(published / "text", tmp_path / "forms" / "text", ignore=only_lime)
    return tmp_path / "forms"


def edit(folder, name, change):
    [path] = folder.rglob(name)
    book = openpyxl.load_workbook(path)
    change(book.active)
    book.save(path)


def lime(folder, test):
    text = hase_bansal_spec("text", test, ["LIME"])
    return text, parse_study_spec(text), import_hase_bansal(parse_study_spec(text), folder, "text")


def test_the_order_of_a_form_makes_no_difference(copied, tmp_path):
    def turn_round(sheet):
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        for number, row in enumerate(reversed(rows), start=2):
            for column, value in enumerate(row, start=1):
                sheet.cell(number, column, value)

    text, spec, before = lime(copied, "counterfactual")
    edit(copied, "counterfactual-post-LIME.xlsx", turn_round)
    edit(copied, "counterfactual-pre-LIME.xlsx", turn_round)
    _, _, after = lime(copied, "counterfactual")
    assert (
        make_study(spec, text, before, tmp_path / "a").hash
        == make_study(spec, text, after, tmp_path / "b").hash
    )


@pytest.mark.parametrize(
    ("name", "column", "value", "sentence"),
    [
        (
            "counterfactual-pre-LIME.xlsx",
            "B",
            "other",
            "another 'context' in row 2 of counterfactual-pre-LIME.xlsx",
        ),
        (
            "counterfactual-post-LIME.xlsx",
            "D",
            "pos?",
            "has another 'model' in row 2 of counterfactual-post-LIME.xlsx",
        ),
        ("counterfactual-post-LIME.xlsx", "A", 99999, "have different items: "),
        (
            "counterfactual-post-LIME.xlsx",
            "E",
            None,
            "has no explanation in row 2 of counterfactual-post-LIME.xlsx",
        ),
        (
            "master-counterfactual.xlsx",
            "F",
            "maybe",
            "Row 2 of master-counterfactual.xlsx: perturbation_model is",
        ),
    ],
)
def test_forms_that_do_not_agree_are_refused(copied, name, column, value, sentence):
    edit(copied, name, lambda sheet: setattr(sheet[f"{column}2"], "value", value))
    with pytest.raises(VeraxError) as caught:
        lime(copied, "counterfactual")
    assert sentence in str(caught.value)


def test_on_the_command_line(published, tmp_path):
    app = typer.Typer()
    app.command()(import_command)
    made = ["hase-bansal", str(published), "--domain", "text", "--protocol", "forward"]
    done = CliRunner().invoke(app, [*made, "--out", str(tmp_path / "study")])
    assert done.exit_code == 0, done.output
    assert "note: 10 forms agree with master-forward.xlsx on all 32 items." in done.stdout
    study = load_study(tmp_path / "study")
    assert [condition.name for condition in study.spec.conditions] == list(METHODS)
    # What it wrote is a spec, which may be changed and used in its place.
    spec = (tmp_path / "study" / "spec.toml").read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        spec.replace("title = ", "participants = 3\nretention_days = 30\ntitle = "), encoding="utf-8"
    )
    again = CliRunner().invoke(app, [*made[:4], "--spec", str(own), "--out", str(tmp_path / "again")])
    assert again.exit_code == 0, again.output
    changed = load_study(tmp_path / "again")
    assert {row.target for row in changed.rows} == {3}
    assert changed.items == study.items


def test_a_condition_without_forms_is_refused(published):
    text = hase_bansal_spec("text", "forward", ["LIME"]).replace('name = "LIME"', 'name = "SHAP"')
    with pytest.raises(VeraxError, match="There are no forms for 'SHAP'; there are: LIME, Anchor, prototype"):
        import_hase_bansal(parse_study_spec(text), published, "text")


@pytest.mark.parametrize("domain", ["text", "tabular"])
def test_both_tests_become_one_user_test(published, domain, tmp_path):
    text = hase_bansal_spec(domain, "user-test")
    spec = parse_study_spec(text)
    made = import_hase_bansal(spec, published, domain)
    roles = [item.role for item in made.items]
    assert [roles.count(role) for role in ("learning", "test", "changed")] == [16, 32, 32]
    assert len({item.id for item in made.items}) == 80
    assert len(made.explanations) == 5 * (16 + 32)
    assert all(item.variant is not None for item in made.items if item.role == "changed")
    study = make_study(spec, text, made, tmp_path / "study")
    assert len(study.rows) == 5
