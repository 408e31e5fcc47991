"""The class from the evidence: only fragments are shown, and the predicted class is the right answer."""

from collections import Counter

import pytest

from study_source import review_source
from verax.errors import VeraxError
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material

TABLE = {"name": "class-from-evidence", "test": 12, "items_per_participant": 6}
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
    assert {row.target for row in study.rows} == {study.spec.participants}


def test_only_fragments_of_the_text_are_shown(study):
    for item in study.items.values():
        for condition in ("method", "control"):
            screen = study.screens[f"evidence:{item.id}:{condition}"]
            assert [block.type for block in screen.blocks] == ["prose", "evidence"]
            fragments = screen.blocks[1].fragments
            assert len(fragments) == 3
            assert set(fragments) < set(item.input.split())
            assert "⟦" not in " ".join(map(str, screen.blocks)) + screen.heading


def test_evidence_may_be_shorter_and_of_several_words():
    one = check_protocol(material_of(TABLE | {"evidence": 1}))
    assert len(one.screens["evidence:i001:method"].blocks[1].fragments) == 1
    grams = check_protocol(material_of(TABLE | {"sizes": [2, 3]}))
    for fragment in grams.screens["evidence:i001:method"].blocks[1].fragments:
        assert len(fragment.split()) in (2, 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_two_answers_for_each_class_and_one_for_not_knowing(classes):
    study = check_protocol(material_of(classes=classes))
    (question,) = study.screens["evidence:i001:method"].questions
    numbers = range(classes)
    assert [option.means for option in question.options] == [
        *(f"{number}:certain" for number in numbers),
        *(f"{number}:likely" for number in numbers),
        "none",
    ]
    # What is asked for is what is scored: the model's answer. As published, it is what the text is.
    assert question.prompt == "What did the model answer about this text?"
    assert question.options[1].label == "I'm certain that the model answered: ⟦1⟧."
    told = study.screens["instructions:everybody"].blocks[0].paragraphs
    assert any("say what the model answered" in said for said in told)
    published = check_protocol(material_of(TABLE | {"ask_for": "input"}, classes=classes))
    (question,) = published.screens["evidence:i001:method"].questions
    assert question.options[1].label == "I'm certain that it is: ⟦1⟧."
    assert question.options[-1].label == "I can't say."


def test_answers_can_have_the_papers_own_words():
    """Figure 2 of Lertvittayakumjorn and Toni (2019), whose specs say noun = "review" and "paper"."""
    words = {"ask_for": "input", "noun": "review"}
    (question,) = check_protocol(material_of(TABLE | words)).screens["evidence:i001:method"].questions
    assert [option.label for option in question.options] == [
        "I'm certain that they are from a ⟦0⟧ review.",
        "I'm certain that they are from a ⟦1⟧ review.",
        "I'm not certain but they are likely from a ⟦0⟧ review.",
        "I'm not certain but they are likely from a ⟦1⟧ review.",
        "I can't say.",
    ]


def test_scores_are_those_of_the_papers_table_1_against_the_prediction():
    protocol = make_protocol(TABLE)
    item = next(item for item in material_of(classes=3).items if not item.correct)
    said, true = item.prediction, item.label
    worth = {
        f"{said}:certain": 1.0,
        f"{said}:likely": 0.5,
        "none": 0.0,
        f"{true}:likely": -0.5,
        f"{true}:certain": -1.0,
    }
    assert {means: protocol.score(item, means) for means in worth} == worth


def test_items_are_confident_predictions_half_of_them_wrong_in_every_block():
    source = review_source(TABLE, PAIR)
    table = TABLE | {"test": 20, "items_per_participant": 10, "threshold": 0.9}
    items = make_protocol(table).items(source)
    assert min(max(item.probabilities) for item in items) > 0.9
    assert Counter((item.group, item.correct) for item in items) == {
        (block, right): 5 for block in range(2) for right in (True, False)
    }


def test_a_threshold_that_nobody_passes_is_a_sentence_with_the_highest():
    source = review_source(TABLE, PAIR)
    with pytest.raises(VeraxError, match=r"None of the \d+ texts .* above 0.9999; the highest is 0\.\d+"):
        make_protocol(TABLE | {"threshold": 0.9999}).items(source)


def test_a_condition_without_explanations_is_refused():
    with pytest.raises(VeraxError, match="nothing to show in a condition without explanations"):
        check_protocol(sample_material(TABLE, {"test": 6}, groups=2))
