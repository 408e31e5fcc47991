"""Bots on real pages: they find out where they are, do what their profile says, and are marked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from statistics import mean

import httpx
import pytest

from real_parts import LONG
from small_study import small_study
from store_tools import rows, run_together
from studies.bots.conftest import STUDIES
from verax.errors import VeraxError
from verax.studies.answers.collect import collect
from verax.studies.bots import run_bots, simulate_study, summarise
from verax.studies.bots.person import make_album
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.store import open_store
from verax.studies.store.tables import events, participants, responses, steps
from verax.web.app import make_app
from web.serving import running

SURE = "model-knower(noise=0)"


def answers_by_number(collected):
    """The answers with what decides on them, by the participant's number, step and question."""
    numbers = collected.participants.set_index("participant").number
    table = collected.responses.assign(number=collected.responses.participant.map(numbers))
    columns = [
        "design_row",
        "phase",
        "number_in_phase",
        "item",
        "condition",
        "answer",
        "position",
        "score",
        "state",
        "late",
    ]
    return table.set_index(["number", "step", "question"]).sort_index()[columns]


# ---- They find out from the page which item it shows


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "uncertain-case"])
def test_who_knows_the_model_is_always_right(made, served, name):
    run = served(made(name))
    assert {one.status for one in run.bots(SURE, 3)} == {"complete"}
    found = run.collected().responses
    tests = found[found.score.notna()]
    wrong = tests[tests.score < 1]
    if "masked" in name:  # until every name has been seen once, and nobody can tell whom a guess is right of
        wrong = wrong[wrong.phase != "evaluation-1"]
    assert len(tests) >= 3 * 6
    assert wrong.empty


def test_where_pages_look_alike_most_answers_are_right(made, served):
    # Without the input, two cases with the same numbers and fragments cannot be told apart.
    run = served(made("uncertain-case"))
    run.bots(SURE, 4)
    scores = run.collected().responses.score.dropna()
    assert len(scores) == 4 * 6
    assert (scores == 1).mean() > 0.6


def test_label_followers_say_what_is_true(made, served):
    run = served(made("counterfactual"))
    run.bots("label-follower(strength=1)", 3)
    found = run.collected().responses
    found = found[found.question == "prediction"]
    assert len(found) == 3 * 16
    assert (found.answer.astype(int) == found.label).all()
    assert 0 < found.score.mean() < 1


@pytest.mark.parametrize(
    ("name", "helped_phase"),
    [
        ("forward", "post"),
        ("forward, one condition", "post"),
        ("counterfactual", "post"),
        ("forward, in words", "post"),
        ("counterfactual, table, in words", "post"),
        ("reverse-turing", None),
    ],
)
def test_people_are_helped_where_a_method_explains_and_nowhere_else(made, served, name, helped_phase):
    run = served(made(name))
    run.bots("helped(base=0.0001,by=0.9998,spread=0)", 4)
    found = run.collected().responses
    tests = found[found.score.notna()]
    helped = tests.condition == "method"
    if helped_phase is not None:
        helped &= tests.phase == helped_phase
    assert helped.any()
    assert (tests.score == helped).all()


def test_methods_are_rated_higher_than_controls(made):
    study = made("forward")
    many = replace(study, rows=tuple(replace(row, target=60) for row in study.rows))
    found = simulate_study(many, "guesser", 180).responses
    ratings = found[found.question == "rating"]
    means = ratings.answer.astype(float).groupby(ratings.condition).mean()
    assert set(ratings.condition) == {"method", "control"}
    assert 0.4 < means["method"] - means["control"] < 1.2


# ---- The same without the web


@pytest.mark.parametrize(
    ("name", "profiles"),
    [
        ("forward", "helped(by=0.2)=0.5,label-follower=0.25,model-knower(noise=0.4)=0.25"),
        (
            "forward, one condition",
            "leaver(after=0.4)=0.5,careless(wrong=1)=0.25,same-answer(position=2)=0.25",
        ),
        ("forward, table", "helped"),
        ("counterfactual", "guesser=0.5,helped=0.5"),
        ("counterfactual, table, in words", "helped"),
        ("reverse-turing, masked", "model-knower=0.5,label-follower=0.5"),
        ("model-choice", "helped(by=0.2)"),
        ("uncertain-case", "model-knower"),
    ],
)
def test_the_same_seed_gives_the_same_answers_with_the_web_and_without(made, served, name, profiles):
    run = served(made(name))
    runs = run.bots(profiles, 4, seed=11, concurrent=1)
    real, quick = run.collected(), simulate_study(run.study, profiles, 4, 11)
    columns = ["number", "status", "design_row", "condition", "steps", "done", "phase", "bot"]
    by_number = [one.participants.set_index("number", drop=False)[columns] for one in (real, quick)]
    assert by_number[0].equals(by_number[1])
    assert answers_by_number(real).equals(answers_by_number(quick))
    assert len(quick.responses) > 20
    assert {(column, str(dtype)) for column, dtype in real.responses.dtypes.items()} == {
        (column, str(dtype)) for column, dtype in quick.responses.dtypes.items()
    }
    ended = {"active": "left"}
    assert [run.status for run in runs] == [ended.get(one, one) for one in quick.participants.status]


