"""The ready-made models by name, and how they are fitted: on rows of numbers, and on a whole dataset."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from verax.arrays import FloatArray, IntArray
from verax.data.words import MARK
from verax.errors import VeraxError
from verax.installed import require
from verax.models.base import Model, check_weights
from verax.models.wrappers import TableModel, TextPipeline, check_texts
from verax.names import SORTS, Name, fits, parse_name
from verax.registry import Registry
from verax.run.threads import one_blas_thread

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    from verax.data.dataset import Dataset
    from verax.data.table import Schema
    from verax.models.base import Rows


@runtime_checkable
class ReadsInputs(Protocol):
    """A ready-made model, not fitted yet, that reads a dataset's texts or table rows themselves."""

    def fit_inputs(self, dataset: Dataset, sample_weight: ArrayLike | None = None) -> Model:
        """The model fitted on the dataset's training part, each input counted with its weight."""


# By name: a function from a seed to something unfitted of one of two sorts. A classifier reads rows of numbers: it
# has fit(rows, labels, sample_weight) and predict_proba. The other sort, ReadsInputs, is given the dataset itself.
# What the function takes besides the seed are the model's options.
models: Registry[Callable[..., BaseEstimator | ReadsInputs]] = Registry(
    "model", "verax.models", home="verax.models"
)


def make_ready(
    name: str, seed: int, options: Mapping[str, object] | None = None
) -> BaseEstimator | ReadsInputs:
    """A ready-made model by name, not fitted yet.

    Args:
        name: of a ready-made model, with or without options: ``cnn`` or ``cnn(epochs=2)``.
        seed: of all that is random in its fit.
        options: more of them, which count before those in the name.
    """
    return models.get(parse_model(name).name)(seed, **check_model(name, options))


def check_model(name: str, options: Mapping[str, object] | None = None) -> dict[str, object]:
    """The options of a model, in its name and beside it; a sentence if there is no such model or option."""
    named = parse_model(name)
    factory = models.get(named.name)
    given = {**named.options, **(options or {})}
    if ":" in named.name:
        for option in given:
            raise VeraxError(
                f"The model {named.name!r} has no option {option!r}; only ready-made ones have any."
            )
        return given
    known = options_of(factory)
    for option, value in given.items():
        if option not in known:
            raise VeraxError(f"The model {named.name!r} has no option {option!r}; {_offered(known)}.")
        if not fits(value, known[option]):
            raise VeraxError(
                f"The option {option!r} of the model {named.name!r} is {SORTS[type(known[option])]}, not "
                f"{value!r}; {_offered(known)}."
            )
    return given


@lru_cache(maxsize=256)
def parse_model(given: str) -> Name:
    """The name of a model and the options in it; each is read once."""
    return parse_name(given, "model", "cnn(epochs=2)")


def options_of(factory: Callable[..., object]) -> dict[str, object]:
    """The options of a ready-made model and their defaults."""
    return {
        parameter.name: parameter.default
        for parameter in inspect.signature(factory).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def _offered(known: Mapping[str, object]) -> str:
    shown = [f"{name}={default!r}" for name, default in known.items()]
    return f"it has {', '.join(shown)}" if shown else "it has none"


@models.register("logistic")
def logistic(seed: int) -> BaseEstimator:
    """scikit-learn's logistic regression, allowed 1,000 iterations: its default 100 may end too early."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=seed, max_iter=1000)


@models.register("tree")
def tree(seed: int) -> BaseEstimator:
    """scikit-learn's decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


@models.register("forest")
def forest(seed: int) -> BaseEstimator:
    """scikit-learn's random forest: 100 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


@models.register("fast-forest")
def fast_forest(seed: int) -> BaseEstimator:
    """The same forest grown for bags of words: some eight times faster, needs numba and texts."""
    from verax.models.forest import SparseForest

    return SparseForest(random_state=seed)


@models.register("xgboost")
def xgboost(seed: int) -> BaseEstimator:
    """Gradient boosted trees, xgboost's defaults; in one thread, so that the machine does not matter."""
    require("The model 'xgboost'", "xgboost", extra="trees")
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1)


