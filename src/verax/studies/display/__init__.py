"""How an item and an explanation are shown to people."""
