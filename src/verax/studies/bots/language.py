"""Language models as participants: they read the pages that people read, and answer what stands on them.

Unlike the simulated people, who have the study's folder, they know nothing but the pages: the instructions, the inputs
with the words that are read out for marked ones, the explanations, and what they were shown before, as far as the
reading budget goes. They are marked as bots, so that no analysis puts them together with people.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import Model
from verax.seeds import share
from verax.studies.bots.page import Page, PageQuestion, squeezed
from verax.studies.bots.profiles import Profile

if TYPE_CHECKING:
    from verax.studies.bots.person import Album

# What is no part of what a page says.
UNSEEN = ("script", "style", "head", "noscript", "template", "svg", "nav")
LINES = (
    "p",
    "div",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "label",
    "legend",
    "fieldset",
    "dt",
    "button",
    "textarea",
    "section",
)
# Of an answer in its own words.
TOKENS = 40
PAGE = "\n\n--- next page ---\n"
CHOOSE = "\n\nThe question {name!r} has these answers:\n{options}\nThe number of my answer is"
WRITE = "\n\nMy answer to the question {name!r}, in one sentence:"


class _Visible(HTMLParser):
    """The words of a page, those for screen readers included: they say which words are marked, and how strongly."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Begins a line where the tag begins one."""
        if tag in UNSEEN:
            self._unseen.append(tag)
        elif tag in LINES:
            self.lines.append("")
        elif tag in ("td", "th", "dd"):
            self.lines[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        """Ends what the tag ends."""
        if self._unseen and tag == self._unseen[-1]:
            self._unseen.pop()
        elif tag in LINES:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        """Keeps the words."""
        if not self._unseen:
            self.lines[-1] += data


def page_text(html: str) -> str:
    """What a page says, a line for each of its parts."""
    reader = _Visible()
    reader.feed(html)
    reader.close()
    return "\n".join(line for line in map(squeezed, reader.lines) if line)


@dataclass(frozen=True)
class LanguageProfile(Profile):
    """The profile of a language model: its name; it has no habits."""

    model: str = ""

    def __str__(self) -> str:
        return f"language model {self.model}"


@dataclass(eq=False)
class Reader:
    """A language model that answers questions on pages.

    Attributes:
        name: as it was given.
        ask: from the number of options to a model that is given all that stands before the answer, and says which.
        transcripts: the folder in which everything that it reads and says is kept.
        persona: what it is told to be.
        temperature: of its answers; 0 gives the likeliest.
        reading: characters before it, the last pages first.
        told: whether it is told the right answers to the screening test; else it is screened out as people are.
    """

    name: str
    ask: Any
    transcripts: Path
    persona: str = ""
    temperature: float = 0.0
    reading: int = 2_000
    told: bool = False
    _lock: Lock = field(default_factory=Lock, repr=False)
    _choosers: dict[int, Model] = field(default_factory=dict, repr=False)

    @property
    def profile(self) -> LanguageProfile:
        """What tables call it."""
        return LanguageProfile(model=self.name)

    def chances(self, before: str, options: int) -> FloatArray:
        """How likely each of so many answers is behind this text."""
        with self._lock:  # a local model is asked by one participant at a time
            chooser = self._chooser(options)
        if self.name.startswith("openai:"):
            return np.asarray(chooser.predict_proba([before])[0])
        with self._lock:
            return np.asarray(chooser.predict_proba([before])[0])

    def words(self, before: str) -> str:
        """What it writes behind this text."""
        with self._lock:
            chooser: Any = self._chooser(2)
        if self.name.startswith("openai:"):
            return str(chooser.reply(before, None, "", TOKENS))
        with self._lock:
            return str(chooser.reply(before, None, "", TOKENS))

    def _chooser(self, options: int) -> Model:
        if options not in self._choosers:
            self._choosers[options] = self.ask({str(n): f" {n}" for n in range(1, options + 1)})
        return self._choosers[options]


class LanguagePerson:
    """One participant: remembers what stood on the pages, and answers from that alone."""

    def __init__(
        self, reader: Reader, seed: int, number: int, screening: Mapping[str, Any] | None = None
    ) -> None:
        self._right = {name: str(place) for name, place in (screening or {}).items()} if reader.told else {}
        self.profile = reader.profile
        self.number = number
        self._reader = reader
        self._seed = seed
        self._read: list[str] = []

    def meet(self, album: Album) -> None:
        """Another study of those served together is as unknown as this one."""

    def leaves(self, page: Page) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def is_late(self, ord: int) -> bool:  # noqa: ARG002
        """Never on purpose."""
        return False

    def seconds(self, page: Page) -> float:  # noqa: ARG002
        """Reading takes as long as it takes."""
        return 0.0

    def answer(self, page: Page) -> dict[str, str]:
        """The answers to a page by question: the place of the chosen option, or a text."""
        self._read.append(page_text(page.html))
        given: dict[str, str] = {}
        for asked in page.questions:
            before = self._before(asked)
            begun = time.monotonic()
            if asked.name in self._right:
                given[asked.name] = self._right[asked.name]
                said: Mapping[str, object] = {"options": asked.labels, "told": True}
            elif asked.labels:
                chances = self._reader.chances(before, len(asked.labels))
                given[asked.name] = str(self._chosen(chances, page.ord, asked.name) + 1)
                said = {
                    "options": asked.labels,
                    "chances": [round(float(chance), 4) for chance in chances],
                }
            else:
                text = squeezed(self._reader.words(before).split("\n")[0])
                if text or asked.required:
                    given[asked.name] = text or "-"
                said = {}
            # The reader's own word for a chosen answer is remembered, as people remember theirs.
            shown = given.get(asked.name, "")
            answer = asked.labels[int(shown) - 1] if asked.labels else shown
            self._read[-1] += f"\n(I answered: {answer})"
            self._keep(
                page,
                {"question": asked.name, "before": before, "answer": answer, **said},
                time.monotonic() - begun,
            )
        return given

    def _before(self, asked: PageQuestion) -> str:
        """All that stands before an answer, cut at its beginning to what the reading budget allows."""
        options = "\n".join(f"{place}. {label}" for place, label in enumerate(asked.labels, start=1))
        question = (CHOOSE if asked.labels else WRITE).format(name=asked.name, options=options)
        pages = PAGE.join(self._read)
        head = f"{self._reader.persona}\n\n" if self._reader.persona else ""
        return head + pages[-self._reader.reading :] + question

    def _chosen(self, chances: FloatArray, ord: int, question: str) -> int:
        if self._reader.temperature == 0:
            return int(np.argmax(chances))
        weights = np.exp(np.log(np.maximum(chances, 1e-12)) / self._reader.temperature)
        drawn = share(self._seed, "language participant", self.number, ord, question)
        return int(np.searchsorted(np.cumsum(weights / weights.sum()), drawn).clip(max=len(chances) - 1))

    def _keep(self, page: Page, said: Mapping[str, object], seconds: float) -> None:
        folder = self._reader.transcripts
        folder.mkdir(parents=True, exist_ok=True)
        line = {
            "participant": self.number, "model": self._reader.name, "step": page.ord, "seconds": round(seconds, 3),
            **said,
        }  # fmt: skip
        name = self._reader.name.replace("/", "_").replace(":", "-")
        with (folder / f"{name}-{self.number}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def make_reader(
    name: str,
    transcripts: Path,
    base_url: str | None = None,
    persona: str = "",
    temperature: float = 0.0,
    reading: int = 2_000,
    told: bool = False,
) -> Reader:
    """A language model as a participant, by name; a sentence if there is no such model."""
    if name.startswith("openai:"):
        from verax.models.adapt import as_model

        def ask(labels: dict[str, str]) -> Model:
            return as_model(name, base_url=base_url, prompt="{text}", labels=labels)

        ask({"1": " 1", "2": " 2"})  # what is missing is told before anybody begins
        return Reader(name, ask, transcripts, persona, temperature, reading, told)
    if name != "smollm2":
        raise VeraxError(
            f"There is no language model {name!r} that can take part; give smollm2, or openai:MODEL with --base-url."
        )
    from verax.models.llm.weights import packed_weights, smollm2

    packed_weights()

    def ask_here(labels: dict[str, str]) -> Model:
        from verax.models.llm.adapt_local import adapt_language_model
        from verax.models.llm.prompt import PromptOptions as Question

        network, tokenizer = smollm2()
        return adapt_language_model(network, "causal", tokenizer, Question("{text}", labels))

    return Reader(name, ask_here, transcripts, persona, temperature, reading, told)
