"""Processes that outlive their agent, and files that a process fills while nobody looks. Ends nothing unasked."""
