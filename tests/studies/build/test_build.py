"""Building a study: the same bytes every time, nothing lost when it is stopped, and one sentence on a bad spec."""

from __future__ import annotations

import json
import sqlite3

import pytest

import verax
from verax.errors import VeraxError
from verax.run import Store
from verax.studies.build.build import build_study, design_places, item_balance
from verax.studies.build.fitting import data_arguments, model_arguments, study_dataset, study_model
from verax.studies.definition.study_files import FROZEN, MANIFEST, load_study
from verax.studies.protocol.common_steps import minutes, participant_steps
from verax.studies.results.study_facts import model_facts

WHOLE = {*FROZEN, MANIFEST}


def build(spec, out, text="# a spec\n", **options):
    return build_study(spec, text, out, **options)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class StopsAfterOne:
    """Somebody presses Ctrl-C when the first job is done."""

    def start(self, total, stored):
        self.stored = len(stored)

    def advance(self, outcome):
        raise KeyboardInterrupt

    def stop(self):
        pass


class Counting:
    """Notes how many jobs were stored and how many were done."""

    def __init__(self):
        self.stored = self.done = 0

    def start(self, total, stored):
        self.stored = len(stored)

    def advance(self, outcome):
        self.done += 1

    def stop(self):
        pass


def test_a_built_study_has_everything_that_participants_need(small_spec, tmp_path):
    spec = small_spec()
    study = build(spec, tmp_path / "study", text="# the spec, to the letter\r\n")
    assert set(contents(tmp_path / "study")) == WHOLE
    loaded = load_study(tmp_path / "study")
    assert loaded.hash == study.hash
    assert loaded.spec == spec
    assert loaded.spec_text == "# the spec, to the letter\r\n"
    assert loaded.class_names == ("bad", "good")
    for row in loaded.rows:
        for number in (1, 2, 57):
            for step in participant_steps(loaded, row, number):
                assert step.screen in loaded.screens
                assert step.phase in loaded.phases
    # The learning items are explained, in both conditions that have explanations.
    explained = {(record["item"], record["condition"]) for record in loaded.explanations}
    learning = [item.id for item in loaded.items.values() if item.role == "learning"]
    assert explained == {(item, condition) for item in learning for condition in ("greedy", "control")}
    assert b"seconds" not in (tmp_path / "study" / "explanations.jsonl").read_bytes()
    about = loaded.models["model"]
    assert about["name"] == "logistic"
    assert 0.5 < about["accuracy"] < 1
    assert (about["test_inputs"], about["training_inputs"]) == (140, 490)


