"""A user test with both parts: forward and counterfactual simulation by the same person with the same method."""
