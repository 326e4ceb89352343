"""Take what was judged: out of the shared directory, looked at once more, purged or kept for undo."""
