"""Around every protocol: instructions, screening, a last question, debriefing."""

from itertools import groupby

import pytest

from verax.errors import VeraxError
from verax.studies.definition.spec_tables import ScreeningQuestion
from verax.studies.protocol.common_steps import (
    door_steps,
    framed_phases,
    framed_screens,
    participant_steps,
    screening,
)
from verax.studies.protocol.contract import Briefing, make_protocol
from verax.studies.protocols import forward
from verax.studies.protocols.checks import check_protocol, sample_material

FORWARD = {"name": "forward"}
ROLES = {"learning": 4, "test": 8}


def material_with(table=None, **options):
    return sample_material(table or FORWARD, ROLES, options=options)


def runs(study, row, number=1):
    """The phases in order, with how many steps each has."""
    return [
        (phase, len(list(steps)))
        for phase, steps in groupby(
            participant_steps(study, study.rows[row], number), key=lambda step: step.phase
        )
    ]


def test_instructions_come_first_screening_next_and_debriefing_last():
    study = check_protocol(material_with(screening={"attempts": 1}, protocol=FORWARD | {"strategy": True}))
    found = runs(study, 1)
    assert found[:2] == [("instructions", 1), ("screening", 1)]
    assert found[-2:] == [("questions", 1), ("debrief", 1)]
    assert [phase for phase, _ in found[2:-2]] == [
        "about-learning",
        "learning",
        "about-pre",
        "pre",
        "about-explained",
        "method",  # the question on the own method follows what is said of it
        "explained",
        "about-post",
        "post",
    ]


def test_instructions_are_shown_again_before_each_further_attempt():
    study = check_protocol(material_with(screening={"attempts": 3}))
    assert runs(study, 1)[:6] == [("instructions", 1), ("screening", 1)] * 3
    steps = participant_steps(study, study.rows[1], 1)
    assert [step.screen for step in steps[:6]] == [
        "instructions:door",
        "screening:door",
        "instructions-again:door",
        "screening:door",
        "instructions-again:door",
        "screening:door",
    ]
    first, again = study.screens["instructions:door"], study.screens["instructions-again:door"]
    assert again.blocks[1] == first.blocks[0]


def test_without_screening_the_study_begins_after_the_instructions():
    study = check_protocol(material_with(screening=False))
    assert study.screening is None
    assert "screening" not in study.phases
    assert runs(study, 0)[:2] == [("instructions", 1), ("about-learning", 1)]


def test_people_with_and_without_explanations_get_the_same_test_and_read_of_their_method_later():
    study = check_protocol(material_with())
    door = [step.screen for step in door_steps(study)]
    assert door == ["instructions:door", "screening:door", "instructions-again:door", "screening:door"]
    ways = [[step.screen for step in participant_steps(study, row, 1)] for row in study.rows]
    assert all(way[: len(door)] == door for way in ways)
    plain, method, control = (set(way[len(door) :]) for way in ways)
    assert not any(key.startswith("instructions:") for key in plain | method | control)
    assert "about-explained:plain" in plain
    assert "about-explained:explained:method" in method & control
    assert not any("explained" in key for key in plain if not key.startswith(("about-", "explained:")))


def test_every_question_before_a_condition_is_given_is_about_what_was_said_before():
    study = check_protocol(material_with())
    said = " ".join(study.screens["instructions:door"].blocks[0].paragraphs)
    for words in ("predict what the model says", "right on half", "cannot look back"):
        assert words in said
    own = " ".join(study.screens["about-explained:explained:method"].blocks[0].paragraphs)
    assert "highlight" in own
    assert "highlight" not in said
    assert "expla" not in said


def test_as_published_everything_comes_after_a_condition_is_given():
    study = check_protocol(material_with(screening={"method": "excludes"}))
    assert door_steps(study) == ()
    plain, method, control = (
        {step.screen for step in participant_steps(study, row, 1)} for row in study.rows
    )
    assert {"instructions:plain", "screening:plain"} <= plain
    assert {"instructions:explained:method", "screening:explained:method"} <= method & control
    # The question on the own method can only be answered by who was told about it.
    assert "highlight" in " ".join(study.screens["instructions:explained:method"].blocks[0].paragraphs)


def test_tests_that_differ_between_audiences_come_after_a_condition_is_given():
    class Uneven(forward.Forward):
        def briefing(self, material, audience):
            asked = ScreeningQuestion(question=audience, answers=["a", "b"], correct=1)
            return Briefing(("Do it.",), (asked,))

    screens = framed_screens(material_with(), Uneven())
    assert "screening:door" not in screens
    assert {"screening:plain", "screening:explained:method"} <= set(screens)


def test_the_pass_mark_is_the_share_of_questions_rounded_up():
    # As published, the question on the own method is one of the test.
    for share, needed in ((0.75, 3), (0.74, 3), (0.76, 4), (0.5, 2), (1, 4), (0, 0)):
        material = material_with(screening={"pass_mark": share, "attempts": 2, "method": "excludes"})
        found = screening(material, make_protocol(FORWARD))
        assert (found.pass_mark, found.attempts, len(found.answers)) == (needed, 2, 4)
    found = screening(material_with(screening={"pass_mark": 0.6}), make_protocol(FORWARD))
    assert (found.pass_mark, len(found.answers)) == (2, 3)