def test_the_same_spec_gives_the_same_bytes_in_one_process_or_two(small_spec, tmp_path):
    conditions = [
        {"name": "lime", "explainer": "lime", "parameters": {"samples": 60}},
        {"name": "control", "like": "lime"},
        {"name": "noise", "explainer": "random"},
    ]
    spec = small_spec(
        conditions=conditions,
        protocol={"name": "model-choice", "test": 8, "items_per_participant": 4},
        worse={"share": 0.005},
    )
    one = build(spec, tmp_path / "one")
    two = build(spec, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert one.hash == two.hash
    assert one.models["worse"]["accuracy"] < one.models["model"]["accuracy"]
    assert one.models["worse"]["training_inputs"] == 4
    assert len(one.explanations) == 8 * 3 * 2


def test_a_condition_may_have_a_model_of_its_own(small_spec, tmp_path):
    conditions = [
        {"name": "none"},
        {"name": "greedy", "explainer": "greedy"},
        {"name": "other", "explainer": "greedy", "model": "tree"},
        {"name": "control", "like": "other"},
    ]
    spec = small_spec(conditions=conditions, protocol={"name": "counterfactual", "test": 8})
    study = build(spec, tmp_path / "study")
    data = data_arguments(spec)
    tree = study_model(data, model_arguments(spec, own="tree"))
    logistic = study_model(data, model_arguments(spec))
    inputs = study_dataset(data).test.inputs
    for item in study.items.values():
        assert tree.predict_proba([item.input]).argmax() == item.prediction
        assert tree.predict_proba([item.variant.input]).argmax() == item.variant.prediction
    # What is shown in the condition is what its explainer says of its model.
    item = next(iter(study.items.values()))
    shown = {
        record["condition"]: record["explanation"]["scores"]
        for record in study.explanations
        if record["item"] == item.id
    }
    (expected,) = verax.explainer("greedy").explain(tree, [item.input], [item.prediction])
    assert shown["other"] == expected.scores.tolist()
    assert shown["greedy"] != shown["other"]
    assert sorted(shown["control"]) == sorted(shown["other"])
    # How the models differ is known to the study, and said by its report.
    same = tree.predict_proba(inputs).argmax(axis=1) == logistic.predict_proba(inputs).argmax(axis=1)
    facts = model_facts(load_study(tmp_path / "study").models, spec.model)
    (other,) = facts.others
    assert (other.name, other.conditions) == ("tree", ("other",))
    assert other.agreement == pytest.approx(same.mean())
    assert 0.5 < other.agreement < 1
    (matched,) = other.matched
    assert (matched.part, matched.same < matched.inputs) == ("test", True)
    assert f"{matched.same} of {matched.inputs} distinct ones in the test part" in other.sentence
    assert f"tree, right on {other.accuracy:.1%}" in other.sentence
    assert build(spec, tmp_path / "study").hash == study.hash


def test_a_model_of_a_condition_is_refused_where_it_has_no_place(small_spec, tmp_path):
    with pytest.raises(VeraxError, match="'none' has a model of its own but no explainer"):
        small_spec(conditions=[{"name": "none", "model": "tree"}])
    conditions = [{"name": "lime", "explainer": "lime", "model": "tree"}]
    spec = small_spec(conditions=conditions, protocol={"name": "uncertain-case", "test": 20})
    with pytest.raises(
        VeraxError, match=r"a model of its own .tree., but the protocol 'uncertain-case' shows more"
    ):
        build(spec, tmp_path / "study")


def test_balance_is_that_of_the_paper(small_spec, tmp_path):
    forward = build(small_spec(protocol={"name": "forward", "learning": 8, "test": 16}), tmp_path / "forward")
    cells = item_balance(forward.items.values())
    assert [(cell.role, cell.prediction, cell.correct, cell.items, cell.flips) for cell in cells] == [
        (role, prediction, correct, items, None)
        for role, items in (("learning", 2), ("test", 4))
        for prediction in (0, 1)
        for correct in (True, False)
    ]
    changed = build(small_spec(protocol={"name": "counterfactual", "test": 16}), tmp_path / "counterfactual")
    assert [(cell.items, cell.flips) for cell in item_balance(changed.items.values())] == [(4, 2)] * 4
    assert design_places(changed) == 3 * 2
    # 32 items at 12 seconds, and seven pages at 25: instructions, test, the beginning of each part, with what one will
    # see and the question on it at that of the second, debriefing.
    assert minutes(changed) == pytest.approx((32 * 12 + 7 * 25) / 60)


def test_a_study_that_is_built_is_not_built_again(small_spec, tmp_path):
    first = build(small_spec(), tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    counting = Counting()
    again = build(small_spec(), tmp_path, progress=counting)
    assert (counting.stored, counting.done) == (0, 0)
    assert again.hash == first.hash
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_stopped_build_goes_on(small_spec, tmp_path):
    conditions = [
        {"name": name, "explainer": name, "parameters": parameters}
        for name, parameters in (("greedy", {}), ("random", {}), ("lime", {"samples": 50}))
    ]
    spec = small_spec(conditions=conditions)
    with pytest.raises(KeyboardInterrupt):
        build(spec, tmp_path / "stopped", progress=StopsAfterOne())
    assert set(contents_of_build(tmp_path / "stopped")) == {".build"}
    counting = Counting()
    build(spec, tmp_path / "stopped", progress=counting)
    assert (counting.stored, counting.done) == (1, 2)
    build(spec, tmp_path / "whole")
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


def contents_of_build(folder):
    return [path.name for path in folder.iterdir()]


def test_two_builds_do_not_meet_in_one_folder(small_spec, tmp_path):
    with Store(tmp_path / ".build").lock(), pytest.raises(VeraxError, match="Another run is at work"):
        build(small_spec(), tmp_path)


def test_another_study_is_written_over_only_when_forced(small_spec, tmp_path):
    first = build(small_spec(), tmp_path, text="# one\n")
    for text in ("# two\n", "# one\r\n"):
        with pytest.raises(VeraxError, match=r"holds a study of another spec.*--force"):
            build(small_spec(), tmp_path, text=text)
    assert load_study(tmp_path).hash == first.hash
    second = build(small_spec(title="Others"), tmp_path, text="# two\n", force=True)
    assert load_study(tmp_path).hash == second.hash != first.hash


def test_a_changed_study_is_not_taken_for_a_built_one(small_spec, tmp_path):
    first = build(small_spec(), tmp_path)
    with (tmp_path / "items.jsonl").open("ab") as file:
        file.write(b"\n")
    with pytest.raises(VeraxError, match="or one that was changed; choose another --out"):
        build(small_spec(), tmp_path)
    assert build(small_spec(), tmp_path, force=True).hash == first.hash


def test_other_data_make_another_study(small_spec, tmp_path, reviews_file):
    data = tmp_path / "reviews.csv"
    data.write_bytes(reviews_file.read_bytes())
    first = build(small_spec(dataset=str(data)), tmp_path / "study")
    data.write_bytes(data.read_bytes().replace(b"film", b"movie"))
    with pytest.raises(VeraxError, match="holds a study of another spec or other data"):
        build(small_spec(dataset=str(data)), tmp_path / "study")
    # Where the file is gone, the study is what there is.
    data.unlink()
    assert build(small_spec(dataset=str(data)), tmp_path / "study").hash == first.hash


def test_answers_are_never_written_over(small_spec, tmp_path):
    build(small_spec(), tmp_path, text="# one\n")
    database = sqlite3.connect(tmp_path / "answers.sqlite")
    database.execute("CREATE TABLE response (id INTEGER)")
    database.commit()
    database.close()
    before = contents(tmp_path)
    for force in (False, True):
        with pytest.raises(VeraxError, match=r"holds answers \(answers.sqlite\) and is never built over"):
            build(small_spec(), tmp_path, text="# two\n", force=force)
    assert contents(tmp_path) == before
    assert build(small_spec(), tmp_path, text="# one\n").hash == load_study(tmp_path).hash


def test_a_spec_may_stand_in_the_studys_folder(small_spec, tmp_path):
    (tmp_path / "spec.toml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(VeraxError, match=r"holds another spec\.toml"):
        build(small_spec(), tmp_path, text="# another\n")
    build(small_spec(), tmp_path, text="# mine\n")
    assert set(contents(tmp_path)) == WHOLE
    with pytest.raises(VeraxError, match="is a file; give the name of a folder"):
        build(small_spec(), tmp_path / "spec.toml", text="# mine\n")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"protocol": {"name": "foreward"}},
            "There is no study protocol called 'foreward'; did you mean 'forward'?",
        ),
        (
            {"conditions": [{"name": "m", "explainer": "gredy"}]},
            "There is no explainer called 'gredy'; did you mean 'greedy'?",
        ),
        ({"model": "logistics"}, "There is no model called 'logistics'; did you mean 'logistic'?"),
        (
            {"display": {"fewest_words": 1, "most_words": 3}},
            "None of the 70 texts in the validation part of ",
        ),
        (
            {"class_names": ["one", "two", "three"]},
            "class_names has 3 names (one, two, three), but ",
        ),
        (
            {"worse": {"share": 0.5}},
            "The spec has a table [worse], but the protocol 'forward' shows one model; remove it.",
        ),
        (
            {"protocol": {"name": "class-from-evidence", "threshold": 0.9999999}, "conditions": "methods"},
            "None of the 140 texts of 5 to 60 words in the test part of ",
        ),
        (
            {"protocol": {"name": "forward", "learning": 6}},
            "6 items cannot be balanced over 4 cells (predicted class x right or wrong); ask for a multiple of 4.",
        ),
        (
            {"protocol": {"name": "model-choice"}, "worse": {"share": 1.0}, "conditions": "methods"},
            "The two models never disagree on the 140 test inputs of ",
        ),
        (
            {"protocol": {"name": "model-choice"}, "worse": {"share": 0.95}, "conditions": "methods"},
            "The worse model is right on ",
        ),
        (
            {"worse": {"most_words": 2}, "protocol": {"name": "model-choice"}, "conditions": "methods"},
            "Only 0 of the 490 training texts of ",
        ),
        (
            {"protocol": {"name": "toy_protocols:Dangling"}},
            "Row 0 of the design has a step with the screen 'i7'",
        ),
        ({"protocol": {"name": "toy_protocols:Twins"}}, "Two items are called 'i0'; give each its own id."),
        ({"protocol": {"name": "toy_protocols:NoRows"}}, "The design has no rows"),
        ({"protocol": {"name": "toy_protocols:Nobody"}}, "The protocol chose no items"),
    ],
)
def test_a_bad_spec_is_one_sentence(small_spec, tmp_path, changes, sentence):
    if changes.get("conditions") == "methods":
        changes = changes | {"conditions": [{"name": "greedy", "explainer": "greedy"}]}
    with pytest.raises(VeraxError) as raised:
        build(small_spec(**changes), tmp_path / "study")
    assert str(raised.value).startswith(sentence)
    assert not (tmp_path / "study" / MANIFEST).exists()


