"""A ready-made model fitted on a whole dataset, texts or table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.ready import ReadsInputs, check_training, fit_classifier, make_ready, parse_model
from verax.models.tables import TableModel
from verax.models.text import TextPipeline, check_texts

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    from verax.data.dataset import Dataset
    from verax.data.table import Schema
    from verax.models.base import Rows

WORDS = ("presence", "counts")
# The classifiers that step along gradients need columns of one scale; trees do not.
SCALED = ("logistic", "mlp")


def fit_vectorizer(texts: Sequence[str], words: str = "presence") -> CountVectorizer:
    """A bag of words over the texts' vocabulary: lower case, words of two characters or more.

    Args:
        texts: usually a dataset's training part.
        words: ``"presence"`` (1 if the word occurs) or ``"counts"`` (how often).
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if words not in WORDS:
        raise VeraxError(f"words={words!r} is not known; use 'presence' or 'counts'.")
    known = check_texts(texts)
    try:
        return CountVectorizer(binary=words == "presence", dtype=np.float64).fit(known)
    except ValueError as error:
        raise VeraxError(
            f"No vocabulary can be made of the {len(known)} texts ({error}); give longer texts."
        ) from error


def fit_model(
    name: str,
    dataset: Dataset,
    *,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    words: str = "presence",
    vectorizer: CountVectorizer | None = None,
    rows: tuple[Rows, Rows] | None = None,
    options: Mapping[str, object] | None = None,
) -> Model:
    """Fits a ready-made model on a dataset's training part.

    Args:
        name: one of ``models``: those that read rows of numbers, made of the texts' words or the table's columns
            (logistic, tree, forest, xgboost, mlp), and those that read the inputs themselves (cnn, bilstm, ...).
            Options may stand behind it: ``cnn(epochs=2)``.
        dataset: texts or a table; its validation part tells networks when to stop.
        sample_weight: a weight per training input; 0 leaves it out.
        seed: of all that is random in the fit.
        words: ``"presence"`` or ``"counts"``, for a bag of words, if no vectoriser is given.
        vectorizer: a fitted one to share between models.
        rows: what the vectoriser makes of the training and the validation texts, to share as well.
        options: of the model, by name: ``{"epochs": 1}``; they count before those in the name.
    """
    ready = make_ready(name, seed, options)  # a misspelt name is told before any work
    if isinstance(ready, ReadsInputs):
        return ready.fit_inputs(dataset, sample_weight)
    fit = partial(fit_classifier, name, seed=seed, n_classes=len(dataset.class_names), options=options)
    if dataset.kind == "table":
        return _fit_table(fit, dataset, sample_weight, scaled=parse_model(name).name in SCALED)
    texts = check_texts(dataset.train.inputs)
    vectorizer = vectorizer or fit_vectorizer(texts, words)
    train, watched = rows or (vectorizer.transform(texts), vectorizer.transform(dataset.validation.inputs))
    validation = (watched, dataset.validation.labels)
    classifier = fit(train, dataset.train.labels, sample_weight=sample_weight, validation=validation)
    return TextPipeline(vectorizer, (), classifier, dataset.class_names, reference=texts)


def _fit_table(
    fit: Callable[..., BaseEstimator], dataset: Dataset, sample_weight: ArrayLike | None, *, scaled: bool
) -> TableModel:
    from sklearn.pipeline import make_pipeline

    schema = table_schema(dataset)
    inputs = schema.check(dataset.train.inputs)
    rows, labels, weights = check_training(
        inputs, dataset.train.labels, sample_weight, len(dataset.class_names)
    )
    columns = table_columns(schema, scaled=scaled).fit(rows)
    watched = dataset.validation
    validation = (columns.transform(watched.inputs), watched.labels) if len(watched) else None
    classifier = fit(columns.transform(rows), labels, sample_weight=weights, validation=validation)
    return TableModel(make_pipeline(columns, classifier), schema, dataset.class_names, reference=inputs)


def table_schema(dataset: Dataset) -> Schema:
    """The columns of a dataset of tables; a sentence if it does not know them."""
    if dataset.schema is None:
        raise VeraxError(
            f"The dataset {dataset.name!r} is a table without a schema; give it one (Schema.learn)."
        )
    return dataset.schema


def table_columns(schema: Schema, *, scaled: bool) -> ColumnTransformer:
    """What the ready-made models read of an encoded row: numbers, and an indicator per category.

    A missing number becomes the training median, with an indicator of its own.

    Args:
        schema: the table's columns.
        scaled: whether the numbers are standardised.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    numbers = make_pipeline(imputer, StandardScaler()) if scaled else imputer
    # All categories of the schema, so that one that the training rows lack still has its column.
    codes = [np.arange(count, dtype=float) for count in schema.category_counts]
    steps: list[tuple[str, BaseEstimator, list[int]]] = []
    if schema.numeric:
        steps.append(("numbers", numbers, list(schema.numeric)))
    if schema.categorical:
        steps.append(
            ("categories", OneHotEncoder(categories=codes, sparse_output=False), list(schema.categorical))
        )
    return ColumnTransformer(steps)
