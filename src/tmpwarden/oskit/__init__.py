"""All that touches the operating system; the only package that unlinks, renames or removes."""
