"""The engine's probabilities beside those of the unmodified network: random masks of some texts, odd ones among them.

Part of perf/neural.py. What is expected comes from the network itself, called as people call it: texts tokenized, padded
in the order they come in, no gradients. A mask that comes several times is asked once on both sides.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from verax.data.words import WORD, split_words
from verax.models.neural.encoders import PADDING, UNKNOWN, PieceEncoder, RowEncoder
from verax.models.neural.networks import TableNetwork, TextNetwork
from verax.perturb import path_for
from verax.perturb.masks import Masks
from verax.perturb.paths.tables import background_rows

# So much of a text is read here, so that the long ones among them are cut.
MOST_WORDS, MOST_PIECES = 150, 24
BATCH = 256
BACKGROUND = 20
ODD = ("", "zqzqz", "zqzqz qqqq zzzz", "...")

Predict = Callable[[Sequence[str]], np.ndarray]


def as_people_write_it(model: TextNetwork, batch: int) -> Predict:
    """The unmodified network: texts to numbers, padded, in batches, without gradients."""
    numbers, limit = model.encoder.numbers, model.encoder.max_words

    def ids(texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        rows = [
            torch.tensor([numbers.get(word.lower(), UNKNOWN) for word in WORD.findall(text)[:limit]])
            for text in texts
        ]
        return padded(rows, PADDING)

    return in_batches(model.network, ids, batch)


def as_people_call_transformers(model: TextNetwork, batch: int) -> Predict:
    """The same of a transformer: its own tokenizer pads, its own embedding reads the numbers."""
    network, tokenizer = model.network, model.encoder.tokenizer

    def ask(ids: Tensor, attention: Tensor) -> Tensor:
        states = network.backbone(input_ids=ids, attention_mask=attention).last_hidden_state
        return network.head(states, attention.sum(dim=1))

    def ids(texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        pieces = tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=model.encoder.max_pieces,
            return_tensors="pt",
        )
        return pieces["input_ids"], pieces["attention_mask"]

    network.eval()
    return in_batches(ask, ids, batch)


def in_batches(
    network: Callable[..., Tensor], ids: Callable[[Sequence[Any]], tuple[Tensor, ...]], batch: int
) -> Callable[[Sequence[Any]], np.ndarray]:
    """Probabilities of so many inputs at a time."""
    if isinstance(network, nn.Module):
        network.eval()

    def predict_proba(inputs: Sequence[Any]) -> np.ndarray:
        with torch.no_grad():
            answers = [
                functional.softmax(network(*ids(inputs[first : first + batch])), dim=1).numpy()
                for first in range(0, len(inputs), batch)
            ]
        return np.concatenate(answers)

    return predict_proba


def padded(rows: Sequence[Tensor], blank: int) -> tuple[Tensor, Tensor]:
    """Rows of several lengths as one tensor, and the lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    table = torch.full((len(rows), max(1, int(lengths.max()))), blank)
    for place, row in zip(table, rows, strict=True):
        place[: len(row)] = row
    return table, lengths


def text_difference(model: TextNetwork, texts: Sequence[str], masks: int, absent: str) -> float:
    """The largest difference between the engine's probabilities and the network's.

    Args:
        model: reads the beginning of a text here.
        texts: the odd ones are added.
        masks: of each text, anywhere between nothing and everything present.
        absent: words are "dropped" or "masked".
    """
    logging.getLogger("verax.models").setLevel(logging.ERROR)  # texts are cut, and that is meant
    pieces = isinstance(model.encoder, PieceEncoder)
    limit = {"max_pieces": MOST_PIECES} if pieces else {"max_words": MOST_WORDS}
    model = replace(model, encoder=replace(model.encoder, **limit))
    call = (as_people_call_transformers if pieces else as_people_write_it)(model, BATCH)
    given = [*ODD, *texts]
    path = path_for(model, absent)
    prepared = path.prepare(given)
    drawn = [random_masks(len(ready.features), masks) for ready in prepared]
    worst = 0.0
    answers = path.evaluate(prepared, map(Masks.from_rows, drawn))
    for text, ready, rows, answer in zip(given, prepared, drawn, answers, strict=True):
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        if absent == "dropped":
            words = split_words(text)
            expected = call([words.keep(np.array(ready.features)[row].tolist()) for row in distinct])
        else:
            expected = masked_answers(model, text, ready.features, distinct)
        worst = max(worst, largest(answer.probabilities, expected[inverse.reshape(-1)]))
    return worst


def masked_answers(model: TextNetwork, text: str, features: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """What the network says where words' vectors are zeros, or where all pieces of a word are the mask."""
    (ids,), (places,) = model.encoder.encode([text]), model.encoder.word_places([text])
    words = split_words(text).words
    feature = {word: number for number, word in enumerate(features)}
    of = np.array([feature[words[place]] if place >= 0 else len(features) for place in places], dtype=int)
    always = np.ones((len(rows), 1), dtype=bool)
    there = torch.from_numpy(np.concatenate([rows, always], axis=1)[:, of])
    whole = torch.from_numpy(ids)
    network = model.network
    if isinstance(model.encoder, PieceEncoder):
        mask = model.encoder.tokenizer.mask_token_id

        def ask(kept: Tensor) -> Tensor:
            read = torch.where(kept, whole, mask)
            states = network.backbone(input_ids=read, attention_mask=torch.ones_like(read)).last_hidden_state
            return network.head(states, torch.full((len(kept),), len(whole)))

    else:

        def ask(kept: Tensor) -> Tensor:
            vectors = network.embedding(whole) * kept[:, :, None]
            if not len(whole):  # an empty text is a position of nothing
                vectors = torch.zeros(len(kept), 1, vectors.shape[2])
            return network.from_embedded(vectors, torch.full((len(kept),), len(whole)))

    return in_batches(ask, lambda some: (some,), BATCH)(there)


def table_difference(model: TableNetwork, rows: np.ndarray, masks: int) -> float:
    """The same for rows of a table: an absent column takes each background row's value, and answers are averaged."""
    assert model.reference is not None
    assert isinstance(model.encoder, RowEncoder)
    model = replace(model, reference=model.reference[:BACKGROUND])
    background = background_rows(model)
    call = in_batches(model.network, lambda some: model.encoder.collate(model.encoder.encode(some)), 4096)
    path = path_for(model)
    prepared = path.prepare(rows)
    drawn = [random_masks(rows.shape[1], masks) for _ in rows]
    worst = 0.0
    for row, present, answer in zip(
        rows, drawn, path.evaluate(prepared, map(Masks.from_rows, drawn)), strict=True
    ):
        distinct, inverse = np.unique(present, axis=0, return_inverse=True)
        variants = np.where(distinct[:, None, :], row, background).reshape(-1, len(row))
        expected = call(variants).astype(float).reshape(len(distinct), len(background), -1).mean(axis=1)
        worst = max(worst, largest(answer.probabilities, expected[inverse.reshape(-1)]))
    return worst


def random_masks(features: int, count: int) -> np.ndarray:
    """Anywhere between nothing and everything present."""
    rng = np.random.default_rng(features)
    return rng.random((count, features)) < rng.random((count, 1))


def largest(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference; what is not a number counts as the largest of all."""
    return float(np.nan_to_num(np.abs(found - expected), nan=np.inf).max())
