"""The dataset and the models of a study, made once per process, and what is worth knowing of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from verax.arrays import IntArray
from verax.data.dataset import Dataset, Part, contents
from verax.data.records import split_size
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.ready import parse_model
from verax.run.canonical import canonical
from verax.seeds import stream
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import WorseModel
from verax.studies.definition.study import Source
from verax.studies.items.pool import match_counts
from verax.studies.protocol.contract import Protocol
from verax.text import listed

# By so much more of the test part the better model must be right, for people to have a chance to tell which it is.
BETTER_BY = 0.02


class ModelArguments(TypedDict):
    """What a model is made from besides the dataset, as plain data.

    Attributes:
        name: a ready-made model's, or where one's own is found.
        seed: of the fit.
        most_words: how many words the texts that it learns from may have; None for any number.
        share: how much of the training part it learns from.
        epochs: how many times it sees its training part, if not as often as it wants.
        only: by column, the values that the inputs that it learns from may have there, if not any.
    """

    name: str
    seed: int
    most_words: int | None
    share: float
    epochs: NotRequired[int]
    only: NotRequired[dict[str, list[str]]]


def data_arguments(spec: StudySpec) -> dict[str, object]:
    """What the dataset is made from, as plain data."""
    return {"name_or_path": spec.dataset, "seed": spec.seed, **spec.source}


def model_arguments(
    spec: StudySpec, worse: WorseModel | None = None, own: str | None = None
) -> ModelArguments:
    """What a model is made from besides the dataset; the worse model, or a condition's own, if there is one."""
    if worse is None:
        return {"name": own or spec.model, "seed": spec.seed, "most_words": None, "share": 1.0}
    arguments: ModelArguments = {
        "name": worse.model or spec.model,
        "seed": spec.seed,
        "most_words": worse.most_words,
        "share": worse.kept,
    }
    if worse.epochs is not None:
        arguments["epochs"] = worse.epochs
    if worse.only is not None:
        arguments["only"] = worse.only
    return arguments


def model_name(arguments: ModelArguments) -> str:
    """A model's name for people: the options that it was fitted with are in it."""
    if "epochs" not in arguments:
        return arguments["name"]
    written = parse_model(arguments["name"])
    options = {**written.options, "epochs": arguments["epochs"]}
    return f"{written.name}({', '.join(f'{key}={value}' for key, value in options.items())})"


def study_dataset(data: Mapping[str, object]) -> Dataset:
    """The dataset of these arguments; kept for the next caller in this process."""
    return _dataset(canonical(dict(data), "source"), _stamp(data))


def study_model(data: Mapping[str, object], model: ModelArguments) -> Model:
    """The fitted model of these arguments; kept for the next caller in this process."""
    return _model(canonical(dict(data), "source"), _stamp(data), canonical(dict(model), "model"))


def training_places(dataset: Dataset, most_words: int | None, share: float, seed: int) -> IntArray:
    """The places of the training inputs that a model learns from: the short ones, and of each class of them a share."""
    labels = dataset.train.labels
    fitting = np.ones(len(labels), dtype=np.bool_)
    if most_words is not None:
        if dataset.kind != "text":
            raise VeraxError(
                f"worse.most_words is for texts, and {dataset.name!r} is a table; use worse.share instead."
            )
        lengths = np.array([len(split_words(str(text)).words) for text in dataset.train.inputs])
        fitting &= lengths <= most_words
        if len(np.unique(labels[fitting])) < len(np.unique(labels)):
            raise VeraxError(
                f"Only {int(fitting.sum()):,} of the {len(labels):,} training texts of {dataset.name!r} have at most "
                f"{most_words} words, and not every class is among them; raise worse.most_words."
            )
    generator = stream(seed, "worse model")
    kept = []
    for number in np.unique(labels):
        members = np.flatnonzero(fitting & (labels == number))
        kept.append(generator.permutation(members)[: ceil(share * len(members))])
    places: IntArray = np.sort(np.concatenate(kept))
    return places


