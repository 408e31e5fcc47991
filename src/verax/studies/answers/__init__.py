"""What people answered: its columns and rows, exclusions, exports, and the answers an analysis reads."""
