"""Decision trees: what they mimic, what they name, and when they learn."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

import verax
from verax.errors import VeraxError
from verax.explain.checks import check_explainer
from verax.explain.inside import filter_trees, learned
from verax.explain.inside.cnn_arrays import CnnArrays
from verax.explain.inside.filter_trees import LEAF, FilterTree, filter_features
from verax.explain.inside.filters import DecisionTrees
from verax.explain.inside.learned import ReferenceAnswers

torch = pytest.importorskip("torch")


def responses_of(model, texts):
    """What the filters respond at each place, by the network's own layers."""
    ids, lengths = model.encoder.collate(model.encoder.encode(texts))
    with torch.no_grad():
        return model.network.responses(model.network.embedding(ids), lengths).numpy()


def features_of(model, texts):
    """The strongest response of each filter."""
    return responses_of(model, texts).max(axis=2)


def test_features_are_the_strongest_responses(cnn, texts):
    found = filter_features(cnn, CnnArrays.from_network(cnn.network), texts)
    assert found == pytest.approx(features_of(cnn, texts), abs=1e-6)


def test_the_trees_mimic_the_network(cnn, film_data):
    trees = DecisionTrees().trees(cnn)
    features = features_of(cnn, film_data.test.inputs)
    said = np.stack([tree.chances(features) for tree in trees.trees]).argmax(axis=0)
    predicted = cnn.predict_proba(film_data.test.inputs).argmax(axis=1)
    assert f1_score(predicted, said, average="macro") > 0.8
    assert trees.fidelity > 0.8


def test_spliced_texts_are_the_beginning_of_one_text_and_the_end_of_another():
    texts = ["a fine, own plot", "x y z", ""]
    new = filter_trees.spliced(texts, 4, 3)
    assert new == filter_trees.spliced(texts, 4, 3) != filter_trees.spliced(texts, 4, 4)
    assert len(new) == 4 * len(texts)
    words = [text.replace(",", "").split() for text in texts]
    beginnings = {tuple(each[:cut]) for each in words for cut in range(len(each) + 1)}
    endings = {tuple(each[cut:]) for each in words for cut in range(len(each) + 1)}
    possible = {(*one, *other) for one in beginnings for other in endings}
    assert {tuple(text.replace(",", "").split()) for text in new} <= possible
    assert filter_trees.spliced(texts, 0, 3) == []


def test_a_tree_answers_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    features = rng.random((300, 4)).astype(np.float32).astype(float)
    is_class = (features[:, 0] > 0.5) ^ (features[:, 1] > 0.3)
    tree = filter_trees._tree(features, is_class, 0)
    theirs = DecisionTreeClassifier(random_state=0).fit(features, is_class)
    fresh = rng.random((200, 4)).astype(np.float32).astype(float)
    assert tree.chances(fresh).tolist() == theirs.predict_proba(fresh)[:, 1].tolist()
    assert (tree.nodes, tree.leaves, tree.depth) == (
        theirs.tree_.node_count, theirs.get_n_leaves(), theirs.get_depth() + 1
    )  # fmt: skip


def test_pruning_joins_leaves_that_do_not_help():
    """The root asks for filter 0, its right child for filter 1, which other inputs do not confirm."""
    grown = FilterTree(*map(np.array, ([1, LEAF, 3, LEAF, LEAF], [2, LEAF, 4, LEAF, LEAF], [0, 0, 1, 0, 0],
                                 [0.5, 0.0, 0.5, 0.0, 0.0], [0.5, 0.0, 0.9, 1.0, 0.2])))  # fmt: skip
    others = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    kept = filter_trees._pruned(grown, others, np.array([False, True, True, True]))
    assert (kept.left.tolist(), kept.right.tolist()) == ([1, LEAF, LEAF], [2, LEAF, LEAF])
    assert kept.chance.tolist() == [0.5, 0.0, 0.9]
    whole = filter_trees._pruned(grown, others, np.array([False, True, False, False]))
    assert whole.nodes == 5


