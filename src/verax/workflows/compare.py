"""From a dataset, a model and named explainers to explanations side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from verax.arrays import FloatArray
from verax.data import Dataset, load_dataset
from verax.data.dataset import Inputs
from verax.data.files import read_rows
from verax.errors import OwnCodeError, VeraxError
from verax.explain import Attribution, Explanation, Fragments
from verax.explain import fragments as make_fragments
from verax.explain.base import explanations_of, model_inputs, target_number
from verax.explain.perturbed import shown_input
from verax.explain.random import Random, RandomFragments
from verax.models import Model, resolve_model
from verax.models.llm.adapt import ENDPOINT, endpoint_named
from verax.models.ready import check_model
from verax.models.resolve import fitted_thing, is_saved
from verax.models.wrappers import check_texts, encode_rows
from verax.options import DatasetSpec
from verax.perturb import path_for
from verax.perturb.paths.tables import dependence_notes, fallback_notes
from verax.phrases import say
from verax.reporting.comparison import Comparison, Entry, Subject
from verax.run.progress import During, quietly
from verax.workflows.explainer_batches import judged_scores
from verax.workflows.given_objects import Named, parse_explainers, preset_explainers
from verax.workflows.measure_explainers import judge_inputs
from verax.workflows.options import ExplainSpec
from verax.workflows.own_rows import own_inputs, rows_with_model


@dataclass(frozen=True)
class ChosenInput:
    """An input to explain, what to call it, and its true class if that is known."""

    title: str
    input: str | FloatArray
    label: int | None = None


@dataclass(frozen=True)
class FragmentChoice:
    """Which fragments of explanations are shown.

    Attributes:
        count: how many on either side.
        sizes: how many words each may have.
        any_sign: the highest and the lowest scores, whatever their sign.
    """

    count: int
    sizes: tuple[int, ...] = (1,)
    any_sign: bool = False


def from_texts(texts: Sequence[str], dataset: Dataset) -> list[ChosenInput]:
    """The texts that a user typed."""
    if texts and dataset.kind != "text":
        raise VeraxError(
            f"The dataset {dataset.name!r} is a table, which --text does not fit; choose its rows with --input."
        )
    for number, text in enumerate(texts):
        if not text.strip():
            raise VeraxError(
                f"Text {number} (counted from 0) is empty; write something between the quotes of --text."
            )
    return [ChosenInput(f"text {number}", text) for number, text in enumerate(texts)]


def from_test_part(numbers: Sequence[int], dataset: Dataset) -> list[ChosenInput]:
    """Inputs of the test part by their numbers, from 0."""
    size = len(dataset.test)
    for number in numbers:
        if not 0 <= number < size:
            raise VeraxError(
                f"There is no test input {number}; the test part of {dataset.name!r} has the inputs 0 to {size - 1}, "
                "counted from 0."
            )
    return [
        ChosenInput(f"test input {number}", dataset.test.inputs[number], int(dataset.test.labels[number]))
        for number in numbers
    ]


def from_file(spec: ExplainSpec, dataset: Dataset) -> Inputs:
    """The inputs of a file of somebody's own, as those of a dataset."""
    assert spec.rows is not None
    table = dataset.fields is not None or dataset.schema is not None
    inputs, _ = own_inputs(read_rows(spec.rows), spec.text, spec.label, columns=table)
    if dataset.fields is not None:
        return dataset.fields.join(inputs)
    if dataset.schema is not None:
        return encode_rows(inputs, dataset.schema)
    return check_texts(inputs)


def _some_rows(spec: ExplainSpec, inputs: Inputs) -> Iterator[ChosenInput]:
    """Those of a file's inputs that are asked for by number, or the first ones."""
    numbers = spec.numbers
    if spec.n is not None or not numbers:
        numbers = [*numbers, *range(min(spec.n or FIRST, len(inputs)))]
    for number in numbers:
        if not 0 <= number < len(inputs):
            raise VeraxError(
                f"There is no row {number}; {spec.rows!r} has the rows 0 to {len(inputs) - 1}, counted from 0."
            )
        yield ChosenInput(f"row {number}", inputs[number])


def parse_target(target: str | None, model: Model) -> int | None:
    """A class given by its name, or else by its number."""
    if target is None:
        return None
    is_number = target.isdecimal() and target not in model.class_names
    return target_number(model, int(target) if is_number else target)


# Of the test part so many inputs are explained if nothing is chosen.
FIRST = 3


