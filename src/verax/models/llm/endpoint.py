"""Models behind an endpoint of the OpenAI interface: classes by log-probabilities, or by repeated draws."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import Inputs, Model, ask
from verax.models.llm.client import Body, Client, EndpointOptions
from verax.models.llm.prompt import (
    BETWEEN,
    CONTENT_FREE,
    Calibration,
    Features,
    Filled,
    Placed,
    Prompt,
    PromptOptions,
    checked_features,
    checked_question,
    contextual,
    fitted,
    make_prompt,
    pair_of,
)
from verax.models.wrappers import check_texts

log = logging.getLogger("verax.models")

# How many of the likeliest tokens are asked for; no interface gives more.
TOP = 20
# Of an answer that is drawn: enough for a label and what stands before it.
DRAWN_TOKENS = 8
USUAL = EndpointOptions()
AS_IT_IS = Calibration()


@dataclass(frozen=True, eq=False)
class EndpointModel(Model):
    """A language model behind an endpoint that is asked for a class.

    Where the server gives log-probabilities, a label's is that of the tokens that begin it, among the likeliest; one
    that is not among them counts as the least likely of these. Where it gives none, answers are drawn, and a
    probability is a share of them: `sampling_error` says how far off it may be.

    Attributes:
        client: how it is asked.
        prompt: what it is asked.
        labels: what it says for each class.
        class_names: the name of each class.
        calibration: from log-probabilities to scores.
        about: what explanations are about.
        reference: training texts; None if not given.
        unread: prompts whose answers named no label; their classes count as equally likely, and a warning says so.
    """

    client: Client
    prompt: Prompt
    labels: tuple[str, ...]
    class_names: tuple[str, ...]
    calibration: Calibration = AS_IT_IS
    about: Features = "words"
    reference: Sequence[str] | None = field(default=None, repr=False)
    unread: set[str] = field(default_factory=set, repr=False)
    _told: set[str] = field(default_factory=set, init=False, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        if not texts:
            return np.empty((0, len(self.class_names)))
        return ask(
            lambda batch: self.explained_of([self.prompt.fill(text) for text in batch]),
            texts,
            len(texts),
            len(self.class_names),
        )

    def place(self, text: str) -> Placed:
        """What an explanation of this text is about, and where it stands in the prompt."""
        return self.prompt.place(text, self.about)

    def explained_of(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, classes): probabilities."""
        return np.asarray(softmax(self.calibration.apply(self.log_shares(filled)), axis=1))

    def log_shares(self, filled: Sequence[Filled]) -> FloatArray:
        """(prompts, labels): the logarithm of each label's share among them, not calibrated."""
        unread = len(self.unread)
        found = np.zeros((len(filled), len(self.labels)))
        drawn = list(range(len(filled)))
        if self.client.options.logprobs:
            answers = self.client.ask(self._path, [self._question(parts.whole) for parts in filled], 1)
            tokens = [None if answer is None else top_tokens(answer) for answer in answers]
            drawn = [
                place for place, answer in enumerate(answers) if answer is not None and tokens[place] is None
            ]
            for place, given in enumerate(tokens):
                if given is not None:
                    found[place] = self._from_tokens(given, filled[place].whole)
            if drawn:
                self._say_drawn()
        if drawn:
            found[drawn] = self._drawn([filled[place] for place in drawn])
        if len(self.unread) > unread:
            log.warning(
                "%s named none of the labels %s behind %d of %d prompts, whose classes count as equally likely; look "
                "at what it answers (in %s), and change prompt= or labels=.",
                self.client.model, ", ".join(map(repr, self.labels)), len(self.unread) - unread, len(filled),
                self.client.folder,
            )  # fmt: skip
        return found

    def _say_drawn(self) -> None:
        """Warns, once, that probabilities are shares of drawn answers."""
        if "drawn" not in self._told:
            self._told.add("drawn")
            samples = self.client.options.samples
            log.warning(
                "The endpoint %s gives no log-probabilities that can be read, so that probabilities are shares of %d "
                "drawn answers, each with a standard error of up to %.2f; samples= draws more.",
                self.client.base_url, samples, 0.5 / samples**0.5,
            )  # fmt: skip

    def sampling_error(self, inputs: Inputs) -> FloatArray | None:
        """(texts, classes): the standard error of probabilities that are shares of draws; None if they are not."""
        texts = check_texts(inputs)
        if self.client.options.logprobs:
            (first,) = self.client.ask(self._path, [self._question(self.prompt.fill(texts[0]).whole)], 1)
            if first is None or top_tokens(first) is not None:
                return None
        shares = self.predict_proba(texts)
        return np.asarray(np.sqrt(shares * (1 - shares) / self.client.options.samples))

    def reply(self, text: str, target: int | None, question: str, tokens: int) -> str:
        """What it writes when it is asked a question about a text, before or after its answer."""
        whole = self.prompt.fill(text).whole
        said = None if target is None else self.labels[target]
        if self.client.options.interface == "completions":
            body: Body = {"prompt": f"{whole}{said or ''}{BETWEEN}{question}"}
        elif said is None:
            body = {"messages": self._messages(f"{whole}{BETWEEN}{question}")}
        else:
            turns = [{"role": "assistant", "content": said.strip()}, {"role": "user", "content": question}]
            body = {"messages": [*self._messages(whole), *turns]}
        (answer,) = self.client.ask(self._path, [{**body, "max_tokens": tokens, "temperature": 0}], tokens)
        return "" if answer is None else written(answer)

    @property
    def _path(self) -> str:
        return "chat/completions" if self.client.options.interface == "chat" else "completions"

    def _messages(self, prompt: str) -> list[dict[str, str]]:
        system = self.client.options.system
        first = [{"role": "system", "content": system}] if system else []
        return [*first, {"role": "user", "content": prompt}]

    def _question(self, prompt: str) -> Body:
        if self.client.options.interface == "chat":
            asked: Body = {"messages": self._messages(prompt), "logprobs": True, "top_logprobs": TOP}
        else:
            asked = {"prompt": prompt, "logprobs": TOP}
        return {**asked, "max_tokens": 1, "temperature": 0}

    def _from_tokens(self, tokens: Mapping[str, float], prompt: str) -> FloatArray:
        """The shares of the labels among the likeliest tokens: a label's are those that begin it."""
        names = [label.strip().lower() for label in self.labels]
        found: list[list[float]] = [[] for _ in names]
        for token, logprob in tokens.items():
            said = token.strip().lower()
            begun = [number for number, name in enumerate(names) if said and name.startswith(said)]
            if len(begun) > 1:
                raise VeraxError(
                    f"The labels {self.labels[begun[0]]!r} and {self.labels[begun[1]]!r} begin with the same token "
                    f"{token!r}, by which an endpoint cannot tell them apart; give labels that begin differently."
                )
            for number in begun:
                found[number].append(logprob)
        if not any(found):
            self.unread.add(prompt)
            return np.zeros(len(names))
        least = min(tokens.values())
        logs = np.array([logsumexp(each) if each else least for each in found])
        return np.asarray(logs - logsumexp(logs))

    def _drawn(self, filled: Sequence[Filled]) -> FloatArray:
        """The shares of the labels among answers that are drawn."""
        options = self.client.options
        bodies = [self._draw(parts.whole, number) for parts in filled for number in range(options.samples)]
        answers = self.client.ask(self._path, bodies, DRAWN_TOKENS)
        found = np.zeros((len(filled), len(self.labels)))
        for place, parts in enumerate(filled):
            counts = np.zeros(len(self.labels))
            for answer in answers[place * options.samples : (place + 1) * options.samples]:
                number = None if answer is None else self.label_in(written(answer))
                if number is not None:
                    counts[number] += 1
            if not counts.sum():
                self.unread.add(parts.whole)
                counts += 1
            # A share of 0 has no logarithm: as if half an answer had been drawn of each besides.
            found[place] = np.log((counts + 0.5) / (counts + 0.5).sum())
        return found

    def _draw(self, prompt: str, number: int) -> Body:
        options = self.client.options
        asked: Body = (
            {"messages": self._messages(prompt)} if options.interface == "chat" else {"prompt": prompt}
        )
        return {**asked, "max_tokens": DRAWN_TOKENS, "temperature": options.temperature, "seed": number}

    def label_in(self, said: str) -> int | None:
        """The class whose label stands first in an answer; None if there is none."""
        spoken = said.lower()
        places = [(spoken.find(label.strip().lower()), number) for number, label in enumerate(self.labels)]
        named = [(place, -len(self.labels[number]), number) for place, number in places if place >= 0]
        return min(named)[2] if named else None


