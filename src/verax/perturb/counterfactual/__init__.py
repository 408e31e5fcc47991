"""Counterfactual inputs: a few edits to an input, after which the model's prediction stays or flips as wanted.

What users import is here. Rows of tables are in `changes`, beside what is found; texts have modules of their own.
"""

from verax.data.vectors import WordVectors, read_vectors, train_vectors
from verax.perturb.counterfactual.changes import (
    Counterfactual,
    ValueChange,
    WordChange,
    column_values,
    counterfactual_rows,
)
from verax.perturb.counterfactual.language import Language
from verax.perturb.counterfactual.text_changes import counterfactual_texts

__all__ = [
    "Counterfactual",
    "Language",
    "ValueChange",
    "WordChange",
    "WordVectors",
    "column_values",
    "counterfactual_rows",
    "counterfactual_texts",
    "read_vectors",
    "train_vectors",
]
