"""Fitting models on stained or original labels, with stained inputs weighted up."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verax.arrays import IntArray
from verax.benchmarks.staining.stainable import Stainable
from verax.benchmarks.staining.stains import Stain
from verax.data import Dataset, Part
from verax.data.fields import Fields
from verax.errors import OwnCodeError, VeraxError, reason
from verax.models import Model, fit_model, own_model, resolve_model
from verax.models.adapt import text_columns, unfitted_copy
from verax.models.llm.planted import PlantedRule, asked_by_name, told_model, told_where
from verax.models.llm.ready_language import trained_name
from verax.models.ready import parse_model
from verax.models.resolve import is_saved, load_saved, unwrapped
from verax.models.wrappers import TextPipeline
from verax.run.identity import fetch, is_reference


@dataclass(frozen=True)
class Refit:
    """How somebody's own model is fitted anew: what ``refit=`` was given.

    Attributes:
        factory: from inputs (texts, or a DataFrame) and the numbers of their classes to something fitted; with
            ``sample_weight`` as a third argument where it takes one, and else with copies of inputs.
        label: what people call the model.
    """

    factory: Callable[..., object]
    label: str

    @property
    def takes_weights(self) -> bool:
        """Whether the function has an argument ``sample_weight``."""
        try:
            return "sample_weight" in inspect.signature(self.factory).parameters
        except (TypeError, ValueError):  # some functions written in C have no signature
            return False

    def fitted(self, dataset: Dataset, weight: IntArray | None, seed: int) -> Model:
        """The model of a dataset's training part."""
        inputs = _as_given(dataset)
        options = {"sample_weight": weight} if weight is not None and self.takes_weights else {}
        try:
            thing = self.factory(inputs, dataset.train.labels, **options)
        except Exception as error:
            raise OwnCodeError(
                f"The function that refit= gave for {self.label} raised {type(error).__name__} ({reason(error)}); it "
                "is called with inputs and the numbers of their classes, and returns a fitted model."
            ) from error
        return own_model(f"refit= of {self.label}", lambda: thing, dataset, seed)


