"""Participants with a real browser: on a desk and a phone, with and without JavaScript, mouse or keys."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from real_parts import new_context
from small_study import GIVEN, small_study
from verax.studies.store.tables import responses, steps
from web.gallery import gallery_app
from web.serving import running
from web.walk import BUTTON, Form, filled, http_enter, press, walk

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NO_SCRIPT = {"java_script_enabled": False}
STEPS = 9


@pytest.fixture
def new_page(chromium) -> Iterator[Callable[..., Any]]:
    """A page in a browser profile of its own; what the browser complains about fails the test."""
    contexts, complaints = [], []

    def new(**settings):
        contexts.append(new_context(chromium, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield new
    for context in contexts:
        context.close()
    # A page that comes back for a missing answer has the status 422, which the browser notes.
    assert [said for said in complaints if "422" not in said] == []


def answers(served) -> list[Any]:
    """The stored answers in order, with the browser's times."""
    look = select(steps.c.ord, responses.c.answers, responses.c.client).join_from(responses, steps)
    return sorted(served.store.database.read(lambda connection: connection.execute(look).all()))


def fits(page) -> None:
    """Nothing is wider than the window."""
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        raise AssertionError(f"the page {page.title()!r} is wider than its window")


def step(page) -> str:
    """Which step a page shows."""
    return page.locator("input[name=ord]").get_attribute("value")


def moved_on(page, before: str) -> None:
    """Waits for another step than the one before, or the end."""
    page.locator(f"input[name=ord]:not([value='{before}']), .completion").wait_for(state="attached")


def open_at(page, served, name: str) -> None:
    """Opens the link of a participant who has answered everything up to the page with a question of this name."""
    url = http_enter(served.client)
    # The next question can be seen without a display, which would start its clock.
    while name not in {asked.name for asked in served.store.look(url.removeprefix("/p/")).screen.questions}:
        form = Form(served.client.get(url).text)
        served.client.post(url, data=filled(form, lambda asked: GIVEN[asked.name]))
    page.goto(f"{served.address}{url}")


@pytest.mark.parametrize(
    "settings",
    [DESK, PHONE, DESK | NO_SCRIPT, PHONE | NO_SCRIPT],
    ids=["desk", "phone", "desk, no script", "phone, no script"],
)
def test_from_the_link_to_the_completion_code(served, answer, new_page, settings, request):
    page = new_page(**settings)
    page.goto(served.address)
    places, heights = set(), []

    def look(page) -> None:
        if settings.get("java_script_enabled", True):
            fits(page)
        if page.locator("form[data-step]").count():
            box = page.locator(".actions button").bounding_box()
            places.add((box["x"], box["y"] + box["height"]))
            heights.extend(label.bounding_box()["height"] for label in page.locator(".answers label").all())
        if folder := os.environ.get("VERAX_SHOTS"):  # to be looked at
            number = len(list(Path(folder).glob("*.png")))
            page.screenshot(path=f"{folder}/{request.node.callspec.id} {number:03d}.png")

    walked = walk(page, answer, look=look)
    assert re.fullmatch(r"[A-Z0-9]{8,}", walked.code)
    assert len(places) == 1, "the button moved"
    assert min(heights) >= 44
    assert [row.answers for row in answers(served)][3:5] == [
        {"prediction": 1},
        {"prediction": 1, "rating": 7},
    ]
    assert len(answers(served)) == STEPS
    if settings.get("java_script_enabled", True):
        page.locator(".completion").click()  # one click selects it all
        assert page.evaluate("getSelection().toString().trim()") == walked.code


def test_the_keyboard_is_enough(served, new_page):
    """Digits answer, Tab goes to the next question, Enter sends; no mouse anywhere."""
    page = new_page(**DESK)
    page.goto(served.address)
    key = page.keyboard.press
    key("Tab")
    key("Enter")  # Start
    page.wait_for_url("**/p/*")
    key("Tab")
    key("Tab")
    key("Enter")  # I agree, after the way to go on later
    typed = []
    while not page.locator(".completion").count():
        page.wait_for_selector("form[data-step], .completion")
        if page.locator(".completion").count():
            break
        place = step(page)
        names = [
            one.locator("input, textarea").first.get_attribute("name").removeprefix("q-")
            for one in page.locator(".question").all()
        ]
        for number, name in enumerate(names):
            if name in ("reason", "strategy"):
                key("Tab")
                key("Tab")
                page.keyboard.type(GIVEN[name])
            else:
                if number:
                    key("Tab")
                key(GIVEN[name])
            typed.append(name)
        if names and page.locator("fieldset.question").count():
            key("Enter")
        else:
            while not page.evaluate("document.activeElement.matches('.actions button')"):
                key("Tab")
            assert (
                page.locator(".actions button").evaluate("one => getComputedStyle(one).outlineStyle")
                == "solid"
            )
            key("Enter")
        moved_on(page, place)
    assert set(typed) == set(GIVEN)
    assert {**answers(served)[4].answers} == {"prediction": 1, "rating": 7}


