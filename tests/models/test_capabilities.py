import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from verax.errors import VeraxError
from verax.explain import explainers
from verax.models import as_model, fit_model
from verax.models.capabilities import WORK_ON_ANY_MODEL, ask_for, has


@pytest.fixture
def pipeline(texts):
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(*texts)


@pytest.mark.parametrize(
    ("capability", "meaning"),
    [
        ("scores", "class scores before the softmax"),
        ("gradients", "gradients of its scores with respect to word embeddings"),
        ("layers", "a look at the layers of a network"),
    ],
)
def test_a_missing_capability_names_methods_that_work(pipeline, capability, meaning):
    model = as_model(pipeline)
    assert not has(model, capability)
    with pytest.raises(VeraxError) as told:
        ask_for(model, capability, "lrp")
    assert str(told.value) == (
        f"The method 'lrp' needs {meaning}, which this TextPipeline does not give; "
        "lime, shap and greedy work on any model."
    )


def test_the_methods_that_work_on_any_model_are_there():
    assert set(WORK_ON_ANY_MODEL) <= set(explainers.names())


def test_networks_offer_what_they_have(text_data):
    pytest.importorskip("torch")
    model = fit_model("cnn", text_data, options={"vectors": "trained", "dimensions": 4, "epochs": 1})
    assert all(has(model, capability) for capability in ("scores", "gradients", "layers", "reference"))
    assert ask_for(model, "scores", "lrp").scores(["good"]).shape == (1, 2)
    assert list(ask_for(model, "layers", "lrp").layers())[-1] == "output"


def test_reference_texts_come_with_a_model(texts, text_data, pipeline):
    inputs = texts[0]
    without = as_model(pipeline)
    with pytest.raises(VeraxError, match=r"give some: verax.as_model\(\.\.\., reference=inputs\)"):
        ask_for(without, "reference", "l2x")
    for thing in (pipeline, pipeline.predict_proba):
        model = as_model(thing, reference=inputs)
        assert model.kind == "text"
        assert ask_for(model, "reference", "l2x").reference == inputs
        assert as_model(thing, reference=np.array(inputs), kind="text").reference == inputs
    assert fit_model("logistic", text_data).reference == text_data.train.inputs


def test_reference_texts_of_a_table_are_told(pipeline):
    with pytest.raises(VeraxError, match="reference= holds texts but the model is one of tables"):
        as_model(pipeline, reference=["a", "b"], kind="table")