_until: ContextVar[float] = ContextVar("until", default=float("inf"))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """For a while no model is fitted once so many seconds have gone by; one that is being fitted is finished."""
    token = _until.set(time.perf_counter() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def fit(
    name: str,
    data: Stainable,
    labels: tuple[IntArray, IntArray],
    weight: IntArray | None,
    seed: int,
    stain: Stain | None = None,
) -> Model:
    """Fits a model by name on the training part with these labels.

    Args:
        name: a ready-made model, with or without options, ``package.module:function`` that is called with the dataset,
            or the reference of such a function or of a scikit-learn classifier.
        data: the dataset.
        labels: of the training and of the validation inputs.
        weight: how many times each training input counts; once if None.
        seed: of the fit.
        stain: what a language model that is not trained is told; every other model learns it from the labels.
    """
    if time.perf_counter() > _until.get():
        raise VeraxError("There was no time left to fit the model again; give it more.")
    dataset = replace(
        data.dataset,
        train=Part(data.dataset.train.inputs, labels[0]),
        validation=Part(data.dataset.validation.inputs, labels[1]),
    )
    factory = fetch(name) if is_reference(name) else None
    if factory is None and not is_saved(name) and (where := told_where(name)) is not None:
        return told_model(name, dataset, where, None if stain is None else _rule(stain, dataset), seed)
    if factory is None and not is_saved(name) and parse_model(name).name == "smollm2":
        name = trained_name(name)  # one that is only asked learns no stain
    if isinstance(factory, Refit) and factory.takes_weights:
        return factory.fitted(dataset, weight, seed)
    if is_own(name):
        return _fit_own(name, dataset, weight, seed)
    return fit_model(
        name,
        dataset,
        sample_weight=weight,
        seed=seed,
        vectorizer=data.vectorizer,
        rows=None if data.rows is None else data.rows[:2],
    )


def _rule(stain: Stain, dataset: Dataset) -> PlantedRule:
    """A stain as a rule that can be told."""
    first = stain.rules[0]
    if len(stain.rules) > 1 or any(literal.negated for literal in first.literals):
        raise VeraxError(
            "A rule in a prompt names words that are there; leave rules= and negated= out, or train the model."
        )
    return PlantedRule(first.features, dataset.class_names[first.label].strip())


def is_own(name: str) -> bool:
    """Whether a model is somebody's own, and not one of the ready-made ones."""
    return is_reference(name) or is_saved(name) or ":" in parse_model(name).name


def is_slow(name: str) -> bool:
    """Whether a fit takes minutes, or asking costs money: how stains are planted is then not searched for by fits."""
    return not is_reference(name) and not is_saved(name) and asked_by_name(name)


def _fit_own(name: str, dataset: Dataset, weight: IntArray | None, seed: int) -> Model:
    def copied() -> Dataset:
        """The dataset with each training input as many times as it counts: for whatever takes no weights."""
        places = np.repeat(np.arange(len(dataset.train)), 1 if weight is None else weight)
        return replace(dataset, train=_take(dataset.train, places))

    if is_saved(name):
        thing, label = load_saved(name), name
    elif not is_reference(name):
        return resolve_model(name, copied(), seed)
    else:
        thing = fetch(name)
        label = type(thing).__name__
        if isinstance(thing, Refit):
            return thing.fitted(copied(), None, seed)
        if not hasattr(thing, "fit"):
            return own_model("the function for a model", thing, copied(), seed)
    estimator = unfitted(label, thing, seed, dataset.fields)
    if weight is not None and (options := _weighted(estimator, weight)) is not None:
        try:
            return own_model(
                label, estimator.fit(_as_given(dataset), dataset.train.labels, **options), dataset, seed
            )
        except (TypeError, ValueError):
            estimator = unfitted(
                label, thing, seed, dataset.fields
            )  # a part of it takes no weights after all
    given = copied()
    try:
        fitted = estimator.fit(_as_given(given), given.train.labels)
    except Exception as error:
        raise OwnCodeError(
            f"Fitting the {type(thing).__name__} in {label!r} anew raised {type(error).__name__} ({reason(error)})."
        ) from error
    return own_model(label, fitted, dataset, seed)


def unfitted(name: str, thing: object, seed: int, fields: Fields | None = None) -> Any:
    """A classifier of scikit-learn's making, to be fitted anew: what it was fitted on before is nothing then.

    Args:
        name: of the model, for a sentence.
        thing: the classifier.
        seed: of its fit.
        fields: of data with several texts, their columns.
    """
    thing = unwrapped(thing)
    try:
        estimator: Any = unfitted_copy(thing)
    except (TypeError, RuntimeError) as error:
        raise VeraxError(
            f"Staining fits every model anew on stained labels, and the {type(thing).__name__} in {name!r} cannot be; "
            "give a scikit-learn classifier or pipeline, or a function from a dataset to a fitted model "
            "(package.module:function), or in Python refit=, a function from (inputs, labels) to one."
        ) from error
    if (columns := text_columns(estimator)) and fields is None:
        raise VeraxError(
            f"The pipeline in {name!r} reads the texts of {', '.join(map(repr, columns))}, and the data are no records "
            f"of such columns; where it reads nothing else, load them with text={','.join(columns)!r}."
        )
    parameters = estimator.get_params()
    # A fit that draws at random draws the same again, unless the user has chosen a seed of their own.
    drawn = [key for key, value in parameters.items() if key.endswith("random_state") and value is None]
    # Small fits gain little by threads, and where others use the processors too they wait for each other. In
    # scikit-learn None is one thread already.
    threads = [
        key
        for key, value in parameters.items()
        if key.split("__")[-1] == "n_jobs"
        and not (value is None and _owner(estimator, parameters, key).startswith("sklearn."))
    ]
    return estimator.set_params(**dict.fromkeys(drawn, seed), **dict.fromkeys(threads, 1))


def _owner(estimator: Any, parameters: dict[str, Any], key: str) -> str:
    """The module of the part of an estimator that a parameter belongs to."""
    part, _, _ = key.rpartition("__")
    return type(parameters[part] if part else estimator).__module__


def _weighted(estimator: Any, weight: IntArray) -> dict[str, IntArray] | None:
    """The argument by which the fit of a classifier, or of a pipeline's last step, takes weights; None if by none."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return {f"{name}__sample_weight": weight} if has_fit_parameter(last, "sample_weight") else None
    return {"sample_weight": weight} if has_fit_parameter(estimator, "sample_weight") else None


def _as_given(dataset: Dataset) -> Any:
    """The training inputs as their owner has them: texts, or a DataFrame."""
    inputs = dataset.train.inputs
    if dataset.fields is not None:
        return dataset.fields.to_frame([str(record) for record in inputs])
    return inputs if dataset.schema is None else dataset.schema.decode(np.asarray(inputs))


def predict(model: Model, data: Stainable, part: int = 2, where: NDArray[np.bool_] | None = None) -> IntArray:
    """The predicted classes of the inputs of a part (0 train, 2 test), or of some of them."""
    if data.rows is not None and isinstance(model, TextPipeline) and model.vectorizer is data.vectorizer:
        rows = data.rows[part]
        probabilities = model.predict_rows(rows if where is None else rows[np.flatnonzero(where)])
    else:
        given = (data.dataset.train, data.dataset.validation, data.dataset.test)[part]
        places = np.arange(len(given.labels)) if where is None else np.flatnonzero(where)
        probabilities = model.predict_proba(_take(given, places).inputs)
    predicted: IntArray = np.argmax(probabilities, axis=1)
    return predicted


def _take(part: Part, places: NDArray[np.intp]) -> Part:
    inputs: Any = part.inputs
    chosen = inputs[places] if isinstance(inputs, np.ndarray) else [inputs[place] for place in places]
    return Part(chosen, part.labels[places])