def test_only_thresholds_that_are_passed_count_and_the_side_is_the_correlated_class(cnn, film_data):
    texts = list(film_data.test.inputs)
    found = verax.explainer("decision-trees", count=10).explain(cnn, texts)
    trees, arrays = DecisionTrees().trees(cnn), CnnArrays.from_network(cnn.network)
    features = filter_features(cnn, arrays, texts)
    grown_on = ReferenceAnswers.from_model(cnn, "decision-trees").parts(0, 0.7, 0.15)[0]
    seen = [list(cnn.reference)[place] for place in grown_on]
    with np.errstate(invalid="ignore"):  # some filters never respond
        correlations = np.corrcoef(np.column_stack([features_of(cnn, seen), cnn.scores(seen)]), rowvar=False)
    named = 0
    for row, each in zip(features, found, strict=True):
        tree, node, order = trees.trees[each.target], 0, {1: 0, -1: 0}
        while tree.left[node] != LEAF:
            filter_number = tree.feature[node]
            above = row[filter_number] > tree.threshold[node]
            if above:
                by_class = correlations[filter_number, -2:]
                sign = 1 if by_class[each.target] == by_class.max() else -1
                side = each.evidence if sign > 0 else each.counter_evidence
                part = side[order[sign]]
                order[sign] += 1
                assert part.score == pytest.approx(sign / order[sign])
                response = responses_of(cnn, [part.text])[0, filter_number, 0]
                assert response == pytest.approx(row[filter_number], abs=1e-5)  # this n-gram it was
                named += 1
            node = (tree.right if above else tree.left)[node]
        assert (len(each.evidence), len(each.counter_evidence)) == (order[1], order[-1])
    assert named > 20


def test_the_details_hold_what_the_paper_tells_of_trees(cnn, film_data):
    (found,) = verax.explainer("decision-trees").explain(cnn, list(film_data.test.inputs)[:1])
    tree = DecisionTrees().trees(cnn).trees[found.target]
    assert found.details["nodes"] == tree.nodes == 2 * tree.leaves - 1
    assert {"fidelity", "depth", "leaves", "fragments"} <= set(found.details)


def test_it_learns_once_per_model_and_seed(cnn, monkeypatch):
    lessons = []
    grow = filter_trees.grow
    monkeypatch.setattr(filter_trees, "grow", lambda *given: lessons.append(given[3]) or grow(*given))
    model = dataclasses.replace(cnn, reference=list(cnn.reference)[:200])
    for text in ("good film", "bad film"):
        DecisionTrees(seed=3).explain(model, [text])
        DecisionTrees(seed=3, count=1).explain(model, [text])
    assert lessons == [3]
    DecisionTrees(seed=4).explain(model, ["good film"])
    assert lessons == [3, 4]
    again = dataclasses.replace(model)  # another object, as after a restart: from disk
    assert DecisionTrees(seed=3).explain(again, ["good film"]) == DecisionTrees(seed=3).explain(
        model, ["good film"]
    )
    assert lessons == [3, 4]
    DecisionTrees(seed=3, spliced=1).explain(model, ["good film"])
    assert lessons == [3, 4, 3]


def test_a_file_that_is_not_whole_is_learned_again(cnn, tmp_path, monkeypatch):
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path))
    model = dataclasses.replace(cnn, reference=list(cnn.reference)[:150])
    first = DecisionTrees().explain(model, ["a good film"])
    (kept,) = (tmp_path / "learned").glob("*.npz")
    whole = kept.read_bytes()
    for damaged in (
        whole[:100],
        b"",
        *(whole[:n] + bytes([whole[n] ^ 4]) + whole[n + 1 :] for n in range(40, 200, 7)),
    ):
        kept.write_bytes(damaged)
        assert learned._stored(kept) is None
    assert DecisionTrees().explain(dataclasses.replace(model), ["a good film"]) == first
    assert learned._stored(kept) is not None


def test_the_oldest_go_when_the_folder_is_full(tmp_path, monkeypatch):
    import os

    def keep(number):
        path = tmp_path / f"{number}.npz"
        learned._keep(path, {"numbers": np.random.default_rng(number).random(1000)})
        os.utime(path, (number, number))

    monkeypatch.setattr(learned, "MAX_BYTES", 25_000)
    for number in range(1, 6):
        keep(number)
    assert sorted(path.stem for path in tmp_path.glob("*.npz")) == ["3", "4", "5"]


def test_the_contract(cnn):
    check_explainer(verax.explainer("decision-trees"), model=cnn)


def test_a_class_that_is_never_predicted_is_a_sentence(cnn):
    texts = list(cnn.reference)
    predicted = cnn.predict_proba(texts).argmax(axis=1)
    one_sided = dataclasses.replace(
        cnn, reference=[text for text, guess in zip(texts, predicted, strict=True) if guess == 1]
    )
    with pytest.raises(VeraxError, match="predicts the class 'negative' for none of the reference texts"):
        verax.explainer("decision-trees").explain(one_sided, ["bad"], ["negative"])
    assert verax.explainer("decision-trees").explain(one_sided, ["good"], ["positive"])[0].evidence == ()


def test_no_reference_is_a_sentence(cnn):
    with pytest.raises(VeraxError, match="needs inputs that the model was trained on"):
        verax.explainer("decision-trees").explain(dataclasses.replace(cnn, reference=None), ["good"])
