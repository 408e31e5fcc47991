"""Counterfactual inputs: a few edits to an input, after which the model's prediction stays or flips as wanted.

This module is the door; texts and tables have a module each, and so has what they find.
"""

from verax.data.vectors import WordVectors, read_vectors, train_vectors
from verax.perturb.counterfactual.changes import Counterfactual, ValueChange, WordChange
from verax.perturb.counterfactual.language import Language
from verax.perturb.counterfactual.table_changes import column_values, counterfactual_rows
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
