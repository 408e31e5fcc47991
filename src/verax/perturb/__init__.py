"""The engine: masks in, probabilities out, for many inputs at once."""

from verax.perturb.dispatch import path_for
from verax.perturb.masks import Answer, Masks, Path, Prepared

__all__ = ["Answer", "Masks", "Path", "Prepared", "path_for"]
