"""What people say of themselves: asked last, exported, and good for exclusion rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from small_study import begin
from verax.errors import VeraxError
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.answers.flat_records import exclusion_records, response_records
from verax.studies.build.build import compose_study
from verax.studies.definition.spec import make_study_spec
from verax.studies.planning.registration import rule_in_words
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store import open_store

OPTIONS = {
    "background": ["age", "course", "words"],
    "exclusion": [{"rule": "background", "question": "course", "answers": ["In statistics", "In both"]}],
    "screening": False,
}


@pytest.fixture
def store(tmp_path):
    material = sample_material(
        {"name": "forward", "learning": 4, "test": 4}, {"learning": 4, "test": 4}, options=OPTIONS
    )
    study = compose_study(material, make_protocol(material.spec.protocol), "")
    opened = open_store(replace(study, hash="b" * 64), f"sqlite:///{tmp_path / 'answers.db'}")
    yield opened
    opened.close()


def go_through(store, given: dict[str, str]) -> list[str]:
    """Answers everything; the phases on the way."""
    token = begin(store)
    phases = []
    while (where := store.show(token)).status == "active":
        phases.append(where.phase.key)
        answers = {question.name: given.get(question.name, "1") for question in where.screen.questions}
        if where.phase.key == "background":
            answers = given
        assert store.submit(token, where.ord, where.nonce, answers, {}).stored
    return phases


def test_it_is_asked_when_all_else_is_answered_and_nobody_has_to_say(store):
    assert go_through(store, {})[-2:] == ["background", "debrief"]


def test_the_answers_are_exported_in_their_own_words(store):
    go_through(store, {"background-age": "2", "background-course": "5", "background-words": "No."})
    said = {
        record["question"]: record["answer"]
        for record in response_records(store, identifying=True)
        if record["question"].startswith("background")
    }
    assert said == {
        "background-age": "25 to 34",
        "background-course": "I would rather not say",
        "background-words": "No.",
    }


def test_a_rule_excludes_who_gave_one_of_its_answers(store):
    for place in ("1", "3", "4", "5"):
        go_through(store, {"background-course": place})
    go_through(store, {})
    apply_exclusions(store)
    held = [record["participant"] for record in exclusion_records(store) if record["in_force"]]
    assert len(held) == 2


def test_a_rule_says_in_words_whom_it_excludes(store):
    assert rule_in_words(store.study.spec.exclusion[0]) == (
        "background: people who said of themselves (course): In statistics; In both"
    )


@pytest.mark.parametrize(
    ("rule", "asked", "says"),
    [
        (
            {"question": "age", "answers": ["young"]},
            ["age"],
            "'young' is no answer to 'age'; there are: 18 to 24",
        ),
        ({"question": "age", "answers": ["18 to 24"]}, ["course"], "'age', which is not asked"),
        ({"question": "words", "answers": ["x"]}, ["words"], "needs a question with answers"),
        ({}, [], "needs a question with answers"),
    ],
)
def test_a_rule_that_can_never_hold_is_refused(rule, asked, says):
    spec = {"title": "x", "dataset": "y", "protocol": {"name": "z"}, "conditions": [{"name": "none"}]}
    with pytest.raises(VeraxError, match=says):
        make_study_spec(spec | {"background": asked, "exclusion": [{"rule": "background", **rule}]})


def test_other_rules_name_no_question():
    spec = {"title": "x", "dataset": "y", "protocol": {"name": "z"}, "conditions": [{"name": "none"}]}
    with pytest.raises(VeraxError, match="about no question"):
        make_study_spec(spec | {"exclusion": [{"rule": "left", "answers": ["No"]}]})
