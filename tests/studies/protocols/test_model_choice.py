"""The choice between two models: sides are drawn, answers mean how far they favour the better model."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from study_source import review_source
from verax.errors import VeraxError
from verax.studies.analysis.analyse import analyse
from verax.studies.bots.without_web import simulate_study
from verax.studies.design import shown_screen
from verax.studies.display import stimulus
from verax.studies.protocol.common_steps import participant_steps, uninformative
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material
from verax.studies.results.study_summary import Options

TABLE = {"name": "model-choice", "test": 12, "items_per_participant": 6}
PAIR = [{"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"}]


def material_of(table=TABLE, **arguments):
    return sample_material(table, {"test": 6}, groups=2, conditions=PAIR, **arguments)


@pytest.fixture(scope="module")
def study():
    return check_protocol(material_of())


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_keeps_the_contract_with_texts_and_tables_of_two_and_three_classes(kind, classes):
    check_protocol(material_of(kind=kind, classes=classes))


def test_each_item_and_condition_is_in_exactly_one_row(study):
    pairs = Counter(
        (step.item, step.condition)
        for row in study.rows
        for step in participant_steps(study, row, 1)
        if step.item
    )
    assert (len(pairs), set(pairs.values())) == (24, {1})
    for row in study.rows:
        items = [step.item for step in participant_steps(study, row, 1) if step.item]
        assert len(set(items)) == len(items) == 6
        assert {study.items[item].group for item in items} == {row.cells.block}


def test_each_robot_is_the_better_model_in_half_of_the_steps_at_random(study):
    first = Counter()
    for number in range(1, 101):
        sides = [step.screen[-1] for step in participant_steps(study, study.rows[0], number) if step.item]
        assert sorted(sides) == ["H"] * 3 + ["S"] * 3
        first[sides[0]] += 1
    assert min(first.values()) > 30


def test_robots_show_the_evidence_of_the_model_that_their_side_says():
    material = material_of()
    study = check_protocol(material)
    item = material.items[0]
    marked = {
        model: stimulus.marked_evidence(material, item, "method", model, 3).tokens
        for model in ("model", "worse")
    }
    assert marked["model"] != marked["worse"]
    for better, first, second in (("S", "model", "worse"), ("H", "worse", "model")):
        blocks = study.screens[f"choice:{item.id}:method:{better}"].blocks
        assert [block.title for block in blocks[2:]] == ["Robot S", "Robot H"]
        assert [block.tokens for block in blocks[2:]] == [marked[first], marked[second]]


@pytest.mark.parametrize("kind", ["text", "table"])
def test_both_robots_have_the_same_number_of_highlights(kind):
    def made_of(table):
        """A study in which one feature alone speaks for the worse model's answer."""
        material = material_of(table, kind=kind)
        few = {
            key: replace(said, scores=np.where(said.scores == max(said.scores), 1.0, -abs(said.scores)))
            if key[2] == "worse"
            else said
            for key, said in material.explanations.items()
        }
        return check_protocol(replace(material, explanations=few))

    study, as_published = made_of(TABLE), made_of(TABLE | {"equal_marks": False})

    def highlights(made, key):
        *_, one, other = made.screens[key].blocks
        return [
            sum(piece.level > 0 for piece in (block.tokens if kind == "text" else block.cells))
            for block in (one, other)
        ]

    keys = [key for key in study.screens if key.startswith("choice:")]
    assert all(one == other > 0 for one, other in (highlights(study, key) for key in keys))
    assert any(one != other for one, other in (highlights(as_published, key) for key in keys))


def test_the_first_answers_are_about_the_robot_on_the_left_in_every_order(study):
    lefts = set()
    for key in (key for key in study.screens if key.startswith("choice:")):
        for order in (None, 0, 1):
            screen = shown_screen(study, key, order)
            *_, left, right = (block.title for block in screen.blocks)
            (question,) = screen.questions
            labels = [option.label for option in question.options]
            assert labels[0] == f"{left} seems clearly more reasonable than {right}."
            assert labels[-1] == f"{right} seems clearly more reasonable than {left}."
            lefts.add((order, left))
    assert lefts == {(None, "Robot S"), (0, "Robot S"), (1, "Robot H")}


