"""How each agent spells its hooks. One module per agent; those that speak Claude's JSON build on it."""

NAMES = ("claude", "codex", "gemini", "copilot", "opencode", "qwen")


def load(name: str) -> "Dialect":
    """The dialect called `name`. Raises KeyError for any other word."""
    if name not in NAMES:
        raise KeyError(name)
    module = __import__(f"{__name__}.{name}", fromlist=("DIALECT",))
    found: Dialect = module.DIALECT
    return found


from .spoken import Dialect  # noqa: E402  (the modules that load() imports build on it)
