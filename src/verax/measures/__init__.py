"""Measures of explanations without a known truth: (model, inputs, explanations) in, one value per input out."""

from verax.measures.base import Definition, Measure, Measured, check_measure, defines, measure, measures
from verax.measures.case import ABSENT, Case

__all__ = [
    "ABSENT",
    "Case",
    "Definition",
    "Measure",
    "Measured",
    "check_measure",
    "defines",
    "measure",
    "measures",
]
