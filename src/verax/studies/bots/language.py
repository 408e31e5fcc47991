"""Language models as participants: they read the pages that people read, and answer what stands on them.

Unlike the simulated people, who have the study's folder, they know nothing but the pages: the instructions, the inputs
with the words that are read out for marked ones, the explanations, and what they were shown before, as far as the
reading budget goes. They are marked as bots, so that no analysis puts them together with people.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from string import ascii_uppercase
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import Model
from verax.seeds import share
from verax.studies.bots.page import Page, PageQuestion, drawn_answer, squeezed
from verax.studies.bots.profiles import Profile
from verax.studies.store.participant.posted import part_of

if TYPE_CHECKING:
    from verax.studies.bots.person import Album

log = logging.getLogger("verax.studies")
# What is no part of what a page says.
UNSEEN = ("script", "style", "head", "noscript", "template", "svg", "nav")
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
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
CHOOSE = "\n\nThe question {name!r} has these answers:\n{options}\nThe {mark} of my answer is"
NEXT = "\n\nThe question {name!r} asks for an order, best first. Left are:\n{options}\nThe {mark} of the next one is"
HOLDS = "\n\nAn answer to the question {name!r} is: {answer}. Does it hold?\n{options}\nThe {mark} of my answer is"
NUMBER = "\n\nMy answer to the question {name!r} is the number"
# What is asked of each of several answers.
YES_NO = ("yes", "no")
NUMERAL = re.compile(r"-?\d+")
WRITE = "\n\nMy answer to the question {name!r}, in one sentence:"


class _Visible(HTMLParser):
    """The words of a page, those for screen readers included: they say which words are marked, and how strongly."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins a line where the tag begins one."""
        if tag in VOID:
            return
        # What is hidden from screen readers too is for nobody; what is nested in it goes with it.
        if tag in UNSEEN or self._unseen or ("aria-hidden", "true") in attrs:
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

    def fits(self, before: str) -> bool:
        """Whether a local model can read so much and answer; of one behind an endpoint nobody knows."""
        with self._lock:
            chooser: Any = self._chooser(2)
        return not hasattr(chooser, "fits") or bool(chooser.fits(before, TOKENS))

    def _chooser(self, options: int) -> Model:
        if options not in self._choosers:
            self._choosers[options] = self.ask({mark: f" {mark}" for mark in marks(options)})
        return self._choosers[options]


def marks(options: int) -> tuple[str, ...]:
    """What stands before each of so many answers: numbers, or letters where one number would begin another."""
    if options <= 9:
        return tuple(str(number) for number in range(1, options + 1))
    if options > len(ascii_uppercase):
        raise VeraxError(
            f"A question with {options} answers is more than a language model can be asked; give it "
            f"{len(ascii_uppercase)} at the most."
        )
    return tuple(ascii_uppercase[:options])


