"""The four specs of Hase and Bansal (2020): in order, and built, walked and analysed in small."""

from __future__ import annotations

import tomllib
from pathlib import Path

import httpx
import pytest

from real_parts import LONG, axe_violations, new_context
from verax.data.records import datasets
from verax.explain import Composite, Exemplar, Explanation, Rule
from verax.explain import Path as Edits
from verax.studies.analysis import Options
from verax.studies.analysis.analyse import analyse
from verax.studies.bots.without_web import simulate_study
from verax.studies.build.build import build_study
from verax.studies.definition.screen import Bars, WordedExplanation
from verax.studies.definition.spec import make_study_spec, read_study_spec
from verax.studies.protocol.contract import make_protocol
from verax.studies.store import open_store
from verax.web.app import make_app
from web.gallery import at, draw_step, gallery_app
from web.serving import running
from web.walk import http_enter, http_walk

FOLDER = Path(__file__).parents[2] / "examples" / "hase-bansal"
SPECS = sorted(FOLDER.glob("*.toml"))
METHODS = ("lime", "anchor", "prototype", "decision-boundary", "composite")
SMALL = {
    "lime": {"parameters": {"samples": 200, "features": 5}},
    "anchor": {"parameters": {"precision": 0.8, "most_samples": 3000}},
    "prototype": {"model": "prototype-mlp-2x50(prototypes=3, epochs=3, task_epochs=3)"},
    "decision-boundary": {"parameters": {"samples": 500}},
    "composite": {"parameters": {"samples": 500}},
}


@pytest.fixture(scope="module")
def small_study(tmp_path_factory):
    """The counterfactual study of tables with less of everything."""
    options = tomllib.loads((FOLDER / "table-counterfactual.toml").read_text(encoding="utf-8"))
    options["protocol"]["test"] = 8
    options |= {"source": {"limit": 1500}, "model": "mlp-2x50(epochs=3)", "participants": 3}
    options["conditions"] = [one | SMALL.get(one["name"], {}) for one in options["conditions"]]
    return build_study(make_study_spec(options), "", tmp_path_factory.mktemp("study"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_specs_are_in_order_and_as_published(path):
    spec = read_study_spec(path)
    protocol = make_protocol(spec.protocol)
    assert (spec.protocol["name"], protocol.test) == (path.stem.partition("-")[2], 32)
    assert spec.dataset in datasets.names()
    assert tuple(condition.name for condition in spec.conditions) == ("none", *METHODS)
    assert spec.condition("lime").display == "weights"
    assert spec.condition("prototype").model == f"prototype-{spec.model}"
    assert spec.screening.method == "excludes"
    assert spec.protocol.get("fluent", True) == (path.stem != "text-counterfactual")
    assert f"examples/hase-bansal/{path.name}" in path.read_text(encoding="utf-8")
    assert path.stem in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_all_four_are_there_and_the_preset_names_the_same_methods():
    assert {path.stem for path in SPECS} == {
        f"{domain}-{test}" for domain in ("text", "table") for test in ("forward", "counterfactual")
    }
    spec = read_study_spec(FOLDER / "text-forward.toml")
    preset = make_study_spec(
        {"title": "t", "dataset": "adult", "protocol": {"name": "forward"}, "conditions": "simulatability"}
    )
    for condition in preset.conditions:
        same = spec.condition(condition.name)
        assert (condition.explainer, condition.parameters, condition.display) == (
            same.explainer,
            same.parameters,
            same.display,
        )
    assert len(preset.conditions) == 5


def test_every_kind_is_shown_as_the_paper_showed_it(small_study):
    item = next(iter(small_study.items))
    kinds = {"anchor": Rule, "prototype": Exemplar, "decision-boundary": Edits, "composite": Composite}
    records = {record["condition"]: record for record in small_study.explanations if record["item"] == item}
    for name in METHODS:
        blocks = small_study.screens[f"post:{item}:{name}"].blocks
        if name == "lime":
            (shown,) = [block for block in blocks if isinstance(block, Bars)]
            words = [label for label, _ in shown.pairs]
            assert words[-3:] == ["Sum of values", "Baseline", "Estimated probability of ⟦1⟧"]
            values = [value for _, value in shown.pairs]
            assert values[-1] == pytest.approx(values[-3] + values[-2])
            assert values[-3] == pytest.approx(sum(values[:-3]))
            assert len(values) <= 5 + 3
        else:
            assert isinstance(Explanation.from_dict(records[name]["explanation"]), kinds[name])
            (told,) = [block for block in blocks if isinstance(block, WordedExplanation)]
            assert told.parts
            assert told.legend
    assert (
        len({small_study.screens[f"screening:explained:{name}"].questions[-1].prompt for name in METHODS})
        == 5
    )
    (other,) = [about for about in small_study.models.values() if "conditions" in about]
    assert other["conditions"] == ["prototype"]


def test_bots_take_part_and_their_answers_are_analysed(small_study):
    answers = simulate_study(small_study, "helped(base=0.6, by=0.2)", 18, seed=1)
    summary = analyse(answers, Options(bots=True, replicates=200))
    assert summary.flow.complete == 18
    assert {line.condition for line in summary.primary.estimates} == set(METHODS)
    assert "prototype-mlp-2x50" in summary.model.others[0].sentence


def test_a_participant_of_each_method_reaches_the_completion_code(small_study, tmp_path):
    passing = {name: str(answer) for name, answer in small_study.screening.answers.items()}
    store = open_store(small_study, f"sqlite:///{tmp_path / 'answers.sqlite'}")
    with (
        running(make_app(store, small_study)) as address,
        httpx.Client(base_url=address, timeout=LONG) as client,
    ):
        codes = set()
        for _ in range(1 + len(METHODS)):
            client.cookies.clear()
            walked = http_walk(client, http_enter(client), lambda asked: passing.get(asked.name, "1"))
            codes.add(walked.code)
            assert [asked.name for asked in walked.asked].count("prediction") == 16
    assert len(codes) == 1 + len(METHODS)


def test_pages_of_all_five_kinds_pass_the_accessibility_check(small_study, chromium):
    item = next(iter(small_study.items))
    drawn = {name: draw_step(at(small_study.screens[f"post:{item}:{name}"])) for name in METHODS}
    with running(gallery_app(drawn)) as address:
        page = new_context(chromium).new_page()
        for name in METHODS:
            page.goto(f"{address}/page/{name}")
            for scheme, width in (("light", 1280), ("dark", 390)):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 800})
                assert axe_violations(page) == [], name
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        page.close()


@pytest.mark.parametrize(("kind", "tests"), [("text", 20), ("table", 19)])
def test_the_user_tests_are_the_papers_design_39_tests_in_person(kind, tests):
    spec = read_study_spec(FOLDER / "user-test" / f"{kind}.toml")
    assert spec.protocol["name"] == "user-test"
    assert (spec.protocol["test"], spec.protocol["changed"], spec.protocol["learning"]) == (32, 32, 16)
    assert tuple(condition.name for condition in spec.conditions) == METHODS
    assert sum(condition.participants or spec.participants for condition in spec.conditions) == tests
    assert (spec.entry, spec.recruiting.link) == ("code", True)
    (course,) = spec.questions
    assert (course.place, course.answers) == ("first", ("Yes", "No"))
    assert [(quota.question, quota.most) for quota in spec.quotas] == [(course.name, {"No": 0})]
    assert spec.protocol.get("fluent", True) == (kind == "table")  # as published, any neighbour of a word
    assert spec.about.pay == "$15 an hour"
    assert make_protocol(spec.protocol).planning(spec).more == ("changed",)
