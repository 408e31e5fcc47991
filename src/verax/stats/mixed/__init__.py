"""Mixed models with crossed participants and items: the cross-checks of `verax.stats.crossed`.

`linear` (REML) and `laplace` (logistic) fit; `differences` compares conditions within people by both.
"""