def listed(template: str, name: str, options: Sequence[str], **more: str) -> str:
    """A question with its answers, each behind its mark."""
    lines = [f"{mark}. {option}" for mark, option in zip(marks(len(options)), options, strict=True)]
    return template.format(
        name=name, options="\n".join(lines), mark="number" if len(options) <= 9 else "letter", **more
    )


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
        self._cut = False

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
            begun = time.monotonic()
            if asked.name in self._right:
                own = {asked.name: self._right[asked.name]}
                said: dict[str, object] = {"options": asked.labels, "told": True}
                answer = asked.labels[int(self._right[asked.name]) - 1]
            elif asked.kind == "ranking":
                own, answer, said = self._ranked(asked, page.ord)
            elif asked.kind == "several":
                own, answer, said = self._held(asked, page.ord)
            elif asked.kind == "number":
                own, answer, said = self._counted(asked, page.ord)
            elif asked.labels:
                place, said = self._picked(
                    listed(CHOOSE, asked.name, asked.labels), asked.labels, page.ord, asked.name
                )
                own, answer = {asked.name: str(place + 1)}, asked.labels[place]
            else:
                before = self._before(WRITE.format(name=asked.name))
                answer = squeezed(self._reader.words(before).split("\n")[0])
                own = {asked.name: answer or "-"} if answer or asked.required else {}
                said = {"before": before}
            given |= own
            # The reader's own word for a chosen answer is remembered, as people remember theirs.
            self._read[-1] += f"\n(I answered: {answer})"
            self._keep(page, {"question": asked.name, "answer": answer, **said}, time.monotonic() - begun)
        return given

    def _picked(
        self, question: str, options: Sequence[str], ord: int, about: str
    ) -> tuple[int, dict[str, object]]:
        """The place of the answer that is chosen, and what the transcript keeps of it."""
        before = self._before(question)
        chances = self._reader.chances(before, len(options))
        return self._chosen(chances, ord, about), {
            "before": before,
            "options": tuple(options),
            "chances": [round(float(chance), 4) for chance in chances],
        }

    def _ranked(self, asked: PageQuestion, ord: int) -> tuple[dict[str, str], str, dict[str, object]]:
        """One answer after the other, the best first."""
        left, ordered, steps = list(range(len(asked.labels))), list[int](), list[object]()
        while len(left) > 1:
            options = [asked.labels[place] for place in left]
            place, step = self._picked(
                listed(NEXT, asked.name, options), options, ord, f"{asked.name} {len(ordered)}"
            )
            ordered.append(left.pop(place))
            steps.append(step)
        ordered += left
        own = {part_of(asked.name, place + 1): str(rank) for rank, place in enumerate(ordered, 1)}
        return own, ", ".join(asked.labels[place] for place in ordered), {"steps": steps}

    def _held(self, asked: PageQuestion, ord: int) -> tuple[dict[str, str], str, dict[str, object]]:
        """Each answer by itself: does it hold? If none does where one must, the one that comes nearest."""
        steps: list[dict[str, object]] = []
        holding, chances = list[int](), list[float]()
        for place, label in enumerate(asked.labels):
            question = listed(HOLDS, asked.name, YES_NO, answer=label)
            picked, step = self._picked(question, YES_NO, ord, f"{asked.name} {place}")
            steps.append({"of": label, **step})
            chances.append(step["chances"][0])  # type: ignore[index]
            if picked == 0:
                holding.append(place)
        if not holding and asked.required:
            holding = [int(np.argmax(chances))]
        own = {part_of(asked.name, place + 1): "1" for place in holding}
        return own, ", ".join(asked.labels[place] for place in holding) or "none", {"steps": steps}

    def _counted(self, asked: PageQuestion, ord: int) -> tuple[dict[str, str], str, dict[str, object]]:
        """The first number that it writes, if it may be; else one by lot, and the transcript says so."""
        before = self._before(NUMBER.format(name=asked.name))
        reply = self._reader.words(before)
        low, high = asked.bounds
        found = NUMERAL.search(reply)
        said: dict[str, object] = {"before": before, "reply": reply}
        if (
            found is not None
            and (low is None or float(found[0]) >= low)
            and (high is None or float(found[0]) <= high)
        ):
            return {asked.name: found[0]}, found[0], said
        own = drawn_answer(
            asked, partial(share, self._seed, "language participant", self.number, ord, asked.name)
        )
        return own, own[asked.name], {**said, "nonsense": True}

    def _before(self, question: str) -> str:
        """All that stands before an answer; pages are cut at their beginning to what budget and model allow."""
        pages = PAGE.join(self._read)[-self._reader.reading :]
        head = f"{self._reader.persona}\n\n" if self._reader.persona else ""
        kept = pages
        while not self._reader.fits(before := head + kept + question):
            if not kept:
                raise VeraxError(
                    f"{self._reader.name} cannot read a question of {len(question):,} characters with its persona; "
                    "take a model that reads more."
                )
            kept = kept[len(kept) // 4 + 1 :]
        if len(kept) < len(pages) and not self._cut:
            self._cut = True
            log.warning(
                "%s reads less than reading=%d characters: its window had room for the last %d at a page; the "
                "transcript has what it read.",
                self._reader.name, self._reader.reading, len(kept),
            )  # fmt: skip
        return before

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
        name = self._reader.name.partition("(")[0].replace("/", "_").replace(":", "-")
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
        from verax.models.llm.adapt import check_shared_limits

        check_shared_limits(name)

        def ask(labels: dict[str, str]) -> Model:
            return as_model(name, base_url=base_url, prompt="{text}", labels=labels)

        ask({"1": " 1", "2": " 2"})  # what is missing is told before anybody begins
        return Reader(name, ask, transcripts, persona, temperature, reading, told)
    from verax.models.llm.weights import model_in, smollm2

    if Path(name).is_dir():
        network, tokenizer = model_in(Path(name))
    elif name == "smollm2":
        network, tokenizer = smollm2()
    else:
        raise VeraxError(
            f"There is no language model {name!r} that can take part; give smollm2, the folder of a model, or "
            "openai:MODEL with --base-url."
        )

    def ask_here(labels: dict[str, str]) -> Model:
        from verax.models.llm.adapt_local import adapt_language_model
        from verax.models.llm.prompt import PromptOptions as Question

        return adapt_language_model(network, "causal", tokenizer, Question("{text}", labels))

    return Reader(name, ask_here, transcripts, persona, temperature, reading, told)
