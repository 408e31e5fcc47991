"""How right somebody was: in a training, and at the very end."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from small_study import begin, small_study
from verax.studies.build.build import compose_study
from verax.studies.definition.spec_tables import About
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store import open_store
from verax.studies.store.participant.participant_view import Tally


@contextmanager
def opened(study, url):
    store = open_store(study, url)
    yield store
    store.close()


def imitation(**about):
    material = sample_material(
        {"name": "reverse-turing", "training": 4, "evaluation": 4},
        {"training": 4, "evaluation": 4},
        groups=2,
        conditions=({"name": "plain"}, {"name": "method", "explainer": "lime"}),
        options={"about": about},
    )
    return replace(
        compose_study(material, make_protocol(material.spec.protocol), ""), hash=f"{about}".ljust(64, "x")
    )


def walk(store, study):
    """Goes to the end, every third prediction wrong; what was said on the way, and what should have been."""
    token = begin(store)
    said, expected, tests, number = [], [], [], 0
    while (where := store.show(token)).status == "active":
        given = {}
        for question in where.screen.questions:
            means = study.screening.answers.get(question.name)
            if question.name == "prediction":
                number += 1
                item = study.items[where.step.item]
                means = (item.prediction + (number % 3 == 0)) % 2
                kept = expected if where.phase.kind == "training" else tests
                kept.append((where.phase.key, number % 3 != 0))
            place = [option.means for option in question.options].index(means)
            given[question.name] = str(place + 1)
        if where.echo is not None:
            said.append(where.tally)
        else:
            assert where.tally is None
        store.submit(token, where.ord, where.nonce, given, {})
    return token, said, expected, [right for _, right in tests]


def test_a_training_says_what_was_right_and_how_often_in_this_part(tmp_path):
    study = imitation()
    with opened(study, f"sqlite:///{tmp_path / 'answers.db'}") as store:
        token, said, expected, tests = walk(store, study)
        should = []
        for place, (phase, right) in enumerate(expected):
            so_far = [was for key, was in expected[: place + 1] if key == phase]
            should.append(Tally(sum(so_far), len(so_far), right))
        assert said == should
        assert len({tally.last for tally in said}) == 2
        final = store.look(token).tally
        assert (final.right, final.answers) == (sum(tests), 8)


def test_a_spec_may_keep_the_score_to_itself(tmp_path):
    study = imitation(score=False)
    with opened(study, f"sqlite:///{tmp_path / 'answers.db'}") as store:
        token, said, *_ = walk(store, study)
        assert store.look(token).tally is None
        assert all(said), "in a training it is shown in any case"


def test_what_is_asked_again_in_a_test_is_not_judged_before_the_end(tmp_path):
    """The small study repeats an answer within its test: whether it was right stays open there."""
    study = small_study()
    with opened(study, f"sqlite:///{tmp_path / 'answers.db'}") as store:
        token = begin(store)
        echoed = 0
        while (where := store.show(token)).status == "active":
            echoed += where.echo is not None
            assert where.tally is None
            given = {
                question.name: "2" if question.name == "screening-1" else "1"
                for question in where.screen.questions
            }
            store.submit(token, where.ord, where.nonce, given, {})
        assert echoed == 1
        assert store.look(token).tally is not None


@pytest.mark.parametrize("score", [True, False])
def test_what_a_spec_does_not_say_is_not_written(score):
    """So older studies stay as they are, and keep their hash when they are built again."""
    spec = small_study().spec.model_copy(update={"about": About(score=score)})
    assert ("about" in spec.model_dump(mode="json")) == (not score)
    assert "labels" not in spec.model_dump(mode="json")
