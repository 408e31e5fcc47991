"""Bots helped by a known amount: the intervals hold it. A hundred studies of each protocol are in perf/recovery.py."""

from __future__ import annotations

from contextlib import closing

import pytest

from studies.analysis.frames import THREE, sample_study, summarised
from verax.studies.analysis import Options, analysed
from verax.studies.analysis.between.effects import effects, paired
from verax.studies.answers.collect import collect
from verax.studies.bots import run_bots
from verax.studies.bots.person import make_album
from verax.studies.bots.without_web import simulate_study
from verax.studies.store import open_store
from verax.web.app import make_app
from web.serving import running

STUDIES, PEOPLE, BY = 12, 8, 0.2


@pytest.mark.parametrize("protocol", ["forward", "counterfactual"])
def test_the_amount_is_recovered(protocol):
    roles = {"learning": 2, "test": 16} if protocol == "forward" else {"test": 16}
    study = sample_study({"name": protocol, **roles}, roles, conditions=THREE[:2], participants=PEOPLE)
    album = make_album(study)
    held, practice, clear = 0, 0, 0
    for seed in range(STUDIES):
        data = analysed(simulate_study(study, f"helped(by={BY})", 2 * PEOPLE, seed, album=album), bots=True)
        found = effects(paired(data.responses, data.scored), data.conditions, "random", 0.95)
        contrast, none = found.against["lime"], found.changes["none"]
        held += contrast.low <= BY <= contrast.high
        practice += none.low <= 0 <= none.high
        clear += contrast.verdict == "higher"
    # With coverage 95%, ten or more of twelve are held in 98 of 100 series; the seeds are fixed.
    assert held >= 10
    assert practice >= 10
    assert clear >= 6


def test_the_amount_is_recovered_through_the_real_pages(tmp_path):
    roles = {"learning": 1, "test": 16}
    study = sample_study({"name": "forward", **roles}, roles, conditions=THREE[:2], participants=6)
    with closing(open_store(study, f"sqlite:///{tmp_path / 'answers.db'}")) as store:
        with running(make_app(store, study)) as url:
            # One after the other: who comes when decides who is given which condition, and so the draw.
            run_bots(study, url, store.bot_pass(), f"helped(by={BY})", 12, seed=1, concurrent=1)
        summary = summarised(collect(store), Options(estimator="crossed", replicates=100, bots=True))
    assert summary["flow"]["analysed"] == 12
    (estimate,) = summary["primary"]["estimates"]
    assert estimate["low"] <= 100 * BY <= estimate["high"]
