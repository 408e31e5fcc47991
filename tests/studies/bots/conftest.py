"""Made-up studies of every protocol, and a server for bots to go to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from verax.explain import Attribution, Composite, Exemplar, Rule
from verax.explain.composite import Part
from verax.studies.answers.collect import collect
from verax.studies.answers.schema import Collected
from verax.studies.bots import BotRun, run_bots
from verax.studies.build.build import compose_study
from verax.studies.definition.study import Material, Study
from verax.studies.definition.study_files import save_study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import sample_material
from verax.studies.store import Store, open_store
from verax.web.app import make_app
from web.serving import running

METHODS = ({"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"})
# By name: the protocol's table, its items by role, and what else the material needs.
STUDIES = {
    "forward": ({"name": "forward"}, {"learning": 4, "test": 8}, {}),
    "forward, one condition": (
        {"name": "forward", "strategy": True},
        {"learning": 4, "test": 8},
        {"conditions": METHODS[:1]},
    ),
    "forward, table": ({"name": "forward"}, {"learning": 4, "test": 8}, {"kind": "table", "classes": 3}),
    "counterfactual": ({"name": "counterfactual"}, {"test": 8}, {}),
    # Explanations that name the classes, in words and in tables.
    "forward, in words": (
        {"name": "forward"},
        {"learning": 4, "test": 8},
        {"conditions": ({"name": "plain"}, METHODS[0])},
    ),
    "counterfactual, table, in words": (
        {"name": "counterfactual"},
        {"test": 8},
        {"kind": "table", "conditions": ({"name": "plain"}, METHODS[0])},
    ),
    "reverse-turing": ({"name": "reverse-turing"}, {"training": 4, "evaluation": 4}, {"groups": 3}),
    "reverse-turing, masked": (
        {"name": "reverse-turing", "masked": True},
        {"training": 4, "evaluation": 4},
        {"groups": 3},
    ),
    "model-choice": (
        {"name": "model-choice", "test": 12, "items_per_participant": 6},
        {"test": 6},
        {"groups": 2, "conditions": METHODS},
    ),
    "class-from-evidence": (
        {"name": "class-from-evidence", "test": 12, "items_per_participant": 6},
        {"test": 6},
        {"groups": 2, "conditions": METHODS},
    ),
    "uncertain-case": (
        {"name": "uncertain-case", "test": 12, "items_per_participant": 6},
        {"test": 6},
        {"groups": 2, "conditions": METHODS},
    ),
}


@pytest.fixture
def made(tmp_path) -> Callable[[str], Study]:
    """Makes one of these studies, with places for four people in each row."""

    def make(name: str) -> Study:
        table, roles, more = STUDIES[name]
        material = sample_material(table, roles, options={"participants": 4}, **more)
        if name.endswith("in words"):
            told = {key: in_words(scores, material) for key, scores in material.explanations.items()}
            material = replace(material, explanations=told)
        return save_study(
            compose_study(material, make_protocol(material.spec.protocol), ""), tmp_path / "study"
        )

    return make


def in_words(scores: Attribution, material: Material) -> Composite:
    """A rule and an example in place of scores."""
    name = material.class_names[scores.target]
    about = {"target": scores.target, "target_name": name, "input": scores.input}
    rule = Rule(scores.features, (1,), (scores.features[1],), 0.97, 0.95, 0.2, True, (), **about)
    near = Exemplar(
        scores.features, scores.scores, 0.9, prototype=scores.input, prototype_label=name, **about
    )
    return Composite((Part("Anchor", rule), Part("Prototype", near)), **about)


@dataclass(frozen=True)
class Served:
    """A study on its server."""

    study: Study
    store: Store
    url: str

    def bots(self, profiles: str, n: int, **options) -> list[BotRun]:
        return run_bots(self.study, self.url, self.store.bot_pass(), profiles, n, **options)

    def collected(self) -> Collected:
        return collect(self.store)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves studies as long as the test runs."""
    with ExitStack() as stack:

        def start(study: Study) -> Served:
            store = open_store(study, f"sqlite:///{tmp_path / study.hash[:12]}.db")
            stack.callback(store.close)
            return Served(study, store, stack.enter_context(running(make_app(store, study))))

        yield start
