"""The page of the atlas in a browser: sorted, filtered, on a phone, and with nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from real_parts import launched_chromium, new_context
from verax.benchmarks.atlas.findings import AtlasSummary, OpenPair, Value, summarise
from verax.benchmarks.atlas.plan import PlannedRun
from verax.benchmarks.atlas.spec import AtlasSpec
from verax.reporting.atlas import equal_time, pair_rows, render_atlas

SPEC = AtlasSpec(
    size="small",
    models=["tree", "a-sort-with-a-long-name"],
    tests=["planted", "sanity"],
    explainers=["lime", "greedy"],
    budgets=[64],
)
MEANS = {"greedy": 0.9, "lime": 0.6, "lime(samples=64)": 0.4, "random": 0.15}


@dataclass(frozen=True)
class Timed:
    dataset: str
    model: str
    method: str
    seconds: float


@pytest.fixture(scope="module")
def summary() -> AtlasSummary:
    """Two sorts of models on two datasets."""
    places = [
        (dataset, model) for dataset in ("films", "tumours") for model in ("tree", "a-sort-with-a-long-name")
    ]
    values = [
        Value("planted", dataset, model, method, f"stain {place}", (f"word {place}",), mean + 0.005 * place)
        for dataset, model in places
        for method, mean in MEANS.items()
        for place in range(8)
    ]
    runs = [
        PlannedRun("planted", dataset, model, model, "text", tuple(MEANS)[:3], False, (("stains", 8),))
        for dataset, model in places
    ]
    return summarise(SPEC, (), values, runs, ())


@pytest.fixture(scope="module")
def page(summary, tmp_path_factory):
    """The page as a file."""
    timings = [
        Timed("films", "tree", method, seconds)
        for method, seconds in (("greedy", 0.1), ("lime", 0.5), ("lime(samples=64)", 0.2))
    ]
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(render_atlas(summary, timings, {}), encoding="utf-8")
    return path


def test_the_page_begins_with_the_answer_and_asks_no_other_host(page, summary):
    text = page.read_text(encoding="utf-8")
    assert summary.sentences[0] in text
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", text)
    assert "verax bench stain --dataset films --model tree --explainers greedy" in text


def test_it_sorts_and_filters_and_fits_a_phone(page):
    with launched_chromium() as browser:
        desk = new_context(browser, viewport={"width": 1280, "height": 800}).new_page()
        desk.goto(page.as_uri())
        grid = "#answer table.atlas"
        methods = f"{grid} tbody th"
        desk.click(f"{grid} thead th:nth-child(2)")
        assert desk.locator(methods).all_inner_texts() == ["random", "lime", "greedy"]
        desk.click(f"{grid} thead th:nth-child(2)")
        assert desk.locator(methods).all_inner_texts() == ["greedy", "lime", "random"]
        columns = "#tests table.atlas >> nth=0 >> thead th:visible"
        assert desk.locator(columns).count() == 5
        desk.select_option("select[data-filter=dataset]", "films")
        assert desk.locator(columns).count() == 3
        desk.select_option("select[data-filter=model]", "tree")
        assert desk.locator(columns).count() == 2
        # What is over all datasets stays.
        assert desk.locator(f"{grid} td:visible").count() == 3
        first = desk.locator(f"{grid} tbody tr:first-child td:visible")
        assert "no other method is shown to be better" in first.get_attribute("title")
        phone = new_context(browser, viewport={"width": 390, "height": 664}).new_page()
        phone.goto(page.as_uri())
        for part in phone.locator("details.part").all():
            part.evaluate("one => { one.open = true; }")
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_cell_leads_to_its_evidence_and_to_the_command_that_makes_it_again(page, summary):
    text = page.read_text(encoding="utf-8")
    cells = re.findall(r'<td class="cell (?!none)\w+".*?</td>', text)
    assert len(cells) == len(summary.headline) + sum(
        cell.finding.method != "lime(samples=64)" for cell in summary.cells if cell.finding.scope == "part"
    )
    for cell in cells:
        evidence, row = re.findall(r'href="([^"]+)"', cell)
        assert evidence.startswith(("runs/planted-", "#test-planted"))
        shown = re.search(rf'<tr id="{row[1:]}".*?</tr>', text)
        assert shown is not None
        assert "<code>verax " in shown[0] or "random" in row
    over_all = next(cell for cell in summary.headline if cell.finding.method == "greedy")
    assert over_all.command == (
        f"verax atlas --size small --budgets 64 --models {over_all.finding.model} --explainers greedy --tests planted "
        f"--out atlas-planted-{over_all.finding.model}"
    )


def test_on_paper_no_column_is_cut_off(page):
    with launched_chromium() as browser:
        paper = new_context(browser, viewport={"width": 718, "height": 1000}).new_page()
        paper.emulate_media(media="print")
        paper.goto(page.as_uri())
        for part in paper.locator("details.part").all():
            part.evaluate("one => { one.open = true; }")
        tables = paper.locator("table")
        assert [
            table.get_attribute("class")
            for table in tables.all()
            if table.evaluate("one => one.getBoundingClientRect().right") > 719
        ] == []


def test_at_equal_time_a_sampler_has_the_budget_that_fits(summary):
    parts = [cell for cell in summary.cells if cell.finding.scope == "part"]

    def chosen(**seconds):
        given = {"greedy": 0.3, "lime": seconds["usual"], "lime(samples=64)": seconds["few"]}
        return [
            row.method for row in equal_time(parts, [Timed("films", "tree", *one) for one in given.items()])
        ]

    # The median of two is the shorter: never longer than greedy's 0.3 seconds.
    assert chosen(usual=0.5, few=0.2) == ["greedy", "lime(samples=64)"]
    assert chosen(usual=0.3, few=0.2) == ["greedy", "lime"]
    # Nothing fits: the smallest budget.
    assert chosen(usual=0.9, few=0.4) == ["greedy", "lime(samples=64)"]


def test_columns_of_automatic_measures_say_which_measure_and_which_way_is_better():
    """The measure differs between sorts of models; a number without its name could not be read."""
    means = {"greedy": 0.2, "random": 0.4}
    values = [
        Value("measures", "films", model, method, f"stain {place}", (), mean, measure)
        for model, measure in (("tree", "infidelity"), ("forest", "comprehensiveness"))
        for method, mean in means.items()
        for place in range(3)
    ]
    runs = [
        PlannedRun("measures", "films", model, model, "text", ("greedy",), False, ())
        for model in ("tree", "forest")
    ]
    spec = AtlasSpec(size="small", tests=["measures"], explainers=["greedy"])
    page = render_atlas(summarise(spec, (), values, runs, ()), [], {})
    headings = re.findall(r'<th scope="col" data-model[^>]*>([^<]*)</th>', page)
    assert headings == ["tree, films: infidelity (less is better)", "forest, films: comprehensiveness"]


def test_pairs_that_are_open_say_what_would_decide_and_methods_without_a_difference_stand_together():
    def pair(ahead, behind, difference, low=None, high=None, needed=None):
        return OpenPair("tree", ahead, behind, difference, low, high, 8, needed)

    same = [pair("a", "b", 0.0), pair("a", "c", 0.0), pair("b", "c", 0.0)]
    rows = pair_rows([*same, pair("a", "d", 12.0, -1.0, 25.0, 1300), pair("d", "e", 1.0, -2.0, 4.0, 90)])
    assert rows == [
        ("decision trees", "a, b and c", "0", "8", "the same on every reason"),
        ("decision trees", "a before d", "12.0 [−1.0, 25.0]", "8", "1,300"),
        ("decision trees", "d before e", "1.0 [−2.0, 4.0]", "8", "hardly matters"),
    ]
