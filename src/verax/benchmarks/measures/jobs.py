"""The jobs of a comparison of measures: one planted reason with one model, all explanations, all measures."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.measures.reasons import (
    RUNGS,
    SELECTED,
    WITH_TAIL,
    Reasoned,
    ladder,
    reasoned,
    same_tail,
    selected,
    selects,
    trueness,
)
from verax.benchmarks.measures.spec import MeasuresSpec, Reason
from verax.benchmarks.planning import NO_OBJECTS, Method, Objects
from verax.benchmarks.planted_cells import CellsPlan, plan_cells
from verax.benchmarks.staining.jobs import make_explainer
from verax.benchmarks.staining.stainable import Stainable, make_stainable
from verax.codec import encoded
from verax.errors import VeraxError
from verax.explain.base import explanations_of
from verax.explain.explanation import Explanation
from verax.measures import Measure, measure, measures
from verax.measures.case import Case, make_case
from verax.perturb import path_for
from verax.run.identity import code_behind
from verax.run.jobs import Job

# Raised when what a job computes changes: outcomes stored by other versions are then not used.
VERSION = 3
# With other replacements so many inputs are measured, since texts have to be built for them.
REPLACED_INPUTS = 3
# These ask for thousands of variants of each input, so that other replacements would take minutes.
TOO_MANY = ("naopc-comprehensiveness", "naopc-sufficiency")


@dataclass(frozen=True)
class MeasureValues:
    """The values of one measure with one replacement.

    Attributes:
        measure: its label.
        absent: what stands where a feature was; empty for the usual.
        values: by explainer, one per input.
        rows: asked of the model for one explanation, on average.
        seconds: for one explanation, on average.
        errors: by explainer, why there are no values.
    """

    measure: str
    absent: str
    values: Mapping[str, list[float]]
    rows: float
    seconds: float
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellResult:
    """What one planted reason with one model gives.

    Attributes:
        reason: its sort.
        shown: the reason in words.
        share: of inputs that the reason decides.
        problem: why the model cannot serve; empty if it can.
        features: how many each input has.
        truth: by explainer, how true its explanation of each input is.
        scored: values of all measures.
        failed: explainers that failed, with their errors.
    """

    reason: str
    shown: str
    share: float
    problem: str = ""
    features: list[int] = field(default_factory=list)
    truth: Mapping[str, list[float]] = field(default_factory=dict)
    scored: tuple[MeasureValues, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


def plan_measures(
    spec: MeasuresSpec, methods: Sequence[Method], objects: Objects = NO_OBJECTS
) -> CellsPlan[MeasuresSpec]:
    """Plans a run; see `verax.benchmarks.planted_cells.plan_cells`."""

    def check(dataset: str, data: Stainable) -> None:
        if data.bins is not None and any(map(selects, spec.models)):
            raise VeraxError(
                f"{dataset} is a table, and a rationale model selects words of texts; leave it out of the models."
            )

    made = [measure(name) for name in spec.measures]
    return plan_cells(
        spec,
        methods,
        objects,
        lambda name, arguments: Job(name, f"{__name__}:cell", arguments, VERSION),
        own={"measures": list(spec.measures), "replaced": spec.replaced},
        code=code_behind({one.name: measures.module_of(one.name) for one in made}),
        sort_of=lambda model: SELECTED if selects(model) else None,
        check=check,
    )


def cell(
    *,
    source: Mapping[str, object],
    data_hash: str,
    reason: Literal[Reason, "rationale"],
    model: str,
    explainers: Sequence[Method],
    measures: Sequence[str],
    inputs: int,
    learnt: float,
    replaced: bool,
    stain_seed: int,
    first_seed: int,
    model_files: Mapping[str, str] | None = None,  # noqa: ARG001  (part of the job's key)
    code: Mapping[str, str] | None = None,  # noqa: ARG001  (part of the job's key)
) -> dict[str, object]:
    """A job: plants a reason, fits a model, explains what the reason decides, and takes all measures."""
    if make_stainable(source, "presence").dataset.hash != data_hash:
        raise VeraxError("The dataset is not the one that this run was planned with; start a new run.")
    found = (
        selected(source, model, stain_seed=stain_seed, inputs=inputs)
        if reason == "rationale"
        else reasoned(
            source, reason, model, stain_seed=stain_seed, first_seed=first_seed, inputs=inputs, learnt=learnt
        )
    )
    if found.problem:
        return encoded(CellResult(reason, found.shown, found.share, found.problem))
    given: dict[str, Sequence[Explanation]] = dict(ladder(found))
    failed: dict[str, str] = {}
    for label, name, parameters in explainers:
        try:
            method = make_explainer(name, **parameters)
            given[label] = explanations_of(
                method, label, found.model, found.inputs, [found.label] * len(found.inputs)
            )
            for one, own in zip(given[label], found.wanted, strict=True):
                trueness(one, own)  # which refuses what ranks nothing
            given[WITH_TAIL.format(label)] = same_tail(given[label], found.wanted)
        except Exception as error:
            given.pop(label, None)
            failed[label] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    truth = {
        label: [trueness(one, own) for one, own in zip(explanations, found.wanted, strict=True)]
        for label, explanations in given.items()
    }
    features = [len(ready.features) for ready in path_for(found.model).prepare(found.inputs)]
    scored = [_scored(measure(name), found, given) for name in measures]
    if replaced:
        scored += _replaced([measure(name) for name in measures], found, given)
    return encoded(CellResult(reason, found.shown, found.share, "", features, truth, tuple(scored), failed))


def _replaced(
    made: Sequence[Measure], found: Reasoned, given: Mapping[str, Sequence[Explanation]]
) -> list[MeasureValues]:
    """The rungs of the ladder again, on some inputs, with other things in the place of absent features."""
    others = ["mean"] if found.model.kind == "table" else ["resampled"]
    try:
        if found.model.kind == "text":
            path_for(found.model, "masked")
            others.append("masked")
    except VeraxError:
        pass  # a model that shows no place for a mask
    rungs = {name: given[name][:REPLACED_INPUTS] for name in RUNGS}
    return [
        _scored(
            measure(one.name, **{**one.options, "absent": absent}),
            found,
            rungs,
            label=one.label,
            absent=absent,
        )
        for absent in others
        for one in made
        if "absent" in one.definition.options and one.name not in TOO_MANY
    ]


def _scored(
    made: Measure,
    found: Reasoned,
    given: Mapping[str, Sequence[Explanation]],
    *,
    label: str = "",
    absent: str = "",
) -> MeasureValues:
    values: dict[str, list[float]] = {}
    errors: dict[str, str] = {}
    rows, seconds = 0, 0.0
    shared: Case | None = None
    started = time.perf_counter()
    for name, explanations in given.items():
        try:
            inputs = found.inputs[: len(explanations)]
            case = (
                make_case(made.name, made.definition.reads, found.model, inputs, explanations)
                if shared is None
                else shared.explained_by(made.definition.reads, made.name, explanations)
            )
            shared = shared or case
            measured = made.of_case(case)
        except VeraxError as error:
            errors[name] = str(error)
            continue
        values[name] = _plain(measured.values)
        rows += measured.cost.rows
    seconds = time.perf_counter() - started
    n = max(1, sum(map(len, values.values())))
    return MeasureValues(label or made.label, absent, values, rows / n, seconds / n, errors)


def _plain(values: FloatArray) -> list[float]:
    # Twelve digits: what differs less is rounding, and files stay small.
    return [float(f"{value:.12g}") for value in np.asarray(values)]
