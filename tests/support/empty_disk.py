"""A disk for the guard to look at: without links, and nothing exists on it."""


def look(path: str) -> tuple[str, bool]:
    return path.rpartition("/")[0] or "/", False
