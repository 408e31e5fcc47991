"""Published datasets as their publishers distribute them, one module per format."""
