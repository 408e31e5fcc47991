"""Explanations of other packages, from the packages' own objects: shap, lime, captum, transformers_interpret.

Each of the four functions takes what the package returned, the model and the inputs, and gives an explainer that looks
the explanations up by input and class: for `verax.judge`, `verax.stain` and wherever else an explainer is taken. None
of the packages is imported here; their objects are read.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain.base import Claim, Explainer, Target, check_targets, class_numbers, model_inputs
from verax.explain.explanation import Attribution, Explanation, Spans
from verax.explain.matching import column_of, match_all
from verax.explain.perturbed import shown_input
from verax.explain.precomputed import Stored, looked_up, stored_by_input
from verax.models.adapt import as_model
from verax.models.base import Inputs, Model
from verax.text import counted, input_named, listed

logger = logging.getLogger(__name__)


class Imported(Explainer):
    """Explanations made by another package, looked up by input and class.

    Attributes:
        name: of the package.
        explanations: all of them, with features that Verax knows: words of the text, columns of the table.
    """

    claims_faithfulness: ClassVar[bool] = False
    claim: ClassVar[Claim] = "undeclared"

    def __init__(self, name: str, explanations: Sequence[Explanation]) -> None:
        self.name = name
        self.explanations = tuple(explanations)

    def explain(
        self, model: Model, inputs: Inputs, targets: Sequence[Target] | None = None
    ) -> list[Explanation]:
        """The explanation of each input; for the class that is asked for, else for the one that the model predicts."""
        wanted = class_numbers(model, inputs, targets)
        advice = "explain this input with the package too, for this class"
        return looked_up(self._stored(), model, inputs, wanted, f"what was imported from {self.name}", advice)

    def write(self, path: str | Path) -> None:
        """Writes JSON lines that ``verax.explainer("precomputed", path=...)`` reads, on the command line too."""
        lines = [json.dumps(explanation.to_dict(), ensure_ascii=False) for explanation in self.explanations]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _stored(self) -> Stored:
        return stored_by_input(self.explanations)

    def __repr__(self) -> str:
        content = json.dumps([explanation.to_dict() for explanation in self.explanations], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        return f"Imported({self.name!r}, {counted(len(self.explanations), 'explanation')}, {digest})"


@dataclass(frozen=True)
class PackageScores:
    """One explanation as a package gives it: scores of what it calls its features, for one class."""

    features: tuple[str, ...]
    scores: FloatArray
    spans: Spans | None = None


# By class number, the explanations of one input.
ByClass = Mapping[int, PackageScores]


def from_shap(explained: Any, model: object, inputs: Inputs | None = None, targets: Any = None) -> Imported:
    """Explanations of the `shap` package.

    Args:
        explained: a ``shap.Explanation`` of texts (``shap.maskers.Text``) or of rows, with one output or several.
        model: what was explained; anything that `verax.as_model` takes.
        inputs: what was explained; by default what the object holds.
        targets: the class of each explanation, or one for all, where the object has one output and does not name its
            class. With several outputs all classes are taken, or only these.
    """
    asked = _model(model)
    values, data = getattr(explained, "values", None), getattr(explained, "data", None)
    if values is None or not hasattr(explained, "base_values"):
        raise VeraxError(
            f"from_shap takes a shap.Explanation, which explainer(inputs) returns, not a {type(explained).__name__}."
        )
    texts = asked.kind == "text"
    if texts and (data is None or not all(_is_tokens(own) for own in _one_or_many(data, _is_tokens(data)))):
        raise VeraxError(
            "The shap.Explanation holds no tokens; explain texts with a masker of texts: "
            "shap.Explainer(function, shap.maskers.Text())."
        )
    one = _is_tokens(data) if texts else data is not None and np.ndim(data) == 1
    rows = [np.asarray(own, dtype=np.float64) for own in _one_or_many(values, one)]
    held = _one_or_many(data, one) if data is not None else None
    if inputs is None:
        if held is None:
            raise VeraxError("The shap.Explanation holds no data; give inputs=, what was explained.")
        inputs = ["".join(tokens) for tokens in held] if texts else np.stack(held)
    given = _inputs(asked, inputs, len(rows), "shap")
    classes = _shap_classes(explained, asked, given, rows, targets)
    found = []
    for number, (row, own) in enumerate(zip(rows, classes, strict=True)):
        names = (
            tuple(map(str, held[number]))
            if texts and held is not None
            else _shap_columns(explained, asked, row)
        )
        columns = row.reshape(len(row), -1)
        found.append({target: PackageScores(names, columns[:, place]) for target, place in own.items()})
    return _imported("shap", asked, given, found, mirrored=True)


def from_lime(explained: Any, model: object, inputs: Inputs | None = None, targets: Any = None) -> Imported:
    """Explanations of the `lime` package.

    Args:
        explained: a ``lime`` Explanation of a text or a row, or a list of them.
        model: what was explained; anything that `verax.as_model` takes.
        inputs: what was explained. Texts are in the objects; rows of a table have to be given.
        targets: the labels to take, one for each input or one for all; all that were explained by default.
    """
    asked = _model(model)
    objects = list(explained) if isinstance(explained, list | tuple) else [explained]
    for one in objects:
        if not hasattr(one, "as_map") or not hasattr(one, "domain_mapper"):
            raise VeraxError(
                f"from_lime takes what explain_instance of lime returns, not a {type(one).__name__}."
            )
        if one.mode != "classification":
            raise VeraxError("lime explained a regression here; Verax speaks of classifiers.")
    mappers = [one.domain_mapper for one in objects]
    if inputs is None:
        if not all(hasattr(mapper, "indexed_string") for mapper in mappers):
            raise VeraxError(
                "lime keeps no rows of tables in its explanations; give inputs=, what was explained."
            )
        inputs = [mapper.indexed_string.raw_string() for mapper in mappers]
    given = _inputs(asked, inputs, len(objects), "lime")
    wanted = check_targets(asked, given, targets)
    found = []
    for number, (one, mapper, target) in enumerate(zip(objects, mappers, wanted, strict=True)):
        labels = {int(label): weights for label, weights in one.as_map().items()}
        if target is not None and target not in labels and len(asked.class_names) != 2:
            known = listed([asked.class_names[label] for label in labels])
            raise VeraxError(
                f"lime explained {known} for {input_named(number)}, not {asked.class_names[target]}; call "
                f"explain_instance with labels=({target},)."
            )
        kept = {label: own for label, own in labels.items() if target in (None, label)} or labels
        found.append({label: _lime_scores(mapper, own, asked) for label, own in kept.items()})
    return _imported("lime", asked, given, found, mirrored=True)


def from_captum(
    attributions: Any,
    model: object,
    inputs: Inputs,
    targets: Any = None,
    *,
    tokens: Sequence[str] | Sequence[Sequence[str]] | None = None,
) -> Imported:
    """Attributions of captum, or of anything else that gives one array for each input.

    Args:
        attributions: for each input a tensor with a score for each token, or for each token and dimension of its
            embedding, over which scores are then summed; for rows of a table a score for each column. A batch may be
            one tensor; one text may be given without its batch.
        model: what was explained; anything that `verax.as_model` takes.
        inputs: the texts or rows that were explained.
        targets: the class that was explained for each, or one for all; the predicted one by default.
        tokens: the tokens of each text, those that the tokenizer adds included; for rows the names of columns, if
            they are not the model's.
    """
    asked = _model(model)
    if asked.kind == "text" and tokens is None:
        raise VeraxError("Attributions of texts need their tokens; give tokens=, the tokens of each text.")
    if asked.schema is not None:
        names: list[Any] = [asked.schema.names if tokens is None else tokens]
        whole = _array(attributions)
        arrays = [whole] if whole.ndim == 1 else list(whole)
        names *= len(arrays)
    elif _is_tokens(tokens):
        names, inputs = [tokens], [inputs] if isinstance(inputs, str) else inputs
        arrays = [_without_batch(_array(attributions), len(names[0]))]
    else:
        names, arrays = list(tokens or ()), [_array(own) for own in attributions]
    given = _inputs(asked, inputs, len(arrays), "captum")
    if len(names) != len(arrays):
        raise VeraxError(
            f"There are tokens of {counted(len(names), 'input')} and attributions of {len(arrays)}; give one list of "
            "tokens for each."
        )
    found = []
    classes = class_numbers(asked, given, targets)
    for number, (array, own, target) in enumerate(zip(arrays, names, classes, strict=True)):
        if array.ndim not in (1, 2) or len(array) != len(own):
            raise VeraxError(
                f"The attributions of {input_named(number)} have shape {tuple(array.shape)} for "
                f"{counted(len(own), 'token')}; give one row, or one number, for each token."
            )
        scores = array if array.ndim == 1 else array.sum(axis=1)
        found.append({target: PackageScores(tuple(map(str, own)), scores)})
    return _imported("captum", asked, given, found)


def from_transformers_interpret(
    word_attributions: Any, model: object, inputs: Inputs, targets: Any = None
) -> Imported:
    """Word attributions of transformers_interpret: lists of (token, score).

    Tokens that the tokenizer adds, such as [CLS] and </s>, are left out; ``details["left out"]`` names them.

    Args:
        word_attributions: what the package's explainer returned for each text: a list of (token, score), or a dict
            from class names to such lists. One text may be given without its batch.
        model: what was explained; anything that `verax.as_model` takes.
        inputs: the texts that were explained.
        targets: the class that was explained for each, or one for all; the predicted one by default. Not used for
            dicts, which name their classes.
    """
    asked = _model(model)
    texts = [inputs] if isinstance(inputs, str) else inputs
    one = isinstance(word_attributions, Mapping) or _is_pairs(word_attributions)
    lists = [word_attributions] if one else list(word_attributions)
    given = _inputs(asked, texts, len(lists), "transformers_interpret")
    classes = None if all(isinstance(own, Mapping) for own in lists) else class_numbers(asked, given, targets)
    found = []
    for number, own in enumerate(lists):
        if isinstance(own, Mapping):
            by_class = dict(zip(check_targets(asked, list(own), list(own)), own.values(), strict=True))
        else:
            assert classes is not None, "known wherever one is not a dict"
            by_class = {classes[number]: own}
        if not all(_is_pairs(pairs) for pairs in by_class.values()):
            raise VeraxError(
                f"What was given for {input_named(number)} is no list of (token, score); give what the explainer of "
                "transformers_interpret returned."
            )
        found.append(
            {
                target: PackageScores(
                    tuple(str(token) for token, _ in pairs), np.array([float(score) for _, score in pairs])
                )
                for target, pairs in by_class.items()
                if target is not None
            }
        )
    return _imported("transformers_interpret", asked, given, found)


def _imported(
    name: str, model: Model, inputs: Inputs, found: Sequence[ByClass], *, mirrored: bool = False
) -> Imported:
    """The explanations as Verax has them, matched to the inputs.

    Args:
        name: of the package.
        model: what was explained.
        inputs: as the model's explainers are given them.
        found: for each input the scores by class.
        mirrored: with two classes, the scores of one are those of the other with the other sign: so it is where
            probabilities or log-odds are explained by a sum, since those of the two classes mirror each other.
    """
    explanations: list[Explanation] = []
    numbers: list[int] = []
    for number, (given, by_class) in enumerate(zip(inputs, found, strict=True)):
        shown = shown_input(model, given)
        for target, scored in _both(by_class, model, mirrored=mirrored):
            details: dict[str, object] = {}
            if target not in by_class:
                details["mirrored"] = f"the scores of {model.class_names[1 - target]} with the other sign"
            explanations.append(
                Attribution(
                    features=scored.features,
                    scores=scored.scores,
                    target=target,
                    target_name=model.class_names[target],
                    input=shown,
                    spans=scored.spans,
                    details=details,
                    explainer=name,
                )
            )
            numbers.append(number)
    matched = match_all(explanations, model, name, numbers)
    _tell_of_twins(matched, numbers, name)
    return Imported(name, matched)


def _both(by_class: ByClass, model: Model, *, mirrored: bool) -> Iterator[tuple[int, PackageScores]]:
    yield from by_class.items()
    if mirrored and len(by_class) == 1 and len(model.class_names) == 2:
        ((target, scored),) = by_class.items()
        yield 1 - target, replace(scored, scores=-scored.scores)


def _tell_of_twins(explanations: Sequence[Explanation], numbers: Sequence[int], name: str) -> None:
    """Says where inputs that read the same have different explanations, of which the last is used."""
    seen: dict[tuple[object, object], tuple[int, Explanation]] = {}
    for number, explanation in zip(numbers, explanations, strict=True):
        key = (getattr(explanation, "input", ""), getattr(explanation, "target", None))
        first = seen.setdefault(key, (number, explanation))
        if first[0] != number and first[1] != explanation:
            logger.warning(
                "%s explains inputs %d and %d (counted from 0) differently, though they read the same; the last "
                "explanation is used for both.",
                name,
                first[0],
                number,
            )
            return


def _model(given: object) -> Model:
    return given if isinstance(given, Model) else as_model(given)


def _inputs(model: Model, given: Inputs, count: int, package: str) -> Inputs:
    plain = model_inputs(model, given)
    if len(plain) != count:
        raise VeraxError(
            f"There are {counted(len(plain), 'input')} and {counted(count, 'explanation')} of {package}; give one "
            "input for each, in their order."
        )
    if not model.class_names and len(plain):
        model.predict_proba(plain[:1])  # a function's classes are known from its first answer on
    return plain


def _one_or_many(given: Any, one: bool) -> list[Any]:
    return [given] if one else list(given)


def _is_tokens(given: Any) -> bool:
    return not isinstance(given, str) and all(isinstance(token, str) for token in given)


def _is_pairs(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and [isinstance(each, str) for each in pair] == [True, False]
        for pair in given
    )


def _without_batch(array: FloatArray, n_tokens: int) -> FloatArray:
    """What captum gives for a batch of one text: one number, or one row, for each token."""
    is_batch = len(array) == 1 and (array.ndim == 3 or (array.ndim == 2 and n_tokens != 1))
    return array[0] if is_batch else array


def _array(given: Any) -> FloatArray:
    """A tensor of torch, wherever it lies and whether or not it has gradients, or anything like an array."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise VeraxError(
            f"Attributions are tensors or arrays of numbers, not a {type(given).__name__}; give one for each input."
        ) from error


