"""The Reverse Turing Test: balanced rounds, unsigned marks, and masked tasks that tell nothing."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest

from study_source import NAMES, review_source
from verax.data.dataset import Part
from verax.errors import VeraxError
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import class_mark, with_names
from verax.studies.display import wording
from verax.studies.protocol.common_steps import participant_class_names, participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material, screen_words

TABLE = {"name": "reverse-turing"}
MASKED = TABLE | {"masked": True}
ROLES = {"training": 5, "evaluation": 3}
THREE = [{"name": "none"}, {"name": "lime", "explainer": "lime"}, {"name": "random", "like": "lime"}]


def material_of(table=TABLE, roles=ROLES, **options):
    return sample_material(table, roles, groups=3, options=options)


@pytest.fixture(scope="module")
def study():
    return check_protocol(material_of(TABLE | {"strategy": True}))


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("masked", [True, False])
def test_it_keeps_the_contract_with_texts_and_tables_of_two_and_three_classes(kind, classes, masked):
    table = TABLE | {"masked": masked}
    check_protocol(sample_material(table, ROLES, groups=3, kind=kind, classes=classes))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_conditions_has_as_many_rounds(count):
    conditions = [{"name": f"m{number}", "explainer": "lime"} for number in range(count)]
    study = check_protocol(sample_material(TABLE, ROLES, groups=count, conditions=conditions))
    assert len(study.rows) == max(1, 2 * count if count > 1 else 1)
    assert {len(row.cells.rounds) for row in study.rows} == {count}


def test_each_round_has_a_training_with_answers_and_a_test_without(study):
    steps = [step for step in participant_steps(study, study.rows[0], 1) if step.item]
    sessions = dict.fromkeys(step.phase for step in steps)
    assert list(sessions) == [
        "training-1",
        "evaluation-1",
        "training-2",
        "evaluation-2",
        "training-3",
        "evaluation-3",
    ]
    for phase in sessions:
        keys = [step.screen.split(":") for step in steps if step.phase == phase]
        if phase.startswith("training"):
            assert [sort for sort, _, _ in keys] == ["training", "answer"] * 5
            assert all(one[1:] == two[1:] for one, two in pairwise(keys) if one[0] == "training")
        else:
            assert [sort for sort, _, _ in keys] == ["evaluation"] * 3


def test_over_the_design_conditions_groups_and_places_are_balanced(study):
    cells, places, follows = Counter(), Counter(), Counter()
    for row in study.rows:
        rounds = [(one.condition, one.group) for one in row.cells.rounds]
        cells.update(rounds)
        places.update((place, condition) for place, (condition, _) in enumerate(rounds))
        follows.update((a, b) for (a, _), (b, _) in pairwise(rounds))
    assert len(study.rows) == 6
    assert (len(cells), set(cells.values())) == (9, {2})
    assert (len(places), set(places.values())) == (9, {2})
    assert (len(follows), set(follows.values())) == (6, {2})


def test_nobody_sees_an_item_twice_and_each_item_is_seen_in_each_condition_equally_often(study):
    pairs = Counter()
    for row in study.rows:
        guessed = [
            step
            for step in participant_steps(study, row, 1)
            if step.item and not step.screen.startswith("answer")
        ]
        assert len({step.item for step in guessed}) == len(guessed) == 24
        pairs.update((step.item, step.condition) for step in guessed)
    assert (len(pairs), set(pairs.values())) == (24 * 3, {2})


def test_sessions_are_shuffled_for_each_participant(study):
    orders = {
        tuple(
            step.item
            for step in participant_steps(study, study.rows[0], number)
            if step.phase == "training-1"
        )
        for number in range(1, 21)
    }
    assert len(orders) > 10


def test_the_answer_is_shown_after_the_guess_with_what_was_said(study):
    for item in study.items.values():
        if item.role == "training":
            guess, answer = (study.screens[f"{sort}:{item.id}:method"] for sort in ("training", "answer"))
            assert answer.echo == guess.questions[0].name == "prediction"
            facts = next(block for block in answer.blocks if block.type == "facts")
            assert facts.pairs == (("The model's answer", class_mark(item.prediction)),)
            assert answer.questions == ()
            assert guess.blocks[1] in answer.blocks


def test_pages_with_a_question_show_neither_output_nor_direction(study):
    for key, screen in study.screens.items():
        if key.startswith(("training:", "evaluation:")):
            assert "⟦" not in " ".join(map(str, screen.blocks)) + screen.heading
        for block in screen.blocks:
            if block.type == "passage":
                assert {token.sign for token in block.tokens} == {0}
            assert block.type != "bars"


def test_marks_differ_between_conditions_and_none_has_none(study):
    def levels(condition):
        return [token.level for token in study.screens[f"evaluation:i016:{condition}"].blocks[1].tokens]

    assert set(levels("plain")) == {0}
    assert sorted(levels("method")) == sorted(levels("control"))
    assert levels("method") != levels("control")


def test_sessions_are_timed_and_pages_about_them_are_not():
    study = check_protocol(material_of(timing={"session_minutes": 15, "item_seconds": 20}))
    for key, phase in study.phases.items():
        limits = (phase.session_seconds, phase.item_seconds)
        timed = key.startswith(("training", "evaluation"))
        assert limits == ((900, 20) if timed else (None, None))
    assert "15 minutes" in " ".join(study.screens["instructions:everybody"].blocks[0].paragraphs)


def test_without_training_there_are_only_tests():
    material = sample_material(TABLE | {"training": 0}, {"evaluation": 4}, groups=3)
    study = check_protocol(material)
    assert not any("training" in key for key in [*study.phases, *study.screens])
    said = " ".join(study.screens["instructions:everybody"].blocks[0].paragraphs)
    assert "raining" not in said


def test_known_tasks_are_described_and_classes_have_their_names():
    study = check_protocol(material_of(texts={"task": "The model tells cats from dogs."}))
    said = study.screens["instructions:everybody"].blocks[0].paragraphs
    assert said[0] == "The model tells cats from dogs."
    assert participant_class_names(study, 1) == participant_class_names(study, 2) == ("zorbic", "plenkish")
    named = check_protocol(material_of(class_names=["cat", "dog"]))
    assert participant_class_names(named, 1) == ("cat", "dog")


@pytest.mark.parametrize("only_wrong", [False, True])
def test_known_and_masked_tasks_are_briefed_alike_but_for_what_the_task_is(only_wrong):
    known, masked = (
        check_protocol(material_of(table | {"only_wrong": only_wrong})) for table in (TABLE, MASKED)
    )
    assert known.screens["screening:everybody"] == masked.screens["screening:everybody"]
    assert known.screening == masked.screening
    told, kept = (study.screens["instructions:everybody"].blocks[0].paragraphs for study in (known, masked))
    shared = told.index("Your task is to guess the model's answers. Your own opinion does not count.")
    assert told[shared:] == kept[kept.index(told[shared]) :]
    for study in (known, masked):
        said = " ".join(text for screen in study.screens.values() for text in screen_words(screen))
        assert not re.search(r"\bhalf\b", said), "somebody is told how often the model is right"


def test_masked_classes_have_neutral_names_in_an_order_of_each_participants_own():
    study = check_protocol(material_of(MASKED))
    orders = Counter(participant_class_names(study, number) for number in range(1, 201))
    assert orders.keys() == set(permutations(participant_class_names(study, 1)))
    assert min(orders.values()) > 70
    assert participant_class_names(study, 7) == participant_class_names(study, 7)
    three = check_protocol(sample_material(MASKED, ROLES, groups=3, classes=3))
    assert {participant_class_names(three, number) for number in range(1, 100)} == set(
        permutations(participant_class_names(three, 1))
    )
    assert all(re.fullmatch("[A-Z]", name) for name in participant_class_names(three, 1))


def test_no_word_of_a_masked_task_is_on_any_page():
    material = material_of(
        MASKED | {"strategy": True},
        texts={"task": "The model tells zebras from okapis."},
        class_names=["zebra", "okapi"],
        dataset="savannah-animals",
    )
    study = check_protocol(material)
    names = participant_class_names(study, 3)
    screens = {key: screen for key, screen in study.screens.items() if key != "debrief"}
    shown = [with_names(text, names) for screen in screens.values() for text in screen_words(screen)]
    shown += [phase.title for phase in study.phases.values()]
    shown += [*wording.welcome(study.spec), *wording.consent(study.spec), *wording.debrief(study.spec)]
    everything = " ".join(shown).lower()
    for word in ("zebra", "okapi", "savannah", "animal", "tells", "zorbic", "plenkish", "made-up"):
        assert word not in everything
    assert "⟦" not in everything


def test_the_debriefing_of_a_masked_task_says_what_it_was():
    study = check_protocol(material_of(MASKED, class_names=["zebra", "okapi"]))
    names = participant_class_names(study, 3)
    said = with_names(" ".join(study.screens["debrief"].blocks[0].paragraphs), names)
    assert f"{names[0]} stood for “zebra”, {names[1]} stood for “okapi”" in said
    known = check_protocol(material_of(TABLE))
    assert "stood for" not in " ".join(known.screens["debrief"].blocks[0].paragraphs)


@pytest.mark.parametrize(
    ("options", "where", "word"),
    [
        ({"title": "Zorbic or not?"}, "title", "zorbic"),
        ({"title": "Made up things"}, "title", "made up"),
        ({"texts": {"welcome": "Is it PLENKISH?"}}, "texts.welcome", "plenkish"),
        (
            {"texts": {"instructions": "Find the zebra."}, "class_names": ["zebra", "okapi"]},
            "texts.instr",
            "zebra",
        ),
        (
            {"screening": {"questions": [{"question": "?", "answers": ["a zorbic", "b"], "correct": 1}]}},
            "screening test",
            "zorbic",
        ),
    ],
)
def test_a_masked_study_that_names_its_task_is_refused(options, where, word):
    with pytest.raises(VeraxError, match=f"masked, but .*{where}.* has the word '{word}'"):
        make_protocol(MASKED).screens(material_of(MASKED, **options))
    assert make_protocol(TABLE).screens(material_of(TABLE, **options))


def test_the_debriefing_of_a_masked_study_may_tell():
    material = material_of(MASKED, texts={"debrief": "It was zorbic against plenkish."})
    study = compose_study(material, make_protocol(MASKED), "")
    assert study.screens["debrief"].blocks[0].paragraphs == ("It was zorbic against plenkish.",)


def test_the_direction_is_refused():
    with pytest.raises(
        VeraxError, match=r"display.direction = true is not possible in the protocol 'reverse-turing'"
    ):
        check_protocol(material_of(display={"direction": True}))


def test_groups_that_do_not_fit_the_conditions_are_refused():
    with pytest.raises(
        VeraxError, match="3 conditions need as many groups of items, numbered from 0; the items have 2"
    ):
        check_protocol(sample_material(TABLE, ROLES, groups=2))


def test_the_model_output_is_the_right_answer(study):
    protocol = make_protocol(TABLE)
    item = next(item for item in study.items.values() if not item.correct)
    assert protocol.score(item, item.prediction) == 1
    assert protocol.score(item, item.label) == 0


def test_groups_are_disjoint_and_their_cells_differ_by_at_most_one():
    items = make_protocol(TABLE).items(review_source(TABLE, THREE, size=600))
    assert Counter((item.role, item.group) for item in items) == {
        **{("training", group): 25 for group in range(3)},
        **{("evaluation", group): 15 for group in range(3)},
    }
    assert len({(item.part, item.place) for item in items}) == 120
    assert {item.role: item.part for item in items} == {"training": "validation", "evaluation": "test"}
    for role in ("training", "evaluation"):
        for group in range(3):
            cells = Counter(
                (item.prediction, item.correct) for item in items if (item.role, item.group) == (role, group)
            )
            assert len(cells) == 4
            assert max(cells.values()) - min(cells.values()) <= 1


def test_only_items_that_the_model_gets_wrong_if_asked():
    items = make_protocol(TABLE | {"only_wrong": True, "training": 8, "evaluation": 5}).items(
        review_source(TABLE, THREE)
    )
    assert not any(item.correct for item in items)
    for group in range(3):
        said = Counter(item.prediction for item in items if (item.role, item.group) == ("training", group))
        assert said == {0: 4, 1: 4}
    material = material_of(TABLE | {"only_wrong": True})
    assert "half" not in " ".join(
        make_protocol(material.spec.protocol).briefing(material, "everybody").paragraphs
    )


def test_too_few_for_balance_is_a_sentence_that_says_how_many():
    source = review_source(TABLE, THREE, size=60)
    with pytest.raises(
        VeraxError, match=r"3 sessions of 25 training items cannot be balanced with the \d+ texts .* \("
    ):
        make_protocol(TABLE).items(source)


def test_as_many_as_the_sentence_says_can_be_had():
    source = review_source(TABLE, THREE, size=60)
    with pytest.raises(VeraxError) as refused:
        make_protocol(TABLE).items(source)
    assert all(f"predicted '{name}'" in str(refused.value) for name in NAMES[:2])
    most = int(re.search(r"at most (\d+) in a session", str(refused.value)).group(1))
    assert most >= 1
    items = make_protocol(TABLE | {"training": most, "evaluation": 1}).items(source)
    assert sum(item.role == "training" for item in items) == 3 * most


def test_strategies_are_asked_after_each_condition(study):
    steps = participant_steps(study, study.rows[0], 1)
    asked = [(place, step) for place, step in enumerate(steps) if step.screen == "strategy"]
    rounds = study.rows[0].cells.rounds
    assert [step.condition for _, step in asked] == [one.condition for one in rounds]
    for (place, step), number in zip(asked, (1, 2, 3), strict=True):
        assert step.phase == f"strategy-{number}"
        assert steps[place - 1].phase == f"evaluation-{number}"
    assert "questions" not in study.phases


def test_the_pre_experiment_tests_without_training_and_then_with_it_on_other_items():
    table = TABLE | {"untrained_first": True, "only_wrong": True, "training": 5, "evaluation": 4}
    made = make_protocol(table)
    source = review_source(table, conditions=[{"name": "none"}])
    items = made.items(source)
    groups = {
        role: Counter(item.group for item in items if item.role == role)
        for role in ("training", "evaluation")
    }
    assert groups == {"training": {1: 5}, "evaluation": {0: 4, 1: 4}}
    assert len({item.input for item in items}) == len(items)
    assert not any(item.correct for item in items)
    made_up = sample_material(
        table, {"training": 5, "evaluation": 4}, groups=2, conditions=[{"name": "none"}]
    )
    used = tuple(item for item in made_up.items if item.role == "evaluation" or item.group == 1)
    study = check_protocol(replace(made_up, items=used))
    steps = participant_steps(study, study.rows[0], 1)
    sessions = list(dict.fromkeys(step.phase for step in steps if step.item))
    assert sessions == ["evaluation-1", "training-2", "evaluation-2"]
    first, second = (
        {step.item for step in steps if step.phase == f"evaluation-{number}"} for number in (1, 2)
    )
    assert not first & second
    said = " ".join(screen_words(study.screens["instructions:everybody"]))
    assert "The first is a test without training" in said


def test_the_pre_experiment_takes_one_condition():
    table = TABLE | {"untrained_first": True}
    with pytest.raises(VeraxError, match="name one condition only"):
        make_protocol(table).check(material_of(table).spec)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_too_few_in_one_part_name_a_split_that_has_enough(part):
    """The same inputs in another split are enough: what the sentence says is asked for, and works."""
    few = {"validation": 120, "test": 120} | {part: 30}
    table = TABLE | {"training": 8, "evaluation": 8}
    source = review_source(table, THREE, size=400)
    data = source.dataset
    short = replace(
        data,
        validation=Part(
            data.validation.inputs[: few["validation"]], data.validation.labels[: few["validation"]]
        ),
        test=Part(data.test.inputs[: few["test"]], data.test.labels[: few["test"]]),
    )
    with pytest.raises(VeraxError, match="cannot be balanced") as refused:
        make_protocol(table).items(replace(source, dataset=short))
    shares = re.search(r'set split = "(\d+)/(\d+)/(\d+)" under \[source\]', str(refused.value))
    assert shares, refused.value
    inputs = [*short.train.inputs, *short.validation.inputs, *short.test.inputs]
    labels = [*short.train.labels, *short.validation.labels, *short.test.labels]
    ends = [len(inputs) * sum(map(int, shares.groups()[:place])) // 100 for place in range(1, 4)]
    parts = [
        Part(inputs[first:last], np.array(labels[first:last]))
        for first, last in zip([0, *ends], ends, strict=False)
    ]
    again = replace(data, train=parts[0], validation=parts[1], test=parts[2])
    assert len(make_protocol(table).items(replace(source, dataset=again))) == 3 * (8 + 8)
