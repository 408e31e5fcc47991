"""One participant's way: entering, consenting, seeing a step, answering it, moving on, leaving."""
