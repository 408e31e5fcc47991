"""Every kind of page of every protocol shows all answers and all that the model said, at first sight, in any window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from real_parts import new_context
from verax.data.words import split_words
from verax.explain.explanation import Attribution
from verax.studies.build.build import compose_study
from verax.studies.definition.screen import Cell, Passage, Prose, Row, Screen, Token
from verax.studies.definition.study import Item, Material, Variant
from verax.studies.protocol.contract import make_protocol, protocols
from verax.studies.protocols.checks import sample_material
from verax.web.app import SafeHeaders, static
from web.gallery import PREDICTION, RATING, SCREENS, at, draw_step
from web.serving import running
from web.walk import BUTTON

# A desk, a low laptop, a phone with its bars, and the desk with everything at twice its size.
WINDOWS = {"desk": (1280, 800), "laptop": (1366, 625), "phone": (390, 664), "200%": (640, 400)}
NAMES = ("negative", "positive", "undecided")
SENTENCE = (
    "a warm , funny and clever film that begins slowly , loses its way for a while in a second act full of idle talk "
    ", and then finds , almost by accident , one of the most moving endings of the year , which nobody who has seen "
    "the first hour of it could have expected from a director so young , and so careless of what others think ."
)
ROW = (
    ("Age", "above 37, up to 48"),
    ("Workclass", "Self-employed, not incorporated"),
    ("Education", "High school graduate"),
    ("Marital status", "Never married"),
    ("Occupation", "Transport and moving"),
    ("Relationship", "Not in a family"),
    ("Race", "Asian or Pacific Islander"),
    ("Sex", "Female"),
    ("Capital gain", "Low"),
    ("Capital loss", "None"),
    ("Hours per week", "above 40, up to 45"),
    ("Country", "Trinidad and Tobago"),
)
PROTOCOLS: dict[str, tuple[dict[str, Any], dict[str, int], int]] = {
    "forward": ({"learning": 4, "test": 4}, {"learning": 4, "test": 4}, 2),
    "counterfactual": ({"test": 8}, {"test": 8}, 2),
    "reverse-turing": ({"training": 4, "evaluation": 4}, {"training": 4, "evaluation": 4}, 2),
    "model-choice": ({"test": 4, "items_per_participant": 4}, {"test": 4}, 2),
    "class-from-evidence": ({"test": 4, "items_per_participant": 4}, {"test": 4}, 3),
    "uncertain-case": ({"test": 4, "items_per_participant": 4, "sizes": (2, 3, 4)}, {"test": 4}, 2),
    "user-test": (
        {"learning": 4, "test": 4, "changed": 8},
        {"learning": 4, "test": 4, "changed": 8},
        2,
    ),
}
METHODS = ({"name": "method", "explainer": "lime"}, {"name": "control", "like": "method"})

# Of everything that must be in sight: the words of what is not, wholly or in part.
HIDDEN = """() => {
  const said = [];
  const must = ".answers label, .facts dd, .outputs .bars tr, .echo, .timer, .actions button, .ends span";
  for (const one of document.querySelectorAll(must)) {
    if (one.closest("[hidden]")) continue;
    const box = one.getBoundingClientRect();
    const inside = box.top >= -0.5 && box.left >= -0.5
      && box.bottom <= innerHeight + 0.5 && box.right <= innerWidth + 0.5;
    const corners = [[box.left + 5, box.top + 3], [box.right - 5, box.bottom - 3]];
    const seen = inside && corners.every(([x, y]) => {
      const there = document.elementFromPoint(x, y);
      const around = there !== null && there.contains(one) && !there.matches(".page, .dock, body, html");
      return one.contains(there) || around;
    });
    if (!seen) said.push(one.textContent.trim().slice(0, 40));
  }
  if (document.documentElement.scrollWidth > innerWidth) said.push("the page is wider than the window");
  return said;
}"""

# Words that are torn apart at the end of a line: a column or a button is too narrow for them.
TORN = """() => {
  const said = [];
  const whole = ".cells th, .cells td, .bars th, .answers .label, .facts dt, .facts dd, .ends span, button, legend, h1";
  for (const one of document.querySelectorAll(whole)) {
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest(".vh, [hidden]")) continue;
      for (const word of text.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1) said.push(word[0]);
      }
    }
  }
  return said;
}"""


def _text(item: Item) -> str:
    return f"{item.id} {SENTENCE}"


def _changed(item: Item, kind: str) -> Variant:
    assert item.variant is not None
    if kind == "table":
        return replace(
            item.variant, input=(*ROW[:1], ("Workclass", "Local government"), *ROW[2:]), changed=(1,)
        )
    text = _text(item).replace("warm", "cold").replace("moving", "tedious")
    spans = tuple((text.index(word), text.index(word) + len(word)) for word in ("cold", "tedious"))
    return replace(item.variant, input=text, changed=spans)


def _attribution(item: Item, kind: str, seed: int) -> Attribution:
    text = _text(item)
    features = split_words(text).distinct if kind == "text" else tuple(name for name, _ in ROW)
    scores = np.random.default_rng(seed).normal(size=len(features))
    shown = text if kind == "text" else tuple(f"{name} = {value}" for name, value in ROW)
    return Attribution(tuple(features), scores, item.prediction, input=shown)


def full_size(protocol: str, kind: str) -> Material:
    """A study's material with inputs as long as a spec allows unless it says otherwise: 60 words, twelve columns."""
    parameters, roles, classes = PROTOCOLS[protocol]
    rounds = protocol == "reverse-turing"
    material = sample_material(
        {"name": protocol, **parameters},
        roles,
        kind=kind,
        classes=classes,
        groups=len(METHODS) if rounds else 1,
        conditions=METHODS,
        options={"timing": {"session_minutes": 15}},
    )
    items = tuple(
        replace(item, input=_text(item) if kind == "text" else ROW, variant=_changed(item, kind))
        for item in material.items
    )
    by_id = {item.id: item for item in items}
    explanations = {
        key: _attribution(by_id[key[0]], kind, number) for number, key in enumerate(material.explanations)
    }
    return replace(material, items=items, explanations=explanations)


