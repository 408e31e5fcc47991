"""Verax tells you whether an explanation of a machine-learning prediction can be trusted."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verax.data import Dataset, load_dataset
    from verax.errors import VeraxError
    from verax.explain import Attribution, Explainer, Explanation, Fragments, Written, explainer, fragments
    from verax.models import Model, as_model, fit_model

try:
    __version__ = version("verax")
except PackageNotFoundError:  # run from a source tree that was not installed
    __version__ = "0"

# Public names and where they live. They are imported on first use, so that `import verax` takes no time and
# a user of tables never waits for what only texts need.
_HOMES = {
    "Attribution": "verax.explain",
    "Dataset": "verax.data",
    "Explainer": "verax.explain",
    "Explanation": "verax.explain",
    "Fragments": "verax.explain",
    "Model": "verax.models",
    "VeraxError": "verax.errors",
    "Written": "verax.explain",
    "as_model": "verax.models",
    "explainer": "verax.explain",
    "fit_model": "verax.models",
    "fragments": "verax.explain",
    "load_dataset": "verax.data",
}

__all__ = [
    "Attribution",
    "Dataset",
    "Explainer",
    "Explanation",
    "Fragments",
    "Model",
    "VeraxError",
    "Written",
    "__version__",
    "as_model",
    "explainer",
    "fit_model",
    "fragments",
    "load_dataset",
]


_LAYERS = ("benchmarks", "cli", "data", "explain", "models", "perturb", "report", "run", "stats")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _LAYERS:
        return import_module(f"verax.{name}")
    raise AttributeError(f"module 'verax' has no attribute {name!r}")
