"""What all reports share: how figures are drawn and numbers are printed."""
