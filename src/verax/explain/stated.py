"""What a language model says of itself: the words it names when it is asked for its reasons, or while it reasons.

What it writes is read as it comes: lists, quotes, sentences. What names no word of the text is kept and counted as
nonsense; nothing is asked again until it looks right.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from verax.data.words import WORD, split_words
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, at_least, class_numbers, explainers
from verax.explain.explanation import Attribution, Cost
from verax.explain.kinds import Written
from verax.models.base import Inputs, Model
from verax.models.capabilities import ask_for
from verax.models.wrappers import check_texts

# The same question in other words: what a model states should not depend on them.
AFTER = (
    "Which {n} words of the text made you answer so? Write only these words, separated by commas.\nWords:",
    "Name the {n} words above that decided your answer, the most important first, as a list with commas.\nThe words:",
    "If you had to justify this answer with {n} single words from the text, which would they be?\nWords, with commas:",
)
BEFORE = (
    "Before you answer: which {n} words of the text will decide? Write only these words, separated by commas.\nWords:",
    "First name the {n} words above that matter for the answer, the most important first, with commas.\nThe words:",
    "Do not answer yet. Which {n} single words of the text tell the answer?\nWords, with commas:",
)
THINK = (
    'Let us think step by step. Name the words that tell, in quotes: "',
    'Explain your reasoning, and quote the words of the text that you rely on: "',
    'What in the text points to the answer? Quote the words: "',
)
WHY = (
    "Why did you answer so? Explain it in one or two sentences.\nBecause",
    "What in the text made this the answer? Say it in one or two sentences.\nThe answer is this because",
    "Explain your answer to somebody who has to foresee your next ones.\nI answered so because",
)
QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»|„([^“”\n]+)[“”]')
# How an item of a list begins.
ITEM = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s*")
# English words that a sentence is built of: naming them in a sentence says nothing about the text.
SENTENCE_WORDS = frozenset(
    WORD.findall(
        "a an and are as at be because been but by can could did do does for from had has have he her his i if in is "
        "it its me more most my not of on one or our she so some than that the their them there these they this those "
        "to was we were what when which while who will with would you your"
    )
)

Asked = Literal["after", "before"]


@dataclass(frozen=True)
class Stated:
    """The words of a text that a reply names.

    Attributes:
        named: in the order in which they are named, as the text writes them.
        unknown: how many words it names that the text does not have.
    """

    named: tuple[str, ...]
    unknown: int


def read_list(reply: str, text: str) -> Stated:
    """The words of the text in a reply that should be a list: its first line that names any, or all of it."""
    lines = [line for line in reply.splitlines() if line.strip()]
    for line in lines:
        found = _listed(ITEM.sub("", line), text)
        if found.named and (
            ITEM.match(line) or len(WORD.findall(line)) == 1
        ):  # a word on each line: it goes on
            return _listed(" ".join(ITEM.sub("", each) for each in lines), text)
        if found.named:
            return found
    return _listed(reply, text)


def _listed(said: str, text: str) -> Stated:
    """The words of the text among those said, unless it is a sentence that has none of them but sentence words."""
    found = _words_in(said, text)
    if found.unknown and all(word.lower() in SENTENCE_WORDS for word in found.named):
        return Stated((), found.unknown)  # "The answer is" names no word, though the text has a "the"
    return found


def read_reasoning(reply: str, text: str) -> Stated:
    """The words of the text that a reasoning quotes; if it quotes none, what it mentions, sentence words aside."""
    # The question ends with an open quote, which a reply may close.
    quotes = QUOTED.findall('"' + reply if reply.count('"') % 2 else reply)
    quoted = _words_in(" ".join(part for parts in quotes for part in parts), text)
    if quoted.named:
        return quoted
    mentioned = " ".join(word for word in WORD.findall(reply) if word.lower() not in SENTENCE_WORDS)
    return _words_in(mentioned, text)


def _words_in(said: str, text: str) -> Stated:
    """The distinct words of the text among those said; upper and lower case aside."""
    written: dict[str, list[str]] = {}
    for word in split_words(text).distinct:
        written.setdefault(word.lower(), []).append(word)
    named: dict[str, None] = {}
    unknown = 0
    for word in WORD.findall(said):
        known = written.get(word.lower())
        if known is None:
            unknown += not word.isdigit()
        for each in known or ():
            named.setdefault(each)
    return Stated(tuple(named), unknown)


@explainers.register("self-report")
@dataclass(frozen=True)
class SelfReport(Explainer):
    """The words that a language model names when it is asked which made it answer so.

    The first one named scores highest. ``details`` holds the reply, how many words it named that the text does not
    have, and whether it is nonsense: no word of the text.

    Attributes:
        words: how many it is asked for; of more that it names, the first so many count.
        when: whether it is asked "after" its answer or "before" it.
        wording: which of three wordings of the question, from 0.
        tokens: of its reply, at the most.
    """

    words: int = 3
    when: Asked = "after"
    wording: int = 0
    tokens: int = 32

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        at_least(self.words, 1, "words")
        at_least(self.tokens, 1, "tokens")
        _check_wording(self.wording)
        if self.when not in ("after", "before"):
            raise VeraxError(
                f"when={self.when!r} is not known; a model is asked 'after' its answer or 'before' it."
            )

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Asks about each input; see :meth:`Explainer.explain`."""
        writer = ask_for(model, "writing", "self-report")
        question = (AFTER if self.when == "after" else BEFORE)[self.wording].format(n=self.words)
        explanations = []
        texts = check_texts(inputs)
        for text, target in zip(texts, class_numbers(model, texts, targets), strict=True):
            started = time.perf_counter()
            reply = writer.reply(text, target if self.when == "after" else None, question, self.tokens)
            stated = read_list(reply, text)
            explanations.append(_scored(repr(self), model, text, target, reply, stated, self.words, started))
        return explanations