def test_a_digit_in_a_text_is_a_digit(served, new_page):
    page = new_page(**DESK)
    open_at(page, served, "reason")
    page.locator("textarea").press_sequentially("2 of 3")
    assert page.locator("textarea").input_value() == "2 of 3"


def chosen(page) -> list[list[str]]:
    """What is chosen on a page."""
    return page.locator("input:checked").evaluate_all("all => all.map(one => [one.name, one.value])")


def test_digits_answer_one_question_after_the_other_and_change_no_answer(served, new_page):
    page = new_page(**DESK)
    open_at(page, served, "rating")
    page.keyboard.press("2")
    page.keyboard.press("6")  # the focus is at the prediction, which is answered: this is the rating
    both = [["q-prediction", "2"], ["q-rating", "6"]]
    assert chosen(page) == both
    page.keyboard.press("1")
    page.locator("h1").click()  # away from the questions
    page.keyboard.press("1")
    assert chosen(page) == both
    page.locator("[name=q-rating]").nth(5).focus()
    page.keyboard.press("ArrowLeft")  # who means to change an answer can
    assert chosen(page) == [both[0], ["q-rating", "5"]]


def test_enter_goes_on_or_to_what_is_open(served, new_page):
    page = new_page(**DESK)
    page.goto(f"{served.address}{http_enter(served.client)}")
    with page.expect_navigation():
        page.keyboard.press("Enter")  # nothing is asked here, and nothing has the focus
    assert step(page) == "2"
    page.locator("h1").click()
    page.locator(BUTTON).wait_for()  # right after the page before, Enter does nothing
    page.keyboard.press("Enter")
    assert page.locator(":focus").get_attribute("name") == "q-screening-1"
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    assert page.locator(":focus").get_attribute("name") == "q-screening-2"
    page.keyboard.press("1")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert step(page) == "5"  # past the second attempt


@pytest.mark.parametrize("settings", [DESK, DESK | NO_SCRIPT], ids=["script", "no script"])
def test_a_missing_answer_is_asked_for_where_it_is_missing(served, new_page, settings):
    page = new_page(**settings)
    open_at(page, served, "rating")
    before = step(page)
    page.locator("[name=q-prediction]").first.check()
    press(page)
    assert step(page) == before
    assert page.locator("[name=q-prediction]").first.is_checked()
    assert page.locator(".error").all_inner_texts() == ["Please choose an answer."]
    assert page.locator("fieldset[aria-invalid=true]").get_attribute("id") == "question-2"
    assert page.locator(":focus").get_attribute("name") == "q-rating"


def test_reload_back_and_a_second_tab_land_where_the_participant_is(served_from_both, answer, new_page):
    served = served_from_both
    page = new_page(**DESK)
    page.goto(served.address)
    press(page)
    press(page)
    own = page.url
    seen = []

    def look(page) -> None:
        if not page.locator("form[data-step]").count():
            return
        here = step(page)
        seen.append(page.locator("header .study").inner_text())
        page.reload()
        assert step(page) == here
        second = page.context.new_page()
        second.goto(own)
        assert step(second) == here
        second.close()
        page.go_back()
        if not page.locator("form[data-step]").count():  # the way back may lead to the first page
            page.goto(served.address)
            press(page)
        assert step(page) == here
        assert page.url == own

    walk(page, answer, look=look)
    assert list(dict.fromkeys(seen))[-2:] == ["Part 5 of 5: A last question", "The end"]
    assert len(answers(served)) == STEPS


def test_a_page_answered_in_another_tab_leads_on(served, new_page):
    page = new_page(**DESK)
    page.goto(served.address)
    press(page)
    press(page)
    second = page.context.new_page()
    second.goto(page.url)
    press(second)
    assert step(second) == "2"
    press(page)  # the old page, sent once more
    assert step(page) == "2"
    assert len(answers(served)) == 1


def test_a_double_click_is_one_click(served, new_page):
    """The next page has its button in the same place: it takes no click until a moment has passed."""
    page = new_page(**DESK)
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.goto(f"{served.address}{http_enter(served.client)}")
    press(page)
    box = page.locator(".actions button").bounding_box()
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert (step(page), page.locator(".error").count(), len(answers(served))) == ("2", 0, 1)
    page.clock.run_for(401)
    with page.expect_navigation():
        page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert (step(page), page.locator(".error").count()) == ("2", 2)
    assert sent.count("POST") == 2


def test_the_completion_code_is_copied_with_one_press(new_page):
    with running(gallery_app()) as address:
        page = new_page(**DESK, permissions=["clipboard-read", "clipboard-write"])
        page.goto(f"{address}/page/complete")
        page.get_by_role("button", name="Copy the code").click()
        page.get_by_text("Copied.").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == "K7QM2XW9PB"


