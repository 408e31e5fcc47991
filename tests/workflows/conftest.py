"""Made-up reviews as a DataFrame."""

from __future__ import annotations

import pandas as pd
import pytest

from helpers import make_texts


@pytest.fixture(scope="session")
def frame():
    """900 reviews with their labels."""
    texts, labels = make_texts(900, seed=8, length=14)
    return pd.DataFrame({"text": [f"{text} {n % 97}" for n, text in enumerate(texts)], "label": labels})
