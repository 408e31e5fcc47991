"""Estimates with their uncertainty: arrays in, estimates out."""

from verax.stats.estimate import Estimate, mean_interval
from verax.stats.multiplicity import holm
from verax.stats.paired import Difference, paired_differences
from verax.stats.ranks import Ranking, average_ranks

__all__ = [
    "Difference",
    "Estimate",
    "Ranking",
    "average_ranks",
    "holm",
    "mean_interval",
    "paired_differences",
]
