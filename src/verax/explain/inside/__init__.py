"""Methods that look inside a network, or learn from it first: gradients, relevance, filters, trees, selectors."""
