"""Forward simulation: the same items in both rounds and all conditions, nothing given away while predicting."""

from collections import Counter
from dataclasses import replace

import pytest

from study_source import review_source
from verax.codec import encode
from verax.errors import VeraxError
from verax.studies.definition.screen import Bars, Passage, class_mark
from verax.studies.design import choose_row
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material

TABLE = {"name": "forward"}
CONDITIONS = [{"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "random", "like": "lime"}]


def study_of(learning=16, test=32, **options):
    return check_protocol(sample_material(TABLE, {"learning": learning, "test": test}, options=options))


def in_phase(steps, phase):
    return [step for step in steps if step.phase == phase]


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_keeps_the_contract_with_texts_and_tables_of_two_and_three_classes(kind, classes):
    roles = {"learning": 2 * classes, "test": 4 * classes}
    check_protocol(sample_material(TABLE, roles, kind=kind, classes=classes))


def test_four_rounds_in_order_with_a_page_before_each():
    study = study_of(screening=False)
    steps = participant_steps(study, study.rows[1], 1)
    counts = Counter(step.phase for step in steps)
    assert [(phase, counts[phase]) for phase in dict.fromkeys(step.phase for step in steps)] == [
        ("instructions", 1),
        ("about-learning", 1),
        ("learning", 16),
        ("about-pre", 1),
        ("pre", 32),
        ("about-explained", 1),
        ("explained", 16),
        ("about-post", 1),
        ("post", 32),
        ("debrief", 1),
    ]
    assert {study.phases[phase].kind for phase in ("pre", "post")} == {"test"}
    assert {study.phases[phase].kind for phase in ("learning", "explained")} == {"learning"}


def test_everybody_gets_the_same_items_in_both_rounds_and_in_all_conditions():
    study = study_of()
    assert [encode(row.cells) for row in study.rows] == [
        {"condition": name} for name in ("plain", "method", "control")
    ]
    learning = [item.id for item in study.items.values() if item.role == "learning"]
    test = {item.id for item in study.items.values() if item.role == "test"}
    for row in study.rows:
        for number in (1, 2, 3):
            steps = participant_steps(study, row, number)
            for phase in ("learning", "explained"):
                assert [step.item for step in in_phase(steps, phase)] == learning
            for phase in ("pre", "post"):
                assert {step.item for step in in_phase(steps, phase)} == test
                assert len(in_phase(steps, phase)) == len(test)
            assert {step.condition for step in steps if step.item} == {row.condition}


def test_the_two_rounds_are_shuffled_independently():
    # 3 items have 6 orders: all 36 pairs of orders of Pre and Post occur, about equally often.
    study = check_protocol(sample_material(TABLE, {"learning": 1, "test": 3}))
    pairs = Counter()
    for number in range(1, 721):
        steps = participant_steps(study, study.rows[0], number)
        pairs[tuple(tuple(step.item for step in in_phase(steps, phase)) for phase in ("pre", "post"))] += 1
    assert len(pairs) == 36
    chi2 = sum((count - 20) ** 2 / 20 for count in pairs.values())
    assert chi2 < 66.6  # the 99.9% quantile with 35 degrees of freedom


def test_pages_of_predictions_show_the_input_alone_and_are_the_same_in_all_conditions():
    study = study_of()
    seen = [
        {step.screen for step in participant_steps(study, row, 1) if step.phase in ("pre", "post")}
        for row in study.rows
    ]
    assert seen[0] == seen[1] == seen[2]
    for key in seen[0]:
        screen = study.screens[key]
        shown = " ".join(map(str, screen.blocks)) + screen.heading
        assert not any(class_mark(number) in shown for number in range(2))
        assert [block.type for block in screen.blocks] == ["prose", "passage"]
        assert all(token.level == 0 for token in screen.blocks[1].tokens)
        (question,) = screen.questions
        assert [(option.label, option.means) for option in question.options] == [("⟦0⟧", 0), ("⟦1⟧", 1)]


def test_learning_pages_show_the_label_and_the_model_output():
    study = study_of()
    for item in study.items.values():
        if item.role == "learning":
            for key in (f"learning:{item.id}", f"explained:{item.id}:method"):
                facts = next(block for block in study.screens[key].blocks if block.type == "facts")
                values = [value for _, value in facts.pairs]
                assert values == [class_mark(item.label), class_mark(item.prediction)]
            assert study.screens[f"learning:{item.id}"].questions == ()


def test_explanations_are_rated_on_seven_points_by_the_papers_question():
    study = study_of()
    (rating,) = study.screens["explained:i001:method"].questions
    assert rating.prompt == "Does this explanation show me why the system thought what it did?"
    assert [option.means for option in rating.options] == [1, 2, 3, 4, 5, 6, 7]
    assert (rating.name, rating.kind) == ("rating", "scale")


def test_without_explanations_the_second_look_is_the_first_again_without_a_rating():
    study = study_of()
    assert study.screens["explained:i001:plain"] == study.screens["learning:i001"]


def test_the_direction_shows_unless_the_spec_says_no():
    for direction, signs in ((None, {-1, 0, 1}), (True, {-1, 0, 1}), (False, {0})):
        display = {} if direction is None else {"direction": direction}
        blocks = study_of(4, 4, display=display).screens["explained:i001:method"].blocks
        passage = next(block for block in blocks if isinstance(block, Passage))
        assert {token.sign for token in passage.tokens} == signs
        assert any(isinstance(block, Bars) for block in blocks) == (direction is not False)
        assert [block.legend != "" for block in blocks if isinstance(block, Passage | Bars)] == (
            [True] if direction is False else [False, True]
        )


def test_limits_hold_for_predictions_only():
    study = study_of(4, 4, timing={"item_seconds": 30, "session_minutes": 10, "late": "close"})
    for key in ("pre", "post"):
        phase = study.phases[key]
        assert (phase.item_seconds, phase.session_seconds, phase.late) == (30, 600, "close")
    for key in ("about-pre", "learning", "explained", "instructions"):
        assert (study.phases[key].item_seconds, study.phases[key].session_seconds) == (None, None)


def test_the_model_output_is_the_right_answer():
    protocol = make_protocol(TABLE)
    item = sample_material(TABLE, {"test": 4}).items[3]
    assert not item.correct
    assert protocol.score(item, item.prediction) == 1
    assert protocol.score(item, item.label) == 0


@pytest.mark.parametrize(("learning", "test"), [(16, 32), (16, 16)])
def test_items_are_balanced_over_true_and_false_positives_and_negatives(learning, test):
    source = review_source(TABLE, CONDITIONS)
    protocol = make_protocol(TABLE | {"learning": learning, "test": test})
    items = protocol.items(source)
    cells = Counter((item.role, item.label, item.prediction) for item in items)
    for role, count in (("learning", learning), ("test", test)):
        assert [cells[role, label, said] for label in (0, 1) for said in (0, 1)] == [count // 4] * 4
    assert {item.role: item.part for item in items} == {"learning": "validation", "test": "test"}
    assert len({item.id for item in items}) == learning + test
    assert items == protocol.items(source)


def test_three_classes_are_balanced_over_predictions_and_whether_they_are_right():
    source = review_source(TABLE, CONDITIONS, classes=3)
    items = make_protocol(TABLE | {"learning": 12, "test": 18}).items(source)
    cells = Counter((item.role, item.prediction, item.correct) for item in items)
    assert {cells["learning", said, right] for said in range(3) for right in (True, False)} == {2}
    assert {cells["test", said, right] for said in range(3) for right in (True, False)} == {3}


def test_numbers_that_cannot_be_balanced_are_a_sentence():
    source = review_source(TABLE, CONDITIONS)
    with pytest.raises(VeraxError, match="18 items cannot be balanced over 4 cells"):
        make_protocol(TABLE | {"learning": 18}).items(source)
    with pytest.raises(VeraxError, match="400 balanced items cannot be drawn"):
        make_protocol(TABLE | {"test": 400}).items(source)


def test_imported_items_need_no_parameters():
    material = sample_material(TABLE, {"learning": 3, "test": 5})
    study = check_protocol(replace(material, items=tuple(reversed(material.items))))
    said = " ".join(study.screens["instructions:door"].blocks[0].paragraphs)
    assert "3 texts with the right answer" in said
    assert "5 new texts" in said


def test_a_condition_may_want_more_people_than_others():
    """As in the paper: once every condition has its people, the rest go to one of them."""
    conditions = [
        {"name": "lime", "explainer": "lime"},
        {"name": "shap", "explainer": "shap", "participants": 4},
    ]
    study = check_protocol(
        sample_material(
            {"name": "forward", "learning": 4, "test": 4},
            {"learning": 4, "test": 4},
            conditions=conditions,
            options={"participants": 2},
        )
    )
    assert [row.target for row in study.rows] == [2, 4]
    taken, order = Counter(), []
    for arrival in range(1, 8):
        row = choose_row(study.rows, taken, study.spec.seed, arrival)
        order.append(None if row is None else row.condition)
        taken[row.number if row else None] += 1
    assert sorted(order[:4]) == ["lime", "lime", "shap", "shap"]
    assert order[4:] == ["shap", "shap", None]


def test_numbers_of_people_by_condition_are_for_designs_between_people():
    conditions = [{"name": "none"}, {"name": "lime", "explainer": "lime", "participants": 4}]
    material = sample_material(
        {"name": "reverse-turing", "training": 2, "evaluation": 2},
        {"training": 2, "evaluation": 2},
        conditions=conditions,
        groups=2,
    )
    with pytest.raises(VeraxError, match="everybody sees several conditions"):
        check_protocol(material)


@pytest.mark.parametrize(("kind", "many"), [("text", "texts"), ("table", "records")])
def test_people_without_explanations_are_asked_what_they_really_see(kind, many):
    material = sample_material(TABLE, {"learning": 4, "test": 4}, kind=kind)
    study = check_protocol(material)
    first, again = (study.screens[key] for key in ("learning:i001", "explained:i001:plain"))
    assert first == again
    told = make_protocol(material.spec.protocol).briefing(material, "plain")
    assert told.method.question == "What do you see in the second look?"
    assert (
        told.method.answers[told.method.correct - 1]
        == f"The same {many} again, with the right answer and the model's answer"
    )
    assert (
        "The second look shows the same as the first: the right answer and the model's answer."
        in told.introduction
    )
    assert not any("expla" in said for said in (*told.paragraphs, *told.introduction, *told.method.answers))
