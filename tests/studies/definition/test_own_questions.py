"""Questions of one's own in a spec: what is wrong with them is a sentence, and where they are asked is as declared."""

from __future__ import annotations

import json

import pytest

from small_study import small_study
from verax.codec import encoded
from verax.errors import VeraxError
from verax.studies.build.build import compose_study
from verax.studies.definition.own_pages import hidden_by, own_screens, right_answers
from verax.studies.definition.own_questions import BLOCKS, OwnQuestion, scored_scales
from verax.studies.definition.screen import read_screen
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material

YES_NO = {"name": "work", "question": "Do you work?", "answers": ["Yes", "No"]}
HOURS = {"name": "hours", "kind": "number", "question": "How many hours?"}


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ([{"name": "a", "question": "Well?"}], "'a' has no answers to choose from; write two or more"),
        ([{"name": "a", "question": "Well?", "answers": ["Yes"]}], "'a' has one answer to choose from"),
        ([{"name": "a", "answers": ["Yes", "No"]}], "'a' asks nothing; write its question"),
        ([{"question": "Well?", "answers": ["Yes", "No"]}], "a question needs a name"),
        ([YES_NO, YES_NO], "Two questions are called 'work'"),
        (
            [HOURS | {"shown_if": {"question": "work", "answers": ["Yes"]}}, YES_NO],
            "'hours' is shown after an answer to 'work', which is asked later or more than once",
        ),
        (
            [YES_NO, HOURS | {"place": "before", "shown_if": {"question": "work", "answers": ["Yes"]}}],
            "'hours' is shown after an answer to 'work', which is asked later or more than once",
        ),
        (
            [HOURS | {"shown_if": {"question": "job", "answers": ["Yes"]}}],
            "'hours' is shown after an answer to 'job', which is not asked; check the name",
        ),
        (
            [YES_NO, HOURS | {"shown_if": {"question": "work", "answers": ["Maybe"]}}],
            "the answer 'Maybe' to 'work', which has none such; there are: Yes; No",
        ),
        (
            [HOURS | {"shown_if": {"condition": ["lime"]}}],
            "shown in the condition 'lime', which does not exist; there are: none, shown",
        ),
        ([HOURS | {"shown_if": {}}], "shown_if is empty"),
        ([{"block": "sus", "points": 7}], "the block 'sus' has its own points; leave one of them out"),
        ([{"name": "s", "kind": "scale", "question": "?"}], "the scale 's' needs points"),
        ([{"name": "m", "kind": "matrix", "points": 5}], "a matrix has items"),
        ([HOURS | {"lowest": 9, "highest": 1}], "no number is at least 9 and at most 1"),
        ([YES_NO | {"correct": "Perhaps"}], "'Perhaps' is no answer to the choice 'work'"),
        ([{"block": "trust-long"}], "block"),
    ],
)
def test_what_is_wrong_with_a_question_is_a_sentence(questions, sentence):
    with pytest.raises(VeraxError, match=r".") as error:
        small_study(questions=questions)
    assert sentence in str(error.value)
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize(
    ("quota", "sentence"),
    [
        ({"question": "job", "most": {"Yes": 1}}, "'job', which is not asked"),
        ({"question": "late", "most": {"Yes": 1}}, 'place = "first", and required'),
        ({"question": "work", "most": {"Maybe": 1}}, "the answer 'Maybe' to 'work', which has none such"),
    ],
)
def test_a_quota_is_about_a_choice_that_is_asked_first(quota, sentence):
    with pytest.raises(VeraxError) as error:
        small_study(questions=[YES_NO | {"place": "first"}, YES_NO | {"name": "late"}], quotas=[quota])
    assert sentence in str(error.value)


def test_the_rule_on_attention_needs_a_question_that_checks_it():
    with pytest.raises(VeraxError, match="no question checks attention"):
        small_study(questions=[YES_NO], exclusion=[{"rule": "attention-checks"}])


def composed(questions):
    asked = {"name": "forward", "learning": 4, "test": 8}
    material = sample_material(asked, {"learning": 4, "test": 8}, options={"questions": questions})
    return compose_study(material, make_protocol(asked), "")


def test_pages_stand_where_they_are_declared_and_for_whom():
    names = ["first", "before", "pre", "after", "each"]
    asked = [YES_NO | {"name": f"q-{place}", "place": place} for place in names]
    study = composed(asked)
    row = study.rows[0]
    walked = participant_steps(study, row, 1)
    where = {}
    for place, step in enumerate(walked):
        where.setdefault(step.screen, []).append(place)
    first = {
        phase: min(n for n, s in enumerate(walked) if s.phase == phase) for phase in {s.phase for s in walked}
    }
    last = {
        phase: max(n for n, s in enumerate(walked) if s.phase == phase) for phase in {s.phase for s in walked}
    }
    assert where["own:q-first"] == [0]
    assert where["own:q-before"][0] < first["learning"]
    assert last["pre"] < where["own:q-pre"][0] < first["explained"]
    assert len(where["own:q-each"]) == 2
    assert last["post"] < where["own:q-each"][1] < where["own:q-after"][0] < len(walked) - 1


def test_a_page_for_one_condition_is_for_its_people_alone():
    study = composed([YES_NO])
    shown = [condition.name for condition in study.spec.conditions][-1]
    study = composed([YES_NO | {"shown_if": {"condition": [shown]}}])
    asked = {
        row.condition: "own:work" in {step.screen for step in participant_steps(study, row, 1)}
        for row in study.rows
    }
    assert asked == {name: name == shown for name in asked}


def test_a_part_that_is_not_there_and_a_name_of_the_protocols_are_sentences():
    with pytest.raises(
        VeraxError, match="after the part 'evaluation-1', which there is not here; there are: first"
    ):
        composed([YES_NO | {"place": "evaluation-1"}])
    with pytest.raises(VeraxError, match="The question 'prediction' is called as one of the protocol's"):
        composed([YES_NO | {"name": "prediction"}])


def test_pages_that_ask_about_hidden_pages_are_hidden_too():
    asked = [
        OwnQuestion(**entry)
        for entry in (
            YES_NO,
            HOURS | {"shown_if": {"question": "work", "answers": ["Yes"]}},
            YES_NO | {"name": "tired", "shown_if": {"question": "hours", "at_least": 40}},
        )
    ]
    screens = own_screens(asked)
    assert hidden_by(asked, screens, "own:work", {"work": "No"}) == ["own:hours", "own:tired"]
    assert hidden_by(asked, screens, "own:work", {"work": "Yes"}) == []
    assert hidden_by(asked, screens, "own:hours", {"hours": 39}) == ["own:tired"]
    assert hidden_by(asked, screens, "own:hours", {"hours": 40}) == []


@pytest.mark.parametrize("block", sorted(BLOCKS))
def test_blocks_have_as_many_items_and_points_as_they_say_and_survive_a_file(block):
    asked = OwnQuestion(block=block, attention=True)
    (screen,) = own_screens([asked]).values()
    (scale,) = scored_scales([asked])
    items = [question for question in screen.questions if question.name in scale.items]
    assert len(items) == BLOCKS[block].items == len(screen.questions) - 1
    assert {tuple(option.means for option in one.options) for one in items} == {BLOCKS[block].values}
    assert list(right_answers([asked])) == [f"{block}-check"]
    assert read_screen(json.loads(json.dumps(encoded(screen)))) == screen