def test_a_deadline_does_not_move(serve, new_page):
    served = serve(small_study(timing={"item_seconds": 90}))
    page = new_page(**DESK)
    open_at(page, served, "prediction")
    token = page.url.rsplit("/", 1)[1]
    deadline = served.store.look(token).deadline
    left = [float(page.locator(".timer").get_attribute("data-seconds"))]
    for _ in range(2):
        page.reload()
        left.append(float(page.locator(".timer").get_attribute("data-seconds")))
    second = page.context.new_page()
    second.goto(page.url)
    left.append(float(second.locator(".timer").get_attribute("data-seconds")))
    assert served.store.look(token).deadline == deadline
    assert 90 >= left[0] >= left[1] >= left[2] >= left[3] > 0


def test_the_browser_measures_times(served, new_page):
    page = new_page(**DESK)
    open_at(page, served, "prediction")
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.locator("[name=q-prediction]").first.check()
    press(page)
    client = answers(served)[-1].client
    times = {"shown", "first_input", "submitted", "visible_ms", "away_ms", "blurs"}
    assert set(client) == times | {"width", "height", "zoom", "device", "pointer", "translated"}
    assert 0 <= client["shown"] <= client["first_input"] <= client["submitted"]
    assert client["visible_ms"] <= client["submitted"] - client["shown"]
    assert client["blurs"] == 1


def test_a_text_on_the_way_survives_a_reload_and_is_forgotten_when_it_is_sent(served, new_page):
    page = new_page(**DESK)
    open_at(page, served, "reason")
    page.locator("textarea").press_sequentially("half a sen")
    page.reload()
    assert page.locator("textarea").input_value() == "half a sen"
    press(page)
    page.wait_for_selector("[name=q-strategy]")
    assert page.locator("textarea").input_value() == ""
    assert page.evaluate("Object.keys(localStorage)") == []


def test_without_a_script_the_limit_is_a_sentence_and_no_keys_are_promised(serve, new_page):
    served = serve(small_study(timing={"item_seconds": 90}))
    page = new_page(**DESK, **NO_SCRIPT)
    open_at(page, served, "prediction")
    assert re.fullmatch(
        r"Time limit: 1 minute 30 seconds for each page\. 1 minute \d+ seconds left when this page opened\.",
        page.locator(".timer").inner_text(),
    )
    assert not page.locator("kbd").first.is_visible()


def test_the_clock_is_quiet_until_the_last_minute_and_said_thrice(new_page):
    """The gallery's page has 200 seconds left."""
    with running(gallery_app()) as address:
        page = new_page(**DESK)
        page.clock.install(time=0)
        page.clock.pause_at(1)  # from now on time passes only where the test says so
        page.goto(f"{address}/page/timed")
        timer, status = page.locator(".timer"), page.locator("[role=status]")
        assert timer.inner_text() == "This part: about 4 minutes left"
        page.clock.run_for(100_000)
        assert timer.inner_text() == "This part: about 2 minutes left"
        assert (timer.get_attribute("class"), status.inner_text()) == ("timer ticking", "")
        page.clock.run_for(40_500)
        assert timer.get_attribute("class") == "timer ticking soon"
        said = [status.inner_text()]
        for seconds in (15_000, 15_000, 20_000, 9_000, 2_000):
            page.clock.run_for(seconds)
            said.append(status.inner_text())
        assert said == [
            "60 seconds left for this part.",
            "60 seconds left for this part.",
            "30 seconds left for this part.",
            "10 seconds left for this part.",
            "10 seconds left for this part.",
            "The time for this part is over. Please answer now.",
        ]


def test_an_answer_that_stands_when_its_part_closes_is_sent(serve, new_page):
    served = serve(small_study(timing={"item_seconds": 600, "late": "close"}))
    page = new_page(**DESK)
    page.clock.install(time=0)
    page.clock.pause_at(1)
    open_at(page, served, "prediction")
    page.locator("[name=q-prediction]").nth(1).check()
    with page.expect_navigation():
        page.clock.run_for(600_000)
    last = answers(served)[-1]
    assert (last.answers, last.client["auto"]) == ({"prediction": 1}, 1)


def test_a_part_that_closes_without_an_answer_waits_for_the_button(serve, new_page):
    served = serve(small_study(timing={"item_seconds": 600, "late": "close"}))
    page = new_page(**DESK)
    page.clock.install(time=0)
    page.clock.pause_at(1)
    open_at(page, served, "prediction")
    before = len(answers(served))
    page.clock.run_for(600_000)
    assert page.locator(".timer").inner_text() == "The time for this page is over. Press the button to go on."
    assert page.locator("[name=q-prediction]").first.is_disabled(), (
        "an answer could be given that does not count"
    )
    page.keyboard.press("1")
    assert chosen(page) == []
    assert len(answers(served)) == before