def pages_of(protocol: str, kind: str) -> dict[str, str]:
    """A page for each kind of screen, the longest of them, as HTML."""
    material = full_size(protocol, kind)
    study = compose_study(material, make_protocol(material.spec.protocol), "")
    longest: dict[str, Screen] = {}
    for key, screen in study.screens.items():
        name = key.partition(":")[0].replace("/", " ")
        before = longest.setdefault(name, screen)
        if len(str(screen)) > len(str(before)):
            longest[name] = screen
    return {
        f"{protocol} {kind} {name}": drawn(screen, timed=protocol == "reverse-turing")
        for name, screen in longest.items()
    }


def drawn(screen: Screen, *, timed: bool = False) -> str:
    where = replace(at(screen, seconds_left=700.0 if timed else None), names=NAMES)
    return draw_step(replace(where, echo="negative" if screen.echo else None))


@contextmanager
def showing(pages: Mapping[str, str]) -> Iterator[str]:
    def one(request: Request) -> HTMLResponse:
        return HTMLResponse(pages[request.path_params["name"]])

    routes = [Route("/page/{name}", one), Route("/static/{name}", static)]
    with running(Starlette(routes=routes, middleware=[Middleware(SafeHeaders)])) as address:
        yield address


@pytest.fixture(scope="module")
def desk(chromium):
    context = new_context(chromium)
    yield context.new_page()
    context.close()


def hidden_on(page, address: str, names: Mapping[str, str]) -> list[str]:
    """What is out of sight, or torn apart, on any of the pages, in any window, in each of their questions."""
    found = []
    for name in names:
        page.goto(f"{address}/page/{name}")
        for _ in range(page.locator(".paged .question").count() or 1):
            for window, (width, height) in WINDOWS.items():
                page.set_viewport_size({"width": width, "height": height})
                found += [f"{name}, {window}: {words}" for words in page.evaluate(HIDDEN)]
                found += [f"{name}, {window}, torn: {words}" for words in page.evaluate(TORN)]
            if page.locator(".question:not([hidden]) input").count() and page.locator(".paged").count():
                page.locator(".question:not([hidden]) input").first.check()
                page.locator("form").evaluate(
                    "one => one.addEventListener('submit', (event) => event.preventDefault())"
                )
                page.locator(BUTTON).click()
    return found


# Fragments stand on the page alike for both kinds of data, and the pages of a user test are those of its parts.
TABLES = ("forward", "counterfactual", "model-choice", "reverse-turing")


@pytest.mark.parametrize(
    ("protocol", "kind"), [*((name, "text") for name in PROTOCOLS), *((name, "table") for name in TABLES)]
)
def test_answers_and_outputs_are_in_sight_at_once(desk, protocol, kind):
    pages = pages_of(protocol, kind)
    with showing(pages) as address:
        assert hidden_on(desk, address, pages) == []


def test_what_is_out_of_sight_is_noticed(desk):
    pages = {"grey": drawn(SCREENS["grey"])}
    with showing(pages) as address:
        desk.goto(f"{address}/page/grey")
        desk.set_viewport_size({"width": 1280, "height": 800})
        assert desk.evaluate(HIDDEN) == []
        desk.locator(".dock").evaluate("one => { one.style.maxHeight = '5rem'; }")
        assert desk.evaluate(HIDDEN) != []
        desk.goto(f"{address}/page/grey")
        desk.locator("body").evaluate("one => { one.style.height = '900px'; }")
        assert "Continue" in desk.evaluate(HIDDEN)


def test_a_word_that_is_torn_apart_is_noticed(desk):
    pages = {"row": drawn(Screen("A record", (Row((Cell("Occupation", "Sales"),)),)))}
    with showing(pages) as address:
        desk.goto(f"{address}/page/row")
        desk.set_viewport_size({"width": 1280, "height": 800})
        assert desk.evaluate(TORN) == []
        desk.locator("th").evaluate("one => { one.style.maxWidth = '3rem'; one.style.display = 'block'; }")
        assert desk.evaluate(TORN) == ["Occupation"]


