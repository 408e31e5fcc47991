"""What any benchmark or study finds, as data: findings, tables, figures, verdicts, and how they are written."""
