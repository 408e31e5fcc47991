"""An experimenter with a real browser."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from real_parts import LONG, axe_violations, new_context
from small_study import GIVEN, begin, finish, small_study
from verax.studies.store.accounts import sign_out
from web.walk import Form, filled, http_enter, http_walk
from web.watching_tools import NAME, PASSWORD, add_anna

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def anna(serve):
    served = serve(small_study(target=20, title="Films <script>alert(1)</script>"))
    add_anna(served.store)
    return served


@pytest.fixture
def new_page(chromium) -> Iterator[Callable[..., Any]]:
    """A page in a browser profile of its own; what the browser complains about fails the test."""
    contexts, complaints = [], []

    def new(**settings):
        contexts.append(new_context(chromium, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        return page

    yield new
    for context in contexts:
        context.close()
    # A wrong password has the status 403; a session that is over 401; and one test cuts the line.
    expected = ("403", "401", "ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    assert [said for said in complaints if not any(known in said for known in expected)] == []


def sign_in(page, served, password: str = PASSWORD) -> None:
    page.goto(f"{served.address}/experimenter")
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def tally(page, name: str):
    """The number under a word."""
    return page.locator(".tally").first.locator(f"div:has(dt:text-is('{name}')) dd")


def in_time(page, comes_true: Callable[[], bool]) -> None:
    """Lets the time of a page whose clock is Playwright's pass, until something is so."""
    for _ in range(10 * LONG):
        page.clock.run_for(5_000)
        if comes_true():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come true")


def answer(asked) -> str:
    return GIVEN[asked.name]


def one_step(served, url: str) -> None:
    served.client.post(url, data=filled(Form(served.client.get(url).text), answer))


def test_an_experimenter_watches_pauses_opens_closes_and_exports(anna, new_page):
    page = new_page(**DESK)
    sign_in(page, anna, "wrong password")
    assert page.locator("#problem").inner_text() == "The name, the password or the code is wrong."
    sign_in(page, anna)
    page.locator("#live").wait_for()
    page.evaluate("window.stays = true")

    # Two participants move, and the page follows by itself.
    first, second = http_enter(anna.client), http_enter(anna.client)
    one_step(anna, first)
    tally(page, "Taking part").get_by_text("2", exact=True).wait_for()
    page.locator(".who").get_by_text("A short test, page 2").wait_for()
    page.locator(".who").get_by_text("Instructions, page 1").wait_for()
    http_walk(anna.client, first, answer)
    page.locator(".tally").first.get_by_text("1 of 40").wait_for()
    page.locator(".who tr.complete").wait_for()
    assert page.evaluate("window.stays") is True

    page.get_by_role("button", name="Pause").click()
    page.locator(".state .paused").wait_for()
    waiting = anna.client.get(second)
    assert (waiting.status_code, "This study is paused" in waiting.text) == (503, True)
    page.get_by_role("button", name="Open the study").click()
    page.locator(".state .open").wait_for()
    http_walk(anna.client, second, answer)

    page.get_by_role("button", name="Close").click()
    page.get_by_role("link", name="Leave it as it is").click()
    page.locator(".state .open").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Close the study").click()
    page.locator(".state .closed").wait_for()
    with httpx.Client(base_url=anna.address, timeout=LONG) as late:
        assert late.post("/enter").status_code == 410

    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert download.value.suggested_filename.startswith("films-script-alert-1-script-")
    with zipfile.ZipFile(download.value.path()) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("export/responses.csv").decode("utf-8-sig"))))
    ratings = [(row["participant"], row["answer"]) for row in rows if row["question"] == "rating"]
    assert [rating for _, rating in ratings] == ["7", "7"]
    assert len({participant for participant, _ in ratings}) == 2

    page.reload()
    what = page.locator("section:has(#actions) tbody tr td:last-child").all_inner_texts()
    assert [one.split(" (")[0] for one in what] == [
        "exported the answers",
        "closed the study",
        "opened the study",
        "paused the study",
        "could not sign in",
    ]
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Password").wait_for()
    page.goto(f"{anna.address}/experimenter")
    assert page.url.endswith("/experimenter/sign-in")


def test_conditions_are_hidden_beside_exclude_until_somebody_asks_for_them(anna, new_page):
    http_walk(anna.client, http_enter(anna.client), answer)
    page = new_page(**DESK)
    sign_in(page, anna)
    page.locator(".who tr.complete a").first.click()
    page.get_by_role("button", name="Exclude").wait_for()
    headings = page.get_by_role("columnheader", name="Condition", exact=True)
    assert headings.count() == 0
    assert "you do not see who is in which condition" in page.locator("main").inner_text()
    page.get_by_role("button", name="Show conditions now, and record that I did").click()
    headings.first.wait_for()
    page.goto(f"{anna.address}/experimenter")
    page.get_by_text("looked at conditions before the study was closed").wait_for()


def test_without_a_script_the_page_works_too(anna, new_page):
    page = new_page(**PHONE, java_script_enabled=False)
    sign_in(page, anna)
    assert tally(page, "Arrived").inner_text() == "0"
    http_enter(anna.client)
    page.get_by_role("link", name="Reload").click()
    assert tally(page, "Arrived").inner_text() == "1"
    page.get_by_role("button", name="Pause").click()
    assert page.locator(".state strong").inner_text() == "Paused"


def test_our_forms_say_where_they_come_from(anna, new_page):
    """Browsers without https send no other sign of it."""
    page = new_page(**DESK)
    sign_in(page, anna)
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("button", name="Pause").click()
    assert sent.value.all_headers()["origin"] == anna.address


def test_a_page_that_hears_nothing_says_so(anna, new_page):
    page = new_page(**DESK)
    page.clock.install()
    sign_in(page, anna)
    outdated = page.get_by_text("The server does not answer")
    assert not outdated.is_visible()
    page.context.set_offline(True)
    in_time(page, outdated.is_visible)
    page.context.set_offline(False)
    in_time(page, outdated.is_hidden)


def test_a_session_that_is_over_leads_to_the_door(anna, new_page):
    page = new_page(**DESK)
    sign_in(page, anna)
    page.locator("#live").wait_for()
    cookies = page.context.cookies(f"{anna.address}/experimenter")
    (token,) = [cookie["value"] for cookie in cookies if cookie["name"].startswith("verax-experimenter")]
    sign_out(anna.store, token)
    page.get_by_label("Password").wait_for()


@pytest.mark.parametrize(("settings", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_axe_finds_nothing_and_nothing_is_cut_off(anna, new_page, settings, scheme):
    for _ in range(5):
        finish(anna.store, begin(anna.store))
    begin(anna.store)
    anna.store.consent(anna.store.enter(is_bot=True), True)
    anna.store.set_state("paused", by="ben")
    page = new_page(**settings, color_scheme=scheme)

    def check() -> None:
        assert axe_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(f"{anna.address}/experimenter")
    check()
    sign_in(page, anna, "wrong password")
    check()
    sign_in(page, anna)
    page.locator("#live").wait_for()
    check()
    page.get_by_role("button", name="Close").click()
    check()


def test_the_keyboard_stays_where_it_was_when_the_page_changes(anna, new_page):
    page = new_page(**DESK)
    page.clock.install()
    sign_in(page, anna)
    page.get_by_role("button", name="Pause").focus()
    http_enter(anna.client)
    in_time(page, lambda: tally(page, "Arrived").inner_text() == "1")
    assert page.evaluate("document.activeElement.innerText") == "Pause"
