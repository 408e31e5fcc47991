"""What a model cannot give is a sentence that names methods which work for it."""

import pytest
from sklearn.ensemble import RandomForestClassifier

import verax
from helpers import fitted
from verax.errors import VeraxError

torch = pytest.importorskip("torch")

INSIDE = ["lrp", "deeplift", "grad-cam-text", "decision-trees", "gradient-x-input", "integrated-gradients"]


@pytest.mark.parametrize("name", INSIDE)
def test_a_forest_has_nothing_to_look_into(name):
    forest = verax.as_model(fitted(RandomForestClassifier(3, random_state=0)))
    with pytest.raises(
        VeraxError, match=rf"The method '{name}' needs .*lime, shap and greedy work on any model"
    ):
        verax.explainer(name).explain(forest, ["a good film"])


@pytest.mark.parametrize("name", ["deeplift", "grad-cam-text", "decision-trees"])
def test_another_network_is_told_which_methods_work_on_it(name, bilstm):
    with pytest.raises(
        VeraxError, match=r"; lrp, gradient-x-input, integrated-gradients, lime, shap and greedy work on it"
    ):
        verax.explainer(name).explain(bilstm, ["a good film"])


def test_lrp_names_the_networks_that_it_has_rules_for(cnn):
    from verax.models.neural.networks import WordNetwork

    class Sum(WordNetwork):
        """Adds up word vectors."""

        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(4, 2)

        def from_embedded(self, vectors, lengths):
            return vectors.sum(dim=1)

    own = verax.as_model(Sum(), encoder=type(cnn.encoder)(("good", "bad")), class_names=["no", "yes"])
    with pytest.raises(
        VeraxError,
        match=r"has rules for the networks 'cnn' and 'bilstm' and .*, not for this Sum",
    ):
        verax.explainer("lrp").explain(own, ["good"])
    (found,) = verax.explainer("gradient-x-input").explain(own, ["good bad good"], ["yes"])
    vectors = own.network.embedding.weight.detach().numpy()
    assert found.scores == pytest.approx([vectors[2, 1], vectors[3, 1], vectors[2, 1]], rel=1e-5)


def test_tables_are_not_texts(cnn):
    with pytest.raises(VeraxError):
        verax.explainer("lrp").explain(cnn, [[1.0, 2.0]])
