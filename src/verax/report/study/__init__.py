"""The report of one study, and the figures of its planning."""
