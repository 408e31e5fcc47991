"""The report of any benchmark that gives findings, tables, figures and a verdict as data."""
