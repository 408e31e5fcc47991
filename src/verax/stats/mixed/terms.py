"""Random effects of a mixed model, and the matrix Z that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Term:
    """Random effects: every level of ``group`` has its own slope of ``covariate``."""

    group: ArrayLike
    covariate: ArrayLike


def random_effects(terms: Sequence[Term]) -> tuple[csr_array, tuple[int, ...]]:
    """Z, with one column per level of each term, and how many levels each term has."""
    codes = [np.unique(np.asarray(term.group), return_inverse=True)[1] for term in terms]
    sizes = tuple(int(code.max()) + 1 for code in codes)
    columns = np.concatenate(
        [code + before for code, before in zip(codes, np.cumsum([0, *sizes]), strict=False)]
    )
    values = np.concatenate([np.asarray(term.covariate, dtype=np.float64) for term in terms])
    rows = np.tile(np.arange(len(codes[0])), len(terms))
    z = csr_array((values, (rows, columns)), shape=(len(codes[0]), sum(sizes)))
    z.eliminate_zeros()
    return z, sizes
