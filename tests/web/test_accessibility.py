"""axe looks at every kind of page, on a desk and on a phone, light and dark, and at twice the text size."""

from __future__ import annotations

import pytest

from real_parts import axe_violations, new_context
from web.gallery import gallery_app, pages
from web.serving import running

# One notice is like another.
KINDS = [name for name in pages() if not name.startswith("notice") or name == "notice full"]


@pytest.fixture(scope="module")
def gallery(chromium):
    with running(gallery_app()) as address:
        context = new_context(chromium)
        yield address, context.new_page()
        context.close()


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(gallery, name):
    """Contrast depends on the scheme and layout on the width, so two of the four pairs see everything."""
    address, page = gallery
    page.goto(f"{address}/page/{name}")
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert axe_violations(page) == []


@pytest.mark.parametrize(
    "name", ["grey", "two", "row", "evidence", "path", "composite", "check", "complete", "welcome"]
)
def test_nothing_is_cut_off_at_a_narrow_width_and_a_great_text_size(gallery, name):
    address, page = gallery
    page.goto(f"{address}/page/{name}")
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Twice the text size on a small laptop.
    page.set_viewport_size({"width": 640, "height": 400})
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    last = page.locator(":is(.page, .dock) > :not([hidden])").last
    last.evaluate("one => one.scrollIntoView({block: 'end'})")
    box = last.bounding_box()
    assert box["y"] + box["height"] <= 400 + 1