@explainers.register("chain-of-thought")
@dataclass(frozen=True)
class ChainOfThought(Explainer):
    """The words that a language model quotes while it reasons about a text before it answers.

    Attributes:
        words: of more that it names, the first so many count.
        wording: which of three wordings of the question, from 0.
        tokens: of its reasoning, at the most.
    """

    words: int = 5
    wording: int = 0
    tokens: int = 64

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        at_least(self.words, 1, "words")
        at_least(self.tokens, 1, "tokens")
        _check_wording(self.wording)

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Attribution]:
        """Lets the model reason about each input; see :meth:`Explainer.explain`."""
        writer = ask_for(model, "writing", "chain-of-thought")
        explanations = []
        texts = check_texts(inputs)
        for text, target in zip(texts, class_numbers(model, texts, targets), strict=True):
            started = time.perf_counter()
            reply = writer.reply(text, None, THINK[self.wording], self.tokens)
            stated = read_reasoning(reply, text)
            explanations.append(_scored(repr(self), model, text, target, reply, stated, self.words, started))
        return explanations


@explainers.register("free-text")
@dataclass(frozen=True)
class FreeText(Explainer):
    """Why a language model says that it answered so, in its own words.

    Whether such a text tells anything of the model is asked by `verax.benchmarks.simulatability`.

    Attributes:
        wording: which of three wordings of the question, from 0.
        tokens: of its reply, at the most.
    """

    wording: int = 0
    tokens: int = 48

    claim: ClassVar[Claim] = "selective"

    def __post_init__(self) -> None:
        at_least(self.tokens, 1, "tokens")
        _check_wording(self.wording)

    def explain(self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None) -> list[Written]:
        """Asks about each input; see :meth:`Explainer.explain`."""
        writer = ask_for(model, "writing", "free-text")
        explanations = []
        texts = check_texts(inputs)
        for text, target in zip(texts, class_numbers(model, texts, targets), strict=True):
            started = time.perf_counter()
            reply = writer.reply(text, target, WHY[self.wording], self.tokens)
            kept = tuple(part.strip() for part in reply.split("\n\n")[:1] if part.strip())
            explanations.append(
                Written(
                    kept or ("...",),
                    target,
                    model.class_names[target],
                    text,
                    details={"reply": reply, "nonsense": not kept},
                    cost=Cost(1, 1, time.perf_counter() - started),
                    explainer=repr(self),
                )
            )
        return explanations


def _check_wording(wording: int) -> None:
    at_least(wording, 0, "wording")
    if wording >= len(AFTER):
        raise VeraxError(f"wording={wording} does not exist; there are {len(AFTER)}, counted from 0.")


def _scored(
    name: str, model: Model, text: str, target: int, reply: str, stated: Stated, most: int, started: float
) -> Attribution:
    features = split_words(text).distinct
    counted = stated.named[:most]
    scores = np.zeros(len(features))
    for place, word in enumerate(counted):
        scores[features.index(word)] = 1.0 - place / most
    details: dict[str, object] = {
        "reply": reply,
        "named": len(stated.named),
        "unknown": stated.unknown,
        "nonsense": not stated.named and bool(features),
    }
    cost = Cost(1, 1, time.perf_counter() - started)
    return Attribution(features, scores, target, model.class_names[target], text, None, details, cost, name)
