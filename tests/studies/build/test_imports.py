"""Studies of items and explanations that were made elsewhere: what files may say, and what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from reporting.study_summaries import summary as summary_of_a_study
from verax.cli.study_make import import_command
from verax.codec import encode
from verax.errors import VeraxError
from verax.explain import Attribution
from verax.reporting.study import asked
from verax.studies.analysis import Summary
from verax.studies.build.build import compose_study
from verax.studies.build.imports import import_files, make_study
from verax.studies.build.imports.records import changed_text, unstarred
from verax.studies.definition.screen import Passage, Quote, Row
from verax.studies.definition.spec import parse_study_spec
from verax.studies.definition.study_files import freeze_study, load_study
from verax.studies.display.levels import scales
from verax.studies.planning.registration import registration
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import (
    check_answers,
    check_phases,
    check_rows,
    check_screens,
    sample_material,
)
from verax.studies.results.study_facts import model_facts

SPEC = """
title = "A study"
dataset = "reviews"
class_names = ["neg", "pos"]
screening = false
[protocol]
name = "forward"
learning = 4
test = 4
[[conditions]]
name = "none"
[[conditions]]
name = "scores"
explainer = "imported"
[[conditions]]
name = "words"
explainer = "imported"
parameters.legend = "How to read it."
"""
SHARES = {"neg": [0.75, 0.25], "pos": [0.25, 0.75]}
RULE = "Conditions for 'neg':\n1. dull \n- | +0.2\n"


def records():
    """Four learning and four test items, one in each cell of label and prediction; all learning ones explained.

    In a CSV file the learning items take four lines each, from line 2 on.
    """
    found = []
    for role in ("learning", "test"):
        for number, (label, prediction) in enumerate(
            [("neg", "neg"), ("neg", "pos"), ("pos", "neg"), ("pos", "pos")]
        ):
            one = {"id": 10 + number, "role": role, "text": f"A dull, dull film number{number}. Good?"}
            one |= {"label": label, "prediction": prediction, "probabilities": SHARES[prediction]}
            if role == "learning":
                one |= {"explanation.scores": [["dull", -0.5], ["good", 0.25]], "explanation.words": RULE}
            found.append(one)
    return found


def plain(value):
    return value if isinstance(value, str | int) else json.dumps(value)


def write_csv(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows({name: plain(value) for name, value in row.items()} for row in rows)
    return path


def write_json_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_workbook(path, rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    book = openpyxl.Workbook()
    book.active.append(names)
    for row in rows:
        book.active.append([plain(row[name]) if name in row else None for name in names])
    book.save(path)
    return path


def imported(path, rows, spec=SPEC, explanations=None):
    return import_files(parse_study_spec(spec), write_csv(path / "items.csv", rows), explanations)


def study_of(path, rows, spec=SPEC):
    return make_study(parse_study_spec(spec), spec, imported(path, rows, spec), path / "study")


def refused(path, rows, spec=SPEC, explanations=None):
    with pytest.raises(VeraxError) as caught:
        make_study(parse_study_spec(spec), spec, imported(path, rows, spec, explanations), path / "study")
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("named", ["", "a model of our own", "logistic"])
def test_a_model_is_named_only_where_the_spec_does(tmp_path, named):
    """No model is made for an imported study, so the one that a build would make by default has no part in it."""
    study_of(tmp_path, records(), (f'model = "{named}"\n' if named else "") + SPEC)
    study = load_study(tmp_path / "study")
    text = registration(study, freeze_study(tmp_path / "study", study, people=0))
    summary = replace(
        Summary.from_dict(summary_of_a_study()), model=model_facts(study.models, study.spec.model)
    )
    if named:
        assert f"Data and model   reviews, {named}" in text
        assert f"study on rotten-tomatoes with the model {named}; 42 participants" in asked(summary)
    else:
        assert "Data             reviews; no model was made" in text
        assert "logistic" not in text
        assert asked(summary) == "A forward study on rotten-tomatoes; 42 participants analysed."


def test_items_are_what_the_file_says(tmp_path):
    found = imported(tmp_path, records())
    assert (found.kind, found.class_names, found.notes) == ("text", ("neg", "pos"), ())
    first, second = found.items[0], found.items[5]
    assert (first.id, first.source, first.role, first.part) == ("i001", "10", "learning", "learning")
    assert (second.id, second.source, second.role) == ("i006", "11", "test")
    assert (first.label, first.prediction, second.label, second.prediction) == (0, 0, 0, 1)
    assert first.input == "A dull, dull film number0. Good?"
    assert (first.probabilities, first.dataset) == ((0.75, 0.25), "reviews")


def test_all_kinds_of_files_make_the_same_study(tmp_path):
    nested = [
        {name: value for name, value in row.items() if not name.startswith("explanation")}
        | {"explanation": {name[12:]: value for name, value in row.items() if name.startswith("explanation")}}
        for row in records()
    ]
    files = [
        write_csv(tmp_path / "items.csv", records()),
        write_json_lines(tmp_path / "items.jsonl", records()),
        write_json_lines(tmp_path / "nested.jsonl", nested),
        write_workbook(tmp_path / "items.xlsx", records()),
    ]
    spec = parse_study_spec(SPEC)
    studies = [
        make_study(spec, SPEC, import_files(spec, file), tmp_path / file.stem / file.suffix) for file in files
    ]
    assert len({study.hash for study in studies}) == 1
    assert load_study(tmp_path / "items" / ".xlsx").items == studies[0].items


def test_explanations_may_come_in_a_file_of_their_own(tmp_path):
    together = imported(tmp_path, records())
    bare = [{name: value for name, value in row.items() if not name.startswith("expl")} for row in records()]
    apart = [
        {"item": row["id"], "role": row["role"], "condition": name, "explanation": row[f"explanation.{name}"]}
        for row in records()
        for name in ("scores", "words")
        if f"explanation.{name}" in row
    ]
    own = write_json_lines(tmp_path / "explanations.jsonl", apart)
    assert imported(tmp_path, bare, explanations=own).explanations == together.explanations
    for one in apart:
        if one["condition"] == "scores":
            one["explanation"] = dict(one["explanation"])
    own = write_json_lines(tmp_path / "explanations.jsonl", apart)
    assert imported(tmp_path, bare, explanations=own).explanations == together.explanations


def test_scores_stand_where_their_words_stand(tmp_path):
    found = imported(tmp_path, records()).explanations["i001", "scores", "model"]
    assert isinstance(found, Attribution)
    assert (found.features, found.scores.tolist()) == (("dull", "good"), [-0.5, 0.25])
    assert found.spans == (((2, 6), (8, 12)), ((27, 31),))  # both times, and with another capital
    assert [found.input[start:end] for spans in found.spans for start, end in spans] == [
        "dull",
        "dull",
        "Good",
    ]
    assert (found.target, found.target_name) == (0, "neg")


def test_a_word_may_have_a_score_for_each_of_its_places(tmp_path):
    rows = records()
    rows[0]["explanation.scores"] = [["A", 0.0], ["dull", 0.5], ["dull", -0.25]]
    found = imported(tmp_path, rows).explanations["i001", "scores", "model"]
    assert found.spans == (((0, 1),), ((2, 6),), ((8, 12),))
    assert found.scores.tolist() == [0.0, 0.5, -0.25]


@pytest.mark.parametrize(
    ("text", "word", "places"),
    [
        ("do n't , it 's", "n't", [(3, 6)]),
        ("do n't , it 's", "'s", [(12, 14)]),
        ("well - known wells", "well", [(0, 4)]),
        ("well - known", "-", [(5, 6)]),
        ("Été, été", "été", [(5, 8)]),
    ],
)
def test_words_are_found_as_wholes(tmp_path, text, word, places):
    rows = records()
    rows[0] |= {"text": text, "explanation.scores": {word: 1}}
    assert imported(tmp_path, rows).explanations["i001", "scores", "model"].spans == (tuple(places),)


def test_words_are_shown_as_they_were_written(tmp_path):
    study = study_of(tmp_path, records())
    shown = study.screens["explained:i001:words"].blocks
    assert Quote(RULE.strip("\n"), "Explanation", "How to read it.") in shown
    passages = [block for block in shown if isinstance(block, Passage)]
    assert not any(token.level for block in passages for token in block.tokens)
    kept = [
        one["explanation"]
        for one in study.explanations
        if (one["item"], one["condition"]) == ("i001", "words")
    ]
    assert kept[0]["paragraphs"] == [RULE]


def test_scores_are_shown_as_marks_with_their_direction(tmp_path):
    study = study_of(tmp_path, records())
    [passage] = [one for one in study.screens["explained:i001:scores"].blocks if isinstance(one, Passage)]
    # 0.5 and 0.25 in equal numbers: quartiles of 0.25, 0.375 and 0.5.
    marks = [(token.text, token.level, token.sign) for token in passage.tokens if token.level]
    assert marks == [("dull", 3, -1), ("dull", 3, -1), ("Good", 1, 1)]
    assert not any(isinstance(block, Quote) for block in study.screens["explained:i001:scores"].blocks)


def test_instructions_speak_of_highlights_only_where_there_are_some(tmp_path):
    def said(spec, rows):
        text = json.dumps([encode(screen) for screen in study_of(tmp_path, rows, spec).screens.values()])
        for file in (tmp_path / "study").iterdir():
            file.unlink()
        return text

    wordy = SPEC.replace('[[conditions]]\nname = "scores"\nexplainer = "imported"\n', "")
    wordy = wordy.replace("screening = false\n", "")
    rows = [{name: value for name, value in row.items() if name != "explanation.scores"} for row in records()]
    assert "ighlight" not in said(wordy, rows)
    assert "stands next to the text" in said(wordy, rows)
    assert "How to read it." in said(wordy, rows)
    assert "ighlight" in said(SPEC, records())


def test_a_control_has_the_scores_of_its_method(tmp_path):
    spec = SPEC + '[[conditions]]\nname = "control"\nlike = "scores"\n'
    rows = [row | {"text": "one two three four five six"} for row in records()]
    for row in rows[:4]:
        row["explanation.scores"] = {
            "one": 0.6,
            "two": -0.5,
            "three": 0.4,
            "four": 0.3,
            "five": 0.2,
            "six": 0.1,
        }
    kept = {
        (one["item"], one["condition"]): one["explanation"]
        for one in study_of(tmp_path, rows, spec).explanations
    }
    for item in ("i001", "i002", "i003", "i004"):
        assert sorted(kept[item, "control"]["scores"]) == sorted(kept[item, "scores"]["scores"])
    assert any(kept[item, "control"]["scores"] != kept[item, "scores"]["scores"] for item in ("i001", "i002"))


COUNTERFACTUAL = SPEC.replace('"forward"\nlearning = 4\n', '"counterfactual"\n')


def changed_items():
    rows = [row | {"role": "test"} for row in records()[:4]]
    for number, row in enumerate(rows):
        row["variant"] = row["text"].replace("dull, dull", "**fine**, dull")
        row["variant_prediction"] = (
            row["prediction"] if number % 2 else {"neg": 1, "pos": 0}[row["prediction"]]
        )
    return rows


def test_changed_words_are_marked_without_their_stars(tmp_path):
    study = study_of(tmp_path, changed_items(), COUNTERFACTUAL)
    variant = study.items["i001"].variant
    assert (variant.input, variant.changed, variant.prediction) == (
        "A fine, dull film number0. Good?",
        ((2, 6),),
        1,
    )
    changed = [
        token.text
        for block in study.screens["pre:i001"].blocks
        if isinstance(block, Passage)
        for token in block.tokens
        if token.changed
    ]
    assert changed == ["dull", "fine"]


@pytest.mark.parametrize(
    ("text", "changed", "plain", "spans"),
    [
        ("a dull film", "a **fine** film", "a fine film", [(2, 6)]),
        ("a dull film", "a fine film", "a fine film", [(2, 6)]),
        ("a dull film", "a very fine film", "a very fine film", [(2, 6), (7, 11)]),
        ("a dull film", "a film", "a film", []),
        ("a **dull** film", "a **fine** film", "a **fine** film", [(4, 8)]),
        ("x y", "**u** **v w**", "u v w", [(0, 1), (2, 5)]),
    ],
)
def test_changes_are_found_by_stars_or_by_comparison(text, changed, plain, spans):
    assert changed_text(text, changed) == (plain, tuple(spans))


@given(st.lists(st.tuples(st.text("abc'", min_size=1, max_size=5), st.booleans()), min_size=1, max_size=12))
def test_stars_come_off_and_what_was_between_them_is_found_again(words):
    starred = " ".join(f"**{word}**" if marked else word for word, marked in words)
    plain, spans = unstarred(starred)
    assert plain == " ".join(word for word, _ in words)
    assert [plain[start:end] for start, end in spans] == [word for word, marked in words if marked]


def test_rows_of_a_table(tmp_path):
    rows = []
    for row in changed_items():
        kept = {name: row[name] for name in ("id", "role", "label", "prediction", "variant_prediction")}
        kept |= {
            "row.Age": 37,
            "row.Job": "Clerk",
            "row.Hours": "",
            "variant.Job": "Sailor",
            "variant.Age": 37,
        }
        rows.append(kept | {"explanation.scores": {"Job": -1.5}, "explanation.words": "If Job = Clerk."})
    study = study_of(tmp_path, rows, COUNTERFACTUAL)
    item = study.items["i001"]
    assert study.kind == "table"
    assert item.input == (("Age", "37"), ("Job", "Clerk"), ("Hours", "missing"))
    assert item.variant.input == (("Age", "37"), ("Job", "Sailor"), ("Hours", "missing"))
    assert item.variant.changed == (1,)
    [marked, changed] = [b for b in study.screens["post:i001:scores"].blocks if isinstance(b, Row)]
    assert [(cell.column, cell.sign) for cell in marked.cells if cell.level] == [("Job", -1)]
    assert [cell.column for cell in changed.cells if cell.changed] == ["Job"]


PROTOCOLS = [
    ({"name": "forward", "learning": 8, "test": 16}, {"learning": 8, "test": 16}, 1, 2, "text"),
    ({"name": "counterfactual", "test": 8}, {"test": 8}, 1, 2, "table"),
    (
        {"name": "reverse-turing", "training": 6, "evaluation": 6},
        {"training": 6, "evaluation": 6},
        2,
        3,
        "text",
    ),
    ({"name": "model-choice", "test": 8, "items_per_participant": 4}, {"test": 4}, 2, 2, "text"),
    ({"name": "class-from-evidence", "test": 12, "items_per_participant": 6}, {"test": 6}, 2, 3, "text"),
    ({"name": "uncertain-case", "test": 8, "items_per_participant": 8}, {"test": 8}, 1, 2, "table"),
]
METHODS = [{"name": "first", "explainer": "imported"}, {"name": "second", "explainer": "imported"}]


@pytest.mark.parametrize(("protocol", "roles", "groups", "classes", "kind"), PROTOCOLS)
def test_a_study_of_any_protocol_is_the_same_after_a_way_through_files(
    tmp_path, protocol, roles, groups, classes, kind
):
    made = sample_material(protocol, roles, kind=kind, classes=classes, groups=groups, conditions=METHODS)
    spec = made.spec.model_copy(update={"class_names": list(made.class_names)})
    made = replace(made, spec=spec, scales=scales(made.explanations, spec.display.features))
    file = write_json_lines(tmp_path / "items.jsonl", [as_record(item, made) for item in made.items])
    study = make_study(spec, "", import_files(spec, file), tmp_path / "study")
    expected = compose_study(made, make_protocol(spec.protocol), "")
    assert study.screens == expected.screens
    assert [item.input for item in study.items.values()] == [item.input for item in made.items]
    check_rows(study)
    check_screens(study)
    for row in study.rows:
        assert participant_steps(study, row, 3) == participant_steps(expected, row, 3)
        check_phases(study, participant_steps(study, row, 1))
        check_answers(study, make_protocol(spec.protocol), participant_steps(study, row, 1))


def as_record(item, material):
    one = {name: getattr(item, name) for name in ("id", "role", "label", "prediction", "group", "worse")}
    one["probabilities"] = dict(zip(material.class_names, item.probabilities, strict=True))
    if isinstance(item.input, str):
        one["text"] = item.input
    else:
        one["row"] = dict(item.input)
    if item.variant is not None:
        one["variant"] = item.variant.input if isinstance(item.input, str) else dict(item.variant.input)
        one["variant_prediction"] = item.variant.prediction
    for (name, condition, which), explanation in material.explanations.items():
        if name == item.id:
            column = f"explanation.{condition}" + ("" if which == "model" else ".worse")
            one[column] = list(zip(explanation.features, explanation.scores.tolist(), strict=True))
    return one


def test_classes_are_known_by_name_or_by_number(tmp_path):
    numbered = [row | {"label": {"neg": 0, "pos": 1}[row["label"]], "prediction": ""} for row in records()]
    found = imported(tmp_path, numbered)
    assert [item.label for item in found.items[:4]] == [0, 0, 1, 1]
    assert [item.prediction for item in found.items[:4]] == [0, 1, 0, 1]  # the more probable one
    unnamed = imported(tmp_path, records(), SPEC.replace('class_names = ["neg", "pos"]\n', ""))
    assert unnamed.class_names == ("neg", "pos")
    ranks = [row | {"label": 10, "prediction": 9, "probabilities": ""} for row in records()]
    found = imported(tmp_path, ranks, SPEC.replace('["neg", "pos"]', '["10", "9"]'))
    assert {(item.label, item.prediction) for item in found.items} == {(0, 1)}


def change(number, **cells):
    rows = records()
    rows[number] |= {name.replace("__", "."): value for name, value in cells.items()}
    return rows


def without(*columns):
    return [{name: value for name, value in row.items() if name not in columns} for row in records()]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (without("id"), "items.csv has no column 'id'; it has: role, text,"),
        (without("prediction", "probabilities", "label"), "has no column 'label' (and 1 more that it needs)"),
        (without("text"), "items.csv has no inputs; name the column of texts 'text'"),
        (
            change(1, role="tset"),
            "Line 6 of items.csv: role is 'tset'; it must be learning, test, training or",
        ),
        (
            change(1, label="good"),
            "Line 6 of items.csv: label is 'good', which is no class; the classes are neg, pos.",
        ),
        (change(2, prediction="2"), "Line 10 of items.csv: prediction is '2', which is no class"),
        (change(2, text=" "), "Line 10 of items.csv: the cell 'text' is empty; fill it in."),
        (
            change(1, id=10),
            "Two items have the id '10': line 2 of items.csv and line 6 of items.csv; give each",
        ),
        (change(0, group="a"), "Line 2 of items.csv: group is 'a'; give a whole number from 0 on."),
        (change(0, probabilities="0.5"), "Line 2 of items.csv: probabilities is '0.5'; give 2 numbers"),
        (change(0, probabilities="[0.5, 0.9]"), "probabilities are from 0 to 1 and add up to 1."),
        (change(0, probabilities='{"neg": 1}'), "probabilities names neg; the classes are neg, pos."),
        (change(0, probabilities="half"), "Line 2 of items.csv: probabilities is 'half', which is not JSON"),
        (
            change(0, explanation__words=""),
            "The item '10' (line 2 of items.csv) has no explanation in the condition",
        ),
        (without("explanation.words"), "'words' (4 of 8 explanations are missing); fill in the column"),
        (
            change(0, explanation__scores='[["dull", 1'),
            "Line 2 of items.csv: the scores '[[\"dull\", 1' are not JSON",
        ),
        (change(0, explanation__scores='[["dull", "1"]]'), "is neither a text nor scores; write scores as"),
        (
            change(0, explanation__scores='{"bad": 1, "b": 2}'),
            "'bad' has a score but is not in the text (1 more",
        ),
        (change(0, explanation__scores='[["dull", NaN]]'), "the score of 'dull' is not a finite number."),
        (
            change(0, explanation__scores='[["dull", 1e300]]'),
            "the score of 'dull' is not a finite number up to 1e+100.",
        ),
        (
            change(0, explanation__scores='[["dull", 1], ["dull", 1], ["dull", 1]]'),
            "'dull' has 3 scores but stands 2 times in the text; give it one, or one for each time.",
        ),
        (
            change(0, explanation__lime="x"),
            "a column 'explanation.lime', but the spec has no such condition",
        ),
        (
            change(0, explanation__none="x"),
            "the spec gives the condition 'none' no explainer; write explainer = ",
        ),
        (
            change(0, variant="other text"),
            "Line 2 of items.csv: the cell 'variant_prediction' is empty; fill it in.",
        ),
        (
            change(0, variant="A dull, dull film number0. Good?", variant_prediction="pos"),
            "Line 2 of items.csv: variant is the same as text; change it, or leave it out.",
        ),
        (
            change(7, role="training"),
            "The item '13', a training item, is shown to nobody in the protocol 'forward'",
        ),
        (records()[:4], "There are no items for the part 'First predictions' of the protocol 'forward'"),
        (
            records()[4:],
            "There are no items for the part 'First look' of the protocol 'forward'; the items have only",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_its_place(tmp_path, rows, sentence):
    assert sentence in refused(tmp_path, rows)


def test_a_single_class_is_refused(tmp_path):
    rows = [row | {"label": "pos", "prediction": "pos"} for row in without("probabilities")]
    sentence = refused(tmp_path, rows, SPEC.replace('class_names = ["neg", "pos"]\n', ""))
    assert "name 1 classes (pos); name all classes of the model in the spec's class_names." in sentence


def test_several_mistakes_are_counted(tmp_path):
    rows = [row | {"label": "good"} for row in records()]
    assert refused(tmp_path, rows).endswith("the classes are neg, pos (7 more to mend).")


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        ('"counterfactual"', "Line 18 of items.csv: there is no changed version; fill in 'variant'"),
        (
            '"uncertain-case"',
            "Line 2 of items.csv: the cell 'probabilities' is empty; fill it in (7 more to mend).",
        ),
        ('"model-choice"', "Line 2 of items.csv: the cell 'worse' is empty; fill in the probabilities"),
    ],
)
def test_what_a_protocol_shows_must_be_there(tmp_path, protocol, sentence):
    spec = SPEC.replace('"forward"\nlearning = 4\ntest = 4', protocol)
    assert sentence in refused(tmp_path, without("probabilities"), spec)


def test_written_explanations_cannot_be_marked_or_shuffled(tmp_path):
    spec = SPEC.replace(
        '"forward"\nlearning = 4\ntest = 4', '"class-from-evidence"\nitems_per_participant = 4'
    )
    spec = spec.replace('[[conditions]]\nname = "none"\n', "")
    rows = [row | {"role": "test"} for row in records()[:4]]
    assert "'words' gives a Written, which has no scores to mark words with" in refused(tmp_path, rows, spec)
    like = SPEC + '[[conditions]]\nname = "control"\nlike = "words"\n'
    assert "is like 'words', whose explanations are written" in refused(tmp_path, records(), like)


def test_a_file_of_explanations_names_items_and_conditions_that_exist(tmp_path):
    own = tmp_path / "own.csv"
    for row, sentence in [
        ({"item": 10, "explanation": "x"}, "own.csv has no column 'condition'; it has: item, explanation."),
        (
            {"item": 99, "condition": "words", "explanation": "x"},
            "Line 2 of own.csv: there is no item '99' in",
        ),
        (
            {"item": 10, "condition": "word", "explanation": "x"},
            "condition is 'word', but the spec has no such",
        ),
        (
            {"item": 10, "condition": "words", "explanation": "x"},
            "there are 2 items '10' (learning, test); say which",
        ),
        (
            {"item": 10, "role": "learning", "condition": "words", "explanation": "x"},
            "'10' has two explanations in the condition 'words': in line 2 of items.csv and in line 2 of own.csv",
        ),
    ]:
        write_csv(own, [row])
        assert sentence in refused(tmp_path, records(), explanations=own)


def test_files_that_cannot_be_read_are_named(tmp_path):
    spec = parse_study_spec(SPEC)
    damaged, several = tmp_path / "damaged.xlsx", tmp_path / "several.xlsx"
    damaged.write_text("not a workbook")
    book = openpyxl.Workbook()
    book.active.append(["id"])
    book.create_sheet("more").append(["id"])
    book.save(several)
    (tmp_path / "items.ods").write_text("")
    (tmp_path / "empty.csv").write_text("id,text\n")
    for name, sentence in [
        ("absent.csv", "There is no file"),
        ("damaged.xlsx", "cannot be read as a workbook"),
        ("several.xlsx", "has 2 sheets that are not empty (Sheet, more); keep only the one with the records"),
        ("items.ods", "ends in '.ods'; give a file that ends in .csv"),
        ("empty.csv", "holds no rows"),
    ]:
        with pytest.raises(VeraxError) as caught:
            import_files(spec, tmp_path / name)
        assert sentence in str(caught.value)
        assert name in str(caught.value)


def test_uneven_items_are_reported_and_not_refused(tmp_path):
    rows = records()
    rows[7] |= {"label": "neg", "prediction": "neg", "colour": "red"}
    rows[6]["explanation.words"] = "never shown"
    del rows[5]
    found = imported(tmp_path, rows)
    assert found.notes == (
        "Columns that are not used: colour.",
        "Explanations left out, because this protocol does not show them: 1.",
        "The protocol's test = 4 is not followed: there are 3 test items.",
        "The test items are not balanced: 2 rightly predicted 'neg', 1 wrongly predicted 'neg', 0 rightly predicted "
        "'pos', 0 wrongly predicted 'pos'; should the instructions promise a balance, write others in the spec "
        "(texts.instructions and screening.questions).",
        "Items whose prediction is not the most probable class: 1, such as '13'.",
    )
    assert make_study(parse_study_spec(SPEC), SPEC, found, tmp_path / "study").items.keys() >= {
        "i001",
        "i007",
    }


def test_uneven_flips_are_reported(tmp_path):
    rows = [row | {"variant_prediction": row["prediction"]} for row in changed_items()]
    [note] = [note for note in imported(tmp_path, rows, COUNTERFACTUAL).notes if "alter" in note]
    assert note.startswith("0 of 4 changed versions of test items alter the prediction")


def test_the_same_study_again_is_left_alone_and_another_is_not_written_over(tmp_path):
    first = study_of(tmp_path, records())
    written = (tmp_path / "study" / "manifest.json").stat().st_mtime_ns
    assert study_of(tmp_path, records()).hash == first.hash
    assert (tmp_path / "study" / "manifest.json").stat().st_mtime_ns == written
    other = change(0, text="A dull, good film")
    assert "holds another study; choose another --out" in refused(tmp_path, other)
    found = imported(tmp_path, other)
    forced = make_study(parse_study_spec(SPEC), SPEC, found, tmp_path / "study", force=True)
    assert load_study(tmp_path / "study").hash == forced.hash != first.hash
    (tmp_path / "study" / "answers.sqlite").write_bytes(b"SQLite format 3\0")
    with pytest.raises(VeraxError, match=r"holds answers \(answers.sqlite\)"):
        make_study(
            parse_study_spec(SPEC), SPEC, imported(tmp_path, records()), tmp_path / "study", force=True
        )


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(import_command)
    return lambda *arguments: CliRunner().invoke(app, [str(one) for one in arguments])


def test_on_the_command_line(tmp_path, run):
    (tmp_path / "spec.toml").write_text(SPEC)
    items = write_csv(tmp_path / "items.csv", records()[:-1])
    done = run(tmp_path / "spec.toml", "--items-file", items, "--out", tmp_path / "study")
    assert done.exit_code == 0, done.output
    assert "note: The protocol's test = 4 is not followed: there are 3 test items." in done.stdout
    assert load_study(tmp_path / "study").hash in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["spec.toml"], "Name the file of the items with --items-file."),
        (
            ["spec.toml", "--items-file", "items.csv", "--domain", "text"],
            "--domain is for hase-bansal, not for a spec",
        ),
        (
            ["hase-bansal"],
            "Name the folder of the published repository: verax study import hase-bansal FOLDER.",
        ),
        (
            ["hase-bansal", "folder", "--items-file", "items.csv"],
            "--items-file is for a spec of your own, not for hase-bansal",
        ),
        (["hase-bansal", "folder"], "Choose one with --domain: text or tabular."),
        (
            ["hase-bansal", "folder", "--domain", "text"],
            "Choose one with --protocol: forward, counterfactual or user-test.",
        ),
        (
            ["hase-bansal", "folder", "--domain", "text", "--protocol", "forward", "--methods", "SHAP"],
            "There are no forms for 'SHAP'; there are: LIME, Anchor,",
        ),
        (
            ["hase-bansal", "folder", "--domain", "text", "--protocol", "forward"],
            "There is no folder 'folder/text",
        ),
    ],
)
def test_options_that_do_not_go_together_are_one_sentence(tmp_path, run, arguments, sentence):
    done = run(*arguments, "--out", tmp_path / "study")
    assert done.exit_code == 2
    assert sentence in done.stderr.replace("\n", " ")


def test_nothing_is_loaded_that_the_spec_names(tmp_path):
    spec = SPEC.replace('"reviews"', '"no such dataset"').replace(
        "screening", 'model = "no such model"\nscreening'
    )
    study = study_of(tmp_path, records(), spec)
    assert (study.models, study.data_hash) == ({}, "")
    # A page before each of four rounds, 4 items in each of them, instructions and debriefing.
    assert [len(participant_steps(study, row, 1)) for row in study.rows] == [22, 22, 22]


def test_the_spec_in_the_docs(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "importing.md").read_text(encoding="utf-8")
    spec = page.split("```toml\n")[1].split("```")[0]
    names = {"neg": "negative", "pos": "positive"}
    rows = [row | {"label": names[row["label"]], "prediction": names[row["prediction"]]} for row in records()]
    for row in rows:
        for condition, name in (("scores", "lime"), ("words", "sentences")):
            row[f"explanation.{name}"] = row.pop(f"explanation.{condition}", "")
    study = study_of(tmp_path, rows, spec)
    shown = study.screens["explained:i001:sentences"].blocks
    assert any(isinstance(block, Quote) and "colleague" in block.legend for block in shown)
    assert len({one["condition"] for one in study.explanations}) == 3
