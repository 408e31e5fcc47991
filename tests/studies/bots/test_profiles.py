"""What simulated people answer: against shares that are known, and scores worked by hand."""

from __future__ import annotations

from statistics import mean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.studies.bots.profiles import (
    AVERAGE,
    Case,
    Chance,
    DoubleClicker,
    Guesser,
    Helped,
    LabelFollower,
    Leaver,
    Mixture,
    ModelKnower,
    Profile,
    SameAnswer,
    parse_profiles,
)

GRADED = (1.0, -1.0, 0.5, -0.5, 0.0)  # certain, likely, and cannot say, of two classes


def case(
    scores=(0.0, 1.0), label_scores=(1.0, 0.0), *, aid="none", item="i1", step=1, person=1, understood=True
):
    return Case(scores, label_scores, understood, aid, item, step, Chance(7, person), len(scores or GRADED))


def chosen(answering, **arguments):
    """What is chosen in 400 cases."""
    return [answering.choose(case(step=step, **arguments)) for step in range(400)]


# ---- Chance


def test_draws_are_uniform_and_normal_and_depend_on_what_they_are_about_alone():
    chance = Chance(3, 5)
    shares = [chance.share("a", number) for number in range(4000)]
    assert mean(shares) == pytest.approx(0.5, abs=0.02)
    assert pstdev(shares) == pytest.approx(12**-0.5, abs=0.01)
    normal = [chance.normal("a", number) for number in range(4000)]
    assert (mean(normal), pstdev(normal)) == pytest.approx((0, 1), abs=0.06)
    assert Chance(3, 5).share("a", 1) == chance.share("a", 1) != Chance(3, 6).share("a", 1)
    assert Chance(3, 6).common_normal("x") == chance.common_normal("x") != Chance(4, 5).common_normal("x")


# ---- How they answer


def test_guessers_choose_each_answer_as_often():
    found = chosen(Guesser(), scores=GRADED)
    assert [found.count(place) / 400 for place in range(1, 6)] == pytest.approx([0.2] * 5, abs=0.07)


def test_label_followers_answer_what_is_true_and_not_what_the_model_says():
    assert set(chosen(LabelFollower(1.0))) == {1}
    assert chosen(LabelFollower(0.8)).count(1) / 400 == pytest.approx(
        0.9, abs=0.06
    )  # and half of the guesses


def test_model_knowers_are_right_but_for_noise():
    assert set(chosen(ModelKnower(0.0), scores=GRADED)) == {1}
    assert chosen(ModelKnower(0.2)).count(2) / 400 == pytest.approx(0.9, abs=0.06)


def test_who_knows_but_does_not_understand_the_names_guesses():
    for answering in (ModelKnower(0.0), LabelFollower(1.0)):
        assert chosen(answering, understood=False).count(1) / 400 == pytest.approx(0.5, abs=0.08)


def test_on_a_page_that_is_not_recognised_everybody_guesses():
    for answering in (ModelKnower(0.0), LabelFollower(1.0), Helped(), Guesser()):
        found = chosen(answering, scores=None, label_scores=None)
        assert set(found) == {1, 2, 3, 4, 5}


def test_the_same_answer_is_one_that_exists():
    assert set(chosen(SameAnswer(4))) == {2}
    assert set(chosen(SameAnswer(4), scores=GRADED)) == {4}


@pytest.mark.parametrize(
    ("aid", "share"), [("none", 0.6), ("method", 0.7), ("control", 0.6)], ids=["none", "method", "control"]
)
def test_without_spread_everybody_is_right_in_exactly_the_share_asked_for(aid, share):
    helped = Helped(base=0.6, by=0.1, spread=0.0)
    right = [case(aid=aid, person=person).draw("right") < share for person in range(500)]
    assert [helped.choose(case(aid=aid, person=person)) == 2 for person in range(500)] == right


def test_a_control_helps_only_if_asked_to():
    helped = Helped(base=0.0001, by=0.9998, spread=0.0)
    assert set(chosen(helped, aid="method")) == {2}
    assert set(chosen(helped, aid="control")) == {1}
    assert set(chosen(Helped(base=0.0001, by=0.0, control=0.9998, spread=0.0), aid="control")) == {2}


