"""Figures of a study: every kind is drawn, the same bytes each time, with the labels and numbers in it."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from reporting.study_summaries import FIGURES, FLOW, HOSTILE
from verax.codec import decode
from verax.reporting.figures import beside, figure_inline, figure_svg, flow_steps
from verax.results.figures import Figure, Flow, FlowChart, Interval, Intervals

ALL = {one["kind"]: decode(Figure, one) for one in FIGURES} | {
    "flow": Figure("flow", "Flow", FlowChart(decode(Flow, FLOW)))
}


def words(svg):
    return [unescape(one) for one in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@pytest.mark.parametrize("kind", ALL)
def test_a_figure_is_well_formed_and_the_same_each_time(kind):
    first, second = figure_svg(ALL[kind]), figure_svg(ALL[kind])
    assert first == second
    ElementTree.fromstring(first)
    ElementTree.fromstring(figure_inline(ALL[kind], 1).replace("&nbsp;", " "))


def test_intervals_show_each_number_and_a_dash_for_what_is_unknown():
    said = words(figure_svg(ALL["intervals"]))
    assert {"7.3", "[1.2, 13.5]", "7.1", "[0.2, 14.0]", "0.4", "–"} <= set(said)
    # lime was estimated twice and is named once.
    assert said.count("lime") == 1
    assert any("● crossed" in one and "■ hase2020" in one for one in said)


def test_rows_of_one_label_stand_beside_each_other():
    rows = [Interval(label, place, None, None) for place, label in enumerate(("a", "b", "a"), start=1)]
    assert [row.estimate for row in beside(rows)] == [1, 3, 2]


def test_lines_and_groups_are_named_beside_the_figure():
    assert {"raw", "within people", "rating", "share right"} <= set(words(figure_svg(ALL["curve"])))
    assert {"none", "lime", "random", "before", "after"} <= set(words(figure_svg(ALL["bars"])))


def test_a_distribution_shows_shares_in_per_cent_and_says_how_levels_look():
    said = words(figure_svg(ALL["distribution"]))
    assert {"10", "15", "20", "25"} <= set(said)
    assert "faint to strong: 1 to 7" in said


def test_the_flow_adds_up_from_top_to_bottom():
    assert flow_steps(decode(Flow, FLOW)) == [
        ("61 arrived", ["1 did not decide", "4 declined", "2 found no place", "3 screened out"]),
        ("51 began the study", ["5 left", "1 withdrew"]),
        ("45 completed it", ["3 excluded", "  2 too-fast", "  1 same-answer"]),
        ("42 analysed", []),
    ]
    said = words(figure_svg(ALL["flow"]))
    assert {"61 arrived", "4 declined", "2 too-fast", "42 analysed"} <= set(said)


def test_a_flow_without_losses_has_no_boxes_beside_it():
    calm = Flow(arrived=3, complete=3, analysed=3)
    assert flow_steps(calm) == [
        ("3 arrived", []),
        ("3 began the study", []),
        ("3 completed it", []),
        ("3 analysed", []),
    ]


def test_labels_are_text_whatever_they_hold():
    data = Intervals(HOSTILE, None, (Interval(HOSTILE, 1.0, 0.0, 2.0),))
    inline = figure_inline(Figure("x", HOSTILE, data, HOSTILE), 1)
    ElementTree.fromstring(inline)
    assert "<script" not in inline
