"""The page of a step, before it is HTML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verax.studies.definition.screen import Option, Question, Screen, class_mark
from verax.studies.definition.study import Phase, Step
from verax.web.participant.step_page import duration, progress, step_page, timer
from web.gallery import CHECK, CONFIDENCE, FIVE, NAMES, PREDICTION, RATING, REASON, SCREENS, at


def asked(question: Question, given=(), errors=()):
    return step_page(at(Screen("x", questions=(question,))), dict(given), dict(errors))["questions"][0]


def test_options_are_known_by_their_place_and_called_by_the_participants_names():
    choices = asked(PREDICTION).choices
    assert [(choice.position, choice.label) for choice in choices] == [(1, "Alpha"), (2, "Beta")]


def test_nothing_is_chosen_beforehand():
    for question in (PREDICTION, RATING, CHECK):
        assert not any(choice.chosen for choice in asked(question).choices)


def test_what_was_given_is_kept_when_something_is_missing():
    screen = SCREENS["grey"]
    rating = {"rating": "Please choose an answer."}
    questions = step_page(at(screen), {"prediction": "2"}, rating)["questions"]
    assert [choice.chosen for choice in questions[0].choices] == [False, True]
    assert (questions[0].error, questions[1].error) == ("", "Please choose an answer.")
    assert asked(REASON, {"reason": " <b> "}).text == " <b> "


def test_the_page_opens_at_the_first_question_that_lacks_an_answer():
    missing = {"rating": "Please.", "reason": "Please."}
    screen = Screen("x", questions=(PREDICTION, RATING, REASON))
    assert [question.focus for question in step_page(at(screen), {}, missing)["questions"]] == [
        False,
        True,
        False,
    ]
    assert not any(question.focus for question in step_page(at(screen))["questions"])


@pytest.mark.parametrize(
    ("question", "layout"),
    [(PREDICTION, "row"), (RATING, "points"), (CONFIDENCE, "row"), (CHECK, "stack"), (REASON, "text")],
)
def test_short_answers_stand_in_a_row_and_long_ones_below_each_other(question, layout):
    assert asked(question).layout == layout


def test_four_or_more_long_answers_stand_in_a_row_lest_the_text_is_out_of_sight():
    def layout(options: int, letters: int) -> str:
        return asked(Question("x", "?", "choice", (Option("x" * letters, 1),) * options)).layout

    assert [layout(3, 24), layout(3, 25), layout(4, 80), layout(4, 81), layout(8, 1)] == [
        "row",
        "stack",
        "row",
        "stack",
        "stack",
    ]


def test_the_layout_follows_the_names_that_are_shown():
    """The same question stacks for a participant whose names are long."""
    long = replace(at(Screen("x", questions=(PREDICTION,))), names=("A" * 25, "B"))
    assert step_page(long)["questions"][0].layout == "stack"


def test_a_scale_of_words_is_laid_out_like_a_choice():
    agree = Question("agree", "Do you?", "scale", (Option("never", 1), Option("often", 2)))
    assert asked(agree).layout == "row"


def test_keys_are_the_places_except_where_the_answers_are_digits_themselves():
    assert [choice.key for choice in asked(CONFIDENCE).choices] == list("12345")
    from_zero = Question("x", "?", "scale", tuple(Option(str(point), point) for point in range(4)))
    assert [choice.key for choice in asked(from_zero).choices] == list("0123")
    eleven = Question("x", "?", "choice", tuple(Option(f"answer {n}", n) for n in range(11)))
    assert {choice.key for choice in asked(eleven).choices} == {""}


def test_only_the_ends_of_a_scale_are_described_by_its_words():
    described = [choice.described_by for choice in asked(RATING).choices]
    assert described == ["question-1-low", "", "", "", "", "", "question-1-high"]


def test_the_words_of_progress():
    where = at(SCREENS["grey"])
    assert progress(where).words == "Part 2 of 4, item 7 of 16: Your predictions"
    assert (progress(where).done, progress(where).steps) == (30, 68)
    alone = replace(where, number_in_phase=1, steps_in_phase=1)
    assert progress(alone).words == "Part 2 of 4: Your predictions"
    training = replace(where, phase=Phase("t", f"Train {class_mark(0)}", "training"))
    assert progress(training).words == f"Part 2 of 4, item 7 of 16: Train {NAMES[0]}"
    without_item = replace(where, step=Step("about", "about"))
    assert progress(without_item).words == "Part 2 of 4, page 7 of 16: Your predictions"
    screening = replace(where, phase=Phase("s", "A short test", "screening"))
    assert progress(screening).words == "Part 2 of 4: A short test"
    end = replace(where, phase=Phase("d", "The end", "debrief"), phase_number=0, number_in_phase=1)
    assert progress(end).words == "The end"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (61, "1 minute 1 second"),
        (200, "3 minutes 20 seconds"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


def test_a_page_without_a_limit_has_no_timer():
    assert timer(at(SCREENS["grey"])) is None


def test_the_timer_says_the_limit_in_words_for_those_without_a_script():
    shown = timer(at(SCREENS["grey"], seconds_left=83.26))
    assert (shown.limit, shown.left) == (
        "Time limit: 5 minutes for this part.",
        "1 minute 23 seconds left when this page opened.",
    )
    assert (shown.seconds, shown.closes, shown.what) == (83.3, False, "part")


@pytest.mark.parametrize("what", ["page", "part"])
def test_the_timer_names_what_ended(what):
    over = timer(replace(at(SCREENS["grey"], seconds_left=0.0), limited=what))
    assert over.left == f"The time for this {what} is over."


def test_five_answers_are_written_with_the_participants_names():
    labels = [choice.label for choice in asked(CONFIDENCE).choices]
    assert labels == [label.format(*NAMES) for label in FIVE]