def test_over_many_studies_people_gain_what_they_are_helped_by(made):
    study = made("forward")
    album = make_album(study)
    gains: dict[str, list[float]] = {"plain": [], "method": [], "control": []}
    for seed in range(60):
        found = simulate_study(study, "helped(base=0.6,by=0.2)", 12, seed, album=album).responses
        means = found[found.score.notna()].groupby(["condition", "phase"]).score.mean()
        for condition, gained in gains.items():
            gained.append(means[condition, "post"] - means[condition, "pre"])
    # The standard errors are below 0.02.
    assert {condition: mean(gained) for condition, gained in gains.items()} == pytest.approx(
        {"plain": 0, "method": 0.2, "control": 0}, abs=0.06
    )


def test_other_seeds_give_other_answers(made):
    study = made("forward")
    first, second = (simulate_study(study, "guesser", 4, seed).responses.position for seed in (1, 2))
    assert not first.equals(second)


def test_who_finds_no_place_has_no_answers(made, served):
    run = served(made("forward, one condition"))
    runs = run.bots("guesser", 6, concurrent=1)
    assert Counter(one.status for one in runs) == {"complete": 4, "full": 2}
    quick = simulate_study(run.study, "guesser", 6)
    assert Counter(quick.participants.status) == {"complete": 4, "full": 2}
    assert quick.responses.participant.nunique() == 4


@pytest.mark.parametrize("late", ["flag", "close"])
def test_late_answers_are_late_with_the_web_and_without(served, late):
    # With this seed the first prediction is late, and what follows is not.
    study = small_study(timing={"item_seconds": 1.5, "late": late})
    run = served(study)
    [done] = run.bots("late(share=0.5)", 1, seed=9)
    assert done.status == "complete"
    real = answers_by_number(run.collected())
    assert real.equals(answers_by_number(simulate_study(study, "late(share=0.5)", 1, 9)))
    tests = real[real.phase == "test"]
    assert set(tests.late) == {False, True}
    # Of what came too late for a part that closes, nobody was told that it is stored.
    expired = set(real[real.state == "expired"].index.get_level_values("step"))
    assert bool(expired) == (late == "close")
    assert not expired & {answer.ord for answer in done.acknowledged}


# ---- What they do besides


def test_eight_copies_of_each_page_at_once_are_stored_once(served):
    run = served(small_study())
    runs = run.bots("double-clicker(copies=8)", 2)
    assert {one.status for one in runs} == {"complete"}
    assert len(rows(run.store, responses.c.step_id)) == 18
    kinds = Counter(type for (type,) in rows(run.store, events.c.type))
    assert kinds == {"duplicate": 7 * 18}


def test_reloads_are_counted(served):
    run = served(small_study())
    run.bots("reloader(times=3)", 1)
    assert {views for state, views in rows(run.store, steps.c.state, steps.c.views) if state == "closed"} == {
        4
    }


def test_leavers_leave_in_the_middle(served):
    run = served(small_study())
    [done] = run.bots("leaver(after=0.5)", 1)
    # Half of eleven steps are done when the sixth is; the seventh is seen and left.
    assert (done.status, done.sent, max(one.ord for one in done.acknowledged)) == ("left", 4, 6)
    assert rows(run.store, participants.c.status, participants.c.current) == [("active", 7)]


def test_the_careless_are_screened_out(served):
    run = served(small_study())
    [done] = run.bots("careless(wrong=1)", 1)
    assert done.status == "screened-out"
    assert rows(run.store, participants.c.status) == [("screened-out",)]


# ---- What was acknowledged


def test_what_was_acknowledged_is_what_is_stored(served):
    run = served(small_study())
    runs = run.bots("helped", 3)
    kept = Counter()
    for step_id, positions in rows(run.store, responses.c.step_id, responses.c.positions):
        kept[step_id] += 1
        assert positions is not None
    assert sum(kept.values()) == sum(len({one.ord for one in done.acknowledged}) for done in runs) == 27
    summary = summarise(runs)
    assert (summary["bots"], summary["status"], summary["problems"]) == (3, {"complete": 3}, {})
    assert summary["pages_sent"] == summary["pages_acknowledged"] == 27
    # Of the nine pages of each, three ask nothing, and three ask two questions.
    assert summary["answers_acknowledged"] == sum(
        bool(one.question) for done in runs for one in done.acknowledged
    )


