import gzip
from dataclasses import replace

import numpy as np
import pytest
import torch

from verax import load_dataset, load_model, save_model
from verax.data.dataset import Part
from verax.errors import VeraxError
from verax.models import fit_classifier, fit_model
from verax.models.neural import loop
from verax.models.neural.architectures import DenseNetwork
from verax.models.neural.loop import Examples, Schedule, TrainingTask, evaluate, train

QUICK = {"vectors": "trained", "dimensions": 6, "epochs": 2}
SCHEDULE = Schedule(epochs=12, patience=2, batch=16, optimizer="adam", rate=0.02)


def collate(arrays):
    return (torch.from_numpy(np.stack(arrays)),)


def examples(count, seed, weights=None, noise=0.3):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 3)).astype(np.float32)
    labels = (rows[:, 0] + noise * rng.normal(size=count) > 0).astype(np.int64)
    return Examples(list(rows), labels, np.ones(count) if weights is None else weights)


def small_network(seed=0):
    torch.manual_seed(seed)
    return DenseNetwork(3, 2, units=8)


def with_train(data, inputs, labels):
    return replace(data, train=Part(inputs, labels))


def weights_of(model):
    return [tensor.numpy() for tensor in model.network.state_dict().values()]


@pytest.mark.parametrize("name", ["cnn", "bilstm"])
def test_the_same_seed_gives_the_same_network_and_leaves_other_streams_alone(name, word_data):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = fit_model(name, word_data, seed=1, options=QUICK)
    assert torch.equal(torch.rand(3), expected)
    torch.set_num_threads(2)  # the number of threads does not matter either
    try:
        again = fit_model(name, word_data, seed=1, options=QUICK)
    finally:
        torch.set_num_threads(1)
    assert all(map(np.array_equal, weights_of(first), weights_of(again)))
    other = fit_model(name, word_data, seed=2, options=QUICK)
    assert not all(map(np.array_equal, weights_of(first), weights_of(other)))


def test_fixed_vectors_stay_and_others_learn(word_data):
    fixed, learnt = (
        fit_model("cnn", word_data, options=QUICK | {"train_vectors": train_vectors})
        for train_vectors in (False, True)
    )
    start = fit_model("cnn", word_data, options=QUICK | {"epochs": 1}).network.embedding.weight
    assert torch.equal(fixed.network.embedding.weight, start)
    assert not torch.equal(learnt.network.embedding.weight[2:], start[2:])
    assert not learnt.network.embedding.weight[0].any()  # padding is nothing


def test_training_ends_early_and_keeps_the_best_weights():
    network, watched = small_network(), examples(60, 1)
    history = train(
        TrainingTask(
            network, collate, examples(200, 0), watched, replace(SCHEDULE, rate=0.1, epochs=60), 0, "small"
        )
    )
    assert len(history.losses) == history.best + 1 + SCHEDULE.patience < 60
    assert evaluate(network, collate, watched)[0] == pytest.approx(min(history.validation_losses))
    assert not network.training


def test_an_input_counts_by_its_weight(word_data):
    # The same text with both labels: the network's probability is the share of the weights.
    text = "plot film story"
    labels = np.arange(200) % 2
    for weight in (1, 4):
        watched = Part([text] * (weight + 1), np.array([0] + [1] * weight))
        data = replace(word_data, train=Part([text] * 200, labels), validation=watched)
        model = fit_model(
            "cnn", data, sample_weight=np.where(labels == 1, weight, 1), options=QUICK | {"epochs": 20}
        )
        assert model.predict_proba([text])[0, 1] == pytest.approx(weight / (weight + 1), abs=0.05)
        assert model.record.weighted == (weight > 1)


def test_an_input_of_weight_0_is_not_seen(word_data):
    texts, labels = word_data.train.inputs, word_data.train.labels
    seen = np.arange(len(texts)) < 120
    weighted = fit_model("cnn", word_data, sample_weight=seen.astype(float), options=QUICK)
    without = fit_model("cnn", with_train(word_data, texts[:120], labels[:120]), options=QUICK)
    assert all(map(np.array_equal, weights_of(weighted), weights_of(without)))
    assert weighted.record.inputs == 120


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.full(200, np.nan), "Row 0 has the weight nan"),
        (np.ones(3), "200 rows but weights of shape"),
        (np.arange(200) % 2, r"No row \(of weight above 0\) has the class 0 of 2"),
    ],
)
def test_weights_that_do_not_fit_are_told(word_data, weights, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fit_model("cnn", word_data, sample_weight=weights, options=QUICK)


def test_without_a_validation_part_some_training_inputs_are_watched(word_data):
    empty = replace(word_data, validation=Part([], np.empty(0, dtype=np.int64)))
    assert fit_model("cnn", empty, options=QUICK).record.validation_accuracy > 0.4
    few = with_train(empty, word_data.train.inputs[:4], word_data.train.labels[:4])
    with pytest.raises(
        VeraxError, match="has no validation part to watch, and a tenth of its 4 training inputs"
    ):
        fit_model("cnn", few, options=QUICK | {"dimensions": 1})


def test_ratings_are_learnt_as_the_second_class(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3)).astype(np.float32)
    ratings = 1 / (1 + np.exp(-2 * rows[:, 1].astype(float)))
    rated = Examples(list(rows), ratings, np.ones(400))
    network = small_network()
    train(TrainingTask(network, collate, rated, rated, replace(SCHEDULE, epochs=60, patience=10), 0, "rater"))
    with torch.inference_mode():
        said = torch.softmax(network(torch.from_numpy(rows)), dim=1)[:, 1].numpy()
    assert np.mean((said - ratings) ** 2) < 0.02 * np.var(ratings)
    assert evaluate(network, collate, rated)[0] == pytest.approx(np.mean((said - ratings) ** 2), rel=1e-4)