def test_over_people_and_items_that_differ_the_shares_are_those_asked_for():
    helped = Helped(base=0.6, by=0.15)
    right = {
        aid: [
            helped.choose(case(aid=aid, person=person, item=f"i{item}", step=item)) == 2
            for person in range(140)
            for item in range(140)
        ]
        for aid in ("none", "method")
    }
    assert mean(right["none"]) == pytest.approx(0.6, abs=0.05)
    # The same people on the same items: what they have in common cancels.
    assert mean(right["method"]) - mean(right["none"]) == pytest.approx(0.15, abs=0.025)


def test_people_and_items_differ():
    helped = Helped(base=0.6)
    people = [
        mean(helped.choose(case(person=person, item=f"i{n}", step=n)) == 2 for n in range(60))
        for person in range(60)
    ]
    items = [
        mean(helped.choose(case(person=person, item=f"i{n}", step=n)) == 2 for person in range(60))
        for n in range(60)
    ]
    by_chance = (0.6 * 0.4 / 60) ** 0.5
    assert pstdev(people) > 1.3 * by_chance
    assert pstdev(items) > 2 * by_chance


def test_graded_answers_are_on_the_right_side_or_the_wrong_one_and_never_say_nothing():
    assert set(chosen(Helped(0.9999, 0.0, 0.0), scores=GRADED)) == {1, 3}
    assert set(chosen(Helped(0.0001, 0.0, 0.0), scores=GRADED)) == {2, 4}


# ---- As text


@pytest.mark.parametrize(
    "text",
    [
        "guesser",
        "label-follower(strength=0.5)",
        "model-knower(noise=0.3)+leaver(after=0.5)+reloader",
        "helped(base=0.6,by=-0.1)=0.8,guesser+double-clicker(copies=8)=0.2",
        "leaver",
    ],
)
def test_profiles_are_written_as_they_are_read(text):
    assert str(parse_profiles(text)) == text


def test_who_has_only_habits_is_an_average_person():
    assert parse_profiles(" leaver(after = 0.5) + double-clicker ").profiles == (
        Profile(AVERAGE, (Leaver(0.5), DoubleClicker())),
    )


def test_shares_become_whole_people():
    people = parse_profiles("helped=0.8,guesser=0.2").people(40, seed=1)
    assert [type(one.answering) for one in people].count(Guesser) == 8
    assert people != sorted(people, key=str)
    assert people == parse_profiles("helped=0.8,guesser=0.2").people(40, seed=1)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=5), st.integers(1, 200))
def test_each_sort_has_its_share_to_less_than_one_person(weights, n):
    sorts = [Profile(SameAnswer(place)) for place in range(1, len(weights) + 1)]
    people = Mixture(tuple(sorts), tuple(weights)).people(n, 0)
    assert len(people) == n
    for sort, weight in zip(sorts, weights, strict=True):
        assert abs(people.count(sort) - n * weight / sum(weights)) < 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gueser", "There is no profile called 'gueser'; did you mean 'guesser'?"),
        ("wizard(of=oz)", "There is no profile called 'wizard'; there are: guesser, "),
        ("guesser(noise=1)", "The profile 'guesser' has no parameter 'noise'; it has no parameters."),
        ("helped(buy=1)", "has no parameter 'buy'; it has base, by, spread, control."),
        ("helped(by=lots)", "The parameter 'by=lots' of 'helped' is no number; write by=1."),
        ("helped(base=0.6,by=0.5)", "would be right in 1.10 of the cases; give shares"),
        ("helped(spread=-1)", "has a negative spread"),
        ("leaver(after=2)", "after of the profile 'leaver' is 2.0; give a share from 0 to 1."),
        (
            "double-clicker(copies=0)",
            "copies of the profile 'double-clicker' is 0; give a whole number from 1 on.",
        ),
        ("reloader(times=1.5)", "times of the profile 'reloader' is 1.5; give a whole number from 1 on."),
        ("guesser+helped", "answers in 2 ways"),
        ("guesser=0,helped", "The share of 'guesser=0' is no positive number"),
        ("guesser,,helped", "cannot be read; write them like this"),
        ("guesser((", "The profile 'guesser((' cannot be read"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(text, sentence):
    with pytest.raises(VeraxError) as error:
        parse_profiles(text)
    assert sentence in str(error.value)
