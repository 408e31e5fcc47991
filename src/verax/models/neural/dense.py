"""The table model of Hase & Bansal (2020, appendix A.1), after Ribeiro et al. (2018): two hidden layers of 50 units."""

from __future__ import annotations

from torch import Tensor, nn


class DenseNetwork(nn.Module):
    """Hidden layers of rectified units, a score per class.

    Args:
        width: numbers in a row.
        n_classes: how many scores.
        units: of each of the two hidden layers.
    """

    def __init__(self, width: int, n_classes: int, units: int = 50) -> None:
        super().__init__()
        self.settings = {"width": width, "n_classes": n_classes, "units": units}
        self.first = nn.Linear(width, units)
        self.second = nn.Linear(units, units)
        self.output = nn.Linear(units, n_classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Scores of encoded rows."""
        scores: Tensor = self.output(self.features(rows))
        return scores

    def features(self, rows: Tensor) -> Tensor:
        """What the last hidden layer says of each row."""
        hidden: Tensor = self.second(self.first(rows).relu()).relu()
        return hidden