def test_every_protocol_is_looked_at():
    assert set(PROTOCOLS) == set(protocols.names())


def test_so_they_are_whatever_a_page_shows_and_asks(desk):
    pages = {name: drawn(screen) for name, screen in SCREENS.items()}
    with showing(pages) as address:
        assert hidden_on(desk, address, pages) == []


LONG = Screen(
    "Predict the model",
    (Passage(tuple(Token(word + " ") for word in SENTENCE.split() * 8), "Text"),),
    (PREDICTION, RATING),
    button="Next",
)


def test_a_long_input_scrolls_in_its_own_box_and_the_way_on_waits_for_its_end(desk):
    pages = {"long": drawn(LONG)}
    with showing(pages) as address:
        assert hidden_on(desk, address, pages) == []
        desk.set_viewport_size({"width": 1280, "height": 800})
        desk.goto(f"{address}/page/long")
        sent = []
        desk.on("request", lambda request: sent.append(request.method))
        button, last = desk.locator(".actions button"), desk.locator(".w").last
        button_box, edge = button.bounding_box(), desk.locator(".dock").bounding_box()["y"]
        assert button.inner_text() == "Read on"
        assert desk.locator(".page").get_attribute("tabindex") == "0", "keys could not scroll it"
        presses = 0
        while button.inner_text() == "Read on":
            assert last.bounding_box()["y"] > edge, "the end was in sight"
            button.press("Enter")  # the button itself leads there, without a wheel
            presses += 1
        assert presses >= 1
        assert last.bounding_box()["y"] + last.bounding_box()["height"] <= edge
        assert button.inner_text() == "Next"
        assert button.bounding_box() == button_box
        assert "POST" not in sent
        assert desk.locator("[role=status]").inner_text() == "That was all of the text."


CONTENT_FITS = """page => {
  const bottom = (one) => one.getBoundingClientRect().bottom;
  return bottom(page.querySelector(".columns:not(.said) > section:last-child")) - bottom(page) <= 6;
}"""


def test_what_the_page_before_said_need_not_be_read_on_each_phone_page(desk):
    """Small windows show the input first and what to do below it: whoever sees all of the input may answer."""
    words = SENTENCE.split()
    said = Prose(("Guess the model's answer, even if you think that it is wrong. You will see it then.",))
    pages = {
        str(many): drawn(
            Screen("Guess", (said, Passage(tuple(Token(f"{one} ") for one in words[:many]))), (PREDICTION,))
        )
        for many in range(20, 60, 4)
    }
    desk.set_viewport_size({"width": 390, "height": 500})
    seen = set()
    with showing(pages) as address:
        for name in pages:
            desk.goto(f"{address}/page/{name}")
            fits = desk.locator(".page").evaluate(CONTENT_FITS)
            whole = desk.locator(".page").evaluate("one => one.scrollHeight - one.clientHeight <= 6")
            assert desk.locator("form[data-unread]").count() == (0 if fits else 1), name
            seen.add((fits, whole))
    assert (True, False) in seen
    assert (False, False) in seen


def test_five_long_answers_leave_room_to_read_on_a_phone(desk):
    pages = {
        name: page for name, page in pages_of("model-choice", "text").items() if "S seems clearly" in page
    }
    desk.set_viewport_size(dict(zip(("width", "height"), WINDOWS["phone"], strict=True)))
    with showing(pages) as address:
        for name in pages:
            desk.goto(f"{address}/page/{name}")
            assert desk.locator(".answers label").count() == 5
            assert desk.locator(".page").evaluate("one => one.clientHeight") >= 165
            assert all(
                box["height"] >= 44
                for box in (one.bounding_box() for one in desk.locator(".answers label").all())
            )
    assert pages


def test_a_page_that_fits_once_its_clock_runs_is_not_to_be_read_on(desk):
    """Before the clock runs its limit is said too, which takes another line on a phone and cuts what just fits."""
    words = SENTENCE.split()
    pages = {
        str(many): drawn(
            Screen(
                "Predict", (Passage(tuple(Token(f"{one} ") for one in words[:many]), "Text"),), (PREDICTION,)
            ),
            timed=True,
        )
        for many in range(20, 60, 4)
    }
    desk.set_viewport_size({"width": 390, "height": 500})
    fitting = set()
    with showing(pages) as address:
        for name in pages:
            desk.goto(f"{address}/page/{name}")
            desk.evaluate("() => new Promise((then) => requestAnimationFrame(() => setTimeout(then)))")
            fits = desk.locator(".page").evaluate(CONTENT_FITS)
            fitting.add(fits)
            assert desk.locator("form[data-unread]").count() == (0 if fits else 1), name
    assert fitting == {True, False}


def test_scrolling_to_the_end_opens_the_way_on_too(desk):
    pages = {"long": drawn(LONG)}
    with showing(pages) as address:
        desk.goto(f"{address}/page/long")
        desk.locator(".page").focus()
        desk.keyboard.press("End")
        desk.locator("form:not([data-unread])").wait_for()
        assert desk.locator(".actions button").inner_text() == "Next"
