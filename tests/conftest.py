"""Fixtures that many tests share."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import make_texts


@pytest.fixture(scope="session")
def reviews() -> tuple[list[str], np.ndarray]:
    """Texts that no made-up model was fitted on."""
    return make_texts(30, seed=1)
