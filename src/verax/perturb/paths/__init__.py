"""Ways to build and evaluate perturbed rows, one module per sort of model."""
