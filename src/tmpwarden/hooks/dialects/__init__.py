"""How agents spell their hooks. One module per protocol; what is true of one agent alone stands in its TOML file."""

from ...agent_facts import FACTS


def load(name: str) -> "Dialect":
    """The dialect of the agent called `name`. Raises KeyError for any other word."""
    facts = FACTS[name]
    module = __import__(f"{__name__}.{facts['dialect']}", fromlist=("Spoken",))
    found: Dialect = module.Spoken(facts)
    return found


from .common import Dialect  # noqa: E402  (the modules that load() imports build on it)