def top_tokens(answer: Body) -> dict[str, float] | None:
    """The likeliest first tokens of an answer and their log-probabilities; None if the server gives none to be read."""
    given: Any = answer["choices"][0].get("logprobs")
    try:
        if given.get("content"):
            listed = given["content"][0].get("top_logprobs") or [given["content"][0]]
            return {str(each["token"]): float(each["logprob"]) for each in reversed(listed)}
        if given.get("top_logprobs"):
            return {str(token): float(value) for token, value in given["top_logprobs"][0].items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        pass  # servers have other forms, of which the next version of one may be the next
    return None


def written(answer: Body) -> str:
    """What an answer says; nothing where that cannot be read."""
    choice = answer["choices"][0]
    message = choice.get("message")
    said = choice.get("text") or (message.get("content") if isinstance(message, dict) else None)
    return said if isinstance(said, str) else ""


def adapt_endpoint(name: str, asked: PromptOptions, reference: Sequence[str] | None = None) -> EndpointModel:
    """A model behind an endpoint, by its name there; what is missing is a sentence."""
    base_url = asked.base_url or os.environ.get("OPENAI_BASE_URL")
    if not name or not base_url:
        raise VeraxError(
            "A model behind an endpoint needs its name and the endpoint's address: verax.as_model('openai:MODEL', "
            "base_url='http://localhost:8000/v1', prompt=..., labels=...), or the environment variable OPENAI_BASE_URL."
        )
    if asked.target is not None:
        raise VeraxError(
            "An endpoint does not give the log-probability of a given answer; give labels=, or a local model."
        )
    words = checked_question(asked, name)
    options = asked.endpoint or USUAL
    if options.interface not in ("chat", "completions"):
        raise VeraxError(f"There is no interface {options.interface!r}; it is 'chat' or 'completions'.")
    model = EndpointModel(
        Client(name, base_url, options),
        make_prompt(asked.prompt or "", words, asked.examples),
        tuple(words.values()),
        tuple(words),
        about=checked_features(asked.features),
        reference=reference,
    )
    if asked.calibrate is None:
        return model
    texts = CONTENT_FREE if asked.calibrate == "contextual" else pair_of(asked.calibrate)[0]
    rows = model.log_shares([model.prompt.fill(text) for text in check_texts(texts)])
    made = contextual(rows) if asked.calibrate == "contextual" else fitted(rows, pair_of(asked.calibrate)[1])
    return replace(model, calibration=made)