def narrowed_to(dataset: Dataset, whole: Dataset, only: Mapping[str, Sequence[str]], seed: int) -> Dataset:
    """The dataset with as many training and validation inputs, all with some values in their columns.

    They are drawn from all that the source has but the test part, class by class; where it has fewer, both parts are
    smaller by the same factor.

    Args:
        dataset: as the better model has it.
        whole: the same without a limit.
        only: by column, the values that an input may have there.
        seed: of the draw.
    """
    tested = set(contents(dataset.test.inputs))
    found: list[tuple[Part, int]] = []
    for part in whole.parts.values():
        fitting = np.ones(len(part.labels), dtype=np.bool_)
        for name, values in only.items():
            fitting &= np.isin(_column(whole, part, name), list(values))
        own = list(contents(part.inputs))
        found += [(part, place) for place in np.flatnonzero(fitting).tolist() if own[place] not in tested]
    labels = np.array([part.labels[place] for part, place in found], dtype=np.int64)
    if len(np.unique(labels)) < len(np.unique(dataset.train.labels)):
        said = "; ".join(f"{listed(values, 'or')} as their {name}" for name, values in only.items())
        raise VeraxError(
            f"Only {len(found):,} inputs of {dataset.name!r} beside its test part have {said}, and not every class is "
            "among them; name more in worse.only."
        )
    generator = stream(seed, "worse model")
    drawn: tuple[list[int], list[int]] = ([], [])
    for number in np.unique(dataset.train.labels):
        members = generator.permutation(np.flatnonzero(labels == number)).tolist()
        train, validation = (
            int(np.sum(part.labels == number)) for part in (dataset.train, dataset.validation)
        )
        share = min(1.0, len(members) / (train + validation))
        cut = ceil(share * train)
        drawn[0].extend(members[:cut])
        drawn[1].extend(members[cut : cut + int(share * validation)])
    train_part, validation_part = (_joined([found[place] for place in sorted(places)]) for places in drawn)
    return replace(dataset, train=train_part, validation=validation_part)


def _joined(chosen: Sequence[tuple[Part, int]]) -> Part:
    inputs = [part.inputs[place] for part, place in chosen]
    labels = np.array([part.labels[place] for part, place in chosen], dtype=np.int64)
    texts = not inputs or isinstance(inputs[0], str)
    return Part(inputs if texts else np.array(inputs, dtype=np.float64), labels)


def _column(dataset: Dataset, part: Part, name: str) -> NDArray[np.str_]:
    """What the inputs of a part have in a column: beside the texts, or of the table."""
    columns: dict[str, Sequence[str]] = dict(part.columns)
    if dataset.schema is not None:
        rows = np.asarray(part.inputs)
        raw = dataset.schema.decode(rows)
        for place, column in enumerate(dataset.schema.columns):
            if column.categories is None:
                columns[column.name] = raw.iloc[:, place].astype(str)
            else:
                columns[column.name] = np.array(column.categories)[rows[:, place].astype(np.intp)].tolist()
    if name not in columns:
        has = f"it has {', '.join(columns)}" if columns else "it keeps none"
        raise VeraxError(f"{dataset.name!r} has no column {name!r} for worse.only; {has}.")
    return np.array(columns[name], dtype=np.str_)


def training_size(data: Mapping[str, object], model: ModelArguments) -> int | None:
    """How many inputs the model of these arguments learnt from; None for one that was fitted elsewhere."""
    from verax.models.resolve import is_saved

    if is_saved(model["name"]):
        return None
    return len(_narrowed(canonical(dict(data), "source"), _stamp(data), model).train)


def _narrowed(data: str, stamp: tuple[int, int], model: ModelArguments) -> Dataset:
    """The dataset with the training part that the model of these arguments learns from."""
    dataset, only = _dataset(data, stamp), model.get("only")
    if only is not None:
        # The whole source may have as many examples of the narrow classes as the better model has of all.
        whole = json.loads(data)
        if split_size(whole.get("split")) is not None:
            del whole["split"]
        whole.pop("limit", None)
        source = _dataset(canonical(whole, "source"), stamp)
        dataset = narrowed_to(dataset, source, only, model["seed"])
    if model["share"] == 1 and model["most_words"] is None:
        return dataset
    places = training_places(dataset, model["most_words"], model["share"], model["seed"])
    return replace(dataset, train=dataset.train.take(places))


def accuracy(model: Model, dataset: Dataset) -> float:
    """The share of the test part that a model gets right."""
    return float(np.mean(_predictions(model, dataset) == dataset.test.labels))


def macro_f1(model: Model, dataset: Dataset) -> float:
    """The mean over classes of F1 on the test part."""
    from sklearn.metrics import f1_score

    predicted = _predictions(model, dataset)
    return float(f1_score(dataset.test.labels, predicted, average="macro", zero_division=0.0))


def agreement(model: Model, other: Model, dataset: Dataset) -> float:
    """The share of the test part of which two models predict the same class."""
    return float(np.mean(_predictions(model, dataset) == _predictions(other, dataset)))


