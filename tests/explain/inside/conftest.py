"""Small networks to look into, trained once per test process, and one made by hand."""

import numpy as np
import pytest

from verax.data.dataset import Dataset, Part
from verax.models import fit_model

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

FILLER = ["film", "plot", "the", "actor", "scene", "story", "with", "about", "some", "of", "its", "own"]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """What is learned here is not left in the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERAX_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def make_part(count, seed):
    """Texts in which "good" and "fine", or "bad" and "poor", decide among words that do not."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    telling = (("bad", "poor"), ("good", "fine"))
    words = [[*rng.choice(FILLER, rng.integers(2, 9)), rng.choice(telling[label])] for label in labels]
    return Part([" ".join(rng.permutation(row)) for row in words], labels.astype(np.int64))


@pytest.fixture(scope="session")
def film_data():
    parts = make_part(500, 0), make_part(60, 1), make_part(80, 2)
    return Dataset("films", "text", ("negative", "positive"), *parts)


@pytest.fixture(scope="session")
def cnn(film_data):
    return fit_model(
        "cnn", film_data, options={"vectors": "trained", "dimensions": 12, "epochs": 8, "dropout": 0.0}
    )


@pytest.fixture(scope="session")
def bilstm(film_data):
    return fit_model(
        "bilstm", film_data, options={"vectors": "trained", "dimensions": 12, "rate": 0.3, "epochs": 6}
    )


@pytest.fixture(scope="session")
def texts(film_data):
    """Texts of several lengths: one without words, one word, unknown and repeated words among them."""
    odd = ["", "good", "... !", "zzz good, and good; not bad", "poor " * 5]
    return [*film_data.test.inputs[:12], *odd]


@pytest.fixture(scope="session")
def by_hand():
    """Two words, two filters of one word, one hidden unit: every number can be worked out on paper.

    "good" is (1, 0) and "bad" is (0, 1). The filters give 2 x and 3 y - 1, the unit adds the first, half of the second
    and 1; the classes' scores are the unit's negative, and twice the unit plus 0.5.
    """
    from verax.models.neural.architectures import CnnNetwork
    from verax.models.neural.encoders import WordEncoder
    from verax.models.neural.networks import TextNetwork

    network = CnnNetwork(4, 2, 2, widths=(1,), filters=2, hidden=1)
    weights = {
        "embedding.weight": [[0, 0], [0, 0], [1, 0], [0, 1]],
        "filters.0.weight": [[[2], [0]], [[0], [3]]],
        "filters.0.bias": [0, -1],
        "hidden.weight": [[1, 0.5]],
        "hidden.bias": [1],
        "output.weight": [[-1], [2]],
        "output.bias": [0, 0.5],
    }
    network.load_state_dict(
        {name: torch.tensor(value, dtype=torch.float32) for name, value in weights.items()}
    )
    return TextNetwork(network, WordEncoder(("good", "bad")), ("no", "yes"), reference=["good bad"] * 4)
