"""Sanity by randomised weights: do explanations depend on what the model learnt (Adebayo et al. 2018)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from verax.benchmarks.contract import Benchmark, benchmarks
from verax.benchmarks.spec_files import BenchmarkSpec
from verax.data import load_dataset
from verax.errors import VeraxError
from verax.explain import explainer
from verax.explain.base import explainers as known_explainers
from verax.explain.base import explanations_of, parameters_of
from verax.explain.checks import LIMIT
from verax.explain.random import Random
from verax.measures import measure
from verax.models import fit_model
from verax.names import parse_name
from verax.results.findings import FLOOR, Finding
from verax.results.tables import Sources, Table, build_table, number, text
from verax.results.units import Unit
from verax.run import Job, Outcome
from verax.seeds import stream
from verax.stats.estimate import mean_interval
from verax.stats.thresholds import ALPHA, FEWEST_UNITS

CORRELATION = Unit("rank correlation")
MEASURE = "rank correlation of explanations with those of a model that knows nothing"
# The table of single values, by its key.
REPEATS = "repeats"


class SanitySpec(BenchmarkSpec):
    """A sanity run: what `BenchmarkSpec` has, and these."""

    models: list[str] = Field(
        default=["logistic", "forest"], min_length=1, description="Ready-made ones (verax list models)."
    )
    inputs: int = Field(default=20, ge=2, description="Inputs explained for each model, at most.")
    repeats: int = Field(
        default=6,
        ge=1,
        description="Models that know nothing, each with random numbers of its own; claims take five.",
    )


@benchmarks.register("sanity")  # type: ignore[arg-type]
class Sanity(Benchmark[SanitySpec]):
    """Do explanations change when the model knows nothing?

    Of a network all weights are replaced by random ones; any other model is fitted again on shuffled labels.
    """

    title = "Sanity"
    spec = SanitySpec

    def jobs(self, spec: SanitySpec) -> Sequence[Job]:
        """One for each dataset and model: it is fitted once for all explainers."""
        return [
            Job(
                f"{dataset}, {model}",
                f"{__name__}:compare",
                {
                    "source": spec.source(dataset),
                    "model": model,
                    "explainers": list(dict.fromkeys([*spec.explainers, FLOOR])),
                    "samples": spec.samples,
                    "inputs": spec.inputs,
                    "repeats": spec.repeats,
                    "seed": spec.seed,
                },
                1,
            )
            for dataset in spec.datasets
            for model in spec.models
        ]

    def findings(self, spec: SanitySpec, outcomes: Sequence[Outcome]) -> Sequence[Finding]:
        """Means over the models that know nothing; one family of intervals for each dataset and model."""
        found = []
        for dataset, model, values in _done(spec, outcomes):
            found += [
                finding(method, own, len(values), dataset, model)
                for method, own in values.items()
                if method != FLOOR
            ]
        return found

    def tables(self, spec: SanitySpec, outcomes: Sequence[Outcome]) -> Sequence[Table]:
        """Every single value."""
        lines = [
            (dataset, model, method, place, value)
            for dataset, model, values in _done(spec, outcomes)
            for method, own in values.items()
            for place, value in enumerate(own)
        ]
        sources: Sources[tuple[str, str, str, int, float]] = (
            text("method", "Method", lambda line: line[2]),
            text("dataset", "Dataset", lambda line: line[0]),
            text("model", "Model", lambda line: line[1]),
            number("repeat", "Repeat", lambda line: line[3]),
            number("value", "Rank correlation", lambda line: line[4]),
        )
        return (build_table(REPEATS, "Each model that knows nothing", lines, sources, ""),)


def _done(spec: SanitySpec, outcomes: Sequence[Outcome]) -> list[tuple[str, str, Mapping[str, list[float]]]]:
    places = [(dataset, model) for dataset in spec.datasets for model in spec.models]
    return [
        (dataset, model, outcome.value["values"])
        for (dataset, model), outcome in zip(places, outcomes, strict=True)
        if isinstance(outcome.value, Mapping)
    ]


def finding(method: str, values: Sequence[float], family: int, dataset: str = "", model: str = "") -> Finding:
    """What repeated correlations say of a method.

    Args:
        method: its label.
        values: a mean correlation for each model that knows nothing.
        family: how many methods are claimed about beside each other; intervals are so much wider.
        dataset: where, and
        model: on what.
    """
    shown = mean_interval(values)
    wide = mean_interval(values, 1 - ALPHA / max(family, 1))
    enough = len(values) >= FEWEST_UNITS
    sign: Literal["yes", "no", "open"] = "open"
    if enough:
        # Where all values are equal there is no spread, and the value itself decides.
        low, high = (wide.mean if end is None else end for end in (wide.low, wide.high))
        sign = "yes" if high < LIMIT else "no" if low >= LIMIT else "open"
    return Finding(
        method=method,
        measure=MEASURE,
        estimate=shown.mean,
        low=shown.low if enough else None,
        high=shown.high if enough else None,
        unit=CORRELATION,
        n=len(values),
        counted="models that know nothing",
        family=f"the {family} methods on this model, by Bonferroni",
        better="lower",
        compared_with=f"a correlation of {LIMIT}",
        sign=sign,
        dataset=dataset,
        model=model,
    )


def compare(
    *,
    source: Mapping[str, Any],
    model: str,
    explainers: Sequence[str],
    samples: int,
    inputs: int,
    repeats: int,
    seed: int,
) -> dict[str, object]:
    """Explains a model, then models that know nothing; by explainer, the mean correlation with each of them.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        model: a ready-made one.
        explainers: names with parameters.
        samples: the budget of those that sample.
        inputs: how many are explained.
        repeats: how many models that know nothing.
        seed: of all that is random.
    """
    given = {name: value for name, value in source.items() if name != "part"}
    dataset = load_dataset(**given)
    fitted = fit_model(model, dataset, seed=seed)
    test = dataset.test
    places = stream(seed, "sanity inputs").permutation(len(test))[:inputs]
    asked = [test.inputs[place] for place in places.tolist()]
    chosen = asked if dataset.kind == "text" else np.asarray(asked)
    values: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for label in explainers:
        try:
            method = Random(seed=seed) if label == FLOOR else _made(label, samples, seed)
            explained = explanations_of(method, label, fitted, chosen)
            means = []
            for repeat in range(repeats):
                again = measure("model-randomisation", explainer=method, seed=repeat)
                correlations = np.asarray(again(fitted, chosen, explained), dtype=float)
                known = correlations[~np.isnan(correlations)]
                means.append(float(known.mean()) if len(known) else 0.0)
            values[label] = means
        except VeraxError as error:
            failed[label] = str(error)
    if not values:
        raise VeraxError(next(iter(failed.values())))
    return {"values": values, "failed": failed}


def _made(label: str, samples: int, seed: int) -> Any:
    named = parse_name(label, "explainer", "lime(samples=500)")
    known = parameters_of(known_explainers.get(named.name))
    common = {name: value for name, value in (("samples", samples), ("seed", seed)) if name in known}
    return explainer(named.name, **{**common, **named.options})
