"""Students: learners that predict a model from examples, with explanations of them and without; no people."""
