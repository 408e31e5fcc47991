"""Estimates with their uncertainty: arrays in, estimates out.

The published analysis of Hase & Bansal (2020) is a package of its own, `verax.stats.hase2020`.
"""

from verax.stats.agreement import Agreement, fleiss_kappa, krippendorff_alpha
from verax.stats.crossed.between import Crossed, changes, contrasts, contrasts_with, mean_change
from verax.stats.crossed.pigeonhole import Bootstrapped, pigeonhole
from verax.stats.crossed.within import Met, condition_differences, condition_means, met
from verax.stats.effect import Effect
from verax.stats.estimate import Estimate, mean_interval
from verax.stats.logistic import Logistic, logistic, normalised
from verax.stats.mixed.laplace import LogisticMixed, fit_logistic
from verax.stats.mixed.linear import LinearMixed, fit_linear, linear_changes, linear_contrasts
from verax.stats.mixed.logistic_effects import LogisticEffect, logistic_changes, logistic_contrasts
from verax.stats.power.power import Detectable, Power, detectable_effect, needed_participants, power
from verax.stats.power.simulation import Design, Simulated, Spreads, simulate
from verax.stats.ranks.average import Ranking, average_ranks
from verax.stats.ranks.correlation import RankCorrelation, rank_correlation
from verax.stats.ranks.mann_whitney import RankTest, mann_whitney
from verax.stats.ranks.methods_needed import Needed, methods_needed
from verax.stats.responses import Responses, responses
from verax.stats.tests.equivalence import Equivalence, detectable, equivalence
from verax.stats.tests.families import Family, dunnett, max_t, max_t_of_draws
from verax.stats.tests.multiplicity import holm
from verax.stats.tests.paired import Difference, paired_differences
from verax.stats.tests.permutation import Permutation, label_permutation, max_t_permutation, sign_flip

__all__ = [
    "Agreement",
    "Bootstrapped",
    "Crossed",
    "Design",
    "Detectable",
    "Difference",
    "Effect",
    "Equivalence",
    "Estimate",
    "Family",
    "LinearMixed",
    "Logistic",
    "LogisticEffect",
    "LogisticMixed",
    "Met",
    "Needed",
    "Permutation",
    "Power",
    "RankCorrelation",
    "RankTest",
    "Ranking",
    "Responses",
    "Simulated",
    "Spreads",
    "average_ranks",
    "changes",
    "condition_differences",
    "condition_means",
    "contrasts",
    "contrasts_with",
    "detectable",
    "detectable_effect",
    "dunnett",
    "equivalence",
    "fit_linear",
    "fit_logistic",
    "fleiss_kappa",
    "holm",
    "krippendorff_alpha",
    "label_permutation",
    "linear_changes",
    "linear_contrasts",
    "logistic",
    "logistic_changes",
    "logistic_contrasts",
    "mann_whitney",
    "max_t",
    "max_t_of_draws",
    "max_t_permutation",
    "mean_change",
    "mean_interval",
    "met",
    "methods_needed",
    "needed_participants",
    "normalised",
    "paired_differences",
    "pigeonhole",
    "power",
    "rank_correlation",
    "responses",
    "sign_flip",
    "simulate",
]
