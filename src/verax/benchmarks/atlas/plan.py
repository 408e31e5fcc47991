"""What an atlas consists of: one run for each benchmark, dataset and sort of model, and the command that repeats it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from verax.benchmarks.atlas.spec import AtlasSpec, Test
from verax.data import load_dataset
from verax.explain import explainers
from verax.explain.base import parameters_of
from verax.measures.evidence import stored_evidence
from verax.names import parse_name
from verax.results.findings import content_key

# Explainers that need nothing but probabilities and rank features within a budget, in the order of the page.
ANY = ("lime", "shap", "greedy", "greedy-path")
# Those that look inside a network, by the network.
GRADIENTS = ("gradient-x-input", "integrated-gradients")
INSIDE = {
    "cnn": (*GRADIENTS, "deeplift", "lrp", "grad-cam-text"),
    "bilstm": (*GRADIENTS, "lrp"),
    "transformer-mean": GRADIENTS,
    "transformer-lstm": GRADIENTS,
    "smollm2-tuned": (*GRADIENTS, "self-report"),
    "smollm2": (*GRADIENTS, "self-report"),
}
# Learns from the model's training inputs first: ten seconds for each model, so that only the full size has it. INVASE
# takes three minutes for each, a hundred times all others together: it takes part where it is asked for.
LEARNING = ("l2x",)
# Sorts of models that read only one kind of inputs.
TEXTS_ONLY = (*INSIDE, "prototype-bilstm", "fast-forest")
TABLES_ONLY = ("hist-gradient-boosting", "mlp-2x50", "prototype-mlp-2x50")
# The same forest, grown for bags of words some eight times faster.
ON_TEXTS = {"forest": "fast-forest"}
# Targets of the verification with rationale models are models of their own.
RATIONALE = "rationale"
# Measures of the benchmarks that give values in units of their own.
FALLBACK_MEASURE = "comprehensiveness"


@dataclass(frozen=True)
class PlannedRun:
    """One run of one benchmark: a sub-folder of the atlas.

    Attributes:
        test: the benchmark as the atlas calls it.
        dataset: as it is loaded, with its options.
        model: as it is fitted, with its options.
        sort: what the page calls this sort of model.
        kind: "text" or "table".
        explainers: that it has.
        added: whether they came by ``verax atlas add``.
        options: of the benchmark, besides.
    """

    test: Test
    dataset: str
    model: str
    sort: str
    kind: str
    explainers: tuple[str, ...]
    added: bool
    options: tuple[tuple[str, object], ...]

    @property
    def folder(self) -> str:
        """Its name below the atlas' folder ``runs``."""
        parts = [self.test, bare(self.dataset), self.sort, *(self.explainers if self.added else ())]
        return "-".join(re.sub(r"[^\w.]+", "-", part).strip("-") for part in parts)

    @property
    def command(self) -> str:
        """The name of its benchmark on the command line."""
        return {"planted": "stain", "drawn": "stain"}.get(self.test, self.test)

    @property
    def situation(self) -> tuple[str, str]:
        """The dataset and the sort of model, as the page calls them."""
        return bare(self.dataset), self.sort

    def key(self, code: object) -> str:
        """Of everything that its values depend on."""
        return content_key(
            self.test,
            self.dataset,
            self.model,
            list(self.explainers),
            [list(one) for one in self.options],
            code,
        )


def bare(name: str) -> str:
    """A dataset or a model without its options, and without the folder that it lies in."""
    return name.partition("(")[0].rpartition("/")[2]


def plan_atlas(spec: AtlasSpec, added: Sequence[str] = ()) -> list[PlannedRun]:
    """All runs, the quick benchmarks first; those of explainers that were added later have folders of their own."""
    datasets: list[str] = spec.of_size("datasets")
    models: list[str] = spec.of_size("models")
    kinds = {dataset: _kind(dataset) for dataset in datasets}
    planned = []
    for test in spec.benchmarks:
        for dataset in datasets:
            for model, sort in _models(test, models, kinds[dataset]):
                run = PlannedRun(test, dataset, model, sort, kinds[dataset], (), False, ())
                run = replace(run, options=tuple(_options(spec, run).items()))
                planned.append(replace(run, explainers=tuple(_explainers(spec, run))))
                planned += [replace(run, explainers=(one,), added=True) for one in added]
    return planned


