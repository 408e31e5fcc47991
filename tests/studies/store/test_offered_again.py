"""Places of excluded people are offered again, within a limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from small_study import Clock, begin, do_step, small_study
from verax.studies.analysis.analyse import analyse
from verax.studies.answers.collect import collect
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.definition.spec_tables import ExclusionRule
from verax.studies.definition.study import DesignRow, OneCondition
from verax.studies.design import offered_again
from verax.studies.store import Refused, Store, open_store


def store_of(path, share, target=4) -> tuple[Store, Clock]:
    study = small_study(rows=1, target=target)
    rules = [ExclusionRule(rule="too-fast", limit=5)]
    spec = study.spec.model_copy(update={"exclusion": rules, "replace_excluded": share})
    clock = Clock()
    return open_store(replace(study, spec=spec), f"sqlite:///{path / 'a.sqlite'}", clock=clock), clock


def take_part(store, clock, seconds):
    token = begin(store)
    while store.show(token).status == "active":
        clock.advance(seconds)
        do_step(store, token)
    assert store.show(token).status == "complete"


@pytest.mark.parametrize(("share", "again"), [(0.0, 0), (0.25, 1), (0.5, 2), (1.0, 3)])
def test_places_of_excluded_people_are_offered_again_up_to_the_limit(tmp_path, share, again):
    store, clock = store_of(tmp_path, share)
    for seconds in (0, 0, 0, 10):  # three are too fast
        take_part(store, clock, seconds)
    with pytest.raises(Refused):
        store.enter()
    apply_exclusions(store)
    for _ in range(again):
        take_part(store, clock, 10)
        apply_exclusions(store)
    with pytest.raises(Refused):
        store.enter()
    flow = analyse(collect(store)).flow
    assert (flow.complete, flow.excluded_people, flow.offered_again) == (4 + again, 3, again)
    assert (f"{again} of their places offered again" in flow.sentence) == bool(again)
    store.close()


def test_the_limit_is_a_share_of_the_rows_places_rounded_up():
    row = DesignRow(0, 10, OneCondition("none"))
    assert [offered_again(row, excluded, 0.25) for excluded in (0, 2, 3, 9)] == [0, 2, 3, 3]
    assert offered_again(row, 5, 0) == 0