@dataclass(frozen=True)
class Request:
    """What is explained, before a model is fitted: names are objects, and what was mistyped was told.

    Attributes:
        spec: what was asked.
        dataset: loaded.
        chosen: the inputs.
        explainers: the methods.
        model: of rows of somebody's own, if it was fitted before; else it is fitted on the dataset.
        notes: what to say above.
    """

    spec: ExplainSpec
    dataset: Dataset
    chosen: tuple[ChosenInput, ...]
    explainers: tuple[Named, ...]
    model: Model | None = None
    notes: tuple[str, ...] = ()


def requested(spec: ExplainSpec, during: During = quietly) -> Request:
    """Reads what is asked; a sentence on what cannot be, before any work."""
    explainers = (
        parse_explainers(",".join(spec.explainers), spec.samples, spec.seed)
        if spec.preset is None
        else preset_explainers(spec.preset, spec.seed)
    )
    if spec.model.startswith(ENDPOINT):
        endpoint_named(spec.model)
    elif not is_saved(spec.model):
        check_model(spec.model)
    if spec.rows is not None and "dataset" not in spec.model_fields_set:
        with during(f"loading {spec.rows}"):
            alone = fitted_thing(spec.model)
            if alone is not None:
                model, data, notes = rows_with_model(alone, spec.rows, spec.text, spec.label)
                own = tuple(_some_rows(spec, data.test.inputs))
                return Request(spec, data, own, tuple(explainers), model, tuple(notes))
    with during(f"loading {spec.dataset}"):
        reading = {name: getattr(spec, name) for name in DatasetSpec.model_fields}
        dataset = load_dataset(spec.dataset, seed=spec.seed, **reading)
    if spec.rows is not None:
        return Request(spec, dataset, tuple(_some_rows(spec, from_file(spec, dataset))), tuple(explainers))
    chosen = from_texts(spec.texts, dataset) + from_test_part(spec.numbers, dataset)
    if spec.n is not None or not chosen:
        chosen += from_test_part(range(min(spec.n or FIRST, len(dataset.test))), dataset)
    return Request(spec, dataset, tuple(chosen), tuple(explainers))


def explain_side_by_side(request: Request, *, judge: bool, during: During = quietly) -> Comparison:
    """Fits the model that is asked for, and explains the chosen inputs with every explainer.

    Args:
        request: from `requested`.
        judge: whether to say which of the explainers to trust here.
        during: told what is being done while it is done.
    """
    spec, dataset, chosen = request.spec, request.dataset, request.chosen
    with during(f"fitting {spec.model}"):
        model = request.model or resolve_model(spec.model, dataset, seed=spec.seed)
    fragments = (
        None
        if spec.fragments is None
        else FragmentChoice(spec.fragments, tuple(spec.fragment_sizes), spec.any_sign)
    )
    comparison = compare(
        dataset,
        model,
        spec.model,
        chosen,
        request.explainers,
        parse_target(spec.target, model),
        (*dataset.notes, *request.notes, *dependence_notes(model)),
        during,
        fragments,
    )
    # What was refused is known only now.
    slow = fallback_notes(model, path_for(model))
    comparison = replace(comparison, notes=(*comparison.notes, *slow))
    if not judge:
        return comparison
    try:
        with during("judging the explanations"):
            return with_verdict(comparison, model, chosen, request.explainers)
    except VeraxError as error:
        return replace(comparison, notes=(*comparison.notes, f"The explanations are not judged: {error}"))


def compare(
    dataset: Dataset,
    model: Model,
    model_name: str,
    chosen: Sequence[ChosenInput],
    explainers: Sequence[Named],
    target: int | None = None,
    notes: Sequence[str] = (),
    during: During = quietly,
    fragments: FragmentChoice | None = None,
) -> Comparison:
    """Explains the chosen inputs with every explainer.

    A method of a preset that cannot explain this model is left out, and a note says why.

    Args:
        dataset: where the inputs come from.
        model: what is explained.
        model_name: what the user calls it.
        chosen: the inputs.
        explainers: the methods.
        target: the class to explain; the predicted one by default.
        notes: sentences to show above.
        during: told what is being done while it is done.
        fragments: which fragments to show besides; none if None.
    """
    if not chosen:
        raise VeraxError(f"The test part of {dataset.name!r} is empty; give texts of your own, or more data.")
    inputs = together([choice.input for choice in chosen])
    probabilities = model.predict_proba(inputs)
    path_for(model)  # built once for all methods, so that it is not among the seconds of the first
    # All methods explain the same class, even where rounding would let them see another one as the predicted.
    targets = [int(np.argmax(row)) if target is None else target for row in probabilities]
    columns: list[list[Entry]] = []
    left_out: list[str] = []
    for named in explainers:
        try:
            with during(f"explaining {len(chosen):,} with {named.name}"):
                explanations = explanations_of(named.explainer, named.name, model, inputs, targets)
        except VeraxError as error:
            if named.required or isinstance(error, OwnCodeError):
                raise
            left_out.append(say("explanations", "left-out", name=named.name, reason=str(error)))
        else:
            columns.append(_entries(named, explanations, fragments))
    if not columns:
        raise VeraxError(" ".join(["No method is left to explain this model.", *left_out]))
    subjects = [
        Subject(
            title=choice.title,
            input=shown_input(model, choice.input),
            class_names=tuple(model.class_names),
            probabilities=tuple(probabilities[number].tolist()),
            target=targets[number],
            label=choice.label,
            entries=tuple(column[number] for column in columns),
        )
        for number, choice in enumerate(chosen)
    ]
    return Comparison(dataset.name, model_name, tuple(subjects), (*notes, *left_out))


