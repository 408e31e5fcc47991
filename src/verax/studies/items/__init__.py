"""Which inputs become items."""
