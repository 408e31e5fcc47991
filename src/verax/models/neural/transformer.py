"""The networks of the Reverse Turing Test (Gonzalez & Søgaard 2020, section 3): small heads on a frozen transformer.

The paper passes BERT's token representations, not fine-tuned, through an LSTM of 100 units, or takes their mean, and
then through one hidden layer of 100. Here the transformer is MiniLM, whose weights come in a package, or any that was
saved in a folder with its tokenizer, or is at hand as an object of Hugging Face: BERT is one option away.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from verax.arrays import FloatArray
from verax.data.dataset import Dataset
from verax.data.vectors import MINILM, minilm_folder
from verax.errors import VeraxError
from verax.installed import require
from verax.models.neural.encoders import Encoded, PieceEncoder, length_batches
from verax.models.neural.networks import TextNetwork, WordNetwork
from verax.models.neural.recipe import Untrained
from verax.models.neural.representations import Representations, cache_folder
from verax.models.wrappers import check_texts
from verax.run.canonical import canonical
from verax.run.manifest import file_hashes, is_whole, seal
from verax.run.threads import one_thread

Pooling = Literal["mean", "lstm"]
UNITS = 100
# What a pipeline of Hugging Face has.
PARTS = ("model", "tokenizer")


class TransformerHead(nn.Module):
    """From a text's representations to scores: their mean, or an LSTM's last state, then one hidden layer.

    Args:
        pooling: "mean" or "lstm".
        dimensions: of a representation.
        n_classes: how many scores.
    """

    def __init__(self, pooling: Pooling, dimensions: int, n_classes: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(dimensions, UNITS, batch_first=True) if pooling == "lstm" else None
        self.hidden = nn.Linear(UNITS if pooling == "lstm" else dimensions, UNITS)
        self.output = nn.Linear(UNITS, n_classes)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Scores from representations (texts, positions, dimensions)."""
        if self.lstm is None:
            text = mean_of(states, lengths)
        else:
            packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
            text = self.lstm(packed)[1][0][0]
        scores: Tensor = self.output(torch.relu(self.hidden(text)))
        return scores