def test_what_excludes_is_the_same_for_all_conditions_and_the_own_method_is_taught_after_it():
    study = check_protocol(material_with())
    screens = study.screens
    assert [key for key in screens if key.startswith("screening:")] == ["screening:door"]
    steps = [
        step.screen for step in participant_steps(study, study.rows[2], 1)
    ]  # a control is taught as its method
    place = steps.index("method:explained:method")
    assert steps[place - 1] == "about-explained:explained:method"
    assert steps[place + 1] == "method-answer:explained:method"
    (asked,) = screens["method:explained:method"].questions
    assert asked.prompt == "A word is highlighted strongly. What does that mean?"
    answer = screens["method-answer:explained:method"]
    assert answer.echo == "method"
    assert "mattered a lot" in " ".join(answer.blocks[0].paragraphs)
    assert "are highlighted" in " ".join(answer.blocks[1].paragraphs)  # the instruction again
    (of_plain,) = screens["method:plain"].questions
    assert "highlight" not in of_plain.prompt


def test_as_published_the_question_on_the_own_method_excludes():
    own = {"question": "What are they?", "answers": ["Reasons", "Noise", "Ads"], "correct": 1}
    conditions = [
        {"name": "none"},
        {"name": "a", "explainer": "lime"},
        {"name": "b", "explainer": "lime", "question": own},
    ]
    options = {"screening": {"method": "excludes"}}
    study = check_protocol(sample_material(FORWARD, ROLES, conditions=conditions, options=options))
    assert not any(key.startswith("method:") for key in study.screens)
    asked = {
        key: screen.questions[-1] for key, screen in study.screens.items() if key.startswith("screening:")
    }
    assert len({question.prompt for question in asked.values()}) == 3
    # One key judges all: the right answer stands second wherever its author put it.
    assert [option.label for option in asked["screening:explained:b"].options] == ["Noise", "Reasons", "Ads"]
    assert study.screening.answers[asked["screening:explained:b"].name] == 2


def test_all_right_answers_pass_and_others_do_not():
    study = check_protocol(material_with())
    questions = study.screens["screening:door"].questions
    right = dict(study.screening.answers)
    assert [question.name for question in questions] == list(right)
    assert study.screening.passed(right)
    wrong = {name: 1 + answer % 3 for name, answer in right.items()}
    assert not study.screening.passed(wrong)
    two_wrong = right | {name: wrong[name] for name in list(right)[:2]}
    assert not study.screening.passed(two_wrong)
    assert not study.screening.passed(right | {"screening-1": wrong["screening-1"]})  # 3 questions, 75%: all


def test_own_questions_and_own_instructions_replace_the_protocols():
    own = {"question": "What is 2 + 2?", "answers": ["3", "4"], "correct": 2}
    material = material_with(
        screening={"questions": [own], "pass_mark": 1},
        texts={"instructions": "Look at\nthis.\n\nFirst:\n- one\n- two", "debrief": "It was about foxes."},
    )
    study = check_protocol(material)
    assert study.screening.answers == {"screening-1": 2}
    asked = study.screens["screening:door"].questions
    assert [(one.prompt, [option.label for option in one.options]) for one in asked] == [
        ("What is 2 + 2?", ["3", "4"])
    ]
    said = study.screens["instructions:door"].blocks[0].paragraphs
    assert said == ("Look at this.", "First:", "- one", "- two")
    assert study.screens["debrief"].blocks[0].paragraphs == ("It was about foxes.",)


def test_the_debriefing_tells_of_random_controls():
    with_control = check_protocol(material_with())
    without = check_protocol(sample_material(FORWARD, ROLES, conditions=[{"name": "m", "explainer": "lime"}]))
    assert "random" in " ".join(with_control.screens["debrief"].blocks[0].paragraphs)
    assert "random" not in " ".join(without.screens["debrief"].blocks[0].paragraphs)


def test_who_met_several_conditions_may_have_seen_random_explanations_and_some_pages_had_none():
    three = [{"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "random", "like": "lime"}]
    roles = {"training": 5, "evaluation": 3}
    study = check_protocol(sample_material({"name": "reverse-turing"}, roles, groups=3, conditions=three))
    assert {participant_steps(study, row, 1)[-1].screen for row in study.rows} == {"debrief"}
    said = " ".join(study.screens["debrief"].blocks[0].paragraphs)
    assert "You may have seen some of those." in said
    assert "you saw no explanations on some pages" in said


def test_the_question_on_the_strategy_is_optional_and_in_own_words():
    table = FORWARD | {"strategy": True}
    material = material_with(table)
    assert "questions" in {phase.key for phase in framed_phases(material, make_protocol(table))}
    (question,) = framed_screens(material, make_protocol(table))["strategy"].questions
    assert (question.kind, question.required) == ("text", False)
    assert "strategy" not in framed_screens(material_with(), make_protocol(FORWARD))


def test_tests_whose_right_answers_differ_between_audiences_are_refused():
    class Uneven(forward.Forward):
        def briefing(self, material, audience):
            asked = ScreeningQuestion(question="?", answers=["a", "b"], correct=1 + (audience == "plain"))
            return Briefing(("Do it.",), (asked,))

    with pytest.raises(
        VeraxError, match=r"right answers in the same places; Uneven.briefing gives \[2\] and \[1\]"
    ):
        screening(material_with(), Uneven())


def test_participants_get_their_own_orders_and_always_the_same():
    study = check_protocol(material_with())
    orders = {participant_steps(study, study.rows[0], number) for number in range(1, 30)}
    assert len(orders) > 20
    other_seed = check_protocol(material_with(seed=5))
    assert participant_steps(study, study.rows[0], 1) != participant_steps(other_seed, other_seed.rows[0], 1)
