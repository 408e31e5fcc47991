"""Fixtures that many tests share."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from helpers import make_texts

# A shell that starts the tests in the background lets them ignore Ctrl-C, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def reviews() -> tuple[list[str], np.ndarray]:
    """Texts that no made-up model was fitted on."""
    return make_texts(30, seed=1)
