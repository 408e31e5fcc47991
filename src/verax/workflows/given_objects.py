"""Datasets, models and explainers as a caller gives them, by name or as objects, made ready for a benchmark."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from verax.benchmarks.planning import Method, Objects
from verax.benchmarks.staining.training import Refit
from verax.data import Dataset, load_dataset
from verax.data.inputs import as_frame
from verax.errors import VeraxError
from verax.explain import Explainer, explainer, explainers
from verax.explain.base import parameters_of
from verax.explain.composite import AS_PUBLISHED, preset
from verax.models import Model
from verax.models.adapt import predicts_number, unfitted_copy
from verax.models.capabilities import has
from verax.models.resolve import unwrapped
from verax.names import Name, parse_names
from verax.run import canonical
from verax.run.identity import refer


@dataclass(frozen=True)
class Named:
    """An explainer and what the user called it.

    Attributes:
        name: the name with the parameters that the user wrote: what to call it.
        explainer: made of it.
        registered: the name alone, and
        parameters: all that it was made with, so that another process can make the same.
        display: how scores are shown: "marks" on the input, or "weights" that add up.
        required: whether it was asked for by name. One of a preset's methods is left out where a model cannot have it.
    """

    name: str
    explainer: Explainer
    registered: str
    parameters: Mapping[str, Any]
    display: str = "marks"
    required: bool = True


def parse_explainers(given: str, samples: int | None = None, seed: int | None = None) -> list[Named]:
    """The explainers in a list separated by commas, with parameters in parentheses as in Python.

    Args:
        given: what the user wrote.
        samples: for every explainer that has this parameter and was not given its own.
        seed: the same.
    """
    common = {name: value for name, value in (("samples", samples), ("seed", seed)) if value is not None}
    named = [_make(each, common) for each in parse_names(given, "explainer", "lime,shap(samples=500)")]
    if not named:
        raise VeraxError(f"No explainer was named; choose from: {', '.join(explainers)}.")
    return named


def preset_explainers(name: str, seed: int | None = None) -> list[Named]:
    """The explainers of a preset, each once, under the names that the preset gives them.

    Args:
        name: of the preset.
        seed: for every explainer that has this parameter.
    """
    made: dict[str, Named] = {}
    for method in preset(name):
        known = parameters_of(explainers.get(method.explainer))
        common = {"seed": seed} if seed is not None and "seed" in known else {}
        parameters = {**common, **method.parameters}
        found = explainer(method.explainer, **parameters)
        named = Named(method.name, found, method.explainer, parameters, method.display, required=False)
        made.setdefault(repr(found), named)
    return list(made.values())


def _make(written: Name, common: dict[str, int]) -> Named:
    registered, settings = AS_PUBLISHED.get(written.name, (written.name, {}))
    known = parameters_of(explainers.get(registered))
    parameters: dict[str, Any] = {key: value for key, value in common.items() if key in known}
    parameters |= {**settings, **written.options}
    return Named(written.label, explainer(registered, **parameters), registered, parameters)


# How DataFrames are read, of a spec's options.
READING = ("text", "label", "split", "seed", "limit")
# What may be given: a name, an object, several of them, or several by the names that they shall have.
Given = str | object | Sequence[str | object] | Mapping[str, str | object]
# How a model is fitted anew: from (inputs, labels) to something fitted; or such functions by the models' names.
Refitting = Callable[..., object] | Mapping[str, Callable[..., object]]


class Explaining(Protocol):
    """What is read here of a benchmark's spec."""

    @property
    def explainers(self) -> list[str]:
        """Names, or labels of objects."""

    @property
    def samples(self) -> int:
        """The budget of those given by name."""

    @property
    def seed(self) -> int:
        """Their seed."""


