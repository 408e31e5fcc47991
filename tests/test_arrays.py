"""What `verax.arrays` computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import rankdata

from verax.arrays import tied_ranks


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=1, max_dims=3, max_side=7),
        elements=st.sampled_from([-1.0, 0.0, -0.0, 0.5, 2.0]),
    )
)
def test_tied_ranks_are_those_of_scipy(values):
    assert np.array_equal(tied_ranks(values), rankdata(values, axis=-1))


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_of_nothing_there_are_no_ranks(shape):
    assert tied_ranks(np.zeros(shape)).shape == shape
