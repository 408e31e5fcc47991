"""What participants see and send."""
