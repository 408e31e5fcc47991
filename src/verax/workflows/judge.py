"""Which explainer to believe for a model: what happens to its answers without the named features, and with only them.

For every input and explainer the features that speak most for the explained class are taken away, and left alone. What
that does to the class's probability stands beside what as many random features do, which an exact test compares at
any number of inputs, and beside the best that any so many features do. Three more things are asked: whether other seeds
name the same features, whether other explainers do, and where the model can be fitted again and labels are known,
whether the explainer finds reasons that were planted in copies of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from verax.data import Dataset, load_dataset
from verax.data.files import SUFFIXES, file_suffix, read_rows
from verax.data.inputs import as_frame, plain_inputs, plain_targets
from verax.data.load import LABEL
from verax.errors import VeraxError
from verax.explain import Explainer
from verax.explain.base import class_numbers, model_inputs
from verax.explain.random import Random, RandomFragments
from verax.measures.case import output_spread
from verax.models import Model
from verax.models.adapt import predicts_number
from verax.models.base import Inputs
from verax.models.ready import check_model
from verax.models.resolve import fitted_thing, is_saved, own_model, resolve_model
from verax.models.wrappers import TableModel, is_texts
from verax.options import DatasetSpec, checked_spec, default_of, takes_options
from verax.perturb import path_for
from verax.perturb.paths.tables import dependence_notes, fallback_notes
from verax.phrases import say
from verax.run.progress import ProgressFunction, shown_progress
from verax.seeds import stream
from verax.workflows.explainer_batches import Clock, taken
from verax.workflows.given_objects import explainer_label, parse_explainers
from verax.workflows.judge_findings import PlantedTrial, planted_trial
from verax.workflows.judgement import Judgement
from verax.workflows.measure_explainers import judge_inputs
from verax.workflows.options import JudgeOptions, JudgeSpec
from verax.workflows.own_rows import adapted_to, own_inputs

EXPLAINERS: tuple[str, ...] = default_of(JudgeSpec, "explainers")
# Of data with labels so many inputs are judged unless told otherwise.
INPUTS = 20
# Planting may take this share of the time.
PLANTING = 0.5
# Planting takes at least so many seconds, and with no limit at most so many.
FEWEST_SECONDS, LONGEST_PLANTING = 3.0, 600.0

Given = Sequence[str | Explainer] | Mapping[str, str | Explainer] | str | Explainer


@takes_options(JudgeSpec)
def judge(
    model: object,
    data: Any,
    explainers: Given = EXPLAINERS,
    *,
    target: Any = None,
    reference: Any = None,
    refit: Callable[..., object] | None = None,
    progress: bool | None = None,
    **options: Unpack[JudgeOptions],
) -> Judgement:
    """Says which explainer to believe for a model.

    Args:
        model: what is explained: anything fitted that `verax.as_model` takes, or the name of a ready-made model, which
            is fitted on the data.
        data: inputs to judge on (texts, rows of a table); or data with labels, of which some inputs are judged: a
            dataset, its name or file, ``(inputs, labels)``, or a DataFrame together with ``label=``.
        explainers: names, with options as in "lime(samples=500)"; objects; or a dict from what to call them to either.
        target: the class to explain, by number or name: one for all inputs, or one for each; the predicted one by
            default.
        reference: some of the model's training rows, for a model of tables; by default the data themselves.
        refit: fits the model anew, for planting: ``refit(inputs, labels)`` returns something fitted. Not needed for
            scikit-learn's models.
        progress: whether to show what is being done; by default in a terminal or notebook.
        options: see docs/judge.md.
    """
    asked = checked_spec(JudgeSpec, options)
    planted, seed = asked.plant, asked.seed
    named = _named(explainers, seed)
    with shown_progress(progress) as told:
        subject = _subject(model, data, asked, reference)
        if isinstance(target, str) and target.isdecimal() and target not in subject.model.class_names:
            target = int(target)  # as it is typed on a command line
        wanted = class_numbers(subject.model, subject.inputs, _of_judged(target, subject))
        labelled = subject.labelled if planted is not False else None
        number = _of_number(subject) if subject.model.output == "number" else []
        clock, trial, planting = Clock(asked.seconds), None, list[str]()
        # First, so that all the time that is left goes to the model's own inputs.
        if labelled is not None:
            planted_in = _planted_in(labelled, subject.model)
            if isinstance(planted_in, str):
                planting = [planted_in]
            else:
                given = subject.model if number else subject.fitted_again
                trial, planting = _plant(given, planted_in, named, refit, seed, clock, told)
        elif planted:
            planting = ["No reasons were planted: that takes labels; give data as (inputs, labels)."]
        found = judge_inputs(
            subject.model,
            subject.inputs,
            named,
            wanted,
            titles=subject.titles,
            seed=seed,
            clock=clock,
            told=told,
        )
    slow = fallback_notes(subject.model, path_for(subject.model))
    notes = (*subject.notes, *number, *found.notes, *planting, *slow, *dependence_notes(subject.model))
    return replace(found, planted=trial, notes=notes, seconds=clock.spent)


def _planted_in(labelled: Dataset | tuple[Any, Any], model: Model) -> Dataset | tuple[Any, Any] | str:
    """Data to plant in, as planting reads them; a sentence where it cannot."""
    if model.output == "number" and (not isinstance(model, TableModel) or isinstance(labelled, Dataset)):
        return say("judge", "offsets-need-rows")
    if model.fields is None or isinstance(labelled, Dataset):
        return labelled
    if model.fields.others is not None:
        return say("judge", "nothing-planted-mixed", columns=list(model.fields.others.names))
    try:
        return load_dataset(labelled, text=model.fields.texts)
    except VeraxError as error:
        return say("judge", "nothing-planted", reason=str(error))


def _of_number(subject: _Subject) -> list[str]:
    """What points are where a number is explained."""
    name = subject.model.class_names[0]
    spread = output_spread(subject.model, subject.inputs)
    return [say("judge", "predicts-number", name=name, spread=f"{spread:.4g}")]


@dataclass(frozen=True)
class _Subject:
    """A model with the inputs that it is judged on.

    Attributes:
        places: of the judged inputs among those that were given.
        given: how many were.
        fitted_again: what is fitted again for planting: the model itself, or its name.
        labelled: data with labels to plant in, if there are any.
    """

    model: Model
    inputs: Inputs
    places: tuple[int, ...]
    given: int
    titles: tuple[str, ...]
    fitted_again: object
    labelled: Dataset | tuple[Any, Any] | None
    notes: tuple[str, ...]


def _subject(model: object, data: Any, asked: JudgeSpec, reference: Any) -> _Subject:
    if (
        isinstance(data, str)
        and not isinstance(model, str)
        and len(data.split()) > 1
        and not Path(data).exists()
    ):
        raise VeraxError("One text was given instead of a list of texts; put it in a list: [text].")
    if isinstance(data, str | Path) and not isinstance(data, Dataset):
        model, data = _own_file(model, data, asked)
    pair = _inputs_and_labels(data, asked.label, asked.text)
    if isinstance(data, str | Path | Dataset):
        return _of_dataset(model, data, asked)
    if isinstance(model, str):
        if pair is None:
            raise VeraxError(
                f"The model {model!r} has to be fitted first, and that takes labels: give data=(inputs, labels), a "
                "dataset or a file; or give a fitted model."
            )
        return _of_dataset(model, load_dataset(pair, seed=asked.seed), asked)
    inputs, labels = (data, None) if pair is None else pair
    plain = plain_inputs(inputs)
    adapted, notes = adapted_to(model, plain, reference)
    if not len(plain):
        raise VeraxError("There is no input to explain; give at least one text or row.")
    places = np.arange(len(plain))
    count = asked.n if asked.n is not None or labels is None else INPUTS
    if count is not None and count < len(plain):
        # Data with labels are drawn from; inputs that somebody chose are taken in their order.
        drawn = stream(asked.seed, "judged inputs", len(plain)).permutation(len(plain))
        places = np.sort(drawn[:count]) if labels is not None else places[:count]
    chosen = taken(plain, places)
    return _Subject(
        adapted,
        model_inputs(adapted, chosen),
        tuple(places.tolist()),
        len(plain),
        tuple(f"input {place}" for place in places.tolist()),
        model,
        None if labels is None else (plain, labels),
        tuple(notes),
    )


def _own_file(model: object, data: str | Path, asked: JudgeSpec) -> tuple[object, Any]:
    """A fitted model and what a file holds, where that is no dataset of classes: no labels, or a model of numbers."""
    if asked.format is not None or file_suffix(Path(data)) not in SUFFIXES:
        return model, data
    thing = fitted_thing(model) if isinstance(model, str) else model
    if thing is None:
        return model, data
    frame = read_rows(data)
    label = asked.label or LABEL
    there = label in map(str, frame.columns)
    if asked.label is not None and not there:
        return model, data  # which is told where datasets are read
    if there and not predicts_number(thing):
        return model, data
    inputs, labels = own_inputs(frame, asked.text, label, columns=hasattr(thing, "feature_names_in_"))
    if asked.limit is not None:
        inputs, labels = inputs[: asked.limit], None if labels is None else labels[: asked.limit]
    return thing, inputs if labels is None else (inputs, labels)


def _of_dataset(model: object, data: Any, asked: JudgeSpec) -> _Subject:
    seed = asked.seed
    if isinstance(model, str) and not is_saved(model):
        check_model(model)  # before anything is loaded
    reading = {name: getattr(asked, name) for name in DatasetSpec.model_fields}
    dataset = data if isinstance(data, Dataset) else load_dataset(data, seed=seed, **reading)
    fitted = (
        resolve_model(model, dataset, seed=seed)
        if isinstance(model, str)
        else model
        if isinstance(model, Model)
        else own_model(type(model).__name__, model, dataset, seed)
    )
    if not len(dataset.test):
        raise VeraxError(f"The test part of {dataset.name!r} is empty; give more data.")
    part = dataset.test.take(np.arange(min(len(dataset.test), asked.n or INPUTS)))
    return _Subject(
        fitted,
        model_inputs(fitted, part.inputs),
        tuple(range(len(part))),
        len(dataset.test),
        tuple(f"test input {number}" for number in range(len(part))),
        model if isinstance(model, str) and not is_saved(model) and ":" not in model else fitted,
        dataset,
        tuple(f"Of the data: {note}." for note in dataset.notes),
    )


def _of_judged(targets: Any, subject: _Subject) -> Any:
    """The classes of the judged inputs, where one was given for each input; anything else as it is."""
    given = plain_targets(targets)
    if isinstance(given, list) and len(given) == subject.given:
        return [given[place] for place in subject.places]
    return targets


def _inputs_and_labels(data: Any, label: str | None, text: str | None) -> tuple[Any, Any] | None:
    """Inputs and labels, where data hold both."""
    frame = None if isinstance(data, Dataset) else as_frame(data)
    if frame is not None and label is not None:
        if label not in frame.columns:
            raise VeraxError(
                f"There is no column {label!r}; the columns are {', '.join(map(str, frame.columns))}."
            )
        return (frame.drop(columns=[label]) if text is None else frame[text]), frame[label]
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[1], str):
        inputs, labels = data
        # Two rows are inputs; inputs with their labels are as long as these, and the labels are no rows.
        if hasattr(inputs, "__len__") and hasattr(labels, "__len__") and len(inputs) == len(labels):
            first = plain_inputs(labels)
            if not len(first) or np.ndim(first[0]) == 0:
                return (
                    None
                    if np.ndim(plain_inputs(inputs)) == 1 and not is_texts(plain_inputs(inputs))
                    else data
                )
    return None


def _named(given: Given, seed: int) -> dict[str, Explainer]:
    """Explainers by what to call them; those given by name have the seed, if they were not given their own."""
    if isinstance(given, str):
        made: list[tuple[str, str | Explainer]] = [
            (each.name, each.explainer) for each in parse_explainers(given, seed=seed)
        ]
    elif isinstance(given, Mapping):
        made = list(given.items())
    else:
        several = given if isinstance(given, Sequence) else [given]
        made = [(each if isinstance(each, str) else explainer_label(each), each) for each in several]
    if not made:
        raise VeraxError('There is no explainer to judge; name some, such as ["lime", "shap"].')
    named: dict[str, Explainer] = {}
    for name, each in made:
        label = name if name not in named else f"{name} {sum(key.startswith(name) for key in named) + 1}"
        if not isinstance(each, str) and not callable(getattr(each, "explain", None)):
            raise VeraxError(
                f"{label!r} is a {type(each).__name__}, which cannot explain; give a name, or an explainer. "
                "Explanations of the packages shap, lime and captum are taken by verax.explain.from_shap, from_lime "
                "and from_captum."
            )
        named[label] = parse_explainers(each, seed=seed)[0].explainer if isinstance(each, str) else each
    return named


def _plant(
    model: object,
    data: Dataset | tuple[Any, Any],
    named: Mapping[str, Explainer],
    refit: Callable[..., object] | None,
    seed: int,
    clock: Clock,
    told: ProgressFunction,
) -> tuple[PlantedTrial | None, list[str]]:
    """Reasons planted in copies of the model; a sentence where that cannot be."""
    left = LONGEST_PLANTING if clock.seconds is None else PLANTING * clock.seconds
    if refit is None and callable(model) and not hasattr(model, "predict_proba"):
        return None, ["No reasons were planted: a function cannot be fitted again; refit= says how."]
    rivals = {name: one for name, one in named.items() if not isinstance(one, Random | RandomFragments)}
    if left < FEWEST_SECONDS or not rivals:
        return None, ["No reasons were planted, for lack of time."] if rivals else []
    plant: Any = planted_trial
    if isinstance(model, Model) and model.output == "number":
        from verax.workflows.planted_numbers import planted_offsets

        plant = planted_offsets
    try:
        trial = plant(
            model,
            data,
            rivals,
            refit=refit,
            seed=seed,
            seconds=left,
            progress=lambda share, what: told(what, round(100 * share), 100),
        )
    except VeraxError as error:
        return None, [say("judge", "nothing-planted", reason=str(error))]
    return trial, []
