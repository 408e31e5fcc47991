"""The published forms of Hase and Bansal (2020) run as a study: people in every condition reach the completion code."""

from __future__ import annotations

import httpx
import pytest

from helpers import shared_data
from real_parts import LONG
from verax.studies.build.imports import import_hase_bansal, make_study
from verax.studies.build.imports.hase_bansal import METHODS, hase_bansal_spec
from verax.studies.definition.spec import parse_study_spec
from verax.studies.store import open_store
from verax.web.app import make_app
from web.serving import running
from web.walk import Asked, http_enter, http_walk


@pytest.mark.parametrize(
    ("domain", "protocol", "asked_for"),
    [
        ("text", "forward", {"prediction": 64, "rating": 16}),
        ("tabular", "counterfactual", {"prediction": 64, "rating": 32}),
    ],
)
def test_a_participant_of_each_method_reaches_the_completion_code(tmp_path, domain, protocol, asked_for):
    text = hase_bansal_spec(domain, protocol, METHODS)
    spec = parse_study_spec(text)
    study = make_study(
        spec, text, import_hase_bansal(spec, shared_data("hase-bansal-hit"), domain), tmp_path / "study"
    )
    passing = {
        question.name: str(1 + [option.means for option in question.options].index(right))
        for screen in study.screens.values()
        for question in screen.questions
        if (right := study.screening.answers.get(question.name)) is not None
    }

    def answer(asked: Asked) -> str:
        return passing.get(asked.name, "1")

    store = open_store(study, f"sqlite:///{tmp_path / 'answers.sqlite'}")
    with running(make_app(store, study)) as address, httpx.Client(base_url=address, timeout=LONG) as client:
        codes = set()
        for _ in METHODS:
            client.cookies.clear()
            walked = http_walk(client, http_enter(client), answer)
            codes.add(walked.code)
            names = [asked.name for asked in walked.asked]
            assert {name: names.count(name) for name in asked_for} == asked_for
    assert len(codes) == len(METHODS)
