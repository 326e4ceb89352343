"""What is kept of a deed: the journal, the quarantine, and the way back."""
