"""The jobs of a run with students: one planted reason with one model; all methods, students, sizes and draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.measures.reasons import Reasoned, reasoned
from verax.benchmarks.measures.spec import Reason
from verax.benchmarks.planning import NO_OBJECTS, Method, Objects
from verax.benchmarks.planted_cells import CellsPlan, plan_cells
from verax.benchmarks.staining.jobs import make_explainer
from verax.benchmarks.staining.stainable import make_stainable
from verax.benchmarks.students.learners import (
    LEARNERS,
    Items,
    Vocabulary,
    changed_items,
    importance,
    make_items,
)
from verax.benchmarks.students.spec import StudentsSpec
from verax.codec import encoded
from verax.errors import VeraxError
from verax.explain.base import explanations_of
from verax.explain.explanation import by_word
from verax.explain.random import Random
from verax.perturb import path_for
from verax.phrases import say
from verax.run.jobs import Job
from verax.seeds import stream

# Raised when what a job computes changes: outcomes stored by other versions are then not used.
VERSION = 4
NONE, SHUFFLED, ORACLE, RANDOM, RANDOM_AGAIN = (
    "no explanation",
    "shuffled",
    "oracle",
    "random",
    "random, again",
)
CONTROLS = (NONE, ORACLE, SHUFFLED, RANDOM, RANDOM_AGAIN)
FORWARD, COUNTERFACTUAL = "forward", "counterfactual"
# So many inputs that a reason decides are looked for: as many as there are.
MOST_INPUTS = 100_000


@dataclass(frozen=True)
class Lesson:
    """The accuracy of one student after so many examples, of each method, mean over draws.

    Attributes:
        student: which learner.
        size: how many examples it learnt from.
        test: "forward" on new inputs, "counterfactual" on changed ones.
        accuracy: by method.
    """

    student: str
    size: int
    test: str
    accuracy: Mapping[str, float]


@dataclass(frozen=True)
class ClassResult:
    """What one planted reason with one model gives.

    Attributes:
        reason: its sort.
        shown: the reason in words.
        problem: why the model cannot serve; empty if it can.
        items: how many inputs there were.
        lessons: accuracies.
        failed: explainers that failed, with their errors.
    """

    reason: str
    shown: str
    problem: str = ""
    items: int = 0
    lessons: tuple[Lesson, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


def plan_students(
    spec: StudentsSpec, methods: Sequence[Method], objects: Objects = NO_OBJECTS
) -> CellsPlan[StudentsSpec]:
    """Plans a run; see `verax.benchmarks.planted_cells.plan_cells`."""
    return plan_cells(
        spec,
        methods,
        objects,
        lambda name, arguments: Job(name, f"{__name__}:cell", arguments, VERSION),
        own={"students": list(spec.students), "sizes": list(spec.sizes), "draws": spec.draws},
    )


def cell(
    *,
    source: Mapping[str, object],
    data_hash: str,
    reason: Reason,
    model: str,
    explainers: Sequence[Method],
    students: Sequence[str],
    sizes: Sequence[int],
    draws: int,
    inputs: int,
    learnt: float,
    stain_seed: int,
    first_seed: int,
    model_files: Mapping[str, str] | None = None,  # noqa: ARG001  (part of the job's key)
    code: Mapping[str, str] | None = None,  # noqa: ARG001  (part of the job's key)
) -> dict[str, object]:
    """A job: plants a reason, fits a model, and lets students learn it with and without explanations."""
    if make_stainable(source, "presence").dataset.hash != data_hash:
        raise VeraxError("The dataset is not the one that this run was planned with; start a new run.")
    found = reasoned(
        source, reason, model,
        stain_seed=stain_seed, first_seed=first_seed, inputs=MOST_INPUTS, learnt=learnt, more=True,
    )  # fmt: skip
    if found.problem:
        return encoded(ClassResult(reason, found.shown, found.problem))
    items = make_items(found)
    usable = [size for size in sizes if size + inputs <= len(items)]
    if not usable:
        told = say("students", "too-few-inputs", inputs=len(items), reason=found.shown)
        return encoded(ClassResult(reason, found.shown, told, len(items)))
    # The same items for all methods: those that any draw learns from are explained once.
    drawn = [
        stream(stain_seed, "student draw", draw).permutation(len(items)).tolist() for draw in range(draws)
    ]
    needed = sorted({place for own in drawn for place in own[: usable[-1]]})
    explained, failed = _explained(found, items, needed, explainers)
    sums: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for own in drawn:
        tested = own[usable[-1] : usable[-1] + inputs]
        tests = {FORWARD: items.take(tested), COUNTERFACTUAL: changed_items(found, tested)}
        for size in usable:
            for key, value in _lesson(found, items, own[:size], tests, explained, students):
                sums.setdefault(key[:3], {}).setdefault(key[3], []).append(value)
    lessons = tuple(
        Lesson(student, size, test, {name: float(np.mean(values)) for name, values in by_method.items()})
        for (student, size, test), by_method in sums.items()
    )
    return encoded(ClassResult(reason, found.shown, "", len(items), lessons, failed))


# By method: the features and the scores of each explained item.
Explained = Mapping[str, Mapping[int, tuple[Sequence[str], FloatArray]]]


def _explained(
    case: Reasoned, items: Items, needed: Sequence[int], explainers: Sequence[Method]
) -> tuple[Explained, dict[str, str]]:
    some = items.take(needed)
    features = [ready.features for ready in path_for(case.model).prepare(some.inputs)]
    found: dict[str, dict[int, tuple[Sequence[str], FloatArray]]] = {
        ORACLE: {
            place: (own, np.array([float(name in wanted) for name in own]))
            for place, own, wanted in zip(needed, features, some.wanted, strict=True)
        }
    }
    failed: dict[str, str] = {}
    methods: list[tuple[str, Any]] = [(RANDOM, Random(seed=1)), (RANDOM_AGAIN, Random(seed=2))]
    for label, name, parameters in explainers:
        try:
            methods.append((label, make_explainer(name, **parameters)))
        except VeraxError as error:
            failed[label] = str(error)
    for label, method in methods:
        try:
            made = explanations_of(method, label, case.model, some.inputs, some.predicted.tolist())
            scored = [by_word(one) for one in made]
            if any(one is None for one in scored):
                raise VeraxError(
                    "Students learn from features that are ranked, and this explainer ranks none."
                )
            found[label] = {
                place: (one.features, one.scores)
                for place, one in zip(needed, scored, strict=True)
                if one is not None
            }
        except Exception as error:
            failed[label] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    # The oracle's scores in random order: as sparse, and they say nothing.
    found[SHUFFLED] = {
        place: (own, stream(0, "shuffled", *own).permutation(scores))
        for place, (own, scores) in found[ORACLE].items()
    }
    return found, failed


def _lesson(
    case: Reasoned,
    items: Items,
    places: Sequence[int],
    tests: Mapping[str, Items],
    explained: Explained,
    students: Sequence[str],
) -> list[tuple[tuple[str, int, str, str], float]]:
    """The accuracy of every student with every method after the same examples."""
    examples = items.take(places)
    if len(set(examples.answers.tolist())) < 2:
        return []  # nothing can be learnt from one answer, with or without explanations
    vocabulary = Vocabulary.from_inputs(examples.inputs, case.data.bins)
    rows = vocabulary.rows(examples.inputs)
    asked = {name: vocabulary.rows(own.inputs) for name, own in tests.items()}
    tested = np.concatenate(list(asked.values()))
    ends = np.cumsum([len(own) for own in asked.values()])[:-1]
    priors: dict[str, FloatArray | None] = {NONE: None}
    for label, by_place in explained.items():
        own = [by_place[place] for place in places]
        priors[label] = importance(
            vocabulary.scores(rows, [features for features, _ in own], [scores for _, scores in own]), rows
        )
    found = []
    for student in students:
        told = LEARNERS[student].with_each(rows, examples.answers, list(priors.values()), tested)
        for label, answers in zip(priors, told, strict=True):
            for (name, test), part in zip(tests.items(), np.split(answers, ends), strict=True):
                found.append(((student, len(places), name, label), float(np.mean(part == test.answers))))
    return found
