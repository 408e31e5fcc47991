"""Scores of participants crossed with items: the default estimators, of methods between people and within people.

`components` splits the variance and `claims` makes estimates of it, for many studies at once; `between` and `within`
are what people call, both give the `result`, and `sizes` says what a claim rests on and what must be said beside it.
"""
