"""Prompts: a template with the text's place, examples and labels; which of its parts explanations are about.

What a language model says is calibrated by a prompt without content, or on validation texts with known classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IntArray
from verax.data.words import WORD
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.models.llm.client import EndpointOptions


Features = Literal["words", "sentences", "passages", "examples", "instructions", "prompt"]
FEATURES: tuple[Features, ...] = get_args(Features)
TEXT, SHOTS, MASK = "{text}", "{examples}", "{mask}"
# What stands between two examples, and between the last one and the text that is asked about.
BETWEEN = "\n\n"
SENTENCE = re.compile(r"[^.!?\n]*[^\s.!?][^.!?\n]*[.!?]*")
PASSAGE = re.compile(r"\S(?:.|\n(?!\s*\n))*")
# What a model that is asked about a given answer calls everything else.
OTHER = "another answer"
# So much of a sentence names it.
SHOWN = 60

# Where something stands: from the first character to the one after the last.
Span = tuple[int, int]


@dataclass(frozen=True)
class PromptOptions:
    """How a language model is asked, as `verax.as_model` was told."""

    prompt: str | None
    labels: Mapping[str, str] | Sequence[str] | None
    examples: tuple[tuple[str, str], ...] = ()
    calibrate: object = None
    features: str = "words"
    target: str | None = None
    chat: bool = False
    base_url: str | None = None
    endpoint: EndpointOptions | None = None


class Filled(NamedTuple):
    """A prompt with a text in its place, in three parts: a text that is too long is cut, the others are not."""

    before: str
    text: str
    after: str

    @property
    def whole(self) -> str:
        """What the model reads."""
        return self.before + self.text + self.after


@dataclass(frozen=True)
class Placed:
    """What an explanation is about, and where it stands.

    Attributes:
        features: the name of each.
        spans: where each feature stands in the whole prompt, all its places.
        shown: what an explanation's places are counted in: the text, or the whole prompt; None if the features are the
            text's distinct words, which need no places.
        offset: where the shown part begins in the prompt.
    """

    features: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]
    shown: str | None
    offset: int

    @property
    def shown_spans(self) -> tuple[tuple[Span, ...], ...] | None:
        """The places within what is shown."""
        if self.shown is None:
            return None
        return tuple(
            tuple((start - self.offset, end - self.offset) for start, end in places) for places in self.spans
        )


@dataclass(frozen=True)
class Prompt:
    """What a language model is asked, but for the text.

    Attributes:
        instructions: what stands before the examples.
        examples: each with its answer.
        before: what stands between the examples and the text.
        after: what stands behind the text.
    """

    instructions: str
    examples: tuple[str, ...]
    before: str
    after: str

    def fill(self, text: str) -> Filled:
        """The prompt with a text in its place."""
        return Filled(self.instructions + "".join(self.examples) + self.before, text, self.after)

    def place(self, text: str, features: Features) -> Placed:
        """The features of the prompt with this text, and where they stand."""
        start = len(self.fill("").before)
        whole = self.fill(text).whole
        if features == "words":
            spans: dict[str, list[Span]] = {}
            for match in WORD.finditer(text):
                spans.setdefault(match.group(), []).append((start + match.start(), start + match.end()))
            return Placed(tuple(spans), tuple(map(tuple, spans.values())), None, start)
        end = start + len(text)
        named: list[tuple[str, Span]] = []
        if features in ("instructions", "prompt"):
            named += _found(SENTENCE, whole, 0, len(self.instructions))
        if features in ("examples", "prompt"):
            place = len(self.instructions)
            for number, example in enumerate(self.examples, start=1):
                named.append((f"example {number}", (place, place + len(example))))
                place += len(example)
        if features in ("sentences", "prompt"):
            named += _found(SENTENCE, whole, start, end)
        if features == "passages":
            named += _found(PASSAGE, whole, start, end)
        if features in ("instructions", "prompt"):
            named += _found(SENTENCE, whole, end, len(whole))
        inside = features in ("sentences", "passages")
        return Placed(
            tuple(name for name, _ in named),
            tuple((span,) for _, span in named),
            text if inside else whole,
            start if inside else 0,
        )


def _found(pattern: re.Pattern[str], whole: str, start: int, end: int) -> list[tuple[str, Span]]:
    """The parts of a stretch of the prompt, each named by its beginning."""
    found = []
    for match in pattern.finditer(whole, start, end):
        first = match.start() + len(match.group()) - len(match.group().lstrip())
        said = " ".join(match.group().split())
        name = said if len(said) <= SHOWN else said[: SHOWN - 3] + "..."
        found.append((name, (first, match.end())))
    return found


def make_prompt(
    template: str,
    labels: Mapping[str, str],
    examples: Sequence[tuple[str, str]] = (),
    *,
    masked: bool = False,
) -> Prompt:
    """A prompt from its template; what is wrong with it is a sentence.

    Args:
        template: with ``{text}`` where the text comes, and ``{examples}`` where examples come (at the beginning if it
            has none). What stands behind ``{examples}`` is how each example is written, its label at the end.
        labels: of each class, the words that the model would say.
        examples: texts with the names of their classes.
        masked: the model fills in ``{mask}``.
    """
    if not isinstance(template, str) or template.count(TEXT) != 1:
        raise VeraxError(
            f"The prompt {template!r} does not say where the text comes; write {TEXT} in it, once: "
            "prompt='Review: {text}\\nSentiment:'."
        )
    if template.count(SHOTS) > 1 or template.find(SHOTS) > template.find(TEXT):
        raise VeraxError(f"{SHOTS} stands in the prompt once, before {TEXT}; change prompt=.")
    if masked and template.count(MASK) != 1:
        raise VeraxError(
            f"A model that fills in a mask has to know where; write {MASK} in the prompt, once: "
            "prompt='{text} It was {mask}.'."
        )
    if SHOTS in template and not examples:
        raise VeraxError(
            f"The prompt has a place for examples and there are none; give examples=, or leave {SHOTS} out."
        )
    head, found, shot = template.rpartition(SHOTS)
    if not found:
        head, shot = "", template
    written = tuple(_example(shot, text, name, labels) for text, name in checked_examples(examples, labels))
    before, _, after = shot.partition(TEXT)
    if not written:
        head, before = head + before, ""  # all of it is instructions
    return Prompt(head, written, before, after)


def _example(shot: str, text: str, name: str, labels: Mapping[str, str]) -> str:
    if MASK in shot:
        return shot.replace(MASK, labels[name].strip()).replace(TEXT, text) + BETWEEN
    return shot.replace(TEXT, text) + labels[name] + BETWEEN


def checked_examples(examples: Sequence[tuple[str, str]], labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Examples as pairs of a text and a class that has a label; a sentence if one is not."""
    names = list(labels)
    checked = []
    for number, example in enumerate(examples):
        if isinstance(example, str) or len(example) != 2 or not isinstance(example[0], str):
            raise VeraxError(
                f"Example {number} is {example!r}; give pairs of a text and its class: examples=[('A joy.', "
                f"{names[-1]!r}), ...] (examples are counted from 0)."
            )
        text, name = example
        if not isinstance(name, str) and name in range(len(names)):
            name = names[int(name)]
        if name not in labels:
            raise VeraxError(
                f"Example {number} has the class {name!r}, which has no label; the classes are {', '.join(names)}."
            )
        checked.append((text, name))
    return checked