def test_pages_on_which_both_robots_are_highlighted_alike_are_counted():
    material = material_of()
    alike = {
        key: material.explanations[key[0], key[1], "model"] if key[0] == "i001" else explanation
        for key, explanation in material.explanations.items()
    }
    assert uninformative(check_protocol(material)) == {}
    study = check_protocol(replace(material, explanations=alike))
    assert uninformative(study) == {"method": (1, 12), "control": (1, 12)}


def test_the_five_answers_are_the_papers_and_mean_how_far_they_favour_the_better_model(study):
    worth = {}
    for better in ("S", "H"):
        (question,) = study.screens[f"choice:i001:method:{better}"].questions
        assert [option.label for option in question.options] == [
            "Robot S seems clearly more reasonable than Robot H.",
            "Robot S seems slightly more reasonable than Robot H.",
            "I can't say which robot is more reasonable.",
            "Robot H seems slightly more reasonable than Robot S.",
            "Robot H seems clearly more reasonable than Robot S.",
        ]
        worth[better] = [option.means for option in question.options]
    assert worth == {"S": [1.0, 0.5, 0.0, -0.5, -1.0], "H": [-1.0, -0.5, 0.0, 0.5, 1.0]}
    assert str(worth["H"][2]) == "0.0"
    assert [make_protocol(TABLE).score(study.items["i001"], means) for means in worth["H"]] == worth["H"]


def test_pages_of_both_sides_differ_in_the_marks_only(study):
    one, other = (study.screens[f"choice:i001:method:{better}"] for better in ("S", "H"))
    assert one.heading == other.heading
    assert one.blocks[:2] == other.blocks[:2]
    texts = [[token.text for token in block.tokens] for block in (*one.blocks[2:], *other.blocks[2:])]
    assert all(text == texts[0] for text in texts)
    assert {token.sign for block in one.blocks[2:] for token in block.tokens} == {0}


def test_the_predicted_class_is_said_and_the_true_one_is_not(study):
    for item in study.items.values():
        screen = study.screens[f"choice:{item.id}:method:S"]
        assert [value for _, value in screen.blocks[0].pairs] == [f"⟦{item.prediction}⟧"]
        assert str(screen).count("⟦") == 1


def test_items_are_predicted_alike_by_both_models_half_rightly_in_every_block():
    source = review_source(TABLE, PAIR, worse=True)
    items = make_protocol(TABLE | {"test": 40, "items_per_participant": 10}).items(source)
    assert Counter((item.group, item.correct) for item in items) == {
        (block, right): 5 for block in range(4) for right in (True, False)
    }
    assert all(item.worse.index(max(item.worse)) == item.prediction for item in items)
    for block in range(4):
        said = Counter((item.correct, item.prediction) for item in items if item.group == block)
        assert max(said.values()) - min(said.values()) <= 1


def test_a_condition_without_explanations_is_refused():
    with pytest.raises(
        VeraxError, match="'model-choice' has nothing to show in a condition without explanations, 'plain'"
    ):
        check_protocol(sample_material(TABLE, {"test": 6}, groups=2))


def test_blocks_must_divide_the_items():
    with pytest.raises(VeraxError, match=r"12 items \(test\) are not blocks of 5"):
        check_protocol(material_of(TABLE | {"items_per_participant": 5}))


def test_the_report_says_on_how_many_pages_answers_are_guesses():
    material = material_of()
    alike = {
        key: material.explanations[key[0], key[1], "model"] if key[0] == "i001" else explanation
        for key, explanation in material.explanations.items()
    }
    study = replace(check_protocol(replace(material, explanations=alike)), hash="a" * 64)
    said = analyse(simulate_study(study, "helped", 4), Options(replicates=50)).problems
    assert sum("1 of 12 pages carry no information" in problem for problem in said) == 2