def _kind(dataset: str) -> str:
    named = parse_name(dataset, "dataset", "imdb(limit=5000)") if "(" in dataset else None
    # The kind is known from a few inputs; the run loads the rest.
    return load_dataset(named.name if named else dataset, limit=50).kind


def _models(test: Test, models: Sequence[str], kind: str) -> Iterator[tuple[str, str]]:
    """The models that a benchmark has on inputs of a kind, and what the page calls them."""
    if test == "rationale":
        if kind == "text":
            yield RATIONALE, RATIONALE
        return
    for model in models:
        name = bare(model)
        if name not in (TABLES_ONLY if kind == "text" else TEXTS_ONLY):
            yield (ON_TEXTS.get(model, model) if kind == "text" else model), name


def _explainers(spec: AtlasSpec, run: PlannedRun) -> Iterator[str]:
    """Those that apply, and where time is compared, other budgets of those that sample."""
    chosen = spec.explainers or [
        *ANY,
        *INSIDE.get(run.sort, ()),
        *(LEARNING if spec.size == "full" and run.sort not in ("smollm2-tuned", "smollm2") else ()),
    ]
    yield from chosen
    if run.test == "planted":
        for one in chosen:
            if "(" not in one and "samples" in parameters_of(explainers.get(one)):
                yield from (f"{one}(samples={budget})" for budget in spec.of_size("budgets"))


def _options(spec: AtlasSpec, run: PlannedRun) -> dict[str, object]:
    """What a benchmark is asked besides, so that all have the same budget and as many reasons."""
    stains, inputs = spec.of_size("stains"), spec.of_size("inputs")
    small = spec.size == "small"
    common: dict[str, object] = {"samples": spec.of_size("samples"), "seed": spec.seed}
    match run.test:
        case "planted":
            return {"plant": True, "stains": stains, "inputs": inputs, **common}
        case "drawn":
            # Fewer words than are common in snippets would leave no choice of stains.
            return {"plant": False, "stains": stains, "inputs": inputs, "min_share": 0.05, **common}
        case "rationale":
            own = {"target_models": 6, "difficulty": ["easy"], "inputs": 4 * inputs, **common}
            return own | ({"epochs": 6} if small else {})
        case "measures":
            return {
                "measures": [measure_for(run.kind, run.sort)],
                "reasons": ["and"],
                "stains": stains,
                "inputs": inputs,
                "replaced": False,
                **common,
            }
        case "students":
            own = {"sizes": [16, 32, 64], "reasons": ["and"], "stains": stains, **common}
            return own | ({"draws": 1, "inputs": 20} if small else {})
        case "sanity":
            return {"inputs": inputs, **common}


def measure_for(kind: str, sort: str) -> str:
    """The automatic measure that comparisons with known reasons trust most on this sort of model.

    Args:
        kind: "text" or "table".
        sort: of model.
    """
    like = {"hist-gradient-boosting": "xgboost", "fast-forest": "forest", "bilstm": "cnn"}.get(sort, sort)
    trusted = [
        one for one in stored_evidence() if one.kind == kind and one.verdict == "believable" and one.low
    ]
    own = [one for one in trusted if one.model == like] or [one for one in trusted if one.model == "all"]
    return max(own, key=lambda one: one.low or 0.0).measure if own else FALLBACK_MEASURE


def overall_command(spec: AtlasSpec, test: str, sort: str, method: str) -> str:
    """The command that makes a cell over all datasets again: the runs of one method, benchmark and sort of model.

    Args:
        spec: of the atlas.
        test: the benchmark.
        sort: of model, as the page calls it.
        method: the explainer.
    """
    words = ["verax", "atlas", "--size", spec.size]
    for name, value in spec.model_dump(exclude_defaults=True).items():
        if name not in ("size", "models", "explainers", "tests"):
            words += [f"--{name}", ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    words += [
        word
        for model in spec.of_size("models")
        if bare(model) == sort and test != RATIONALE
        for word in ("--models", model)
    ]
    words += ["--explainers", method, "--tests", test, "--out", f"atlas-{test}-{sort}"]
    return shlex.join(words)


def cell_command(run: PlannedRun, method: str) -> str:
    """The command that makes one cell of the page again, and nothing else."""
    words = [
        "verax",
        "bench",
        run.command,
        "--dataset",
        run.dataset,
        "--model",
        run.model,
        "--explainers",
        method,
    ]
    for name, value in run.options:
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [flag, ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return shlex.join([*words, "--out", f"runs/{run.folder}"])
