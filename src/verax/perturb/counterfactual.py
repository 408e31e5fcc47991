"""Counterfactual inputs: a few edits to an input, after which the model's prediction stays or flips as wanted.

This module is the door; texts and tables have a module each, and so has what they find.
"""

from verax.perturb.changes import Counterfactual, ValueChange, WordChange
from verax.perturb.counterfactual_tables import column_values, counterfactual_rows
from verax.perturb.counterfactual_text import counterfactual_texts
from verax.perturb.vectors import WordVectors, read_vectors, train_vectors

__all__ = [
    "Counterfactual",
    "ValueChange",
    "WordChange",
    "WordVectors",
    "column_values",
    "counterfactual_rows",
    "counterfactual_texts",
    "read_vectors",
    "train_vectors",
]