def test_a_loss_that_is_not_finite_is_told():
    wild = replace(SCHEDULE, optimizer="sgd", rate=1e30)
    with pytest.raises(VeraxError, match=r"'small' did not learn: its loss is not finite after epoch 1"):
        train(TrainingTask(small_network(), collate, examples(200, 0), examples(60, 1), wild, 0, "small"))


def test_what_was_done_is_written_down(cnn, word_data):
    record = cnn.record
    assert (record.model, record.dataset, record.dataset_hash) == ("cnn", "films", word_data.hash)
    assert (record.inputs, record.weighted, record.rated, record.seed) == (200, False, False, 0)
    assert 1 <= record.best_epoch <= record.epochs <= 15
    right = cnn.predict_proba(word_data.validation.inputs).argmax(axis=1) == word_data.validation.labels
    assert record.validation_accuracy == right.mean()


def test_each_epoch_is_told_on_a_terminal_only(monkeypatch, capsys):
    train(
        TrainingTask(
            small_network(),
            collate,
            examples(40, 0),
            examples(20, 1),
            replace(SCHEDULE, epochs=2),
            0,
            "small",
        )
    )
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(loop.sys.stderr, "isatty", lambda: True)
    history = train(
        TrainingTask(
            small_network(),
            collate,
            examples(40, 0),
            examples(20, 1),
            replace(SCHEDULE, epochs=2),
            0,
            "small",
        )
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[1] == (
        f"small: epoch 2 of at most 2, loss {history.losses[1]:.3f}, "
        f"validation accuracy {history.validation_accuracies[1]:.3f}"
    )


def test_rows_of_numbers_are_not_what_a_network_reads():
    with pytest.raises(
        VeraxError, match="'cnn' reads inputs themselves, not rows of numbers; fit it with fit_model"
    ):
        fit_classifier("cnn", np.ones((4, 2)), [0, 1, 0, 1])


def test_ratings_can_be_asked_of_a_network_that_learnt_some(cnn, word_data):
    with pytest.raises(VeraxError, match="trained on classes, not on ratings"):
        cnn.ratings(["good"])
    rater = replace(cnn, record=replace(cnn.record, rated=True))
    assert np.array_equal(rater.ratings(["good", "bad"]), cnn.predict_proba(["good", "bad"])[:, 1])


def test_ratings_of_published_beer_reviews_are_learnt_end_to_end(tmp_path):
    # Lei et al.'s files: five ratings in [0, 1], a tab, the text; here the words say how the beer looks.
    rng = np.random.default_rng(0)
    looks = {"murky": 0.1, "dull": 0.35, "golden": 0.65, "brilliant": 0.9}
    for name, count in (("train", 300), ("heldout", 60)):
        lines = []
        for number in range(count):
            word = rng.choice(list(looks))
            filler = " ".join(rng.choice(["beer", "glass", "head", "foam", "pours", "with"], 5))
            other = " ".join(f"{value:.2f}" for value in rng.uniform(size=4))
            lines.append(f"{looks[word]:.2f} {other}\tA {word} {filler} {number}")
        path = tmp_path / f"reviews.aspect0.{name}.txt.gz"
        path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    data = load_dataset(tmp_path, format="lei-beer", ratings=True)
    options = {"vectors": "trained", "dimensions": 12, "rate": 0.01, "dropout": 0.0}
    model = fit_model("cnn", data, options=options)
    assert model.record.rated
    assert np.mean((model.ratings(data.test.inputs) - data.test.ratings) ** 2) < 0.01
    # Two classes, and a rating near the middle is no mistake: it is given as it is.
    assert np.allclose(model.predict_proba(["a golden beer"])[0, 1], looks["golden"], atol=0.15)
    save_model(model, tmp_path / "saved")
    assert np.array_equal(
        load_model(tmp_path / "saved").ratings(["a dull beer"]), model.ratings(["a dull beer"])
    )
