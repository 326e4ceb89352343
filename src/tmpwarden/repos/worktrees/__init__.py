"""Worktrees and clones that agents made: where they are, whether anything would be lost, and how to let them go."""