def check_two_models(dataset: Dataset, model: Model, worse: Model) -> None:
    """Refuses two models between which nobody could choose."""
    size = len(dataset.test)
    better, lesser = _predictions(model, dataset), _predictions(worse, dataset)
    apart = int((better != lesser).sum())
    advice = (
        "let the worse one learn from less (worse.share, worse.most_words, worse.only) or for a shorter time "
        "(worse.epochs), or name another worse.model"
    )
    if not apart:
        raise VeraxError(
            f"The two models never disagree on the {size:,} test inputs of {dataset.name!r}; {advice}."
        )
    right, less_right = (float(np.mean(said == dataset.test.labels)) for said in (better, lesser))
    if right - less_right < BETTER_BY:
        raise VeraxError(
            f"The worse model is right on {less_right:.1%} of the {size:,} test inputs of {dataset.name!r}, the other "
            f"on {right:.1%} (they disagree on {apart:,}), which is less than {BETTER_BY:.0%} better; {advice}."
        )


def _predictions(model: Model, dataset: Dataset) -> IntArray:
    predicted: IntArray = np.argmax(model.predict_proba(dataset.test.inputs), axis=1)
    return predicted


def _stamp(data: Mapping[str, object]) -> tuple[int, int]:
    """What tells a changed file from the one that is kept."""
    path = Path(str(data["name_or_path"]))
    if not path.is_file():
        return 0, 0
    about = path.stat()
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=2)
def _dataset(data: str, stamp: tuple[int, int]) -> Dataset:  # noqa: ARG001  (part of the cache's key)
    from verax.data.load import load_dataset

    arguments = json.loads(data)
    return load_dataset(arguments.pop("name_or_path"), **arguments)


@lru_cache(maxsize=4)
def _model(data: str, stamp: tuple[int, int], model: str) -> Model:
    from verax.models.resolve import resolve_model

    arguments: ModelArguments = json.loads(model)
    options = {"epochs": arguments["epochs"]} if "epochs" in arguments else None
    dataset = _narrowed(data, stamp, arguments)
    return resolve_model(arguments["name"], dataset, arguments["seed"], options)


def own_models(spec: StudySpec) -> tuple[str, ...]:
    """The models that conditions have in place of the study's, each once."""
    named = (condition.model for condition in spec.conditions)
    return tuple(dict.fromkeys(name for name in named if name is not None and name != spec.model))


def check_conditions(spec: StudySpec, protocol: Protocol) -> None:
    """Refuses what conditions ask for and their protocol cannot show."""
    name = spec.protocol["name"]
    if (own := own_models(spec)) and not protocol.own_models:
        raise VeraxError(
            f"A condition has a model of its own ({own[0]}), but the protocol {name!r} shows more of a model than its "
            "answers, so that conditions could not be compared; leave it out."
        )
    weighted = [condition.name for condition in spec.conditions if condition.display == "weights"]
    if weighted and not protocol.shows_weights:
        raise VeraxError(
            f"The condition {weighted[0]!r} is to be displayed as weights, from which people could read the model's "
            f"answer off in the protocol {name!r}; leave display out."
        )


def known_models(source: Source, worse: WorseModel | None, parts: Sequence[str]) -> dict[str, object]:
    """By what it is ("model", "worse", or the conditions whose own it is), what is known of each model.

    Args:
        source: the models.
        worse: how the worse model was made, where there is one.
        parts: the parts of the dataset that items come from.
    """
    spec = source.spec
    known: dict[str, object] = {"model": _known(source, source.model, model_arguments(spec))}
    if source.worse is not None:
        known["worse"] = _known(source, source.worse, model_arguments(spec, worse))
    matched = {part: match_counts(source, part) for part in parts} if source.others else {}
    for name, other in source.others.items():
        conditions = [condition.name for condition in spec.conditions if condition.model == name]
        known["of " + ", ".join(conditions)] = {
            **_known(source, other, model_arguments(spec, own=name)),
            "conditions": conditions,
            "agreement": agreement(source.model, other, source.dataset),
            "matched": {part: list(counts) for part, counts in matched.items()},
        }
    return known


def _known(source: Source, model: Model, arguments: ModelArguments) -> dict[str, object]:
    return {
        "name": model_name(arguments),
        "accuracy": accuracy(model, source.dataset),
        "test_inputs": len(source.dataset.test),
        "macro_f1": macro_f1(model, source.dataset),
        "training_inputs": training_size(data_arguments(source.spec), arguments),
    }
