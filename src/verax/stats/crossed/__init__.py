"""Scores of participants crossed with items: the default estimators, of methods between people and within people.

`claims` splits the variance and makes estimates of it, for many studies at once; `between` and `within` are what people
call, and both give the `result`, with what it rests on and what must be said beside it.
"""
