"""The steps, in the order that their `down_revision` gives."""
