"""Target models and the texts that they read: trained once and kept, and what of the test part can serve with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from verax.benchmarks.rationale.rankings import Partition, TestSet, describe, is_strict, partition
from verax.benchmarks.spec_files import ExplainedPart, with_explained_part
from verax.codec import encoded
from verax.data import Dataset, Part, load_dataset
from verax.data.words import WORD
from verax.errors import VeraxError
from verax.models import Model
from verax.models.capabilities import ask_for
from verax.run.canonical import canonical
from verax.run.identity import PREFIX, fetch, is_reference
from verax.run.manifest import is_whole, seal
from verax.seeds import stream
from verax.text import percent

if TYPE_CHECKING:
    from verax.models.neural.networks import TextNetwork


def load_texts(source: Mapping[str, object], max_words: int, data_hash: str | None = None) -> Dataset:
    """A dataset of texts, each cut behind its last word that is read; kept for the next job of this process.

    Args:
        source: the arguments of ``load_dataset``.
        max_words: of a text.
        data_hash: the dataset's content hash when the run was planned, if it was.
    """
    dataset = _load(tuple(sorted(source.items())), max_words)
    if data_hash is not None and dataset.hash != data_hash:
        raise VeraxError(
            f"The dataset {dataset.name!r} is not the one that this run was planned with; start a new run."
        )
    return dataset


@lru_cache(maxsize=2)
def _load(source: tuple[tuple[str, object], ...], max_words: int) -> Dataset:
    options = dict(source)
    name, part = options.pop("name_or_path"), cast(ExplainedPart, options.pop("part", "test"))
    if isinstance(name, str) and is_reference(name):
        given = fetch(name)
        assert isinstance(given, Dataset)
        dataset = given
    else:
        dataset = load_dataset(name, **options)  # type: ignore[arg-type]  # checked by the spec
    dataset = with_explained_part(dataset, part)
    _check(dataset)
    return replace(
        dataset,
        train=_cut(dataset.train, max_words),
        validation=_cut(dataset.validation, max_words),
        test=_cut(dataset.test, max_words),
    )


def _check(dataset: Dataset) -> None:
    if dataset.kind != "text":
        raise VeraxError(
            f"A rationale model selects words, and {dataset.name!r} is a table; give a dataset of texts."
        )
    if len(np.unique(dataset.train.labels)) < 2:
        raise VeraxError(
            f"All training texts of {dataset.name!r} are of one class, so nothing can be learnt from their words; give "
            "texts of two classes or more."
        )
    if not len(dataset.test):
        raise VeraxError(
            f"{dataset.name!r} has no test part to explain; give a split with one, e.g. 70/10/20."
        )
    longest = max((len(WORD.findall(text)) for text in dataset.test.inputs), default=0)
    if longest < 2:
        raise VeraxError(
            f"The texts of {dataset.name!r} have one word at the most, so there is nothing to select from; give longer "
            "ones."
        )


def _cut(part: Part, max_words: int) -> Part:
    return replace(part, inputs=[cut(str(text), max_words) for text in part.inputs])


def cut(text: str, max_words: int) -> str:
    """A text up to the end of its last word that is read; as it is if it has no more words."""
    for number, match in enumerate(WORD.finditer(text), start=1):
        if number == max_words:
            last = match.end()
        elif number > max_words:
            return text[:last]
    return text


# Raised when what a job computes changes: outcomes stored by other versions are then not used.
VERSION = 2
# Raised when training gives other weights from the same options and seed: models kept before are then not used.
TRAINING_VERSION = 1
# For each input that is explained, on so many it is tried whether they are strict.
CHECKED_FOR_EACH = 5
# A target that selects nothing, or everything, of more than this share of the inputs cannot serve.
MOST_DEGENERATE = 0.5


@dataclass(frozen=True)
class Training:
    """What a trained model depends on besides its texts: options, hashes of the files that they name, and a seed."""

    options: Mapping[str, object]
    files: Mapping[str, str]
    seed: int

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Training:
        """Of the job that trains it."""
        return cls(arguments["options"], arguments["files"], arguments["model_seed"])


@dataclass(frozen=True)
class TargetResult:
    """One target model and its test.

    Attributes:
        weights: a hash of the model, by which explanations are known to be of this one.
        accuracy: on the test part.
        validation_accuracy: after its training; None for a model that was there already.
        share: of the test part's words that it selects.
        test_set: what is left of the test part.
        checked: on how many inputs it was tried whether they are strict, and
        strict: how many of these are.
        explained: the inputs drawn for explaining, and behind them strict ones that were added.
        training: share of words and accuracy after each epoch; empty for a model that was there already.
        squared_error: the mean over the test part, where labels are ratings.
    """

    weights: str
    accuracy: float
    validation_accuracy: float | None
    share: float
    test_set: TestSet
    checked: int
    strict: int
    explained: tuple[Partition, ...]
    training: tuple[tuple[float, ...], ...]
    squared_error: float | None = None


def target(
    *,
    source: Mapping[str, object],
    data_hash: str,
    max_words: int,
    model: str,
    options: Mapping[str, object],
    files: Mapping[str, str],
    model_seed: int,
    tau: float,
    subsets: int,
    inputs: int,
    seed: int,
) -> dict[str, object]:
    """Trains a target (or takes it as it is), prunes the test part, and draws the inputs to explain.

    Args:
        source: the dataset, as arguments of ``load_dataset``.
        data_hash: its content hash, cut, when the run was planned.
        max_words: to which texts are cut.
        model: "rationale", the folder of a saved model, or an object's reference.
        options: of the training.
        files: hashes of the files that these name.
        model_seed: of the training.
        tau: what a clearly relevant word moves the output by.
        subsets: random deletions before an input is called strict.
        inputs: to explain, at the most.
        seed: of what is drawn.
    """
    data = load_texts(source, max_words, data_hash)
    made = target_model(model, data, Training(options, files, model_seed))
    selecting = ask_for(made, "selection", "rationale")
    texts = [str(text) for text in data.test.inputs]
    partitions = partition(selecting, texts)
    test_set = describe(partitions, tau)
    check_test_set(test_set)
    kept = [each for each in partitions if each.kept(tau)]
    order = stream(seed, "explained inputs", len(kept)).permutation(len(kept))
    tried = [kept[place] for place in order[: CHECKED_FOR_EACH * inputs].tolist()]
    selections = selecting.select([texts[each.place] for each in tried])
    flagged = [
        replace(each, strict=is_strict(selecting, texts[each.place], selection, subsets, seed))
        for each, selection in zip(tried, selections, strict=True)
    ]
    record = getattr(made, "record", None)
    history = getattr(record, "selection", None)
    outputs, ratings = made.predict_proba(texts), data.test.ratings
    result = TargetResult(
        weights=weights_of(made),
        accuracy=float(np.mean(outputs.argmax(axis=1) == data.test.labels)),
        validation_accuracy=None if record is None else record.validation_accuracy,
        share=sum(len(each.selected) for each in partitions) / max(1, sum(each.words for each in partitions)),
        test_set=test_set,
        checked=len(flagged),
        strict=sum(bool(each.strict) for each in flagged),
        explained=tuple(draw(flagged, inputs)),
        training=() if history is None else tuple(zip(history.shares, history.accuracies, strict=True)),
        squared_error=None if ratings is None else float(np.mean((outputs[:, 1] - ratings) ** 2)),
    )
    return encoded(result)


def draw(flagged: Sequence[Partition], inputs: int) -> list[Partition]:
    """The first so many inputs, which are a random sample, and as many strict ones more as make these half as many.

    Args:
        flagged: inputs in random order, known to be strict or not.
        inputs: how many are wanted.
    """
    drawn = sorted(flagged[:inputs], key=lambda each: each.place)
    lacking = max(0, inputs // 2 - sum(bool(each.strict) for each in drawn))
    others = [each for each in flagged[inputs:] if each.strict][:lacking]
    return [*drawn, *(replace(each, added=True) for each in sorted(others, key=lambda each: each.place))]


def check_test_set(test_set: TestSet) -> None:
    """Refuses a target that cannot serve as a test, and says why."""
    for count, what, why in (
        (test_set.empty, "nothing", "its output is then the same for all of them"),
        (test_set.everything, "every word", "no word is then known to do nothing"),
    ):
        if count > MOST_DEGENERATE * test_set.inputs:
            raise VeraxError(
                f"This target selects {what} in {percent(count / test_set.inputs)} of the test texts and cannot serve "
                f"as a test: {why}. Train it with another seed, or with another share of words."
            )
    if not test_set.kept:
        raise VeraxError(
            f"None of the {test_set.inputs:,} test texts can serve as a test: {percent(test_set.handshakes)} may have "
            f"a handshake, and {percent(test_set.without_relevant)} of the others have no clearly relevant word; lower "
            "tau, or give more or other texts."
        )


def target_model(name: str, data: Dataset, training: Training) -> Model:
    """The target: trained now, kept from an earlier training, saved in a folder, or an object."""
    if is_reference(name):
        given = fetch(name)
        assert isinstance(given, Model)
        return given
    if name == "rationale":
        return trained(data, training)
    from verax.models.neural.saving import load_model

    return with_reference(load_model(name), data)


def trained(data: Dataset, training: Training) -> Model:
    """A rationale model for a dataset; one with the same data, options and seed is taken from where it was kept."""
    from verax.models.neural.saving import load_model, save_model
    from verax.models.ready import fit_model

    folder = kept_in(data, training)
    if not is_whole(folder):
        model = fit_model("rationale", data, seed=training.seed, options=training.options)
        save_model(model, folder, test=data.test, reference=False)
        seal(folder)
    return with_reference(load_model(folder), data)


def kept_in(data: Dataset, training: Training) -> Path:
    """Where the model of a training is kept."""
    import torch

    from verax.models.neural.representations import cache_folder

    about = {
        "data": data.hash,
        "options": dict(training.options),
        "files": dict(training.files),
        "seed": training.seed,
        "torch": str(torch.__version__),
        "version": TRAINING_VERSION,
    }
    return cache_folder() / "rationale" / hashlib.sha256(canonical(about).encode()).hexdigest()[:32]


def with_reference(model: TextNetwork | Model, data: Dataset) -> Model:
    """A saved model with the training texts, from which some explainers learn first."""
    from verax.models.neural.networks import TextNetwork

    texts = [str(text) for text in data.train.inputs]
    return replace(model, reference=texts) if isinstance(model, TextNetwork) else model


def weights_of(model: Model) -> str:
    """A hash of a model: of its weights if it is a network of ours; else of what its object depends on."""
    from verax.models.neural.networks import TextNetwork
    from verax.run.identity import identity

    if isinstance(model, TextNetwork):
        digest = hashlib.sha256(json.dumps([type(model.network).__name__, model.class_names]).encode())
        for name, tensor in model.network.state_dict().items():
            digest.update(name.encode() + tensor.detach().contiguous().numpy().tobytes())
        return digest.hexdigest()
    return identity(model) or "unknown"


def reference_of(result: TargetResult) -> str:
    """The reference by which jobs speak of a target."""
    return PREFIX + result.weights


def mean_selected(explained: Sequence[Partition]) -> int:
    """The mean size of a selection, rounded: what a method that must be told the number of words is told."""
    return max(1, round(float(np.mean([len(each.selected) for each in explained]))))
