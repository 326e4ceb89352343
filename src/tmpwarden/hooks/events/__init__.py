"""The moments of a session: start, before and after a tool call, stop, end."""