def checked_labels(labels: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """What the model says for each class, by the name of the class: given so, or the names with a space before."""
    if not isinstance(labels, Mapping):
        labels = {str(name): f" {name}" for name in (() if isinstance(labels, str) else labels)}
    if len(labels) < 2 or not all(isinstance(word, str) and word.strip() for word in labels.values()):
        raise VeraxError(
            f"labels={dict(labels)!r} does not name what the model says for each of at least two classes; give "
            "labels={'negative': ' negative', 'positive': ' positive'}."
        )
    words = list(labels.values())
    if len(set(words)) < len(words):
        raise VeraxError(f"Two classes have one label in labels={dict(labels)!r}; give each its own.")
    return {str(name): str(word) for name, word in labels.items()}


def checked_question(asked: PromptOptions, name: str) -> dict[str, str]:
    """The label of each class, or the one answer that is asked about; a sentence if the question is not complete."""
    if asked.prompt is None or (asked.labels is None) == (asked.target is None):
        raise VeraxError(
            f"{name} is a language model; say what it is asked and what it says for each class: verax.as_model(model, "
            "tokenizer=..., prompt='Review: {text}\\nSentiment:', labels={'negative': ' negative', 'positive': "
            "' positive'}), or in place of labels= an answer whose log-probability is explained: target='a text'."
        )
    if asked.target is not None:
        if not asked.target.strip():
            raise VeraxError(
                "target='' is no answer; give the text whose log-probability is to be explained."
            )
        return {asked.target: asked.target}
    return checked_labels(asked.labels or ())


def checked_features(given: str) -> Features:
    """What explanations are about, if it is known."""
    for known in FEATURES:
        if given == known:
            return known
    raise VeraxError(f"There are no features {given!r}; features is one of {', '.join(FEATURES)}.")


# What Zhao et al. (2021) put in the place of the text to see what a model says to nothing.
CONTENT_FREE = ("N/A", "", "[MASK]")
# A weak pull of the fit towards no change, as if this many texts had been right without it.
PRIOR = 1.0


@dataclass(frozen=True)
class Calibration:
    """Class scores from log-probabilities: ``scale * log p + offsets``.

    Attributes:
        scale: what log-probabilities are multiplied by; above 0, so that it changes no order within a class.
        offsets: what is added for each class; () adds nothing.
    """

    scale: float = 1.0
    offsets: tuple[float, ...] = ()

    def apply(self, log_probabilities: FloatArray) -> FloatArray:
        """(texts, classes) scores, whose softmax are the probabilities."""
        offsets = np.array(self.offsets) if self.offsets else 0.0
        return np.asarray(self.scale * log_probabilities + offsets)


def contextual(log_probabilities: FloatArray) -> Calibration:
    """Takes away what the model says to texts without content (Zhao et al. 2021); one row for each of these."""
    shares = np.exp(log_probabilities - log_probabilities.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return Calibration(1.0, tuple((-np.log(shares.mean(axis=0))).tolist()))


def fitted(log_probabilities: FloatArray, labels: ArrayLike) -> Calibration:
    """The scale and the offsets with the largest likelihood of known classes: for two classes, a threshold.

    Args:
        log_probabilities: of validation texts, (texts, classes).
        labels: the number of each text's class.
    """
    from scipy.optimize import minimize

    n, classes = log_probabilities.shape
    known: IntArray = np.asarray(labels, dtype=np.int64)
    if known.shape != (n,):
        raise VeraxError(
            f"calibrate= has {n} texts but labels of shape {known.shape}; give one label per text."
        )
    if n == 0 or known.min() < 0 or known.max() >= classes or len(np.unique(known)) < classes:
        raise VeraxError(
            f"calibrate= needs texts of each of the {classes} classes, with labels from 0 to {classes - 1}; give "
            "validation texts of all of them, or calibrate='contextual'."
        )
    centred = log_probabilities - log_probabilities.mean(axis=1, keepdims=True)

    def loss(parameters: FloatArray) -> float:
        scores = np.exp(parameters[0]) * centred + parameters[1:]
        top = scores.max(axis=1, keepdims=True)
        normaliser = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        missed = float((normaliser - scores[np.arange(n), known]).sum())
        return missed + 0.5 * PRIOR * float(parameters[0] ** 2 + 0.01 * parameters[1:] @ parameters[1:])

    found = minimize(loss, np.zeros(1 + classes), method="L-BFGS-B").x
    return Calibration(float(np.exp(found[0])), tuple((found[1:] - found[1:].mean()).tolist()))


def pair_of(given: object) -> tuple[Sequence[str], ArrayLike]:
    """Validation texts and the numbers of their classes, from a pair of them or a dataset's part."""
    from verax.data.dataset import Part

    if isinstance(given, Part):
        return list(given.inputs), given.labels
    if isinstance(given, tuple) and len(given) == 2:
        return list(given[0]), given[1]
    raise VeraxError(
        f"calibrate={given!r} is not known; give 'contextual', or validation texts with the numbers of their classes: "
        "calibrate=(texts, labels), or calibrate=data.validation."
    )
