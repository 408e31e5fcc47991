"""A test of lower precision, run as a program of its own: it may end where the process that asks must not.

A processor, or the machine that imitates one, may announce instructions that end the process which executes them. So
the layers that networks are made of are computed here first, by the same library, in a child. The file imports torch
alone, so that the child starts quickly: ``python probe.py bfloat16 [engine of int8]``.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Iterator

import torch
from torch import Tensor, nn

# The status of a child that lived and computed something else.
WRONG = 3
# Answers may be off by this share of their size: int8 stays below 0.03 on these layers, and zeros are off by 1.
ALLOWED = 0.25
# Texts, positions and width of what the layers read: the library chooses its instructions by them.
SHAPES = ((1, 1, 16), (3, 7, 100), (16, 32, 384), (40, 5, 64), (2, 600, 128))


def reduced(network: nn.Module, precision: str) -> nn.Module:
    """A copy in lower precision: "int8" (linear layers and LSTMs), "bfloat16" or "float16" (everything)."""
    own = copy.deepcopy(network).eval()
    if precision == "bfloat16":
        return own.to(torch.bfloat16)
    if precision == "float16":
        return own.to(torch.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the call will move to another package some day
        made: nn.Module = torch.ao.quantization.quantize_dynamic(  # type: ignore[no-untyped-call]
            own, {nn.Linear, nn.LSTM}, dtype=torch.qint8
        )
    return made


class Feedforward(nn.Module):
    """Word vectors, normalised, through two linear layers to two scores."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.output = nn.Linear(4 * width, 2)

    def forward(self, ids: Tensor) -> Tensor:
        """Scores of texts, from their mean vector and from every vector."""
        vectors = self.norm(self.embedding(ids))
        each = self.output(nn.functional.gelu(self.wide(vectors)))
        whole = self.output(torch.tanh(self.wide(vectors.mean(dim=1))))
        return torch.cat([each.flatten(), whole.flatten()])


class Convolution(nn.Module):
    """Filters over word vectors, and the strongest response of each."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.filters = nn.ModuleList(nn.Conv1d(width, 50, size) for size in (2, 3, 4))

    def forward(self, ids: Tensor) -> Tensor:
        """Responses of texts."""
        columns = self.embedding(ids).transpose(1, 2)
        each = [filters(nn.functional.pad(columns, (0, 3))).relu().amax(dim=2) for filters in self.filters]
        return torch.cat(each, dim=1)


class Recurrence(nn.Module):
    """An LSTM in both directions over texts of unequal lengths."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.lstm = nn.LSTM(width, 50, batch_first=True, bidirectional=True)

    def forward(self, ids: Tensor) -> Tensor:
        """States of texts."""
        lengths = torch.arange(ids.shape[0]) % ids.shape[1] + 1
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(ids), lengths, batch_first=True, enforce_sorted=False
        )
        states: Tensor = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]
        return states


class Attention(nn.Module):
    """A layer of a transformer, with padding."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.heads = 4
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, ids: Tensor) -> Tensor:
        """States of texts, by attention in one call and step by step."""
        vectors = self.embedding(ids)
        shape = (*ids.shape, self.heads, -1)
        query, key, value = (
            layer(vectors).view(shape).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        inside = (torch.arange(ids.shape[1]) < ids.shape[1] // 2 + 1)[None, None, None, :]
        attend = nn.functional.scaled_dot_product_attention
        at_once = attend(query, key, value, attn_mask=inside) + attend(query, key, value)
        fits = query @ key.transpose(2, 3) / (query.shape[3] ** 0.5)
        steps = fits.masked_fill(~inside, -torch.inf).softmax(dim=3) @ value
        return torch.cat([at_once.flatten(), steps.flatten()])


def differences(precision: str) -> Iterator[tuple[str, float]]:
    """How far each sort of layer is from itself in full precision, as a share of the size of its answers."""
    torch.manual_seed(0)
    for texts, positions, width in SHAPES:
        ids = torch.randint(50, (texts, positions))
        for sort in (Feedforward, Convolution, Recurrence, Attention):
            network = sort(width).eval()
            with torch.inference_mode():
                expected, answer = network(ids), reduced(network, precision)(ids).float()
            yield sort.__name__.lower(), off_by(answer, expected)


def off_by(answer: Tensor, expected: Tensor) -> float:
    """The root mean square of the difference, as a share of that of what is expected; NaN for what is no number."""
    return float((answer - expected).square().mean().sqrt() / expected.square().mean().sqrt())


def main(precision: str, engine: str = "") -> int:
    """The exit status: 0 where all layers answer, and about the same."""
    torch.set_num_threads(1)
    if engine:
        torch.backends.quantized.engine = engine
    for sort, difference in differences(precision):
        if not difference <= ALLOWED:
            print(f"{sort}: off by {difference:.2g} of the size of its answers")
            return WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
