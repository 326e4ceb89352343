"""Text to syntax: reads a command line as bash does, with the place of every word."""
