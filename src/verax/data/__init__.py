"""Where inputs come from: datasets, words, table schemas."""

from verax.data.bins import Bins
from verax.data.dataset import Dataset, Part
from verax.data.files import read_rows
from verax.data.load import load_dataset
from verax.data.records import Records, dataset_formats, datasets, text_records
from verax.data.table import Column, Schema
from verax.data.words import Words, split_words

__all__ = [
    "Bins",
    "Column",
    "Dataset",
    "Part",
    "Records",
    "Schema",
    "Words",
    "dataset_formats",
    "datasets",
    "load_dataset",
    "read_rows",
    "split_words",
    "text_records",
]
