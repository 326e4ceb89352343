"""A system of which we know nothing: every function answers that it was not measured. What `darwin` does not have is
answered here, too."""
