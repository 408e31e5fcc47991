"""Verax tells you whether an explanation of a machine-learning prediction can be trusted."""

from typing import TYPE_CHECKING

from verax.installed import VERSION

if TYPE_CHECKING:
    from verax.data import Dataset, load_dataset
    from verax.errors import VeraxError
    from verax.explain import Attribution, Explainer, Explanation, Fragments, Written, explainer, fragments
    from verax.measures import Measure, measure
    from verax.models import Model, as_model, fit_model
    from verax.models.llm.client import EndpointOptions
    from verax.models.neural.saving import load_model, save_model
    from verax.workflows.atlas import add_to_atlas, atlas
    from verax.workflows.bench import bench
    from verax.workflows.global_view import global_view
    from verax.workflows.judge import judge
    from verax.workflows.labels import judge_labels
    from verax.workflows.measures import bench_measures, bench_students
    from verax.workflows.rationale import rationale
    from verax.workflows.report import report
    from verax.workflows.stain import stain
    from verax.workflows.study import build_study, open_study

__version__ = VERSION

# Public names and where they live. They are imported on first use, so that `import verax` takes no time and
# a user of tables never waits for what only texts need.
_HOMES = {
    "Attribution": "verax.explain",
    "Dataset": "verax.data",
    "EndpointOptions": "verax.models.llm.client",
    "Explainer": "verax.explain",
    "Explanation": "verax.explain",
    "Fragments": "verax.explain",
    "Measure": "verax.measures",
    "Model": "verax.models",
    "VeraxError": "verax.errors",
    "Written": "verax.explain",
    "add_to_atlas": "verax.workflows.atlas",
    "as_model": "verax.models",
    "atlas": "verax.workflows.atlas",
    "bench": "verax.workflows.bench",
    "bench_measures": "verax.workflows.measures",
    "bench_students": "verax.workflows.measures",
    "build_study": "verax.workflows.study",
    "explainer": "verax.explain",
    "fit_model": "verax.models",
    "fragments": "verax.explain",
    "global_view": "verax.workflows.global_view",
    "judge": "verax.workflows.judge",
    "judge_labels": "verax.workflows.labels",
    "load_dataset": "verax.data",
    "load_model": "verax.models.neural.saving",
    "measure": "verax.measures",
    "open_study": "verax.workflows.study",
    "rationale": "verax.workflows.rationale",
    "report": "verax.workflows.report",
    "save_model": "verax.models.neural.saving",
    "stain": "verax.workflows.stain",
}

__all__ = [
    "Attribution",
    "Dataset",
    "EndpointOptions",
    "Explainer",
    "Explanation",
    "Fragments",
    "Measure",
    "Model",
    "VeraxError",
    "Written",
    "__version__",
    "add_to_atlas",
    "as_model",
    "atlas",
    "bench",
    "bench_measures",
    "bench_students",
    "build_study",
    "explainer",
    "fit_model",
    "fragments",
    "global_view",
    "judge",
    "judge_labels",
    "load_dataset",
    "load_model",
    "measure",
    "open_study",
    "rationale",
    "report",
    "save_model",
    "stain",
]

_LAYERS = (
    "benchmarks",
    "cli",
    "data",
    "explain",
    "measures",
    "models",
    "perturb",
    "reporting",
    "results",
    "run",
    "stats",
    "studies",
    "web",
    "workflows",
)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _LAYERS:
        return import_module(f"verax.{name}")
    raise AttributeError(f"module 'verax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAYERS})