def _entries(
    named: Named, explanations: Sequence[Explanation], fragments: FragmentChoice | None
) -> list[Entry]:
    control = isinstance(named.explainer, Random | RandomFragments)
    return [
        Entry(
            named.name,
            explanation,
            control,
            strongest_fragments(explanation, fragments),
            display=named.display,
        )
        for explanation in explanations
    ]


def with_verdict(
    comparison: Comparison, model: Model, chosen: Sequence[ChosenInput], explainers: Sequence[Named]
) -> Comparison:
    """The same with a verdict on the methods, and with what each one's first features are worth for each input.

    Methods that do not score single features cannot be judged by taking these away; the verdict names them.
    """
    entries = [entry for subject in comparison.subjects for entry in subject.entries]
    shown = {entry.name for entry in entries}
    scored = {entry.name for entry in entries if judged_scores(entry.explanation) is not None}
    judged = {named.name: named.explainer for named in explainers if named.name in scored}
    if not judged:
        raise VeraxError(
            "No method here scores single features, which is what could be taken away to judge them."
        )
    inputs = model_inputs(model, together([choice.input for choice in chosen]))
    explained = {
        name: [
            entry.explanation
            for subject in comparison.subjects
            for entry in subject.entries
            if entry.name == name
        ]
        for name in judged
    }
    targets = [subject.target for subject in comparison.subjects]
    found = judge_inputs(model, inputs, judged, targets, explained=explained)
    places = {place: number for number, place in enumerate(found.places)}
    falls = {trial.name: trial.falls for trial in found.trials}
    left_out = [named.name for named in explainers if named.name in shown - scored]
    if left_out:
        note = say("judge", "not-feature-by-feature", names=left_out)
        found = replace(found, notes=(*found.notes, note))
    verdict = found.verdict
    subjects = [
        replace(
            subject,
            entries=tuple(
                replace(
                    entry,
                    fall=falls[entry.name][places[number]]
                    if entry.name in falls and number in places
                    else None,
                )
                for entry in subject.entries
            ),
        )
        for number, subject in enumerate(comparison.subjects)
    ]
    return replace(comparison, subjects=tuple(subjects), verdict=verdict)


def as_dicts(comparison: Comparison) -> list[dict[str, Any]]:
    """Every explanation as ``to_dict`` gives it, with what is known of its input and model."""
    return [
        entry.explanation.to_dict()
        | {
            "name": entry.name,
            "dataset": comparison.dataset,
            "model": comparison.model,
            "title": subject.title,
            "class_names": list(subject.class_names),
            "probabilities": list(subject.probabilities),
            "predicted": subject.predicted,
            "label": subject.label,
            "fall": entry.fall,
        }
        for subject in comparison.subjects
        for entry in subject.entries
    ]


def strongest_fragments(explanation: Explanation, wanted: FragmentChoice | None) -> Fragments | None:
    """An explanation's strongest fragments; those of a method that gives fragments are its own."""
    if wanted is None:
        return None
    if isinstance(explanation, Fragments):
        return replace(
            explanation,
            evidence=explanation.evidence[: wanted.count],
            counter_evidence=explanation.counter_evidence[: wanted.count],
        )
    if not isinstance(explanation, Attribution):
        return None
    sizes = wanted.sizes if isinstance(explanation.input, str) else (1,)
    return make_fragments(explanation, wanted.count, sizes, any_sign=wanted.any_sign)


def together(inputs: list[str | FloatArray]) -> Inputs:
    """Inputs that were chosen one by one, as a model takes them."""
    texts = [given for given in inputs if isinstance(given, str)]
    return texts or np.stack([given for given in inputs if not isinstance(given, str)])
