"""The two components of variance: by hand, against loops over pairs, against analysis of variance, and unbiased."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from verax.stats.crossed.claims import Stratum, blocks_of, components

HAND = np.array([[1, 0, 0], [1, 1, 0], [0, 0, -1], [1, 0, 0]], dtype=float)


def of_table(values, method, n_methods=None):
    """The components of one study without strata."""
    method = np.asarray(method)
    values = np.asarray(values, dtype=float)
    batch = values if values.ndim == 3 else values[None]
    return components([Stratum(np.arange(len(method)), batch)], method, n_methods or int(method.max()) + 1)


def by_loops(values, method):
    """The formulas as they are printed, one pair at a time."""
    seen = ~np.isnan(values)
    number = seen.sum(axis=1)
    mean = np.nansum(values, axis=1) / number
    residual = np.where(seen, np.nan_to_num(values) - mean[:, None], 0)
    sums = {"within": [0, 0], "between": [0, 0], "overall": [0, 0]}
    people = range(len(values))
    for u in people:
        for v in people:
            if u == v:
                continue
            common = (seen[u] & seen[v]).sum()
            factor = common * (1 - 1 / number[u] - 1 / number[v] + common / (number[u] * number[v]))
            for kind in ("within" if method[u] == method[v] else "between", "overall"):
                sums[kind][0] += (residual[u] * residual[v]).sum()
                sums[kind][1] += factor
    overlap = {
        m: np.mean(
            [
                (seen[u] & seen[v]).sum() / (number[u] * number[v])
                for u in people
                for v in people
                if u != v and method[u] == method[v] == m
            ]
        )
        for m in sorted(set(method))
    }
    total = (residual**2).sum() / (number - 1).sum()
    return {kind: above / below for kind, (above, below) in sums.items()}, overlap, total


def test_by_hand():
    found = of_table(HAND, [0, 0, 1, 1])
    (part,) = found.parts
    assert found.score[0] == pytest.approx([1 / 3, 2 / 3, -1 / 3, 1 / 3])
    assert found.mean[0, 0] == pytest.approx([0.5, 0])
    assert found.variance[0, 0] == pytest.approx([0.055556, 0.222222], abs=1e-6)
    assert (found.pooled[0], found.pooled_df[0]) == (pytest.approx(0.138889, abs=1e-6), 2)
    assert (part.within[0], part.between[0]) == pytest.approx((0.166667, 0.25), abs=1e-6)
    assert (part.total[0], part.load[0]) == pytest.approx((0.333333, 2), abs=1e-6)
    assert part.overlap[0] == pytest.approx(np.full((2, 2), 1 / 3))
    assert (part.items, part.methods) == (3, 2)


@pytest.mark.parametrize("seed", range(4))
def test_equal_to_loops_over_pairs_with_missing_answers(seed):
    rng = np.random.default_rng(seed)
    method = np.repeat([0, 1, 2], [3, 5, 4])
    values = rng.integers(-1, 2, (12, 9)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, 0] = 1.0  # nobody is without a score
    expected, overlap, total = by_loops(values, method)
    found = of_table(values, method)
    (part,) = found.parts
    assert part.within[0] == pytest.approx(expected["within"], rel=1e-12)
    assert part.between[0] == pytest.approx(expected["between"], rel=1e-12)
    assert part.overall[0] == pytest.approx(expected["overall"], rel=1e-12)
    assert part.overlap[0].diagonal() == pytest.approx(list(overlap.values()), rel=1e-12)
    assert part.total[0] == pytest.approx(total, rel=1e-12)
    assert found.variance[0, 0] == pytest.approx(
        [np.nanmean(values[method == m], axis=1).var(ddof=1) for m in range(3)]
    )


def test_all_pairs_of_complete_data_give_the_component_of_two_way_analysis_of_variance():
    values = np.random.default_rng(0).normal(size=(7, 11))
    rows, columns = values.shape
    items = values.mean(axis=0)
    people = values.mean(axis=1)
    mean_square_items = rows * ((items - values.mean()) ** 2).sum() / (columns - 1)
    rest = values - items - people[:, None] + values.mean()
    mean_square_rest = (rest**2).sum() / ((rows - 1) * (columns - 1))
    found = of_table(values, [0, 0, 0, 1, 1, 1, 1]).parts[0].overall[0]
    assert found == pytest.approx((mean_square_items - mean_square_rest) / rows, rel=1e-12)


def test_unbiased_for_items_and_for_items_by_methods_also_with_missing_answers():
    rng = np.random.default_rng(1)
    studies, method, items = 4000, np.repeat([0, 1], 6), 8
    values = (
        rng.normal(0, 0.5, (studies, 12, 1))
        + rng.normal(0, 0.6, (studies, 1, items))
        + rng.normal(0, 0.4, (studies, 2, items))[:, method]
        + rng.normal(0, 1, (studies, 12, items))
    )
    values[rng.random(values.shape) < 0.2] = np.nan
    (part,) = of_table(values, method).parts
    for found, truth in ((part.within, 0.36 + 0.16), (part.between, 0.36)):
        assert found.mean() == pytest.approx(truth, abs=4 * found.std() / np.sqrt(studies))
    # The rest of a cell is 1, and items' part of it shrinks by what is taken off with the participant's mean.
    assert part.total.mean() == pytest.approx(1.52, abs=0.02)


def test_a_batch_is_its_studies_one_by_one():
    rng = np.random.default_rng(2)
    batch = rng.integers(-1, 2, (5, 6, 4)).astype(float)
    batch[rng.random(batch.shape) < 0.2] = np.nan
    method = np.array([0, 0, 0, 1, 1, 1])
    together = of_table(batch, method)
    for number, study in enumerate(batch):
        alone = of_table(study, method)
        assert together.mean[number] == pytest.approx(alone.mean[0])
        assert together.pooled[number] == pytest.approx(alone.pooled[0])
        assert together.parts[0].within[number] == pytest.approx(alone.parts[0].within[0])
        assert together.parts[0].overlap[number] == pytest.approx(alone.parts[0].overlap[0])


def test_a_participant_without_any_answer_counts_nowhere():
    with_nobody = np.vstack([HAND, np.full(3, np.nan)])
    found, expected = of_table(with_nobody, [0, 0, 1, 1, 1]), of_table(HAND, [0, 0, 1, 1])
    assert np.isnan(found.score[0, 4])
    assert found.count[0].tolist() == [[2, 2]]
    assert found.variance[0] == pytest.approx(expected.variance[0])
    for field in ("overlap", "within", "between", "total", "load"):
        assert getattr(found.parts[0], field) == pytest.approx(getattr(expected.parts[0], field))


def test_strata_with_common_participants_are_one_block_also_through_a_third():
    def stratum(*people):
        return Stratum(np.array(people), np.zeros((1, len(people), 2)))

    assert blocks_of([stratum(0, 1), stratum(2, 3), stratum(0, 1)]) == [0, 1, 0]
    assert blocks_of([stratum(0), stratum(1), stratum(0, 1)]) == [0, 0, 0]
    assert blocks_of([stratum(0), stratum(1), stratum(2)]) == [0, 1, 2]


def test_scores_of_strata_with_the_same_participants_are_averaged_first():
    rng = np.random.default_rng(3)
    first, second = rng.integers(-1, 2, (4, 5)).astype(float), rng.integers(-1, 2, (4, 8)).astype(float)
    people, method = np.arange(4), np.array([0, 0, 1, 1])
    found = components([Stratum(people, first[None]), Stratum(people, second[None])], method, 2)
    scores = (first.mean(axis=1) + second.mean(axis=1)) / 2
    assert found.score[0] == pytest.approx(scores)
    assert found.variance[0, 0] == pytest.approx([scores[:2].var(ddof=1), scores[2:].var(ddof=1)])
    assert found.block_weight.tolist() == [1.0]
    # Two participants share half of each test: (1/2)² of the overlap of that test alone.
    assert [part.overlap[0, 0, 0] for part in found.parts] == pytest.approx([1 / 4 / 5, 1 / 4 / 8])


@pytest.mark.parametrize("value", [1.0, 0.1, 1 / 3])
def test_equal_scores_have_a_variance_of_exactly_zero(value):
    values = np.full((6, 49), value)
    values[0, :7] = np.nan
    found = of_table(values, [0, 0, 0, 1, 1, 1])
    assert found.pooled[0] == 0
    assert found.parts[0].within[0] == 0
    assert found.parts[0].total[0] == 0


def test_memory_grows_with_participants_and_not_with_their_square():
    rng = np.random.default_rng(0)
    people, items = 10_000, 20
    values = rng.choice([-1.0, 0.0, 1.0, np.nan], size=(1, people, items))
    method = rng.integers(0, 4, people)
    tracemalloc.start()
    try:
        found = components([Stratum(np.arange(people), values)], method, 4)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000  # one number for each pair would take 800 MB
    finally:
        tracemalloc.stop()
    assert found.parts[0].within.shape == (1,)
