"""What experimenters see: signing in, the live page, exports."""
