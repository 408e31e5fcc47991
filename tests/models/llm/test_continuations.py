"""Prompts read as a tree give what each of them gives alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_language import network, tokenizer, torch
from verax.models.llm.continuations import Continuations, forests, grow

LABELS = (((5,), (7,)), ((5,), (7, 8, 9), (7, 9)))


def alone(model, prompt, label):
    """One forward pass of one sequence, nothing shared, nothing padded."""
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, *label[:-1]]])).logits[0].double().log_softmax(-1)
    return float(sum(logits[len(prompt) - 1 + step, token] for step, token in enumerate(label)))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(("family", "trees"), [("llama", True), ("gpt2", True), ("bloom", False)])
def test_log_probabilities_are_those_of_each_prompt_alone(family, trees, labels):
    model = network(family=family)
    rng = np.random.default_rng(0)
    prefix = tuple(rng.integers(4, 300, 9).tolist())
    asked = Continuations(model, prefix, labels)
    assert asked.trees is trees
    prompts = [prefix + tuple(rng.integers(4, 8, rng.integers(1, 20)).tolist()) for _ in range(30)]
    prompts += [
        tuple(rng.integers(4, 300, 6).tolist()),
        prompts[0],
        prefix,
    ]  # another beginning, a twin, no rest
    found = asked.log_probabilities(prompts)
    expected = [[alone(model, prompt, label) for label in labels] for prompt in prompts]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(asked.one_by_one(prompts), expected, atol=1e-4)
    np.testing.assert_array_equal(found, asked.log_probabilities(prompts))  # states are left as they were


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple), min_size=1, max_size=20))
def test_a_tree_holds_each_sequence_once_and_every_node_sees_its_own_way_only(sequences):
    tree = grow(sequences)
    beginnings = {sequence[:end] for sequence in sequences for end in range(1, len(sequence) + 1)}
    assert len(tree.tokens) == len(beginnings)
    for sequence, way in zip(sequences, tree.ends, strict=True):
        assert tuple(tree.tokens[list(way)]) == sequence
        assert tree.depths[list(way)].tolist() == list(range(len(sequence)))
        assert np.flatnonzero(tree.sees[way[-1]]).tolist() == sorted(way)


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9).map(tuple), max_size=40))
def test_groups_hold_every_sequence_once_and_no_tree_is_too_large(sequences):
    groups = forests(sequences, nodes=12)
    assert sorted(place for group in groups for place in group) == list(range(len(sequences)))
    for group in groups:
        assert len(grow([sequences[place] for place in group]).tokens) <= 12


def test_a_weight_that_changes_changes_the_answer():
    import verax

    model = network()
    asked = verax.as_model(model, tokenizer=tokenizer(), prompt="Review: {text}\nSo:", labels=["good", "bad"])
    before = asked.predict_proba(["a good film"])
    with torch.no_grad():
        model.model.layers[0].mlp.down_proj.weight.mul_(-2.0)
    assert np.abs(asked.predict_proba(["a good film"]) - before).max() > 1e-4
