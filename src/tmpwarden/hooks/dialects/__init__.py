"""One module per hook protocol family."""
