"""Turns what people have (a fitted pipeline, a classifier, a function) into a Model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from verax.data.inputs import as_frame, plain_inputs
from verax.data.table import find_groups
from verax.errors import VeraxError
from verax.models.base import Answer, Batch, Inputs, Model, check_class_names
from verax.models.llm.prompt import PromptOptions
from verax.models.multilabel import PickedLabel, label_number, n_labels, n_numbers, of_label
from verax.models.records import record_model
from verax.models.wrappers import (
    NUMBER,
    OUTLIER,
    CallableModel,
    TableModel,
    TextPipeline,
    check_texts,
    encode_rows,
    is_texts,
    learn_schema,
    number_of,
)

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator
    from torch import nn
    from transformers import PreTrainedTokenizerFast

    from verax.data.table import Schema
    from verax.models.llm.client import EndpointOptions
    from verax.models.wrappers import RawRows

KINDS = ("text", "table")


def as_model(
    fitted: object,
    *,
    class_names: Sequence[str] | None = None,
    kind: str | None = None,
    reference: Inputs | pd.DataFrame | None = None,
    schema: Schema | None = None,
    encoder: Callable[[Batch], Answer] | None = None,
    tokenizer: PreTrainedTokenizerFast | None = None,
    outputs: Literal["scores", "probabilities"] = "scores",
    output: Literal["classes", "number"] | None = None,
    groups: Mapping[str, Sequence[str]] | Literal["one-hot"] | None = None,
    resampling: Literal["marginal", "conditional"] = "marginal",
    texts: Sequence[str] | str = (),
    label: str | int | None = None,
    prompt: str | None = None,
    labels: Mapping[str, str] | Sequence[str] | None = None,
    examples: Sequence[tuple[str, str]] = (),
    calibrate: object = None,
    features: str = "words",
    target: str | None = None,
    chat: bool = False,
    base_url: str | None = None,
    endpoint: EndpointOptions | None = None,
) -> Model:
    """Adapts something fitted so that it can be explained.

    Args:
        fitted: a scikit-learn Pipeline that starts with a Count, Tfidf or Hashing vectoriser; any other
            fitted classifier with ``predict_proba`` (scikit-learn, xgboost); a torch module with its encoder; a
            Hugging Face ``pipeline("text-classification")``, or such a model with its tokenizer; a language model of
            Hugging Face (causal, masked, or from sequence to sequence) with its tokenizer and a prompt;
            ``"openai:MODEL"``, a model behind an endpoint of the OpenAI interface; or a callable from a
            batch of inputs to probabilities: texts, rows as a DataFrame where ``reference`` is one, or encoded rows. A
            Model is returned as it is.
        class_names: one name per class, in the model's order; by default the labels it was fitted on.
        kind: ``"text"`` or ``"table"``, where it cannot be seen from the rest.
        reference: training inputs: texts, or rows of a table (DataFrame, list of rows, or encoded array).
            Explainers take bins and background values from rows, and those that have to learn first learn from it. A
            model that reads DataFrames is asked with frames of the types and the very cells of this one.
        schema: the table's columns; learned from ``reference`` by default.
        encoder: of a torch module: from a list of texts, or encoded rows of a table, to what the module is called with
            (a tensor, several, or several by name).
        tokenizer: of a Hugging Face model.
        outputs: what a torch module gives: class scores before the softmax, or probabilities.
        output: what the model predicts: "classes", or a "number" as regressors do; seen from a fitted estimator, to be
            said of a function that returns one number per input. ``class_names=["price"]`` then names the number.
        resampling: of a table, where absent columns take their values from: training rows at random, or those that are
            like the input in the columns that are present ("conditional"). Then rows stay likely where columns depend
            on each other, but a column that the model does not read can get credit for one that it does.
        texts: columns of a DataFrame that hold texts, whose words are features, where the model reads several of them
            or others besides (premise and hypothesis; a review and its author's age); seen from a ColumnTransformer
            with vectorisers, to be said of anything else. The model is then called with DataFrames.
        label: of a classifier that gives several labels at once, or a regressor that predicts several numbers, the one
            to explain, by name or number; class_names= are then the names of all. See `verax.judge_labels` for all
            labels.
        groups: columns of a table that are one feature together, such as ``{"home": ["rooms", "area"]}``; "one-hot"
            finds the columns of 0 and 1 that stand for one category.
        prompt: what a language model is asked, with ``{text}`` in it; see docs/language-models.md.
        labels: what a language model says for each class, by the names of the classes.
        examples: of a language model's prompt: pairs of a text and the name of its class.
        calibrate: of a language model: "contextual", or validation texts and their labels.
        features: what explanations of a language model are about: the "words" of the text, its "sentences" or
            "passages", the prompt's "examples" or "instructions", or all parts of the "prompt".
        target: in place of labels, an answer whose log-probability is explained.
        chat: whether a local language model is asked through its chat template.
        base_url: of an endpoint, such as "http://localhost:8000/v1".
        endpoint: of an endpoint: limits, where answers are kept, how it is asked.
    """
    if kind is not None and kind not in KINDS:
        raise VeraxError(f"There is no kind of model {kind!r}; kind is 'text' or 'table'.")
    if reference is not None:
        reference = plain_inputs(reference)
    read = (texts,) if isinstance(texts, str) else tuple(texts)
    reference_texts = _reference_texts(kind, reference, schema)
    if reference_texts is not None:
        kind = "text"
    if output not in (None, "classes", "number"):
        raise VeraxError(f"There is no output {output!r}; a model predicts 'classes' or a 'number'.")
    if resampling != "marginal":
        plain = as_model(
            fitted, class_names=class_names, kind=kind, reference=reference, schema=schema, encoder=encoder,
            outputs=outputs, output=output, groups=groups, texts=texts, label=label,
        )  # fmt: skip
        return _resampled(plain, resampling)
    if isinstance(fitted, Model):
        return fitted if groups is None else _grouped(fitted, groups)
    if prompt is not None or (isinstance(fitted, str) and fitted.startswith("openai:")):
        from verax.models.llm.adapt import adapt_prompted

        asked = PromptOptions(
            prompt, labels, tuple(examples), calibrate, features, target, chat, base_url, endpoint
        )
        return adapt_prompted(fitted, tokenizer, asked, reference_texts)
    if isinstance(fitted, type):
        raise VeraxError(f"{fitted.__name__} is a class, not a fitted model; create one and fit it first.")
    if "torch" in sys.modules and (network := _network(fitted, tokenizer)) is not None:
        from verax.models.neural.adapt import adapt_module

        table = None if reference_texts is not None or kind == "text" else reference
        if table is not None:
            schema = schema or learn_schema(table, None)
            reference = encode_rows(table, schema)
        return adapt_module(*network, encoder, class_names, outputs, schema, reference)
    fitted, class_names = _one_label(fitted, label, class_names)
    if hasattr(fitted, "fit") or hasattr(fitted, "predict_proba"):
        model = _adapt_estimator(fitted, class_names, kind, reference, schema, read)
        return model if groups is None else _grouped(model, groups)
    if callable(fitted):
        model = _adapt_callable(fitted, class_names, kind, reference, schema, output, read)
        return model if groups is None else _grouped(model, groups)
    raise _no_model(fitted)


def _no_model(thing: object) -> VeraxError:
    name = type(thing).__name__
    if type(thing).__module__.split(".")[0] in ("xgboost", "lightgbm"):
        return VeraxError(
            f"This {name} does not say what it predicts; give the classifier or regressor around it "
            "(XGBClassifier().load_model(file) makes one of a saved Booster), or its predict as a function of rows: "
            "probabilities, or numbers with output='number'."
        )
    return VeraxError(
        f"A value of the type {name} is no model; give a fitted classifier with predict_proba, "
        "or a function from a list of inputs to an array of class probabilities."
    )


def _one_label(
    fitted: object, label: str | int | None, class_names: Sequence[str] | None
) -> tuple[object, Sequence[str] | None]:
    """What gives one label, and its classes, of a classifier that gives several; anything else as it is."""
    estimator = getattr(fitted, "best_estimator_", fitted)
    fits = hasattr(estimator, "fit")
    numbers = n_numbers(estimator) if fits else 0
    count = numbers or (n_labels(estimator) if fits else 0)
    if not count:
        if label is not None:
            raise VeraxError(
                "label= names one of several labels, and this model gives one class of several; leave it out."
            )
        return fitted, class_names
    named = () if class_names is None else check_class_names(class_names, range(count))
    number = label_number(label, named, count, numbers=numbers > 0)
    return of_label(estimator, number, named[number] if named else str(number))


def _reference_texts(kind: str | None, reference: RawRows | None, schema: Schema | None) -> list[str] | None:
    """The texts that stand for what the model was trained on; None if it is a table, or nothing was given."""
    texts = check_texts(reference) if is_texts(reference) else None
    if kind == "text" and (schema is not None or (reference is not None and texts is None)):
        raise VeraxError("reference= and schema= describe a table but kind is 'text'; leave one of them out.")
    if texts is not None and (kind == "table" or schema is not None):
        raise VeraxError("reference= holds texts but the model is one of tables; give rows of the table.")
    return texts


def _grouped(model: Model, groups: Mapping[str, Sequence[str]] | Literal["one-hot"]) -> Model:
    """The same model, whose columns are features in groups."""
    if model.schema is None:
        raise VeraxError(
            "groups= puts columns of a table together, and this model reads texts; leave it out."
        )
    found = find_groups(groups, model.schema.names, getattr(model, "reference", None))
    copied = copy(model)
    object.__setattr__(copied, "schema", replace(model.schema, groups=found))
    return copied


def _resampled(model: Model, resampling: str) -> Model:
    """The same model, whose absent columns take their values in another way."""
    if resampling != "conditional":
        raise VeraxError(f"There is no resampling {resampling!r}; it is 'marginal' or 'conditional'.")
    if model.schema is None:
        raise VeraxError("resampling= is for columns of a table, and this model reads texts; leave it out.")
    copied = copy(model)
    object.__setattr__(copied, "resampling", resampling)
    return copied


def _network(
    fitted: object, tokenizer: PreTrainedTokenizerFast | None
) -> tuple[nn.Module, PreTrainedTokenizerFast | None] | None:
    """A torch module and its tokenizer, if that is what was given, on its own or inside a pipeline."""
    from torch import nn

    if isinstance(fitted, nn.Module):
        return fitted, tokenizer
    inner, task = getattr(fitted, "model", None), getattr(fitted, "task", None)
    if task is None or not isinstance(inner, nn.Module):
        return None
    if task != "text-classification":
        raise VeraxError(f"The pipeline is for {task!r}; Verax explains pipelines for 'text-classification'.")
    return inner, getattr(fitted, "tokenizer", tokenizer)


def _adapt_estimator(
    estimator: BaseEstimator,
    class_names: Sequence[str] | None,
    kind: str | None,
    reference: RawRows | None,
    schema: Schema | None,
    read: Sequence[str] = (),
) -> Model:
    number = _check_fitted(estimator)
    estimator = getattr(estimator, "best_estimator_", estimator)  # what a grid search ends with
    outliers = number and hasattr(estimator, "score_samples")
    names = check_class_names(
        class_names, (OUTLIER if outliers else NUMBER,) if number else _labels(estimator)
    )
    function = partial(number_of, estimator) if number else estimator.predict_proba
    steps = _flat_steps(estimator)
    if kind != "table" and _is_vectorizer(steps[0]) and len(steps) > 1:
        texts = reference if is_texts(reference) else None
        if number:
            return CallableModel(function, class_names=names, reference=texts, output="number")
        return TextPipeline(steps[0], tuple(steps[1:-1]), steps[-1], names, reference=texts)
    if columns := (read or text_columns(estimator)):
        return record_model(
            function,
            columns,
            reference,
            names=_fitted_names(estimator),
            class_names=names,
            output="number" if number else "classes",
            estimator=estimator,
        )
    if kind == "text":
        output = "number" if number else "classes"
        return CallableModel(function, class_names=names, reference=reference, output=output)
    return _adapt_table(estimator, names, reference, schema, "number" if number else "classes")


def _adapt_callable(
    function: Callable[[Batch], Answer],
    class_names: Sequence[str] | None,
    kind: str | None,
    reference: RawRows | None,
    schema: Schema | None,
    output: str | None,
    read: Sequence[str] = (),
) -> Model:
    if output is None:
        picked = isinstance(function, PickedLabel) and n_numbers(function.estimator)
        output = "number" if picked else "classes"
    if read:
        return record_model(function, read, reference, class_names=class_names, output=output)
    if kind == "text" or (kind is None and reference is None and schema is None):
        return CallableModel(function, class_names=class_names, reference=reference, output=output)
    # With a schema of its own it reads encoded rows; a frame alone says what it was fitted on.
    frames = schema is None and as_frame(reference) is not None
    if reference is not None:
        schema = schema or learn_schema(reference, None)
        reference = encode_rows(reference, schema)
    return CallableModel(
        function,
        kind="table",
        class_names=class_names,
        schema=schema,
        reference=reference,
        frames=frames,
        output=output,
    )


def _adapt_table(
    estimator: BaseEstimator,
    class_names: tuple[str, ...],
    reference: RawRows | None,
    schema: Schema | None,
    output: str,
) -> TableModel:
    names = _fitted_names(estimator)
    frame = as_frame(reference)
    if names and frame is not None:
        labels = {str(label): label for label in frame.columns}
        names = _spelt(names, list(labels))
        _check_columns(names, list(labels), "reference")
        reference = frame = frame[[labels[name] for name in names]]
    elif names and schema is None and isinstance(reference, list):
        reference = frame = _named_rows(reference, names)
    if schema is None:
        schema = (
            _numeric_schema(estimator, names) if reference is None else learn_schema(reference, names or None)
        )
        if not names and frame is not None and schema.categorical and _reads(estimator, frame):
            names = list(schema.names)  # of another making, which does not say what it was fitted on
        _check_plain_rows(estimator, names, schema)
    elif names and frame is not None:
        schema = schema.remembering(frame)
    names = _spelt(names, schema.names)
    _check_schema(estimator, names, schema)
    encoded = None if reference is None else encode_rows(reference, schema)
    return TableModel(estimator, schema, class_names, encoded, tuple(names), output)


def _fitted_names(estimator: BaseEstimator) -> list[str]:
    """The columns of the DataFrame that an estimator was fitted on; none if it was fitted on an array."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None and type(estimator).__module__.startswith("catboost."):
        names = estimator.feature_names_ or ()
        if list(names) == [str(number) for number in range(len(names))]:
            return []  # CatBoost's own numbers for the columns of an array
    return [str(name) for name in names] if names is not None else []


def _spelt(names: Sequence[str], there: Sequence[str]) -> list[str]:
    """The columns of a fit as the table spells them: LightGBM writes "hours_per_week" for "hours per week"."""
    spelt = {name.replace(" ", "_"): name for name in there}
    return [name if name in there else spelt.get(name, name) for name in names]


def _named_rows(rows: Sequence[Sequence[object]], names: Sequence[str]) -> RawRows:
    """A list of rows as the DataFrame that it makes; one that does not fit is left for others to refuse."""
    import pandas as pd

    if any(isinstance(row, (str, np.ndarray)) or not hasattr(row, "__len__") for row in rows):
        return rows
    return pd.DataFrame(rows, columns=list(names)) if all(len(row) == len(names) for row in rows) else rows


def _reads(estimator: BaseEstimator, frame: pd.DataFrame) -> bool:
    """Whether an estimator answers to rows of a frame."""
    if hasattr(estimator, "n_features_in_"):
        return False  # scikit-learn's say themselves what names they know
    try:
        predict = getattr(estimator, "predict_proba", None) or estimator.predict
        return len(predict(frame.iloc[:2])) == len(frame.iloc[:2])
    except Exception:  # whatever somebody's estimator may raise
        return False


def _numeric_schema(estimator: BaseEstimator, names: Sequence[str]) -> Schema:
    """All columns numeric, the best guess without a reference; NaN may come if the estimator says so."""
    from verax.data.table import Column, Schema

    width = getattr(estimator, "n_features_in_", None)
    if width is None:
        raise VeraxError(
            f"{type(estimator).__name__} does not say how many columns it reads; give reference= "
            "(training rows) or schema=, or kind='text' if it reads texts."
        )
    names = names or [f"x{number}" for number in range(int(width))]
    return Schema(tuple(Column(name, None, _allows_nan(estimator)) for name in names))


def _check_schema(estimator: BaseEstimator, names: Sequence[str], schema: Schema) -> None:
    if names:
        _check_columns(names, list(schema.names), "schema")
        merged = [
            column
            for column in schema.columns
            if column.name in names and column.original is not None and not column.original.exact
        ]
        if merged:
            raise VeraxError(
                f"The column {merged[0].name!r} writes one value in several ways (as '?' and 'none'), which a model of "
                "DataFrames can tell apart and an encoded row cannot; write it in one way in the rows that the model "
                "is fitted on."
            )
        return
    width = getattr(estimator, "n_features_in_", None)
    if width is not None and int(width) != len(schema):
        raise VeraxError(
            f"{type(estimator).__name__} was fitted on {width} columns but the table has {len(schema)} "
            f"({', '.join(schema.names)}); give the columns it was fitted on, in that order."
        )


def _check_plain_rows(estimator: BaseEstimator, names: Sequence[str], schema: Schema) -> None:
    if schema.categorical and not names:
        raise VeraxError(
            f"{type(estimator).__name__} was fitted without column names but column "
            f"{schema.names[schema.categorical[0]]!r} of the reference holds categories; fit it on a "
            "DataFrame, or on rows that a Schema encoded and give schema= as well."
        )


def _check_columns(wanted: Sequence[str], there: Sequence[str], where: str) -> None:
    absent = [name for name in wanted if name not in there]
    if absent:
        raise VeraxError(
            f"The model was fitted with a column {absent[0]!r} that the {where} lacks "
            f"(it has {', '.join(there)}); give the columns it was fitted on."
        )


def _check_fitted(estimator: BaseEstimator) -> bool:
    """Whether an estimator predicts a number; refuses one that is not fitted, or predicts neither that nor classes."""
    from sklearn.base import BaseEstimator, is_clusterer, is_outlier_detector, is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    name = type(_flat_steps(estimator)[-1]).__name__
    if isinstance(estimator, BaseEstimator):
        try:
            check_is_fitted(estimator)
        except NotFittedError as error:
            raise VeraxError(f"{name} is not fitted yet; call its fit(inputs, labels) first.") from error
        if is_regressor(estimator):
            return True
        if is_outlier_detector(estimator) and hasattr(estimator, "score_samples"):
            return True
        if is_clusterer(estimator) or is_outlier_detector(estimator) or not hasattr(estimator, "predict"):
            raise VeraxError(
                f"{name} predicts neither classes nor numbers; give a fitted classifier or regressor, or a function "
                "from inputs to what is to be explained: probabilities, or numbers with output='number'."
            )
    if _is_unfitted_booster(estimator):
        raise VeraxError(f"{name} is not fitted yet; call its fit(inputs, labels) first.")
    if getattr(estimator, "_estimator_type", None) == "regressor" and not hasattr(estimator, "predict_proba"):
        return True
    if not hasattr(estimator, "predict_proba"):
        raise VeraxError(
            f"{name} has no predict_proba; use a classifier with probabilities, or fit it inside "
            "scikit-learn's CalibratedClassifierCV. If it predicts a number, give its predict and output='number'."
        )
    return False


def _is_unfitted_booster(estimator: BaseEstimator) -> bool:
    """Whether a CatBoost model waits for its fit; scikit-learn does not know how to see that."""
    is_fitted = getattr(estimator, "is_fitted", None)
    return type(estimator).__module__.startswith("catboost.") and callable(is_fitted) and not is_fitted()


def _labels(estimator: BaseEstimator) -> Sequence[object]:
    labels = getattr(estimator, "classes_", None)
    if labels is None:
        raise VeraxError(
            f"{type(estimator).__name__} has no classes_, so it is not a fitted classifier; pass its "
            "predict_proba as a callable if it gives class probabilities all the same."
        )
    if isinstance(labels, list) and labels and isinstance(labels[0], np.ndarray):
        raise VeraxError(
            f"{type(estimator).__name__} predicts {len(labels)} outputs at once; fit one model per output."
        )
    return list(labels)


def _flat_steps(estimator: BaseEstimator) -> list[BaseEstimator]:
    """The steps of a pipeline, those of nested pipelines in their places; anything else is one step."""
    from sklearn.pipeline import Pipeline

    if not isinstance(estimator, Pipeline):
        return [estimator]
    kept = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    return [inner for step in kept for inner in _flat_steps(step)]


def _is_vectorizer(step: BaseEstimator) -> bool:
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    return isinstance(step, (CountVectorizer, HashingVectorizer))  # TfidfVectorizer is a CountVectorizer


def unfitted_copy(estimator: Any) -> Any:
    """The same estimator, to be fitted anew.

    Raises:
        TypeError, RuntimeError: it cannot be copied so.
    """
    from sklearn.base import clone

    if type(estimator).__module__.startswith("catboost."):
        # Its constructor changes what it is given (lists of categorical columns), which clone takes for a mistake.
        return type(estimator)(**deepcopy(estimator.get_params()))
    return clone(estimator)


def predicts_number(thing: object) -> bool:
    """Whether something fitted, or to be fitted, predicts a number, or is a model that was made of such a thing."""
    if isinstance(thing, Model):
        return thing.output == "number"
    from sklearn.base import BaseEstimator, is_outlier_detector, is_regressor

    return isinstance(thing, BaseEstimator) and (is_regressor(thing) or is_outlier_detector(thing))


def reads_texts(thing: object) -> bool:
    """Whether something fitted begins with a vectoriser of texts, as far as can be seen."""
    return hasattr(thing, "fit") and _is_vectorizer(_flat_steps(thing)[0])


def text_columns(estimator: BaseEstimator) -> tuple[str, ...]:
    """The columns of a frame that a pipeline reads as texts, by a vectoriser for each."""
    from sklearn.compose import ColumnTransformer

    step = _flat_steps(estimator)[0]
    if not isinstance(step, ColumnTransformer):
        return ()
    parts = [(_flat_steps(part)[0], columns) for _, part, columns in step.transformers]
    texts = [columns for first, columns in parts if _is_vectorizer(first)]
    return tuple(dict.fromkeys(str(named if isinstance(named, str) else named[0]) for named in texts))


def _allows_nan(estimator: BaseEstimator) -> bool:
    from sklearn.base import BaseEstimator
    from sklearn.utils import get_tags

    # A pipeline's first step decides. What is no scikit-learn estimator has no tags: let it speak for itself.
    first = _flat_steps(estimator)[0]
    return bool(get_tags(first).input_tags.allow_nan) if isinstance(first, BaseEstimator) else True
