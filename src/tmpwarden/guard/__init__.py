"""Keeps temp writes and destructive commands inside the scratch. Pure: the caller hands in look(path)."""
