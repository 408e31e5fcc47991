"""DeepLIFT: on paper, against captum, and its sum."""

import numpy as np
import pytest
from captum.attr import DeepLift as CaptumDeepLift

import verax
from verax.errors import VeraxError
from verax.explain.checks import check_explainer

torch = pytest.importorskip("torch")
nn = torch.nn


def test_on_paper(by_hand):
    """The reference scores 2.5; the filters move the unit by 2 and 1, the second of them by 3 words' worth of 2."""
    (found,) = verax.explainer("deeplift").explain(by_hand, ["good bad"], ["yes"])
    assert found.scores.tolist() == [4.0, 2.0]
    assert found.details == {"rule": "rescale", "score": 8.5, "reference": 2.5}


def test_contributions_add_up_to_the_difference(cnn, texts):
    for target in (0, 1):
        found = verax.explainer("deeplift").explain(cnn, texts, [target] * len(texts))
        for text, each, row in zip(texts, found, cnn.scores(texts), strict=True):
            (embedded,) = cnn.embed([text])
            empty = type(embedded)(text, np.zeros_like(embedded.vectors), embedded.word_of)
            difference = row[target] - cnn.scores_from([empty])[0, target]
            assert each.scores.sum() == pytest.approx(difference, abs=1e-5)


class OfModules(nn.Module):
    """The same network for captum, which hooks into modules: pooling and each rectifier are modules of their own."""

    def __init__(self, network, length):
        super().__init__()
        self.filters = network.filters
        self.pads = nn.ModuleList(nn.ConstantPad1d((0, width - 1), 0.0) for width in network.widths)
        self.rectifiers = nn.ModuleList(nn.ReLU() for _ in network.widths)
        self.pools = nn.ModuleList(nn.MaxPool1d(length) for _ in network.widths)
        self.hidden, self.last, self.output = network.hidden, nn.ReLU(), network.output

    def forward(self, vectors):
        columns = vectors.transpose(1, 2)
        strongest = [
            pool(rectifier(filters(pad(columns)))).squeeze(2)
            for pool, rectifier, filters, pad in zip(
                self.pools, self.rectifiers, self.filters, self.pads, strict=True
            )
        ]
        return self.output(self.last(self.hidden(torch.cat(strongest, dim=1))))


@pytest.mark.filterwarnings("ignore")
def test_contributions_are_captums(cnn, film_data):
    """Where biases are not positive: captum gives the first word what a lower maximum than the reference's lost."""
    import copy

    network = copy.deepcopy(cnn.network)
    with torch.no_grad():
        for filters in network.filters:
            filters.bias.copy_(-filters.bias.abs())
    model = type(cnn)(network, cnn.encoder, cnn.class_names)
    # A text that repeats no word has no two equal responses to choose from.
    texts = [text for text in film_data.test.inputs if len(set(text.split())) == len(text.split())]
    for text in texts[:15]:
        (embedded,) = model.embed([text])
        vectors = torch.from_numpy(embedded.vectors).double()[None]
        theirs = CaptumDeepLift(OfModules(copy.deepcopy(network).double(), vectors.shape[1])).attribute(
            vectors, torch.zeros_like(vectors), target=1
        )
        (found,) = verax.explainer("deeplift").explain(model, [text], [1])
        assert found.scores == pytest.approx(theirs[0].sum(dim=1).detach().numpy(), rel=1e-5, abs=1e-7)


def test_the_contract(cnn):
    check_explainer(verax.explainer("deeplift"), model=cnn)


def test_another_network_is_told_what_works(bilstm):
    with pytest.raises(VeraxError, match=r"filters of the network 'cnn'.*lrp, gradient-x-input, integrated"):
        verax.explainer("deeplift").explain(bilstm, ["good"])
