"""A server killed with -9 at any moment: every acknowledged answer is there, once, and the participant goes on."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter

from small_study import begin, finish
from store_tools import answer_until_killed, rows
from verax.studies.store.tables import responses, steps

KILLS = 10


def test_what_was_acknowledged_survives_kill_9_and_is_there_once(open_with, shared_url, processes, tmp_path):
    store = open_with(rows=1, target=2 * KILLS)
    chance = random.Random(9)
    for kill in range(KILLS):
        tokens = [begin(store) for _ in range(2)]
        acknowledged = tmp_path / f"{kill}"
        server = processes.start(answer_until_killed, shared_url, store.study, tokens, acknowledged)
        enough = chance.randrange(15)  # of 18
        while server.is_alive() and len(lines(acknowledged)) <= enough:
            time.sleep(0.001)
        server.kill()
        server.join()
        assert server.exitcode == -signal.SIGKILL
        told = [line.split() for line in lines(acknowledged)]
        for token in tokens:
            there = answered(store, store.look(token).participant)
            assert set(there.values()) <= {1}
            assert {int(ord) for whose, ord in told if whose == token} <= set(there)
    # And whoever was in the middle goes on.
    assert finish(store, tokens[0]).status == "complete"
    everything = dict.fromkeys((1, 2, 5, 6, 7, 8, 9, 10, 11), 1)
    assert answered(store, store.look(tokens[0]).participant) == everything


OWN = [
    {"name": "work", "question": "Do you work?", "answers": ["No", "Yes"], "place": "first"},
    {
        "name": "hours",
        "kind": "number",
        "question": "How long?",
        "place": "before",
        "shown_if": {"question": "work", "answers": ["Yes"]},
    },
    {
        "name": "tools",
        "kind": "several",
        "question": "With what?",
        "answers": ["Pen", "Screen"],
        "place": "before",
    },
    {"name": "order", "kind": "ranking", "question": "What first?", "answers": ["Pen", "Screen"]},
    {"block": "trust-short"},
]


def test_answers_to_ones_own_questions_survive_with_all_that_follows_from_them(
    open_with, shared_url, processes, tmp_path
):
    store = open_with(rows=1, target=30, questions=OWN, method="teaches")
    chance = random.Random(3)
    for kill in range(5):
        tokens = [begin(store) for _ in range(2)]
        acknowledged = tmp_path / f"{kill}"
        server = processes.start(answer_until_killed, shared_url, store.study, tokens, acknowledged)
        enough = chance.randrange(22)
        while server.is_alive() and len(lines(acknowledged)) <= enough:
            time.sleep(0.001)
        server.kill()
        server.join()
        told = [line.split() for line in lines(acknowledged)]
        for token in tokens:
            there = answered(store, store.look(token).participant)
            assert set(there.values()) <= {1}
            assert {int(ord) for whose, ord in told if whose == token} <= set(there)
    for token in tokens:
        assert finish(store, token).status == "complete"
    passed_over = rows(store, steps.c.screen, steps.c.state)
    assert {state for screen, state in passed_over if screen == "own:hours"} == {"skipped"}


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def answered(store, participant):
    """By ord, how many responses there are."""
    ord_of = {
        id: ord
        for id, whose, ord in rows(store, steps.c.id, steps.c.participant_id, steps.c.ord)
        if whose == participant
    }
    return Counter(ord_of[id] for (id,) in rows(store, responses.c.step_id) if id in ord_of)
