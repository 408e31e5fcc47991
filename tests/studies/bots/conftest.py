"""Made-up studies of every protocol, and a server for bots to go to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from verax.studies.answers.collect import collect
from verax.studies.answers.frames import Collected
from verax.studies.bots import BotRun, run_bots
from verax.studies.build.build import compose_study
from verax.studies.model.study import Study
from verax.studies.model.study_files import save_study
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.sample import sample_material
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
        return save_study(
            compose_study(material, make_protocol(material.spec.protocol), ""), tmp_path / "study"
        )

    return make


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