@dataclasses.dataclass
class Gathered:
    """What was given, sorted: the labels for the spec, and what these stand for."""

    datasets: dict[str, str] = dataclasses.field(default_factory=dict)
    models: dict[str, str] = dataclasses.field(default_factory=dict)
    explainers: dict[str, Method] = dataclasses.field(default_factory=dict)
    things: dict[str, object] = dataclasses.field(default_factory=dict)

    @property
    def objects(self) -> Objects:
        """For `make_plan`."""
        return Objects(self.datasets, self.models, self.things)

    def refer(self, thing: object, label: str) -> str:
        """Keeps an object; its reference."""
        reference = refer(thing, label)
        self.things[reference] = thing
        return reference

    def add_datasets(self, given: Given, asked: Mapping[str, Any]) -> list[str]:
        """The names of datasets for the spec.

        Args:
            given: what the caller gave.
            asked: the spec's other options, some of which say how DataFrames are read.
        """
        options = {name: asked[name] for name in READING if name in asked}
        labels: list[str] = []
        for own_label, thing in _each([given] if _is_inputs_and_labels(given) else given):
            if isinstance(thing, str):
                labels.append(thing)
                continue
            dataset = _dataset(thing, options)
            label = own_label or _another(dataset.name, labels)
            self.datasets[label] = self.refer(dataset, label)
            labels.append(label)
        return labels

    def add_models(self, given: Given, refit: Refitting | None = None) -> list[str]:
        """The names of models for the spec.

        Args:
            given: what the caller gave.
            refit: how models that are objects are fitted anew; one function for one of them, or one for each label.
        """
        labels: list[str] = []
        things = list(_each(given))
        objects = [thing for _, thing in things if not isinstance(thing, str)]
        if callable(refit) and len(objects) != 1:
            raise VeraxError(
                f"refit= is one function, and {len(objects)} models are objects; give dicts for both, from what to "
                "call a model to it, and to its function: models={'mine': model}, refit={'mine': function}."
            )
        for own_label, thing in things:
            if isinstance(thing, str):
                labels.append(thing)
                continue
            factory = refit.get(own_label) if isinstance(refit, Mapping) else refit
            estimator: Any = thing if factory else fittable(thing)
            label = own_label or _another(_model_label(estimator), labels)
            self.models[label] = self.refer(Refit(factory, label) if factory else estimator, label)
            labels.append(label)
        unknown = [name for name in refit if name not in labels] if isinstance(refit, Mapping) else []
        if unknown:
            raise VeraxError(
                f"refit= has a function for {unknown[0]!r}, and no model is called so; the models are "
                f"{', '.join(labels)}. Give them as a dict: models={{{unknown[0]!r}: model}}."
            )
        return labels

    def add_targets(self, given: Given) -> list[str]:
        """The names of rationale models for the spec: "rationale", folders, or fitted models that select words."""
        labels: list[str] = []
        for own_label, thing in _each(given):
            if isinstance(thing, str | Path):
                labels.append(str(thing))
                continue
            if not isinstance(thing, Model) or not has(thing, "selection"):
                raise VeraxError(
                    f"A {type(thing).__name__} does not select words before it predicts; give a rationale model "
                    "(verax.fit_model('rationale', ...)), or one with select(texts) and encode(selections)."
                )
            label = own_label or _another(type(thing).__name__, labels)
            self.models[label] = self.refer(thing, label)
            labels.append(label)
        return labels

    def add_explainers(self, given: Given) -> list[str]:
        """The names of explainers for the spec."""
        labels: list[str] = []
        for own_label, thing in _each(given):
            if isinstance(thing, str):
                labels.append(thing)
                continue
            label, name, parameters = _method(thing)
            label = own_label or _another(label, labels)
            self.explainers[label] = (label, name or self.refer(thing, label), parameters)
            labels.append(label)
        return labels

    def methods(self, spec: Explaining) -> list[Method]:
        """All explainers of a spec as jobs are told of them; its budget and seed are for those given by name."""
        methods: list[Method] = []
        for is_object, labels in groupby(spec.explainers, key=self.explainers.__contains__):
            if is_object:
                methods += [self.explainers[label] for label in labels]
            else:
                named = parse_explainers(",".join(labels), spec.samples, spec.seed)
                methods += [(method.name, method.registered, method.parameters) for method in named]
        return methods


def gather(
    asked: dict[str, Any],
    dataset: Given | None,
    models: Given | None,
    explainers: Given | None,
    refit: Refitting | None = None,
) -> Gathered:
    """What a benchmark was given; the names of these things are put among the options that were asked."""
    gathered = Gathered()
    if dataset is not None:
        asked["datasets"] = gathered.add_datasets(dataset, asked)
    if models is not None:
        asked["models"] = gathered.add_models(models, refit)
    elif refit is not None:
        raise VeraxError("refit= says how a model is fitted anew, and there is none; give models=.")
    if explainers is not None:
        asked["explainers"] = gathered.add_explainers(explainers)
    return gathered


def _method(thing: object) -> Method:
    """One explainer; one of Verax's own is known by its name and parameters, any other has no name."""
    if isinstance(thing, type) or not callable(getattr(thing, "explain", None)):
        kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
        hint = (
            f"write {kind}()"
            if isinstance(thing, type)
            else "give it a method explain(model, inputs, targets)"
        )
        raise VeraxError(f"{kind} is no explainer; {hint}, or name one: {', '.join(explainers)}.")
    parameters = _parameters(thing)
    shown = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    name = _registered_name(thing)
    if name and _is_plain(parameters):
        return f"{name}({shown})" if shown else name, name, parameters
    kind = type(thing).__name__
    return f"{kind}({shown})" if shown else kind, "", {}


