from __future__ import annotations

from dataclasses import replace

from small_study import small_study
from verax.studies.definition.study import Phase, Step
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocols.checks import check_protocol, sample_material
from verax.studies.store.participant.placing import part_numbers, places


def numbered(kinds: str) -> list[int]:
    """The part of each step, of phases whose kinds are their names ("test-2" is another test)."""
    names = kinds.split()
    phases = {name: Phase(name, name, name.split("-")[0]) for name in names}
    return part_numbers(replace(small_study(), phases=phases), [Step(name, "screen") for name in names])


def test_instructions_are_in_the_part_that_follows_them():
    assert numbered("instructions learning learning instructions-2 test") == [1, 1, 1, 2, 2]
    assert numbered("instructions instructions-2 test") == [1, 1, 1]


def test_all_attempts_at_the_screening_test_are_one_part():
    assert numbered("instructions screening instructions screening test") == [1, 1, 1, 1, 2]
    assert numbered("screening screening-2 test") == [1, 1, 2]


def test_the_debriefing_and_what_leads_only_to_it_are_in_no_part():
    assert numbered("test questions instructions debrief") == [1, 2, 0, 0]
    assert numbered("instructions debrief") == [0, 0]
    assert numbered("test instructions") == [1, 0]


def test_an_item_of_two_steps_counts_once():
    run = [Step("training", screen, item) for item in ("c", "a", "b") for screen in ("guess", "answer")]
    assert places(run) == [(1, 3), (1, 3), (2, 3), (2, 3), (3, 3), (3, 3)]


def test_steps_without_items_are_counted_as_pages_of_their_own():
    assert places([Step("about", "one"), Step("about", "two")]) == [(1, 2), (2, 2)]
    mixed = [Step("t", "intro"), Step("t", "x", "a"), Step("t", "x", "b"), Step("t", "outro")]
    assert places(mixed) == [(1, 2), (1, 2), (2, 2), (2, 2)]


def test_rounds_of_training_test_and_a_question_are_three_parts_each():
    table = {"name": "reverse-turing", "training": 4, "evaluation": 4, "strategy": True}
    study = check_protocol(sample_material(table, {"training": 4, "evaluation": 4}, groups=3))
    planned = participant_steps(study, study.rows[0], 1)
    titles = {}
    for step, part in zip(planned, part_numbers(study, planned), strict=True):
        titles.setdefault(part, set()).add(study.phases[step.phase].title)
    assert titles.pop(0) == {"The end"}
    assert titles.pop(1) == {"Instructions", "A short test"}
    rounds = len(study.spec.conditions)
    whats = ("training", "test", "a question")
    expected = [{f"Round {n}: {what}"} for n in range(1, rounds + 1) for what in whats]
    assert titles == dict(enumerate(expected, start=2))
    training = [step for step in planned if step.phase == "training-1"]
    assert places(training) == [(n, 4) for n in range(1, 5) for _ in range(2)]
