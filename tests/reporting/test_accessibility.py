"""axe looks at both reports, on a desk and on a phone, light and dark; nothing but a table scrolls sideways."""

from __future__ import annotations

import json

import pytest

from real_parts import axe_violations, new_context
from reporting.joint.test_joint_report import FOUR, STUDY, stain
from reporting.run_summaries import written
from reporting.study_summaries import FLOW, summary, tiny
from verax.reporting.joint.page import write_joint_report
from verax.reporting.study import write_study_report
from verax.studies.analysis import Summary


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages by name, as files."""
    folder = tmp_path_factory.mktemp("pages")
    for name, given in (
        ("full", summary(people="bots", problems=["Something is missing."])),
        ("tiny", tiny(flow={**FLOW, "analysed": 0})),
    ):
        write_study_report(folder / name, Summary.from_dict(given))
    for name, given in (("run", stain({("a", "tree"): FOUR, ("a", "mlp"): FOUR})), ("study", STUDY)):
        (folder / name).mkdir()
        (folder / name / "summary.json").write_text(json.dumps(written(given)))
        (folder / name / "report.html").write_text("own")
    write_joint_report([folder / "run", folder / "study"], folder / "joint")
    return {name: (folder / name / "report.html").as_uri() for name in ("full", "tiny", "joint")}


@pytest.fixture(scope="module")
def page(chromium):
    context = new_context(chromium)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", ["full", "tiny", "joint"])
def test_axe_finds_nothing_serious(pages, page, name):
    page.goto(pages[name])
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert axe_violations(page) == []


@pytest.mark.parametrize("name", ["full", "tiny", "joint"])
def test_the_page_itself_never_scrolls_sideways(pages, page, name):
    page.goto(pages[name])
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
