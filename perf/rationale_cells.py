"""What the cells of a rationale model's selecting half cost: filters, as Verax has them, and two kinds of recurrent ones.

    .venv/bin/python perf/rationale_cells.py     # seconds

The processor's time of one step of training (forward and back) of the half that selects, on 64 texts of 20 words and of
200. "RCNN" are the recurrent convolution cells of Lei et al. (2016), which the paper uses: two words wide, with a gate.
All read in both directions with 32 units each, or with 64 filters. Accuracy is no part of this: see docs/rationale.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

TEXTS, DIMENSIONS, UNITS = 64, 50, 32
LENGTHS = (20, 200)
STEPS = 10


class Rcnn(nn.Module):
    """One direction of recurrent convolution cells, walked through word by word."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(DIMENSIONS + UNITS, UNITS)
        self.first = nn.Linear(DIMENSIONS, UNITS, bias=False)
        self.second = nn.Linear(DIMENSIONS, UNITS)

    def forward(self, vectors: Tensor) -> Tensor:
        one, two, state = (vectors.new_zeros(len(vectors), UNITS) for _ in range(3))
        firsts, seconds = self.first(vectors), self.second(vectors)
        states = []
        for place in range(vectors.shape[1]):
            gate = torch.sigmoid(self.gate(torch.cat([vectors[:, place], state], dim=1)))
            two = gate * two + (1 - gate) * (one + seconds[:, place])
            one = gate * one + (1 - gate) * firsts[:, place]
            state = torch.tanh(two)
            states.append(state)
        return torch.stack(states, dim=1)


def filters() -> Callable[[Tensor], Tensor]:
    """Three words at a time."""
    layer = nn.Conv1d(DIMENSIONS, 2 * UNITS, 3, padding=1)
    return lambda vectors: torch.relu(layer(vectors.transpose(1, 2))).transpose(1, 2)


def gru() -> Callable[[Tensor], Tensor]:
    """As PyTorch has it."""
    layer = nn.GRU(DIMENSIONS, UNITS, batch_first=True, bidirectional=True)
    return lambda vectors: layer(vectors)[0]


def rcnn() -> Callable[[Tensor], Tensor]:
    """Both directions."""
    ahead, back = Rcnn(), Rcnn()
    return lambda vectors: torch.cat([ahead(vectors), back(vectors.flip(1)).flip(1)], dim=2)


def seconds(cells: Callable[[Tensor], Tensor], words: int) -> float:
    """The processor's seconds of one step, the fastest of some."""
    taken = []
    for _ in range(STEPS):
        vectors = torch.randn(TEXTS, words, DIMENSIONS, requires_grad=True)
        started = time.process_time()
        torch.autograd.backward(cells(vectors).sum())
        taken.append(time.process_time() - started)
    return min(taken)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("| cells | " + " | ".join(f"{words} words, ms" for words in LENGTHS) + " |\n|---|---|---|")
    for name, made in (("filters of three words", filters), ("GRU", gru), ("RCNN", rcnn)):
        times = [1000 * seconds(made(), words) for words in LENGTHS]
        print(f"| {name} | " + " | ".join(f"{each:.1f}" for each in times) + " |")


if __name__ == "__main__":
    main()