@models.register("hist-gradient-boosting")
def hist_gradient_boosting(seed: int) -> BaseEstimator:
    """scikit-learn's histogram gradient boosting, its defaults; tables, since it reads no sparse rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


@models.register("mlp")
def mlp(seed: int, *, epochs: int = 200) -> BaseEstimator:
    """One hidden layer of 100 units, SGD with early stopping (`verax.models.mlp`)."""
    from verax.models.mlp import MlpClassifier

    return MlpClassifier(max_epochs=epochs, random_state=seed)


def fit_classifier(
    name: str,
    rows: Rows,
    labels: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    validation: tuple[Rows, ArrayLike] | None = None,
    seed: int = 0,
    n_classes: int | None = None,
    options: Mapping[str, object] | None = None,
) -> BaseEstimator:
    """Fits a ready-made classifier on rows of numbers, sparse or dense.

    Args:
        name: one of ``models``.
        rows: an array or a sparse matrix; sparse rows stay sparse, where absent means missing to xgboost.
        labels: the number of each row's class, 0 to ``n_classes - 1``.
        sample_weight: a weight per row. Rows of weight 0 are left out, whatever the classifier.
        validation: rows and labels for a classifier that watches them (``mlp``); others do not see them.
        seed: of all that is random in the fit.
        n_classes: how many classes there are; by default the largest label says it.
        options: of the model, by name.
    """
    classifier = make_ready(name, seed, options)
    if isinstance(classifier, ReadsInputs):
        raise VeraxError(
            f"The model {name!r} reads inputs themselves, not rows of numbers; fit it with fit_model."
        )
    rows, numbers, weights = check_training(rows, labels, sample_weight, n_classes)
    if parse_model(name).name == "hist-gradient-boosting" and hasattr(rows, "toarray"):
        raise VeraxError(f"The model {name!r} reads tables, not bags of words; for texts choose 'xgboost'.")
    if parse_model(name).name == "forest" and weights is not None and (weights == np.round(weights)).all():
        from verax.models.forest import fit_weighted_forest

        return fit_weighted_forest(rows, numbers, weights.astype(np.int64), seed)
    extras: dict[str, object] = {}
    if weights is not None:
        if not _fit_takes(classifier, "sample_weight"):
            raise VeraxError(f"The model {name!r} does not take sample weights; leave sample_weight out.")
        extras["sample_weight"] = weights
        if parse_model(name).name == "logistic":
            # scikit-learn stops where the mean gradient by weight is small: beside rows of weight 1,000 those of weight
            # 1 would hardly have been learnt by then.
            classifier.set_params(tol=classifier.tol / max(1.0, float(np.mean(weights))))
    if validation is not None and np.size(validation[1]) and _fit_takes(classifier, "validation"):
        extras["validation"] = validation
    # Vectors of some thousand numbers are added up sooner by one thread than by several that wait for each other, and
    # in one order.
    with one_blas_thread() if parse_model(name).name == "logistic" else nullcontext():
        return classifier.fit(rows, numbers, **extras)


def check_training(
    rows: Rows, labels: ArrayLike, sample_weight: ArrayLike | None, n_classes: int | None = None
) -> tuple[Rows, IntArray, FloatArray | None]:
    """The rows with a weight above 0, their labels and weights; a sentence if they do not fit together."""
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    numbers, weights = check_labels(labels, sample_weight, n_rows, n_classes)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        rows = [rows[place] for place in kept] if isinstance(rows, list) else rows[kept]
        numbers, weights = numbers[kept], weights[kept]
    return rows, numbers, weights


def check_labels(
    labels: ArrayLike, sample_weight: ArrayLike | None, n_rows: int, n_classes: int | None = None
) -> tuple[IntArray, FloatArray | None]:
    """A label and a weight (if there are any) per row; every class must have a row of weight above 0."""
    numbers = np.asarray(labels)
    if numbers.shape != (n_rows,):
        raise VeraxError(
            f"There are {n_rows} rows but labels of shape {numbers.shape}; give one label per row."
        )
    if numbers.dtype.kind not in "iub":
        raise VeraxError(f"The labels are {numbers.dtype}s; give the number of each row's class, from 0.")
    numbers = numbers.astype(np.int64)
    weights = None if sample_weight is None else check_weights(sample_weight, n_rows)
    _check_labels(numbers if weights is None else numbers[weights > 0], n_classes)
    return numbers, weights


def _check_labels(numbers: IntArray, n_classes: int | None) -> None:
    if len(numbers) == 0:
        raise VeraxError("There is no row to fit a model on; give at least one row of each class.")
    expected = max(int(numbers.max()) + 1, 2) if n_classes is None else n_classes
    if numbers.min() < 0 or numbers.max() >= expected:
        wrong = int(numbers.min() if numbers.min() < 0 else numbers.max())
        raise VeraxError(
            f"A row has the label {wrong}; with {expected} classes labels are 0 to {expected - 1}."
        )
    absent = np.setdiff1d(np.arange(expected), numbers)
    if len(absent):
        raise VeraxError(
            f"No row (of weight above 0) has the class {absent[0]} of {expected}; "
            "give at least one row of each class."
        )


def _fit_takes(classifier: BaseEstimator, parameter: str) -> bool:
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(classifier, parameter))


def option_files(options: Mapping[str, object]) -> list[str]:
    """The files that options name: by themselves, or by the folder of a transformer's weights."""
    found: list[str] = []
    for value in options.values():
        if isinstance(value, str) and Path(value).is_file():
            found.append(value)
        elif isinstance(value, str) and Path(value, "config.json").is_file():
            found += [str(path) for path in sorted(Path(value).iterdir()) if path.is_file()]
    return found


