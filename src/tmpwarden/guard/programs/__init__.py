"""What the arguments of a program mean: which are paths, what becomes of them, which are code."""
