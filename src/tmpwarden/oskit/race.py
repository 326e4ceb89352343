"""Names for the moments in which the world may change under us."""


def race_window(name: str) -> None:
    """Nothing, on purpose: tests change the world here."""
