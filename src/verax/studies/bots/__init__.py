"""Simulated people, who go through a study's real pages: for pilots, for the analysis plan, and under load."""

from verax.studies.bots.profiles import Mixture, parse_profiles
from verax.studies.bots.web import Acknowledged, BotRun, run_bots, summarise
from verax.studies.bots.without_web import simulate_answers, simulate_study

__all__ = [
    "Acknowledged",
    "BotRun",
    "Mixture",
    "parse_profiles",
    "run_bots",
    "simulate_answers",
    "simulate_study",
    "summarise",
]
