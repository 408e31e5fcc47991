"""Measures of explanations compared with known reasons: spec, reasons, explainers of known quality, jobs, findings."""