@contextmanager
def forgetful_server() -> Iterator[str]:
    """Says of every answer that it is stored, and asks again."""

    class Forgetful(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = b'<form data-step="n"><input type="hidden" name="ord" value="1"></form>'
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(303)
            self.send_header("Location", "/p/token")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Forgetful)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_server_that_forgets_what_it_said_is_found_out():
    with forgetful_server() as url:
        [done] = run_bots(small_study(), url, "pass", "guesser", 1)
    assert (done.status, done.problem) == (
        "failed",
        "Step 1 is asked again, though its answers were acknowledged.",
    )


def test_a_server_that_is_not_there_is_a_problem_of_each(free_port):
    runs = run_bots(small_study(), f"http://127.0.0.1:{free_port}", "pass", "guesser", 2, patience=0.2)
    assert {one.status for one in runs} == {"failed"}
    assert all("did not answer for 0.2 seconds" in one.problem for one in runs)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host/"])
def test_what_is_no_address_is_a_sentence(url):
    with pytest.raises(VeraxError, match="is not the address of a study; give one such as"):
        run_bots(small_study(), url, "pass", "guesser", 1)


def test_nobody_is_a_sentence():
    with pytest.raises(VeraxError, match="0 bots, 10 at once, are nobody"):
        run_bots(small_study(), "http://127.0.0.1:1", "pass", "guesser", 0)


def test_a_stop_lets_everybody_leave(served):
    run = served(small_study(target=20))
    stop = threading.Event()
    runs = run.bots(
        "guesser", 20, concurrent=2, stop=stop, progress=lambda now: now.pages >= 5 and stop.set()
    )
    assert len(runs) == 20
    found = Counter(one.status for one in runs)
    assert found["left"] >= 1
    assert found["not-begun"] >= 10
    assert len(rows(run.store, participants.c.id)) < 20


# ---- Marked as bots


def test_bots_are_marked_and_take_nobody_s_place(served):
    run = served(small_study(rows=1, target=2))
    assert [one.status for one in run.bots("guesser", 2)] == ["complete", "complete"]
    assert rows(run.store, participants.c.is_bot) == [(True,), (True,)]
    with httpx.Client(base_url=run.url, timeout=LONG) as person:
        place = person.post("/enter").headers["location"]
        person.post(place, data={"consent": "yes"})
        assert "data-step" in person.get(place).text
    assert rows(run.store, participants.c.is_bot, participants.c.status)[2:] == [(False, "active")]


def test_a_wrong_pass_is_refused(served):
    run = served(small_study())
    for wrong in ("", "x", run.store.bot_pass()[:-1], "\N{GREEK SMALL LETTER ALPHA}"):
        assert httpx.post(f"{run.url}/enter", data={"bot": wrong}, timeout=LONG).status_code == 403
    [done] = run_bots(run.study, run.url, "wrong", "guesser", 1)
    assert "did not take the bots' pass" in done.problem
    assert rows(run.store, participants.c.id) == []


def test_the_pass_is_the_study_s_own_and_stays(served):
    first, second = served(small_study()), served(small_study(title="Another"))
    assert first.store.bot_pass() == first.store.bot_pass() != second.store.bot_pass()
    assert len(first.store.bot_pass()) == 64


@pytest.mark.parametrize("entry", ["code", "prolific", "mturk"])
def test_bots_need_no_code_and_no_platform(served, entry):
    run = served(small_study(entry=entry))
    assert [one.status for one in run.bots("guesser", 2)] == ["complete", "complete"]


def test_fifty_at_once_are_let_in(served):
    run = served(small_study(target=25))
    runs = run_together(lambda _: run.bots("guesser", 25, concurrent=25), range(2))
    assert Counter(one.status for both in runs for one in both) == {"complete": 50}


def test_bots_take_as_long_as_people_without_waiting_and_are_not_too_fast(tmp_path):
    study = small_study(target=20)
    rule = ExclusionRule(rule="too-fast", limit=2)
    study = replace(study, spec=study.spec.model_copy(update={"exclusion": [rule]}))
    kept = {}
    for pace in ("fast", "simulated"):
        store = open_store(study, f"sqlite:///{tmp_path / pace}.sqlite")
        with running(make_app(store, study)) as address:
            runs = run_bots(study, address, store.bot_pass(), SURE, 4, seed=1, pace=pace)
        assert {run.status for run in runs} == {"complete"}
        found = collect(store)  # which applies the rules
        kept[pace] = (~found.participants["excluded"]).sum()
        if pace == "simulated":
            answered = found.responses.dropna(subset=["seconds"])
            assert answered["seconds"].min() > 0.5
            # What a person did stands in order on one clock: no page ends before the one before it.
            for _, own in answered.groupby("participant"):
                assert own["minute"].is_monotonic_increasing
                assert own["minute"].max() * 60 > own.drop_duplicates("step")["seconds"].sum() - 1
        store.close()
    assert kept == {"fast": 0, "simulated": 4}