WORDS = ("presence", "counts")
# What scikit-learn takes for a word, and the same with punctuation marks that are words of their own.
WORDS_ONLY = r"(?u)\b\w\w+\b"
MARKS_TOO = rf"{WORDS_ONLY}|{MARK}[^\w\s{MARK}]"
# The classifiers that step along gradients need columns of one scale; trees do not.
SCALED = ("logistic", "mlp")


def fit_vectorizer(texts: Sequence[str], words: str = "presence") -> CountVectorizer:
    """A bag of words over the texts' vocabulary: lower case, words of two characters or more, and marks that are words.

    Args:
        texts: usually a dataset's training part.
        words: ``"presence"`` (1 if the word occurs) or ``"counts"`` (how often).
    """
    return _bag_of(texts, words)[0]


def _bag_of(texts: Sequence[str], words: str) -> tuple[CountVectorizer, Rows]:
    """The vectoriser and what it makes of the texts, which are split once for both."""
    from sklearn.feature_extraction.text import CountVectorizer

    if words not in WORDS:
        raise VeraxError(f"words={words!r} is not known; use 'presence' or 'counts'.")
    known = check_texts(texts)
    try:
        pattern = MARKS_TOO if any(MARK in text for text in known) else WORDS_ONLY
        vectorizer = CountVectorizer(binary=words == "presence", dtype=np.float64, token_pattern=pattern)
        rows = vectorizer.fit_transform(known)
        rows.sort_indices()  # as transform leaves them
        return vectorizer, rows
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
    watching = _fit_takes(ready, "validation")
    train = None
    if vectorizer is None:
        vectorizer, train = _bag_of(texts, words)
    if rows is not None:
        train, watched = rows
    else:
        train = vectorizer.transform(texts) if train is None else train
        watched = vectorizer.transform(dataset.validation.inputs) if watching else None
    validation = (watched, dataset.validation.labels) if watching else None
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