def _shap_classes(
    explained: Any, model: Model, inputs: Inputs, rows: Sequence[FloatArray], targets: Any
) -> list[dict[int, int]]:
    """For each input, by class number, the place of its output in the scores."""
    names = getattr(explained, "output_names", None)
    wanted = check_targets(model, inputs, targets)
    n_outputs = {1 if row.ndim == 1 else row.shape[1] for row in rows if row.ndim < 3}
    if len(n_outputs) != 1 or any(row.ndim > 2 for row in rows):
        raise VeraxError(
            "The shap.Explanation must have one score per feature and output, without interactions."
        )
    (count,) = n_outputs
    if count == 1:
        named = (
            names if isinstance(names, str) else names[0] if names is not None and len(names) == 1 else None
        )
        if targets is None and named in model.class_names:
            return [{model.class_names.index(str(named)): 0}] * len(rows)
        if targets is None:
            raise VeraxError(
                "The shap.Explanation has one output and does not say of which class; give targets=, such as "
                f"targets={model.class_names[-1]!r}."
            )
        return [{target: 0} for target in wanted if target is not None]
    if names is not None and len(names) == count and set(map(str, names)) <= set(model.class_names):
        places = {model.class_names.index(str(name)): place for place, name in enumerate(names)}
    elif count == len(model.class_names):
        places = {place: place for place in range(count)}
    else:
        raise VeraxError(
            f"The shap.Explanation has {count} outputs and the model {len(model.class_names)} classes; explain the "
            "function that gives all probabilities, or choose one output: explanation[..., 1]."
        )
    kept = []
    for number, target in enumerate(wanted):
        if target is not None and target not in places:
            raise VeraxError(
                f"The shap.Explanation has no output of {model.class_names[target]} for {input_named(number)}; leave "
                "targets= out, or explain that class too."
            )
        kept.append(places if target is None else {target: places[target]})
    return kept


