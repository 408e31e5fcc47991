"""Counterfactual simulation: does the explanation of an input help people to predict the model on a changed version?"""
