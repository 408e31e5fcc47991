"""Walks through any study as a participant: `walk` with a browser's page, `http_walk` with plain requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Locator, Page

MOST_STEPS = 500
# A button that was just pressed takes no click for a moment.
BUTTON = ".actions > :first-child:not([aria-disabled])"


@dataclass(frozen=True)
class Asked:
    """A question on a page.

    Attributes:
        name: of the question.
        prompt: its words.
        options: the words of its answers; none for a text.
    """

    name: str
    prompt: str
    options: tuple[str, ...] = ()


# Says which option (from 1), or what text, is the answer to a question.
Answer = Callable[[Asked], str]


def first(asked: Asked) -> str:
    """The first option, or some words."""
    return "1" if asked.options else "I looked at the words."


@dataclass
class Walked:
    """What somebody saw on the way.

    Attributes:
        code: the completion code.
        places: the words beside the progress line of every step.
        asked: all questions, in order.
    """

    code: str = ""
    places: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


# ---- With a browser


def walk(
    page: Page,
    answer: Answer = first,
    *,
    look: Callable[[Page], None] = lambda _page: None,
    most: int = MOST_STEPS,
) -> Walked:
    """Takes a page from wherever it is (welcome, consent or any step) to the completion code.

    Args:
        page: opened at the study's address or at a participant's link.
        answer: what to answer.
        look: called on every page before it is answered, for checks and screenshots.
        most: steps until it is clear that there is no end.
    """
    walked = Walked()
    for _ in range(most):
        look(page)
        if page.locator("[data-code]").count():
            walked.code = page.locator("[data-code]").get_attribute("data-code")
            return walked
        if page.locator("form[data-step]").count() == 0:
            press(page)  # Start, Continue or I agree
            continue
        walked.places.append(page.locator("header .study").inner_text())
        for question in page.locator(".question").all():
            if question.is_hidden():  # they are asked one after the other
                page.locator(BUTTON).click()
            walked.asked.append(_answer(question, answer))
        press(page)
    raise AssertionError(f"no completion code after {most} pages; the last was {page.title()!r}")


def press(page: Page) -> None:
    """Presses the page's button, and waits for the next page: its address may be the same."""
    while page.locator("form[data-unread]").count():  # there is more to read first
        page.locator(BUTTON).click()
    with page.expect_navigation():
        page.locator(BUTTON).click()


def _answer(question: Locator, answer: Answer) -> Asked:
    text = question.locator("textarea, input.line")
    ticks, places = question.locator("input[type=checkbox]"), question.locator("select")
    if ticks.count() or places.count():  # the first answer, and a ranking in the order of the page
        ticks.first.check() if ticks.count() else None
        for rank, place in enumerate(places.all(), 1):
            place.select_option(str(rank))
        named = (ticks if ticks.count() else places).first.get_attribute("name") or ""
        return Asked(_name(named).split(".")[0], question.locator("legend").inner_text())
    if text.count():
        asked = Asked(_name(text.get_attribute("name")), question.locator(".prompt").inner_text())
        text.fill(answer(asked))
        return asked
    radios = question.locator("input[type=radio]")
    labels = tuple(label.strip() for label in question.locator(".label").all_inner_texts())
    asked = Asked(_name(radios.first.get_attribute("name")), question.locator("legend").inner_text(), labels)
    radios.nth(int(answer(asked)) - 1).check()
    return asked


def _name(field_name: str | None) -> str:
    return (field_name or "").removeprefix("q-")


# ---- Without one


class Form(HTMLParser):
    """A page as a program reads it: its hidden fields, its questions, and what stands on it.

    Attributes:
        hidden: fields that are sent back as they are.
        questions: what is asked.
        place: the words beside the progress line.
        code: the completion code, once there is one.
        is_step: whether this is a step of the study.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.is_step = False
        self.code = ""
        self._texts: dict[str, list[str]] = {"place": []}
        self._questions: list[tuple[str, list[str], list[list[str]]]] = []
        self._into: list[str] | None = None
        self.feed(html)

    @property
    def place(self) -> str:
        return _joined(self._texts["place"])

    @property
    def questions(self) -> tuple[Asked, ...]:
        return tuple(
            Asked(_name(name), _joined(prompt), tuple(_joined(option) for option in options))
            for name, prompt, options in self._questions
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        classes = (about.get("class") or "").split()
        if tag == "form" and "data-step" in about:
            self.is_step = True
        elif tag == "input" and about.get("type") == "hidden":
            self.hidden[about["name"] or ""] = about.get("value") or ""
        elif tag == "legend" or "prompt" in classes:
            self._questions.append(("", [], []))
            self._into = self._questions[-1][1]
        elif tag in ("textarea", "input") and (about.get("name") or "").startswith("q-"):
            _, prompt, options = self._questions[-1]
            self._questions[-1] = (about["name"] or "", prompt, options)
        elif "label" in classes:
            self._questions[-1][2].append([])
            self._into = self._questions[-1][2][-1]
        elif tag == "p" and "study" in classes:
            self._into = self._texts["place"]
        elif "data-code" in about:
            self.code = about["data-code"] or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("legend", "label", "p") or (tag == "span" and self._into is not None):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)


def _joined(pieces: list[str]) -> str:
    return re.sub(r"\s+", " ", "".join(pieces)).strip()


def http_enter(client: httpx.Client, code: str | None = None) -> str:
    """A new participant, who agrees to take part: their address."""
    entered = client.post("/enter", data={} if code is None else {"code": code})
    assert entered.status_code == 303, entered.text
    address = entered.headers["location"]
    assert client.post(address, data={"consent": "yes"}).status_code == 303
    return str(address)


def filled(form: Form, answer: Answer = first) -> dict[str, str]:
    """What a browser would send for a page."""
    return form.hidden | {f"q-{asked.name}": answer(asked) for asked in form.questions}


def http_walk(
    client: httpx.Client,
    url: str,
    answer: Answer = first,
    *,
    look: Callable[[Form, str], None] = lambda _form, _html: None,
    most: int = MOST_STEPS,
) -> Walked:
    """Takes a participant who has agreed from wherever they are to the completion code.

    Args:
        client: with the server's address as its base.
        url: the participant's address, as `http_enter` gives it.
        answer: what to answer.
        look: called with every page, as read and as HTML.
        most: steps until it is clear that there is no end.
    """
    walked = Walked()
    for _ in range(most):
        page = client.get(url)
        assert page.status_code == 200, page.text
        form = Form(page.text)
        look(form, page.text)
        if form.code:
            walked.code = form.code
            return walked
        assert form.is_step, page.text
        walked.places.append(form.place)
        walked.asked.extend(form.questions)
        sent = client.post(url, data=filled(form, answer))
        assert sent.status_code == 303, sent.text
    raise AssertionError(f"no completion code after {most} steps")
