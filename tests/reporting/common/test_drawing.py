"""Panels: the same bytes for the same numbers, the page's colours, ids that do not meet, labels that do not overlap."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.reporting.drawing import (
    INK,
    PALETTE,
    Frame,
    grid_svg,
    hover,
    inlined,
    looks,
    panel_svg,
    shortened,
    spread,
    with_ends,
)


def line(axes, title="lime $x_1$ <&>"):
    axes.plot([1, 2], [0, 1], color=PALETTE[0], marker="o")
    axes.set_title(title)


def texts(svg):
    root = ElementTree.fromstring(svg[svg.index("<svg") :])
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]


def test_the_same_numbers_give_the_same_bytes_without_a_date():
    first, second = panel_svg(line, Frame()), panel_svg(line, Frame())
    assert first == second
    assert "date" not in first.lower()
    assert "metadata" not in first


def test_the_users_matplotlib_settings_change_nothing_and_stay():
    plain = panel_svg(line, Frame())
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "xtick.major.size": 20, "axes.grid": True}):
        assert panel_svg(line, Frame()) == plain
        assert mpl.rcParams["font.size"] == 30
        assert mpl.rcParams["svg.fonttype"] == "path"


def test_text_is_text_as_written_and_no_formula():
    assert "lime $x_1$ <&>" in texts(panel_svg(line, Frame()))


def test_points_say_their_numbers_where_the_pointer_rests_on_them():
    def draw(axes):
        axes.set_xlim(0, 10)
        axes.set_ylim(0, 1)
        hover(axes, 5, 0.5, f"lime <&>: {with_ends(-0.25, -1, 0.5, 2)}")

    svg = panel_svg(draw, Frame(width=200, height=100, left=40, right=60, top=20, bottom=30))
    (spot,) = [
        element for element in ElementTree.fromstring(svg[svg.index("<svg") :]).iter() if element.get("class")
    ]
    # The middle of the axes: 40 + 100 / 2 from the left, 20 + 50 / 2 from the top.
    assert (spot.get("cx"), spot.get("cy")) == ("90.0", "45.0")
    assert "".join(spot.itertext()) == "lime <&>: −0.25 [−1.00, 0.50]"
    assert panel_svg(draw, Frame()) == panel_svg(draw, Frame())
    assert "spot" not in panel_svg(line, Frame())


def test_a_grid_has_the_size_of_its_panels():
    svg = grid_svg([[line, line, line], [line]], Frame(width=100, height=80, right=5))
    assert 'viewBox="0 0 300 160"' in svg
    assert texts(svg).count("lime $x_1$ <&>") == 4


def test_a_grid_without_panels_is_refused():
    with pytest.raises(ValueError, match="at least one panel"):
        grid_svg([], Frame())


def test_in_a_page_ids_are_its_own_and_every_reference_has_its_target():
    shown = inlined(panel_svg(line, Frame()), "a", "It's <one>")
    ids = re.findall(r'\bid="([^"]+)"', shown)
    assert ids
    assert len(ids) == len(set(ids))
    assert all(one.startswith("a-") for one in ids)
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', shown)) <= {(one, "") for one in ids} | {
        ("", one) for one in ids
    }
    assert 'aria-label="It&#x27;s &lt;one&gt;"' in shown


def test_in_a_page_colours_are_the_pages_and_nothing_comes_from_elsewhere():
    shown = inlined(panel_svg(line, Frame()), "a", "")
    assert "var(--series-1)" in shown
    assert "var(--ink)" in shown
    assert not re.findall(r"#[0-9a-f]{6}", re.sub(r'id="[^"]*"|href="[^"]*"|url\([^)]*\)', "", shown))
    assert "http" not in shown
    assert "font-family" not in shown
    assert "<style" not in shown


def test_a_label_that_looks_like_a_colour_stays_as_written():
    shown = inlined(panel_svg(lambda axes: line(axes, f'{INK} id="x"'), Frame()), "a", "")
    assert f'{INK} id="x"' in texts(shown)


def test_looks_differ_in_colour_dash_and_marker_from_their_neighbours_and_sixty_differ_at_all():
    found = list(looks([str(number) for number in range(60)]).values())
    assert len({repr(look) for look in found}) == 60
    for one, other in pairwise(found):
        assert one.colour != other.colour
        assert one.dash != other.dash
        assert one.marker != other.marker


def test_labels_move_apart_around_their_middle():
    assert spread([0.5, 0.5], 0.1, 0, 1) == pytest.approx([0.55, 0.45])  # the first named is on top
    assert spread([0.2, 0.8], 0.1, 0, 1) == [0.2, 0.8]
    assert spread([1.0, 1.0, 1.0], 0.1, 0, 1) == pytest.approx([1.0, 0.9, 0.8])
    assert spread([], 0.1, 0, 1) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=15), st.floats(0.01, 0.3))
def test_labels_keep_their_order_and_distance_and_stay_inside(wanted, gap):
    places = spread(wanted, gap, 0.0, 1.0)
    fitting = min(gap, 1 / max(1, len(wanted) - 1))
    ordered = sorted(places)
    assert all(other - one >= fitting - 1e-9 for one, other in pairwise(ordered))
    assert ordered[0] >= -1e-9
    assert ordered[-1] <= 1 + 1e-9
    for one, place in zip(wanted, places, strict=True):
        for other, its_place in zip(wanted, places, strict=True):
            assert not (one < other and place > its_place)


def test_long_labels_lose_their_middle():
    assert shortened("lime") == "lime"
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 7) == "abc…ijk"
    assert len(shortened("x" * 100)) == 16