def explainer_label(thing: object) -> str:
    """What to call an explainer that was given as an object."""
    return _method(thing)[0]


def _each(given: Given) -> Iterable[tuple[str, str | object]]:
    if isinstance(given, Mapping):
        names = [thing for thing in given.values() if isinstance(thing, str)]
        if names:
            raise VeraxError(f"{names[0]!r} is a name already; give dicts for objects, and lists for names.")
        return list(given.items())
    # A Dataset has a length, a DataFrame too: only lists and tuples hold several.
    return [("", thing) for thing in (given if isinstance(given, list | tuple) else [given])]


def _is_inputs_and_labels(given: Given) -> bool:
    """Whether a pair is one dataset, and not two: labels are no dataset by themselves."""
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    labels = given[1]
    return not isinstance(labels, str | Path | Dataset | Mapping | tuple) and as_frame(labels) is None


def _another(label: str, taken: Sequence[str]) -> str:
    """The label, with a number where it is taken."""
    numbered = (f"{label} {number}" for number in range(2, len(taken) + 3))
    return label if label not in taken else next(name for name in numbered if name not in taken)


def _dataset(thing: Any, options: Mapping[str, Any]) -> Dataset:
    if not isinstance(thing, Dataset):
        return load_dataset(thing, **options)
    useless = [name for name, value in options.items() if value is not None and name != "seed"]
    if useless:
        raise VeraxError(
            f"{useless[0]} is for files and DataFrames; the dataset {thing.name!r} is loaded already."
        )
    return thing


def fittable(given: object) -> object:
    """What staining can fit: a classifier of scikit-learn, or a function from a dataset to something fitted."""
    thing = unwrapped(given)
    name = given.__name__ if isinstance(given, type) else type(given).__name__
    if isinstance(thing, type):
        raise VeraxError(f"{name} is a class, not a model; write {name}().")
    if _is_clonable(thing):
        if predicts_number(thing):
            raise VeraxError(
                f"{name} predicts a number, and this benchmark stains classes; verax.judge(model, (rows, numbers)) "
                "plants offsets in numbers, and judges explainers by them."
            )
        if not hasattr(thing, "predict_proba"):
            raise VeraxError(
                f"{name} has no predict_proba; use a classifier with probabilities, or wrap it in scikit-learn's "
                "CalibratedClassifierCV."
            )
        return thing
    # Networks and pipelines of Hugging Face can be called too, with inputs and not with a dataset.
    if inspect.isroutine(thing) or isinstance(thing, functools.partial) or _is_plain_callable(thing):
        return thing
    raise VeraxError(
        f"Staining fits every model anew on stained labels, and a {name} cannot be fitted; give refit=, a function "
        "from (inputs, labels) to a fitted model. Or give a scikit-learn classifier or pipeline, a function from a "
        "dataset to a fitted model, or a name (verax list models)."
    )


def _is_plain_callable(thing: object) -> bool:
    """An object of somebody's own that can be called, and is no model itself."""
    library = type(thing).__module__.partition(".")[0] in ("transformers", "torch")
    return (
        callable(thing)
        and not library
        and not isinstance(thing, Model)
        and not hasattr(thing, "predict_proba")
    )


def _is_clonable(thing: object) -> bool:
    if not (hasattr(thing, "fit") and hasattr(thing, "get_params")):
        return False
    try:
        unfitted_copy(thing)
    except (TypeError, RuntimeError):
        return False
    return True


def _model_label(estimator: Any) -> str:
    if not hasattr(estimator, "fit"):
        return str(getattr(estimator, "__name__", type(estimator).__name__))
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def _parameters(thing: object) -> dict[str, Any]:
    """The parameters of a dataclass that are not its defaults."""
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
        return {}
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing) if field.init}
    return {
        field.name: values[field.name]
        for field in dataclasses.fields(thing)
        if field.init
        and not (field.default is values[field.name] or _equal(field.default, values[field.name]))
    }


def _equal(default: object, value: object) -> bool:
    return type(default) is type(value) and bool(repr(default) == repr(value))


def _registered_name(thing: object) -> str:
    """The name of one of Verax's own explainers; empty for any other."""
    if not type(thing).__module__.startswith("verax."):
        return ""
    return next((name for name in explainers.names() if explainers.get(name) is type(thing)), "")


def _is_plain(parameters: Mapping[str, object]) -> bool:
    try:
        canonical(dict(parameters))
    except VeraxError:
        return False
    return True
