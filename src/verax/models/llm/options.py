"""How a model behind an endpoint is asked: limits, retries, and where its answers are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class EndpointOptions:
    """How an endpoint is asked.

    Attributes:
        interface: "chat" or "completions"; which of the two the server speaks.
        key: the environment variable that holds the key. The key itself is never stored.
        record: the folder in which every answer is kept; what is in it is not asked again. None keeps none.
        replay: only what is in the folder is answered, and nothing is sent.
        samples: how many answers are drawn for a prompt where the server gives no log-probabilities.
        temperature: of those draws.
        concurrency: requests under way at a time.
        timeout: seconds after which a request is given up and tried again.
        retries: how often a request is tried again, each time after a longer pause.
        max_requests: no more requests than this are sent in this model's lifetime; None for no limit.
        max_tokens: the same for tokens, those of prompts and answers together.
        max_cost: the same for money, in the currency of the prices.
        prompt_price: of a million tokens of prompts.
        answer_price: of a million tokens of answers.
        dry_run: nothing is sent; rows and tokens are counted.
        system: what stands before the prompt as the system's words, in a chat.
    """

    interface: Literal["chat", "completions"] = "chat"
    key: str = "OPENAI_API_KEY"
    record: str | Path | None = None
    replay: bool = False
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