class TransformerNetwork(WordNetwork):
    """A transformer, never trained here, and a head.

    Args:
        pooling: of the head.
        n_classes: how many scores.
        weights: the folder of a transformer that was saved by Hugging Face; MiniLM if None.
        digest: of those weights when the head was trained on them; another transformer is refused.
    """

    # A saved model holds the head's weights alone; the transformer's stay where they are.
    unsaved = ("backbone.", "embedding.")

    def __init__(
        self, pooling: Pooling, n_classes: int, weights: str | None = None, digest: str | None = None
    ) -> None:
        super().__init__()
        if pooling not in ("mean", "lstm"):
            raise ValueError(f"its pooling is {pooling!r}")
        require("A transformer", "transformers", extra="transformer")
        from transformers import AutoModel

        self.settings: dict[str, object] = {"pooling": pooling, "n_classes": n_classes}
        if weights is not None:
            found = weights_digest(weights)
            if digest not in (None, found):
                raise VeraxError(
                    f"The weights in {weights!r} are not those that this model was trained on; bring them back, or "
                    "train it again."
                )
            self.settings = {**self.settings, "weights": weights, "digest": found}
        self.about = MINILM if weights is None else str(self.settings["digest"])
        with no_progress():
            try:
                backbone = AutoModel.from_pretrained(weights or minilm_folder(), local_files_only=True)
            except (OSError, ValueError) as error:
                raise VeraxError(
                    f"The weights in {weights!r} cannot be read ({' '.join(str(error).split())[:120]}); give a folder "
                    "that save_pretrained of Hugging Face wrote."
                ) from error
        self.backbone = backbone.requires_grad_(False)
        self.embedding = self.backbone.get_input_embeddings()
        self.head = TransformerHead(pooling, int(self.backbone.config.hidden_size), n_classes)

    def from_embedded(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Scores of texts as vectors of their pieces."""
        scores: Tensor = self.head(self.states(vectors, lengths), lengths)
        return scores

    def states(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The representations of pieces: the last layer's."""
        inside = (torch.arange(vectors.shape[1]) < lengths[:, None]).long()
        states: Tensor = self.backbone(inputs_embeds=vectors, attention_mask=inside).last_hidden_state
        return states


def weights_digest(folder: str) -> str:
    """What tells a transformer's weights from others: a hash of the files that hold them."""
    files = sorted(path for path in Path(folder).glob("*") if path.suffix in (".safetensors", ".bin"))
    if not Path(folder, "config.json").is_file() or not files:
        raise VeraxError(
            f"There are no weights in {folder!r}; give a folder that save_pretrained of Hugging Face wrote."
        )
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def folder_of(weights: object) -> str | None:
    """The folder of a transformer's weights, into which objects of Hugging Face are written.

    Args:
        weights: a folder, a transformer with its tokenizer as a pair, or a pipeline that has both; None for MiniLM.
    """
    if weights is None or isinstance(weights, str | Path):
        return None if weights is None else str(weights)
    both: Sequence[Any] = (
        weights if isinstance(weights, tuple | list) else [getattr(weights, name, None) for name in PARTS]
    )
    if len(both) != 2 or not all(hasattr(part, "save_pretrained") for part in both):
        raise VeraxError(
            f"A {type(weights).__name__} has no weights and tokenizer; give a folder that Hugging Face's "
            "save_pretrained wrote, a pair of a transformer and its tokenizer, or a pipeline."
        )
    kept = cache_folder() / "transformers"
    kept.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept) as made, no_progress():
        written = Path(made, "weights")
        for part in both:
            part.save_pretrained(str(written))
        # Not by the weights alone: another tokenizer, or another use of the same weights, is another transformer.
        names = sorted(path.name for path in written.iterdir() if path.is_file())
        content = canonical(file_hashes(written, names), "transformer")
        folder = kept / hashlib.sha256(content.encode()).hexdigest()[:32]
        if not is_whole(folder):  # not there yet, or bytes of it were changed on the disk
            seal(written)
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # another process was faster
                written.rename(folder)
    return str(folder)


@contextmanager
def no_progress() -> Iterator[None]:
    """Without the library's own progress line: weights from a folder are there in a moment."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def mean_of(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean of each text's representations."""
    inside = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
    return (states * inside).sum(dim=1) / lengths[:, None]


def transformer_into(
    pooling: Pooling, max_pieces: int, weights: str | None = None
) -> Callable[[Dataset], Untrained]:
    """What prepares a head on a transformer; representations come from the disk where texts were seen before."""

    def prepare(dataset: Dataset) -> Untrained:
        network = TransformerNetwork(pooling, len(dataset.class_names), weights)
        encoder = PieceEncoder.of_transformer(max_pieces, weights)
        texts = check_texts(dataset.train.inputs)
        model = TextNetwork(network, encoder, dataset.class_names, reference=texts)
        return Untrained(model, network.head, lambda inputs: represent(network, encoder, pooling, inputs))

    return prepare


def represent(
    network: TransformerNetwork, encoder: PieceEncoder, pooling: Pooling, inputs: Sequence[str] | FloatArray
) -> list[Encoded]:
    """What the head reads of each text, in half precision: all its representations, or their mean as a single one."""
    about = f"{network.about} {pooling} {encoder.max_pieces}"

    def compute(texts: Sequence[str]) -> list[Encoded]:
        arrays = encoder.encode(texts)
        made: dict[int, Encoded] = {}
        network.eval()
        with one_thread(), torch.inference_mode():
            for places in length_batches([len(array) for array in arrays], encoder.batch_positions):
                ids, lengths = encoder.collate([arrays[place] for place in places])
                states = network.states(network.embedding(ids), lengths)
                if pooling == "mean":
                    states, lengths = mean_of(states, lengths)[:, None], torch.ones_like(lengths)
                for place, length, rows in zip(places, lengths.tolist(), states.numpy(), strict=True):
                    made[place] = rows[:length].astype(np.float16)
        return [made[place] for place in range(len(texts))]

    return Representations().get(about, check_texts(inputs), compute)
