"""Every decision, written down and read back."""
