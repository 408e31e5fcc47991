"""False claims in simulated studies without any effect: the default holds 5%, and the check can see both errors.

A small version of perf/calibration.py: 1,000 studies of 5 x 8 people and 16 items, 100 for the bootstrap. Shares are
held against those that another implementation measured on 4,000 studies, within three standard errors over studies
(tests of one study share its items, and contrasts their control).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

from pigeonhole import pigeonhole
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Stratum, components
from verax.stats.power import Design, simulate
from verax.stats.responses import responses
from verax.stats.tests.multiplicity import holm

STUDIES, METHODS, ITEMS = 1000, 5, 16


@cache
def drawn(effect=0.0):
    return simulate(Design((8,) * METHODS, ITEMS), effect, studies=STUDIES, seed=20241)


@cache
def parts(effect=0.0):
    found = drawn(effect)
    return components([Stratum(np.arange(len(found.method)), found.change)], found.method, METHODS)


def rows_of(study):
    """One of the studies as columns."""
    found = drawn()
    people = len(found.method)
    return responses(
        np.repeat(np.arange(people), ITEMS),
        np.tile(np.arange(ITEMS), people),
        np.repeat(found.method, ITEMS),
        found.post[study].ravel(),
        found.pre[study].ravel(),
    )


def share(events):
    """The share of events, and three standard errors of it: over studies, which are the rows."""
    per_study = np.asarray(events, dtype=float).reshape(STUDIES, -1).mean(axis=1)
    return per_study.mean(), 3 * per_study.std(ddof=1) / np.sqrt(STUDIES)


def test_the_default_claims_falsely_in_five_percent():
    change = np.stack([claims.change(parts(), m).p for m in range(METHODS)], axis=1)
    contrast = np.stack([claims.contrast(parts(), m, 0).p for m in range(1, METHODS)], axis=1)
    for p, measured in ((change, 0.046), (contrast, 0.045), (claims.overall(parts()).p, 0.039)):
        found, allowed = share(p <= 0.05)
        assert found == pytest.approx(measured, abs=allowed)
        assert 0.03 < found < 0.06


def test_its_intervals_hold_the_truth_with_and_without_an_effect():
    low, high = claims.change(parts(0.08), 0).interval()
    found, allowed = share((low <= 0.08) & (high >= 0.08))
    assert found == pytest.approx(0.964, abs=allowed)
    truth = drawn().item_change
    ends = [claims.change(parts(), m, "fixed").interval() for m in range(METHODS)]
    held = [(low <= truth[:, m]) & (high >= truth[:, m]) for m, (low, high) in enumerate(ends)]
    found, allowed = share(np.stack(held, axis=1))
    assert found == pytest.approx(0.949, abs=allowed)


def test_a_family_of_five_holds_five_percent_after_correction_only():
    p = np.stack([claims.change(parts(), m).p for m in range(METHODS)], axis=1)
    assert (p <= 0.05).any(axis=1).mean() > 0.15
    found, allowed = share([(holm(row) <= 0.05).any() for row in p])
    assert found < 0.05 + allowed


def test_rows_as_if_independent_claim_too_often():
    values = [drawn().change[:, drawn().method == m].reshape(STUDIES, -1) for m in range(METHODS)]
    t = [np.nanmean(v, 1) / np.sqrt(np.nanvar(v, 1, ddof=1) / (~np.isnan(v)).sum(1)) for v in values]
    df = np.stack([(~np.isnan(v)).sum(1) - 1 for v in values], axis=1)
    found, allowed = share(2 * stats.t.sf(np.abs(np.stack(t, axis=1)), df) <= 0.05)
    assert found == pytest.approx(0.079, abs=allowed)
    assert found > 0.06


def test_participants_alone_claim_too_often_about_other_items_most_of_all_in_the_mean_over_methods():
    alone, allowed = share(
        np.stack([claims.change(parts(), m, "fixed").p for m in range(METHODS)], axis=1) <= 0.05
    )
    assert alone == pytest.approx(0.064, abs=allowed)
    everybody, allowed = share(claims.overall(parts(), "fixed").p <= 0.05)
    assert everybody == pytest.approx(0.115, abs=allowed)


def test_the_bootstrap_of_participants_and_items_hardly_ever_claims():
    excluded = [
        not found.low <= 0 <= found.high
        for study in range(100)
        for found in pigeonhole(rows_of(study), pairs=[], replicates=256, seed=study)
    ]
    assert np.mean(excluded) < 0.02