def test_more_items_than_the_data_can_balance_names_the_cells(small_spec, tmp_path):
    with pytest.raises(VeraxError) as raised:
        build(small_spec(protocol={"name": "forward", "learning": 4, "test": 120}), tmp_path)
    sentence = str(raised.value)
    assert sentence.startswith(
        "120 balanced items cannot be drawn from the 140 texts of 5 to 60 words in the test"
    )
    for cell in ("rightly predicted 'bad'", "wrongly predicted 'bad'", "wrongly predicted 'good'"):
        assert cell in sentence
    possible = int(sentence.partition("ask for at most ")[2].split()[0])
    assert possible % 4 == 0
    study = build(small_spec(protocol={"name": "forward", "learning": 4, "test": possible}), tmp_path)
    assert len(study.items) == 4 + possible


def test_a_table_for_a_protocol_of_texts(small_spec, tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{20 + number},{'clerk' if number % 2 else 'judge'},{number > 14}" for number in range(30)]
    path.write_text("\n".join(["age,job,rich", *rows]), encoding="utf-8")
    spec = small_spec(dataset=str(path), source={"label": "rich"}, protocol={"name": "toy_protocols:Texts"})
    with pytest.raises(VeraxError) as raised:
        build(spec, tmp_path / "study")
    assert str(raised.value) == (
        f"The protocol 'toy_protocols:Texts' is for data of the kind text, and {str(path)!r} is of the kind table; "
        "choose another dataset or protocol."
    )
    tables = build(
        small_spec(dataset=str(path), source={"label": "rich"}, protocol={"name": "toy_protocols:Toy"}),
        tmp_path / "study",
    )
    assert tables.kind == "table"
    shown = json.loads((tmp_path / "study" / "items.jsonl").read_text().splitlines()[0])["input"]
    assert [column for column, _ in shown] == ["age", "job"]
