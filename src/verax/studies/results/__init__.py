"""What an analysis finds, as data: units, tables, figures, the summary, and how it is written to JSON and read."""
