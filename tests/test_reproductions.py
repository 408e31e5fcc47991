"""What strangers found wrong without a word, as they typed it: each of these failed when it was reported.

Only names that users import stand here, so that the file can be run against any state of the code.
"""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.errors import VeraxError


def marks(found):
    return {row.name: row.sign for row in found.verdict.judged}


@pytest.mark.parametrize("column", list("abcde"))
def test_a_tree_on_one_column_believes_those_that_name_it(column):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 5)), columns=list("abcde"))
    tree = DecisionTreeClassifier().fit(rows, np.where(rows[column] > 0, "y", "n"))
    found = verax.judge(verax.as_model(tree, reference=rows), rows[rows[column] > 0][:8])
    assert (marks(found)["shap"], marks(found)["greedy"]) == ("yes", "yes")


def people():
    rng = np.random.default_rng(0)
    jobs = np.array(["cook", "clerk", np.nan], dtype=object)
    frame = pd.DataFrame({"job": rng.choice(jobs, 60), "age": rng.integers(20, 60, 60).astype(float)})
    return frame, np.where(frame.job.isna(), "yes", "no")


def fitted(frame, labels):
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((encoder, ["job"]), (StandardScaler(), ["age"]))
    return make_pipeline(columns, LogisticRegression()).fit(frame, labels)


def test_a_missing_category_is_asked_for_as_missing():
    frame, labels = people()
    pipeline = fitted(frame, labels)
    model = verax.as_model(pipeline, reference=frame)
    missing = frame[frame.job.isna()][:3]
    (row, *_) = found = verax.explainer("shap", output="log-odds").explain(model, missing)
    assert {explanation.target_name for explanation in found} == {"yes"}
    assert row.scores[0] > 0 > row.details["base"]
    assert np.array_equal(model.predict_proba(missing), pipeline.predict_proba(missing))


def test_tokens_with_white_space_are_the_words_of_the_text(tmp_path):
    text = "the good film"
    made = {"kind": "attribution", "target": 1, "input": text, "features": ["the ", "good ", "film"]}
    path = tmp_path / "made elsewhere.jsonl"
    path.write_text(json.dumps(made | {"scores": [0.0, 5.0, 1.0]}))

    def likes(texts):
        positive = np.array([0.9 if "good" in text.split() else 0.1 for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    model = verax.as_model(likes, class_names=("no", "yes"), kind="text")
    explainer = verax.explainer("precomputed", path=str(path))
    (found,) = explainer.explain(model, [text], [1])
    assert dict(zip(found.features, np.asarray(found.scores).tolist(), strict=True))["good"] == 5.0
    path.write_text(json.dumps(made | {"features": ["le", "bon", "film"], "scores": [0.0, 5.0, 1.0]}))
    with pytest.raises(VeraxError, match="'le' and 'bon'"):
        verax.explainer("precomputed", path=str(path)).explain(model, [text], [1])


@pytest.mark.skipif(find_spec("mglearn") is None, reason="the package mglearn carries the table")
def test_the_first_rows_of_adult_are_many():
    assert len(np.unique(verax.load_dataset("adult").test.inputs[:50], axis=0)) >= 40


def test_redundant_reasons_are_named_and_tested():
    def either(texts):
        positive = np.array([0.95 if {"great", "love"} & set(text.split()) else 0.05 for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    model = verax.as_model(either, class_names=("no", "yes"), kind="text")
    text = "a great film that i love to see again with all my friends"
    assert marks(verax.judge(model, [text], ["greedy", "lime"]))["lime"] == "yes"
    # Greedy alone sees nothing, since no one word is needed; that is said of greedy, not of the model.
    alone = str(verax.judge(model, [text], ["greedy"]))
    assert "greedy names no feature" in alone
    assert "no explanation can be told from chance" not in alone


@pytest.mark.parametrize("named", ["GPT2LMHeadModel", "BertForMaskedLM", "BertModel"])
def test_language_models_are_no_classifiers(named, tmp_path):
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "film"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizer(str(tmp_path / "vocab.txt"))
    if named.startswith("GPT2"):
        config = transformers.GPT2Config(vocab_size=8, n_embd=8, n_layer=1, n_head=2, n_positions=16)
    else:
        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        config = transformers.BertConfig(vocab_size=8, max_position_embeddings=16, **sizes)
    with pytest.raises(VeraxError, match=named):
        verax.as_model(getattr(transformers, named)(config), tokenizer=tokenizer)
