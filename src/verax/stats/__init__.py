"""Estimates with their uncertainty: arrays in, estimates out.

Every function is shown with one line to run in docs/statistics-library.md. The published analysis of Hase & Bansal
(2020) is a package of its own, `verax.stats.hase2020`.
"""

from verax.stats.agreement import Agreement, fleiss_kappa, krippendorff_alpha
from verax.stats.crossed.between import changes, contrasts, contrasts_with, mean_change
from verax.stats.crossed.result import Crossed
from verax.stats.crossed.within import ConditionResponses, condition_differences, condition_means, met
from verax.stats.estimate import Effect, Estimate, binomial_share, mean_interval
from verax.stats.logistic import Logistic, logistic, normalised
from verax.stats.means import Sharing, any_share, mean_share, sharing, spread_of_mean
from verax.stats.mixed.differences import LogisticEffect, linear_differences, logistic_differences
from verax.stats.mixed.laplace import LogisticMixed, fit_logistic
from verax.stats.mixed.linear import LinearMixed, Term, fit_linear, linear_changes, linear_contrasts
from verax.stats.power import (
    Design,
    Detectable,
    Power,
    Simulated,
    Spreads,
    detectable_effect,
    needed_participants,
    power,
    simulate,
)
from verax.stats.rank_correlations import Needed, RankCorrelation, methods_needed, rank_correlation
from verax.stats.ranks import Ranking, RankTest, average_ranks, mann_whitney
from verax.stats.responses import Responses, responses
from verax.stats.tests.differences import (
    Difference,
    Equivalence,
    detectable,
    equivalence,
    joint_differences,
    paired_differences,
)
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.permutation import Permutation, label_permutation, sign_flip

__all__ = [
    "Agreement",
    "ConditionResponses",
    "Crossed",
    "Design",
    "Detectable",
    "Difference",
    "Effect",
    "Equivalence",
    "Estimate",
    "LinearMixed",
    "Logistic",
    "LogisticEffect",
    "LogisticMixed",
    "Needed",
    "Permutation",
    "Power",
    "RankCorrelation",
    "RankTest",
    "Ranking",
    "Responses",
    "Sharing",
    "Simulated",
    "Spreads",
    "Term",
    "any_share",
    "average_ranks",
    "binomial_share",
    "changes",
    "condition_differences",
    "condition_means",
    "contrasts",
    "contrasts_with",
    "detectable",
    "detectable_effect",
    "equivalence",
    "fit_linear",
    "fit_logistic",
    "fleiss_kappa",
    "holm",
    "joint_differences",
    "krippendorff_alpha",
    "label_permutation",
    "linear_changes",
    "linear_contrasts",
    "linear_differences",
    "logistic",
    "logistic_differences",
    "mann_whitney",
    "mean_change",
    "mean_interval",
    "mean_share",
    "met",
    "methods_needed",
    "needed_participants",
    "normalised",
    "paired_differences",
    "power",
    "rank_correlation",
    "responses",
    "sharing",
    "sign_flip",
    "simulate",
    "spread_of_mean",
]
