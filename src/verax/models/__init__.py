"""What is explained: text and table classifiers, and anything callable, behind one ``predict_proba``."""

from verax.models.adapt import as_model
from verax.models.base import Model, check_probabilities
from verax.models.ready import fit_classifier, fit_model, fit_vectorizer, models, table_columns
from verax.models.resolve import own_model, resolve_model
from verax.models.slow import KeptAnswers, rows_to_ask
from verax.models.wrappers import CallableModel, TableModel, TextPipeline

__all__ = [
    "CallableModel",
    "KeptAnswers",
    "Model",
    "TableModel",
    "TextPipeline",
    "as_model",
    "check_probabilities",
    "fit_classifier",
    "fit_model",
    "fit_vectorizer",
    "models",
    "own_model",
    "resolve_model",
    "rows_to_ask",
    "table_columns",
]
