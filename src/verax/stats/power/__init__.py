"""Power by simulation: studies drawn from a known truth, and how often the analysis finds it."""
