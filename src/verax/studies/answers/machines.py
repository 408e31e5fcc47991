"""Signs that a participant may be a machine: flags for the experimenter to look at, never an exclusion by themselves.

Each can have an innocent cause (a switch control, a screen reader, a password manager that fills in every field). None
is seen where a browser runs no script, and a machine that wants to pass leaves none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, stdev
from typing import Literal, get_args

Sign = Literal["hidden-question", "no-pointer-or-key", "too-quick-to-react", "even-times", "pasted"]
SIGNS: tuple[Sign, ...] = get_args(Sign)

# Answered pages before times or the lack of a pointer say something.
FEWEST_PAGES = 5
# Nobody sees a page and answers it in so many milliseconds.
QUICKEST = 150
# The spread of the logarithm of the times of pages; people's is about 0.5.
EVEN = 0.08
# Characters of an answer in one's own words that nobody typed: at least so many, and with fewer keys than a quarter.
PASTED_TEXT, TYPED_SHARE = 40, 0.25
# The field of a page that people do not see.
HIDDEN_FIELD = "also"


def machine_signs(pages: Sequence[Mapping[str, float]]) -> list[Sign]:
    """The signs in what the browser measured on a participant's answered pages.

    Args:
        pages: what was sent of each: times in milliseconds, counts, and 1 under ``hidden`` where the question that
            people do not see was answered.
    """
    found: set[Sign] = set()
    if any(page.get("hidden") for page in pages):
        found.add("hidden-question")
    answered = [page for page in pages if "submitted" in page and "first_input" in page]
    if len(answered) >= FEWEST_PAGES:
        if not any(page.get("pointer") for page in pages):
            found.add("no-pointer-or-key")
        if median(page["first_input"] - page.get("shown", 0.0) for page in answered) < QUICKEST:
            found.add("too-quick-to-react")
        times = [page["submitted"] - page.get("shown", 0.0) for page in answered]
        if len(times) >= 2 * FEWEST_PAGES and stdev(math.log(max(1.0, time)) for time in times) < EVEN:
            found.add("even-times")
    for page in pages:
        written = page.get("written", 0.0)
        if written >= PASTED_TEXT and page.get("pastes") and page.get("typed", 0.0) < TYPED_SHARE * written:
            found.add("pasted")
    return [sign for sign in SIGNS if sign in found]
