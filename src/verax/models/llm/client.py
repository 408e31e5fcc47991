"""Asking an endpoint: requests side by side, tried again when they fail, within limits, every answer kept on disk.

An answer is written the moment it arrives. A run that is killed, that the server ends or that a limit stops has lost
nothing that was paid for: the same question is answered from disk the next time, on any machine that has the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from verax.errors import VeraxError, reason
from verax.installed import require
from verax.text import counted


@dataclass(frozen=True)
class EndpointOptions:
    """How an endpoint is asked.

    Attributes:
        interface: "chat" or "completions"; which of the two the server speaks.
        key: the environment variable that holds the key. The key itself is never stored.
        record: the folder in which every answer is kept; what is in it is not asked again. None keeps none.
        replay: only what is in the folder is answered, and nothing is sent.
        logprobs: whether log-probabilities are asked for; some models refuse. Without them answers are drawn.
        samples: how many answers are drawn for a prompt where the server gives no log-probabilities.
        temperature: of those draws.
        concurrency: requests under way at a time.
        timeout: seconds after which a request is given up and tried again.
        retries: how often a request is tried again, each time after a longer pause.
        max_requests: no more requests than this are sent; None for no limit. With ``record=`` all count together that
            ever record into that folder, however many processes and runs; else this model in its lifetime.
        max_tokens: the same for tokens, those of prompts and answers together.
        max_cost: the same for money, in the currency of the prices, which have to be given too.
        prompt_price: of a million tokens of prompts.
        answer_price: of a million tokens of answers.
        dry_run: nothing is sent; rows and tokens are counted.
        system: what stands before the prompt as the system's words, in a chat.
    """

    interface: Literal["chat", "completions"] = "chat"
    key: str = "OPENAI_API_KEY"
    record: str | Path | None = None
    replay: bool = False
    logprobs: bool = True
    samples: int = 10
    temperature: float = 1.0
    concurrency: int = 8
    timeout: float = 60.0
    retries: int = 5
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prompt_price: float = 0.0
    answer_price: float = 0.0
    dry_run: bool = False
    system: str = ""

    def __post_init__(self) -> None:
        for name, least in (("samples", 1), ("concurrency", 1), ("retries", 0), ("timeout", 0.001)):
            if getattr(self, name) < least:
                raise VeraxError(f"{name}={getattr(self, name)!r} is too small; give {least} or more.")
        if self.max_cost is not None and not (self.prompt_price or self.answer_price):
            raise VeraxError(
                f"max_cost={self.max_cost:g} limits nothing where answers cost nothing; give prompt_price= and "
                "answer_price= too, of a million tokens each."
            )

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return not self.max_requests is self.max_tokens is self.max_cost is None


# A body of a request or of an answer, as JSON has it.
Body = dict[str, Any]
# Seconds before the first second try; twice as long before each further one, and no longer than the last.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# What is worth another try: too many requests, and what goes wrong on the server's side.
TRANSIENT = (408, 409, 425, 429, 500, 502, 503, 504)
# Of a text whose tokens nobody has counted yet: so many characters are about one.
CHARACTERS = 4
MILLION = 1_000_000


@dataclass
class Spent:
    """What was asked of an endpoint so far, and what was answered from disk."""

    requests: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    kept: int = 0
    planned: int = 0

    @property
    def tokens(self) -> int:
        """Those of prompts and answers together."""
        return self.prompt_tokens + self.answer_tokens

    def cost(self, options: EndpointOptions) -> float:
        """Money, by the prices that were given."""
        return (
            self.prompt_tokens * options.prompt_price + self.answer_tokens * options.answer_price
        ) / MILLION


class TransientError(Exception):
    """A request that failed and may be tried again.

    Attributes:
        pause: seconds that the server asks to be left alone; None if it does not say.
        counts: whether it may be paid for all the same: it reached the server, which may have answered.
    """

    def __init__(self, why: str, pause: float | None = None, *, counts: bool = False) -> None:
        super().__init__(why)
        self.pause = pause
        self.counts = counts


# Requests, tokens of prompts and tokens of answers.
Totals = tuple[int, int, int]
LEDGER = "spent.sqlite"


class Ledger:
    """What limits count: requests and tokens, those that are under way at their most.

    In a folder all processes count together. What a process had under way when it was killed stays counted: it may have
    been paid for.
    """

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._book = sqlite3.connect(
            ":memory:" if folder is None else folder / LEDGER,
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
        )
        self._book.execute(
            "create table if not exists spent (requests integer, prompts integer, answers integer)"
        )

    def add(self, more: Totals, refused: Callable[[Totals], str | None] = lambda _: None) -> str | None:
        """Counts so much more, unless what is spent with it is refused; why, or None."""
        with self._lock:
            self._book.execute("begin immediate")
            try:
                sums = self._book.execute(
                    "select coalesce(sum(requests), 0), coalesce(sum(prompts), 0), coalesce(sum(answers), 0) from spent"
                ).fetchone()
                said = refused((sums[0] + more[0], sums[1] + more[1], sums[2] + more[2]))
                if said is None:
                    self._book.execute("insert into spent values (?, ?, ?)", more)
            finally:
                self._book.execute("commit")
        return said


@dataclass(eq=False)
class Client:
    """An endpoint that is asked for answers.

    Attributes:
        model: its name there.
        base_url: of the interface, as in "http://localhost:8000/v1".
        options: limits, retries and the folder of answers.
        spent: what was asked so far.
    """

    model: str
    base_url: str
    options: EndpointOptions
    spent: Spent = field(default_factory=Spent)
    pause: Callable[[float], None] = time.sleep
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _ledger: Ledger | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require("A model behind an endpoint", "httpx", extra="llm")

    @property
    def folder(self) -> Path:
        """Where answers are kept."""
        if self.options.record is not None:
            return Path(self.options.record)
        from verax.models.neural.representations import cache_folder

        return cache_folder() / "llm" / "answers"

    def ask(self, path: str, bodies: Sequence[Body], answer_tokens: int) -> list[Body | None]:
        """An answer to each body, in their order; None for those that a dry run only counts.

        Args:
            path: of the interface, as in "chat/completions".
            bodies: without the model's name. Equal ones are asked once; a number under ``seed`` makes them differ.
            answer_tokens: so many an answer may have, to know before it is asked what it costs at the most.
        """
        asked = {self._key(path, body): body for body in bodies}
        answers = {key: known for key in asked if (known := self._kept(key)) is not None}
        missing = [key for key in asked if key not in answers]
        self.spent.kept += len(answers)
        if missing and self.options.dry_run:
            with self._lock:
                self.spent.planned += len(missing)
                self.spent.prompt_tokens += sum(_estimated(asked[key]) for key in missing)
                self.spent.answer_tokens += answer_tokens * len(missing)
            return [answers.get(self._key(path, body)) for body in bodies]
        if missing and self.options.replay:
            raise VeraxError(
                f"{counted(len(missing), 'question')} of {len(asked)} are not among the answers in {self.folder}; "
                "leave replay out to ask them, or give the folder of the run that is repeated."
            )
        if missing:
            self._send(path, {key: asked[key] for key in missing}, answers, answer_tokens)
        return [answers[self._key(path, body)] for body in bodies]

    def _send(
        self, path: str, missing: Mapping[str, Body], answers: dict[str, Body], answer_tokens: int
    ) -> None:
        import httpx

        with self._keeping():  # what is paid for has to have a place
            self.folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()
        key = os.environ.get(self.options.key)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        failed: list[BaseException] = []
        with httpx.Client(
            base_url=self.base_url.rstrip("/") + "/", headers=headers, timeout=self.options.timeout
        ) as http:

            def one(named: str, body: Body) -> None:
                if failed:
                    return  # one refusal is enough: nothing more is sent
                try:
                    answer = self._until_answered(http, path, body, answer_tokens)
                except BaseException as error:
                    failed.append(error)
                    return
                self._keep(named, path, body, answer)
                answers[named] = answer

            with ThreadPoolExecutor(max(1, self.options.concurrency)) as pool:
                list(pool.map(one, missing, missing.values()))
        if failed:
            raise failed[0]

    def _until_answered(self, http: Any, path: str, body: Body, answer_tokens: int) -> Body:
        why = ""
        for turn in range(self.options.retries + 1):
            held = self._reserve(body, answer_tokens)
            try:
                answer = self._once(http, path, body)
            except TransientError as error:
                if not error.counts:
                    self._settle(held, (0, 0))
                why = str(error)
                if turn < self.options.retries:
                    longer = min(LONGEST_PAUSE, FIRST_PAUSE * 2**turn)
                    self.pause(longer if error.pause is None else min(LONGEST_PAUSE, error.pause))
            except VeraxError:
                self._settle(held, (0, 0))
                raise
            else:
                self._settle(held, self._count(answer, body))
                self._check_name(str(answer.get("model") or self.model))
                return answer
        raise VeraxError(
            f"The endpoint {self.base_url} did not answer after {counted(self.options.retries + 1, 'try', 'tries')} "
            f"({why}); what it answered before is kept in {self.folder}: run the same again to go on."
        )

    def _once(self, http: Any, path: str, body: Body) -> Body:
        import httpx

        try:
            got = http.post(path, json={"model": self.model, **body})
        except httpx.TimeoutException as error:
            raise TransientError(f"no answer within {self.options.timeout:g} seconds", counts=True) from error
        except httpx.TransportError as error:
            # One that could not be reached has answered nothing.
            raise TransientError(
                f"{type(error).__name__}: {reason(error)}", counts=not isinstance(error, httpx.ConnectError)
            ) from error
        if got.status_code in TRANSIENT:
            after = got.headers.get("Retry-After", "")
            raise TransientError(f"status {got.status_code}", float(after) if after.isdigit() else None)
        if got.status_code >= 400:
            hint = ""
            if got.status_code in (401, 403):
                hint = f"; put the key into the environment variable {self.options.key}"
            elif "logprobs" in got.text and "logprobs" in body:
                hint = "; with logprobs=False answers are drawn in the place of log-probabilities"
            raise VeraxError(
                f"The endpoint {self.base_url} refused with status {got.status_code} "
                f"({' '.join(got.text.split())[:200]}){hint}."
            )
        try:
            answer: Body = got.json()
            if not isinstance(answer["choices"][0], dict):
                raise TypeError
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise TransientError(
                "it answered something that is not of the OpenAI interface", counts=True
            ) from error
        return answer

    def _check_name(self, answered: str) -> None:
        """Vendors write a date behind a name, servers a path before it; another model is another model."""
        asked = self.model.lower().rsplit("/", 1)[-1]
        given = answered.lower().rsplit("/", 1)[-1]
        if asked not in given and given not in asked:
            raise VeraxError(
                f"The endpoint {self.base_url} was asked for {self.model!r} and {answered!r} answered; name a model "
                "that it serves."
            )

    def _reserve(self, body: Body, answer_tokens: int) -> Totals:
        """Counts a request at the most that it can take before it is sent; refuses it if that could pass a limit."""
        held = (1, _estimated(body), answer_tokens)
        if self.options.limited:
            with self._lock:
                if self._ledger is None:
                    self._ledger = Ledger(None if self.options.record is None else self.folder)
            if (limit := self._ledger.add(held, self._beyond)) is not None:
                raise VeraxError(
                    f"The next request to {self.base_url} would go beyond the limit of {limit} to go on. "
                    f"{counted(self.spent.requests, 'answer')} of this run and all before it are kept in {self.folder}."
                )
        with self._lock:
            self.spent.requests += 1
        return held

    def _beyond(self, totals: Totals) -> str | None:
        """The limit that so much would pass."""
        options, (requests, prompts, answers) = self.options, totals
        cost = (prompts * options.prompt_price + answers * options.answer_price) / MILLION
        if options.max_requests is not None and requests > options.max_requests:
            return f"{counted(options.max_requests, 'request')}; raise max_requests="
        if options.max_tokens is not None and prompts + answers > options.max_tokens:
            return f"{options.max_tokens:,} tokens; raise max_tokens="
        if options.max_cost is not None and cost > options.max_cost:
            return f"{options.max_cost:g} in money; raise max_cost="
        return None

    def _settle(self, held: Totals, took: tuple[int, int]) -> None:
        """Counts what a request took in the place of the most that it could have taken."""
        if self._ledger is not None:
            self._ledger.add((0, took[0] - held[1], took[1] - held[2]))

    def _count(self, answer: Body, body: Body) -> tuple[int, int]:
        """Tokens of the prompt and of the answer."""
        usage = answer.get("usage")
        told = usage if isinstance(usage, dict) else {}
        prompt, answered = (told.get(name) for name in ("prompt_tokens", "completion_tokens"))
        prompt = prompt if isinstance(prompt, int) and prompt > 0 else _estimated(body)
        answered = answered if isinstance(answered, int) and answered > 0 else 1
        with self._lock:
            self.spent.prompt_tokens += prompt
            self.spent.answer_tokens += answered
        return prompt, answered

    def _key(self, path: str, body: Body) -> str:
        said = json.dumps([self.model, path, body], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def _kept(self, key: str) -> Body | None:
        try:
            kept = json.loads(self._file(key).read_text(encoding="utf-8"))
            answer: Body = kept["answer"]
            # Earlier versions wrote no sum, and what they asked was paid for.
            whole = kept.get("sum", (sum := _sum(key, answer))) == sum
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return answer if whole else None

    def _keep(self, key: str, path: str, body: Body, answer: Body) -> None:
        """Whole or not at all; the key of the endpoint is in none of it."""
        file = self._file(key)
        with self._keeping():
            file.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "model": self.model,
            "path": path,
            "question": body,
            "answer": answer,
            "sum": _sum(key, answer),
        }
        with (
            self._keeping(),
            tempfile.NamedTemporaryFile(
                "w", dir=file.parent, suffix=".part", delete=False, encoding="utf-8"
            ) as part,
        ):
            json.dump(kept, part, ensure_ascii=False)
            part.close()
            os.replace(part.name, file)

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise VeraxError(
                f"Answers cannot be kept in {self.folder} ({reason(error)}), so that nothing more is asked; give "
                "record= a folder that can be written, or make room on the disk."
            ) from error


def _sum(key: str, answer: Body) -> str:
    """By which an answer is known that was changed on the disk."""
    return hashlib.sha256(f"{key}\0{json.dumps(answer, sort_keys=True)}".encode()).hexdigest()


def _estimated(body: Body) -> int:
    """About how many tokens a request has."""
    said = body.get("prompt") or "".join(str(turn["content"]) for turn in body.get("messages", ()))
    return -(-len(str(said)) // CHARACTERS)