def _shap_columns(explained: Any, model: Model, row: FloatArray) -> tuple[str, ...]:
    assert model.schema is not None, "a model of tables knows its columns"
    names, columns = getattr(explained, "feature_names", None), model.schema.names
    plain = tuple(map(str, names)) if names is not None and len(names) == len(row) else ()
    # Names that shap made up say no more than the place of the column.
    made_up = plain in ((), tuple(f"Feature {place}" for place in range(len(row))))
    return tuple(columns) if made_up and len(columns) == len(row) else plain or _unnamed(len(row), columns)


def _unnamed(count: int, columns: Sequence[str]) -> tuple[str, ...]:
    raise VeraxError(
        f"The explanation has {count} features without names and the model {len(columns)} columns; explain the model "
        "with all its columns, or give their names (feature_names)."
    )


def _lime_scores(mapper: Any, weights: Sequence[tuple[int, float]], model: Model) -> PackageScores:
    """The features of one explanation of lime by their places in its text or row."""
    scores = np.array([float(weight) for _, weight in weights], dtype=np.float64)
    indexed = getattr(mapper, "indexed_string", None)
    if indexed is None:
        names, columns = list(map(str, mapper.feature_names)), model.schema.names if model.schema else ()
        # Names that lime made up, or that the table does not know, say no more than the place of the column.
        unknown = all(name.isdecimal() or column_of(name, columns) is None for name in names)
        named = columns if unknown and len(names) == len(columns) else names
        return PackageScores(tuple(named[place] for place, _ in weights), scores)
    features = tuple(str(indexed.word(place)) for place, _ in weights)
    if indexed.bow:
        return PackageScores(features, scores)
    starts = [int(indexed.string_position(place)[0]) for place, _ in weights]
    spans = tuple(((start, start + len(word)),) for start, word in zip(starts, features, strict=True))
    return PackageScores(features, scores, spans)
