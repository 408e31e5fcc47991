"""A ready-made model fitted on a whole dataset, texts or table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.ready import check_training, fit_classifier, models
from verax.models.tables import TableModel
from verax.models.text import TextPipeline, check_texts

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    from verax.data.dataset import Dataset
    from verax.data.table import Schema

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
    sample_weight: Any = None,
    seed: int = 0,
    words: str = "presence",
    vectorizer: CountVectorizer | None = None,
) -> Model:
    """Fits a ready-made model on a dataset's training part.

    Args:
        name: one of ``models``: logistic, tree, forest, xgboost, mlp.
        dataset: texts or a table; its validation part tells ``mlp`` when to stop.
        sample_weight: a weight per training input; 0 leaves it out.
        seed: of all that is random in the fit.
        words: ``"presence"`` or ``"counts"``, for texts, if no vectoriser is given.
        vectorizer: a fitted one to share between models.
    """
    models.get(name)  # a misspelt name is told before any work
    if dataset.kind == "text":
        if vectorizer is None:
            vectorizer = fit_vectorizer(_texts(dataset), words)
        return _fit_text(name, dataset, sample_weight, seed, vectorizer)
    return _fit_table(name, dataset, sample_weight, seed)


def _texts(dataset: Dataset) -> list[str]:
    return check_texts(list(dataset.train.inputs))


def _fit_text(name: str, dataset: Dataset, sample_weight: Any, seed: int, vectorizer: Any) -> TextPipeline:
    classifier = fit_classifier(
        name,
        vectorizer.transform(_texts(dataset)),
        dataset.train.labels,
        sample_weight=sample_weight,
        validation=_validation(dataset, vectorizer),
        seed=seed,
        n_classes=len(dataset.class_names),
    )
    return TextPipeline(vectorizer, (), classifier, dataset.class_names)


def _fit_table(name: str, dataset: Dataset, sample_weight: Any, seed: int) -> TableModel:
    from sklearn.pipeline import make_pipeline

    schema = dataset.schema
    if schema is None:
        raise VeraxError(
            f"The dataset {dataset.name!r} is a table without a schema; give it one (Schema.learn)."
        )
    inputs = schema.check(dataset.train.inputs)
    n_classes = len(dataset.class_names)
    rows, labels, weights = check_training(inputs, dataset.train.labels, sample_weight, n_classes)
    columns = table_columns(schema, scaled=name in SCALED).fit(rows)
    classifier = fit_classifier(
        name,
        columns.transform(rows),
        labels,
        sample_weight=weights,
        validation=_validation(dataset, columns),
        seed=seed,
        n_classes=n_classes,
    )
    return TableModel(make_pipeline(columns, classifier), schema, dataset.class_names, reference=inputs)


def _validation(dataset: Dataset, transform: Any) -> tuple[Any, Any] | None:
    part = dataset.validation
    return (transform.transform(part.inputs), part.labels) if len(part.labels) else None


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
    codes = [
        np.arange(len(schema.columns[place].categories or ()), dtype=float) for place in schema.categorical
    ]
    steps: list[tuple[str, Any, list[int]]] = []
    if schema.numeric:
        steps.append(("numbers", numbers, list(schema.numeric)))
    if schema.categorical:
        steps.append(
            ("categories", OneHotEncoder(categories=codes, sparse_output=False), list(schema.categorical))
        )
    return ColumnTransformer(steps)
