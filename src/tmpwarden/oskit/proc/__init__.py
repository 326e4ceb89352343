"""Processes, what they hold, and the namespaces and mounts they see, as /proc tells it."""
