"""The contract catches what breaks it."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from verax.studies.definition.screen import Prose, Screen
from verax.studies.definition.study import Step
from verax.studies.protocols import forward
from verax.studies.protocols.checks import check_protocol, sample_material

ROLES = {"learning": 4, "test": 4}


def module_with(name, **things):
    module = ModuleType(name)
    module.__dict__.update(things)
    return module


@pytest.fixture
def check(monkeypatch):
    """Checks a protocol class as if it lay in a module of its own."""

    def checked(made):
        monkeypatch.setitem(sys.modules, "their_protocols", module_with("their_protocols", Theirs=made))
        return check_protocol(sample_material({"name": "their_protocols:Theirs"}, ROLES))

    return checked


class Named(forward.Forward):
    """Names a class."""

    def screens(self, material):
        found = super().screens(material)
        return found | {"about-pre": Screen("Now", (Prose(("Is it Zorbic?",)),))}


class Silent(forward.Forward):
    """Does not say what to do."""

    def screens(self, material):
        return super().screens(material) | {"about-pre": Screen("Now")}


class Restless(forward.Forward):
    """Comes back to a part that was left."""

    def steps(self, study, row, seed):
        return (*super().steps(study, row, seed), Step("learning", "learning:i001", "i001"))


class Forgetful(forward.Forward):
    """Never shows an item."""

    def steps(self, study, row, seed):
        return tuple(step for step in super().steps(study, row, seed) if step.item != "i008")


class Fickle(forward.Forward):
    """Depends on more than the seed."""

    def steps(self, study, row, seed):
        FICKLE.append(1)
        return super().steps(study, row, seed + len(FICKLE))


class Unasked(forward.Forward):
    """Tests without the scored question."""

    scored = "verdict"


class Generous(forward.Forward):
    """Every answer is right."""

    def score(self, item, meaning):
        return 1.0


class Conditionless(forward.Forward):
    """Does not say which condition a test belongs to."""

    def steps(self, study, row, seed):
        return tuple(replace(step, condition=None) for step in super().steps(study, row, seed))


class Echoing(forward.Forward):
    """Repeats the answer to a question that was not asked."""

    def screens(self, material):
        found = super().screens(material)
        return {
            key: replace(screen, echo="mood") if key == "about-post" else screen
            for key, screen in found.items()
        }


FICKLE: list[int] = []


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (Named, "'about-pre' names the class 'zorbic'"),
        (Silent, "'about-pre' does not say what to do"),
        (Restless, "leave the phase 'learning' and come back"),
        (Forgetful, "'i008' is shown in no row"),
        (Fickle, "the same seed gives other steps"),
        (Unasked, "does not ask 'verdict'"),
        (Generous, "two answers of .* are the best"),
        (Conditionless, "of a test has no condition"),
        (Echoing, "'about-post' repeats the answer to 'mood'"),
    ],
)
def test_a_broken_protocol_is_told_what_is_wrong(check, made, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check(made)


def test_an_unbroken_one_gives_its_study(check):
    assert len(check(forward.Forward).rows) == 3


def test_sample_items_run_through_all_cells_and_flips_evenly():
    items = sample_material({"name": "counterfactual"}, {"test": 24}, classes=3).items
    cells = {(item.prediction, item.correct, item.flips) for item in items}
    assert len(cells) == 12
    assert len({item.input for item in items}) == 24
