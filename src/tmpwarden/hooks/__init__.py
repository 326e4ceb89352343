"""What the agents call. entry.py is the hot path."""
