"""Session-scoped temp for authors of command-line tools (REQ-F-043)."""
