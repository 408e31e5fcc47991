"""The choice between two models: do explanations show which of two is the worse one?"""
