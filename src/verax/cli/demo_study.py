"""The study of ``verax demo``: forward simulation, small enough for a minute of bots and five minutes of a person."""

from __future__ import annotations

SPEC = '''\
# The study that `verax demo` builds. A real one has more people and items: see examples/forward.toml.
title = "How does a computer read film reviews?"
dataset = "rotten-tomatoes"
model = "logistic"
participants = 6                       # in each condition
seed = 1

[protocol]
name = "forward"
learning = 8
test = 16

[[conditions]]
name = "none"

[[conditions]]
name = "lime"
explainer = "lime"

[[conditions]]
name = "shap"
explainer = "shap"

[[conditions]]
name = "greedy"
explainer = "greedy"

# The control against the mere look of highlights: LIME's scores, shuffled among the words of each review.
[[conditions]]
name = "random"
like = "lime"

[display]
features = 6
most_words = 35

[texts]
task = """
A computer program, the model, reads short pieces of film reviews. For each it says whether the review is negative or
positive. It has learnt this from thousands of reviews.
"""
contact = "the person who invited you"

[analysis]
primary = "change from Pre to Post in each condition, against none"
'''
