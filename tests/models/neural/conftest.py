"""Small networks, trained once per test process and shared."""

import numpy as np
import pytest

from verax.data.dataset import Dataset, Part
from verax.models import fit_model

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

FILLER = [
    "film",
    "plot",
    "the",
    "actor",
    "scene",
    "story",
    "with",
    "about",
    "some",
    "of",
    "its",
    "own",
    "slow",
    "quick",
]


def make_part(count, seed):
    """Texts in which "good" and "fine", or "bad" and "poor", decide among words that do not."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    telling = (("bad", "poor"), ("good", "fine"))
    words = [[*rng.choice(FILLER, rng.integers(2, 9)), rng.choice(telling[label])] for label in labels]
    return Part([" ".join(rng.permutation(row)) for row in words], labels.astype(np.int64))


@pytest.fixture(scope="session")
def word_data():
    return Dataset(
        "films", "text", ("negative", "positive"), make_part(200, 0), make_part(40, 1), make_part(60, 2)
    )


@pytest.fixture(scope="session")
def cnn(word_data):
    return fit_model(
        "cnn", word_data, options={"vectors": "trained", "dimensions": 12, "epochs": 15, "dropout": 0.0}
    )


@pytest.fixture(scope="session")
def bilstm(word_data):
    return fit_model("bilstm", word_data, options={"vectors": "trained", "dimensions": 12, "rate": 0.3})


@pytest.fixture(scope="session")
def rationale(word_data):
    return fit_model(
        "rationale", word_data, options={"dimensions": 12, "share": 0.25, "epochs": 14, "rate": 0.01}
    )


@pytest.fixture(scope="session")
def dense(mixed_data):
    return fit_model("mlp-2x50", mixed_data)


@pytest.fixture(params=["cnn", "bilstm", "rationale"])
def text_network(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["cnn", "bilstm", "rationale", "dense"])
def network(request):
    return request.getfixturevalue(request.param)
