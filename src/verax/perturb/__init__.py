"""The engine: masks in, probabilities out, for many inputs at once."""

from verax.perturb.dispatch import path_for
from verax.perturb.evaluate import Answer, Path, Prepared
from verax.perturb.masks import Masks

__all__ = ["Answer", "Masks", "Path", "Prepared", "path_for"]
