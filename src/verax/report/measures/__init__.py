"""The reports of comparisons with known reasons: measures, and students."""
