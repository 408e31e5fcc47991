"""Who sees what: the rows of a design, and who is given which."""
