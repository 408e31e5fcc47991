"""The atlas: every explainer that applies on every sort of model, through every benchmark without people."""
