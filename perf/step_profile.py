"""Where the processor time of a step goes: the database's client, the page, the web server; per step, on one core.

    python perf/step_profile.py [--database postgresql://...] [--people 60]

Wall time depends on what else a machine does, processor time hardly: a step is one page shown and one answer taken.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from small_study import GIVEN, small_study
from verax.studies.store import Store, open_store
from verax.web.pages import draw
from verax.web.participant.step_page import step_page

SHARED = {
    "study": "A study", "contact": "", "preview": False, "root": "", "here": "", "link": "", "leaving": None,
    "action": "/p/x", "earlier": "", "later": "/p/x", "problem": "", "reading": 0.0, "static": lambda name: f"/static/{name}",
}  # fmt: skip


def walk(store: Store, spent: Counter[str]) -> int:
    """One person through the study; how many steps."""
    token, steps = store.enter(), 0
    store.consent(token, True)
    while True:
        begun = time.process_time()
        where = store.show(token)
        spent["show: the step is read and its display noted"] += time.process_time() - begun
        if where is None or where.screen is None:
            return steps
        begun = time.process_time()
        draw("step.html", SHARED | step_page(where, {}, {}, 10))
        spent["page: the screen becomes HTML"] += time.process_time() - begun
        given = {question.name: GIVEN.get(question.name, "1") for question in where.screen.questions}
        begun = time.process_time()
        store.submit(token, where.ord, where.nonce, given, {"shown": 1, "submitted": 2})
        spent["submit: the answer is stored and the person moved on"] += time.process_time() - begun
        steps += 1


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default="")
    parser.add_argument("--people", type=int, default=60)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = wanted.database or f"sqlite:///{folder}/answers.sqlite"
        with closing(open_store(small_study(target=10 * wanted.people), url)) as store:
            walk(store, Counter())
            spent: Counter[str] = Counter()
            steps = sum(walk(store, spent) for _ in range(wanted.people))
            print(f"{steps} steps in {url.partition(':')[0]}")
            for name, seconds in spent.most_common():
                print(f"{1000 * seconds / steps:6.2f} ms  {name}")
            print(f"{1000 * sum(spent.values()) / steps:6.2f} ms  together")
            profile = cProfile.Profile()
            profile.runcall(walk, store, Counter())
            pstats.Stats(profile).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
