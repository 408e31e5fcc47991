"""The uncertain case: the prediction and its fragments without the text; the true class is the right answer."""

from collections import Counter

import pytest

from study_source import review_source
from verax.errors import VeraxError
from verax.studies.definition.screen import Bars, Evidence
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material

TABLE = {"name": "uncertain-case", "test": 12, "items_per_participant": 6}


def material_of(table=TABLE, **arguments):
    return sample_material(table, {"test": 6}, groups=2, **arguments)


@pytest.fixture(scope="module")
def study():
    return check_protocol(material_of())


def evidence_of(study, item, condition="method"):
    return [
        block for block in study.screens[f"case:{item.id}:{condition}"].blocks if isinstance(block, Evidence)
    ]


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
    assert (len(pairs), set(pairs.values())) == (36, {1})


def test_prediction_probabilities_and_fragments_are_shown_without_the_text(study):
    for item in study.items.values():
        screen = study.screens[f"case:{item.id}:method"]
        assert [block.type for block in screen.blocks] == ["facts", "bars", "prose", "evidence", "evidence"]
        facts, bars = screen.blocks[:2]
        assert facts.pairs == (("The model's answer", f"⟦{item.prediction}⟧"),)
        assert isinstance(bars, Bars)
        assert bars.pairs == tuple((f"⟦{number}⟧", share) for number, share in enumerate(item.probabilities))
        assert item.input not in str(screen)


def test_without_explanations_only_the_prediction_is_shown(study):
    for item in study.items.values():
        blocks = study.screens[f"case:{item.id}:plain"].blocks
        assert [block.type for block in blocks] == ["facts", "bars", "prose"]


def test_counter_evidence_is_evidence_for_the_other_class_in_the_order_of_the_classes(study):
    # Scores of the method are 0.1, 0.9, -0.7, 0.5, -0.3 for the five words.
    for item in study.items.values():
        words = item.input.split()
        spoken = {"for": (words[1], words[3], words[0]), "against": (words[2], words[4])}
        blocks = {block.title: block.fragments for block in evidence_of(study, item)}
        assert list(blocks) == ["Evidence for: ⟦0⟧", "Evidence for: ⟦1⟧"]
        assert blocks[f"Evidence for: ⟦{item.prediction}⟧"] == spoken["for"]
        assert blocks[f"Evidence for: ⟦{1 - item.prediction}⟧"] == spoken["against"]


def test_with_three_classes_counter_evidence_is_for_the_other_two():
    study = check_protocol(material_of(classes=3))
    item = next(item for item in study.items.values() if item.prediction == 1)
    assert [block.title for block in evidence_of(study, item)] == [
        "Evidence for: ⟦1⟧",
        "Evidence for: ⟦0⟧ or ⟦2⟧",
    ]


@pytest.mark.parametrize("classes", [2, 3])
def test_two_answers_for_each_class_and_none_for_not_knowing(classes):
    study = check_protocol(material_of(classes=classes))
    (question,) = study.screens["case:i001:method"].questions
    assert [option.means for option in question.options] == [
        f"{number}:{how}" for how in ("certain", "likely") for number in range(classes)
    ]
    assert question.options[-1].label == f"I'm not certain, but it is probably: ⟦{classes - 1}⟧."


def test_answers_can_have_the_papers_own_words():
    """Figure 2 of Lertvittayakumjorn and Toni (2019), whose specs say noun = "review" and "paper"."""
    (question,) = (
        check_protocol(material_of(TABLE | {"noun": "review"})).screens["case:i001:method"].questions
    )
    assert [option.label for option in question.options] == [
        "I'm certain that it is a ⟦0⟧ review.",
        "I'm certain that it is a ⟦1⟧ review.",
        "I'm not certain but it is probably a ⟦0⟧ review.",
        "I'm not certain but it is probably a ⟦1⟧ review.",
    ]


def test_scores_are_those_of_the_papers_table_1_against_the_true_class():
    protocol = make_protocol(TABLE)
    item = next(item for item in material_of(classes=3).items if not item.correct)
    said, true = item.prediction, item.label
    worth = {f"{true}:certain": 1.0, f"{true}:likely": 0.5, f"{said}:likely": -0.5, f"{said}:certain": -1.0}
    assert {means: protocol.score(item, means) for means in worth} == worth


def test_items_are_unconfident_predictions_half_of_them_wrong_in_every_block():
    source = review_source(TABLE, [{"name": "none"}])
    items = make_protocol(TABLE | {"test": 20, "items_per_participant": 10}).items(source)
    assert max(max(item.probabilities) for item in items) < 0.7
    assert Counter((item.group, item.correct) for item in items) == {
        (block, right): 5 for block in range(2) for right in (True, False)
    }


def test_a_threshold_that_nobody_passes_is_a_sentence_with_the_lowest():
    source = review_source(TABLE, [{"name": "none"}])
    with pytest.raises(VeraxError, match=r"below 0.5; the lowest is 0\.\d+"):
        make_protocol(TABLE | {"threshold": 0.5}).items(source)


def test_people_are_told_how_often_the_model_is_right_unless_it_is_as_published():
    study = check_protocol(material_of())
    assert "right on half" in str(study.screens["instructions:everybody"].blocks)
    assert "right on half" in str(study.screens["case:i001:method"].blocks)
    published = check_protocol(material_of(TABLE | {"say_half": False}))
    assert "half" not in str(published.screens["instructions:everybody"].blocks)
    assert "half" not in str(published.screens["case:i001:method"].blocks)
