"""Reads a page of the web into what a simulated person sees of it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from verax.studies.bots.page import Asked, Page, marked, squeezed
from verax.studies.store.participant.posted import FIELD

Attributes = list[tuple[str, str | None]]


def read_page(html: str) -> Page:
    """The page in an answer of the server."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return replace(reader.page(), html=html)


class _Reader(HTMLParser):
    """Collects what stands on a page; only tags that the pages of a study have are told apart."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._kind = ""
        self._seen: list[str] = []
        self._quotes: list[str] = []
        self._facts: list[tuple[str, str]] = []
        self._questions: list[tuple[str, list[str], bool]] = []
        self._hidden: dict[str, str] = {}
        self._progress = (0, 0)
        self._limit: float | None = None
        self._closes = False
        self._words = 0
        self._code = ""
        self._inside = ""  # what is being read: "input", "cells", "bars", "evidence" or nothing
        self._text: list[str] = []
        self._quoted = False  # inside an explanation in words, with paragraphs and tables of its own
        self._silent = 0  # how deep in words that only screen readers say

    def page(self) -> Page:
        """What was collected."""
        return Page(
            kind=self._kind or "notice",
            seen=tuple(self._seen),
            quotes=tuple(self._quotes),
            facts=tuple(self._facts),
            questions=tuple(
                Asked(name, tuple(labels), required) for name, labels, required in self._questions
            ),
            hidden=self._hidden,
            done=self._progress[0],
            steps=self._progress[1],
            limit=self._limit,
            closes=self._closes,
            words=self._words,
            completion_code=self._code,
        )

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        """Begins what the tag begins."""
        if tag == "span":
            self._span(attrs)
            return
        about = dict(attrs)
        match tag:
            case "input" | "textarea" | "button":
                self._field(tag, about)
            case "form" if "data-step" in about:
                self._kind = "step"
            case "form" if not self._kind and (about.get("action") or "").endswith(("/enter", "/leave")):
                self._kind = "welcome"
            case "div" if about.get("data-code"):
                self._code, self._kind = about["data-code"] or "", "complete"
            case "div" if about.get("data-notice"):
                self._kind = about["data-notice"] or ""
            case "progress":
                self._progress = (int(about.get("value") or 0), int(about.get("max") or 0))
            case "p":
                self._paragraph(about)
            case "div" if "quote" in (about.get("class") or "").split():
                self._begin("input")
                self._quoted = True
            case "table" | "ul" if self._inside != "input":
                classes = (about.get("class") or "").split()
                self._inside = next((name for name in ("cells", "bars", "evidence") if name in classes), "")
            case "th" | "td" | "li" | "dt" | "dd" if self._inside != "input":
                self._text = []

    def handle_endtag(self, tag: str) -> None:
        """Keeps what the tag ends."""
        match tag:
            case "span":
                if self._silent:
                    self._silent -= 1
                elif self._inside == "label":
                    self._questions[-1][1].append(self._end())
            case "div" if self._inside == "input" and self._quoted:
                self._quoted = False
                self._quotes.append(self._end())
            case "p" if self._inside == "input" and not self._quoted:
                self._see()
            case "th" | "td" if self._inside == "cells":
                self._seen.append(self._taken())
            case "td" if self._inside == "bars" and (number := self._taken()):
                self._seen.append(number)  # the cell with the drawn bar has no words
            case "li" if self._inside == "evidence":
                self._seen.append(self._taken())
            case "dt":
                self._facts.append((self._taken(), ""))
            case "dd":
                self._facts[-1] = (self._facts[-1][0], self._taken())
            case "table" | "ul" if self._inside != "input":
                self._inside = ""

    def handle_data(self, data: str) -> None:
        """Keeps the words, unless only screen readers say them."""
        if not self._silent:
            self._text.append(data)
            self._words += data.count(" ") + 1

    def _paragraph(self, about: dict[str, str | None]) -> None:
        classes = (about.get("class") or "").split()
        if "input" in classes:
            self._begin("input")
        elif "timer" in classes:
            self._limit, self._closes = float(about.get("data-seconds") or 0), "data-closes" in about

    def _span(self, attrs: Attributes) -> None:
        classes = attrs[0][1] or "" if attrs and attrs[0][0] == "class" else ""
        if self._silent or classes == "vh":
            self._silent += 1
        elif classes == "label":
            self._begin("label")
        elif classes.startswith("w ") and self._inside in ("input", "cells"):
            self._text.append(marked(classes[2:], ""))

    def _field(self, tag: str, about: dict[str, str | None]) -> None:
        name = about.get("name") or ""
        if about.get("type") == "hidden":
            self._hidden[name] = about.get("value") or ""
        elif tag == "button" and name == "consent":
            self._kind = "consent"
        elif name.startswith(FIELD) and (not self._questions or self._questions[-1][0] != name[len(FIELD) :]):
            self._questions.append((name[len(FIELD) :], [], "required" in about))

    def _begin(self, what: str) -> None:
        self._inside, self._text = what, []

    def _end(self) -> str:
        self._inside = ""
        return self._taken()

    def _see(self) -> None:
        self._seen.append(self._end())

    def _taken(self) -> str:
        text, self._text = squeezed("".join(self._text)), []
        return text
