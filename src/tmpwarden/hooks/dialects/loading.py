"""The dialect of an agent, by its name: the module of its protocol is imported when it is asked for."""

from ...agent_facts import FACTS
from .common import Dialect


def load(name: str) -> Dialect:
    """Raises KeyError for a word that is no agent's."""
    facts = FACTS[name]
    module = __import__(f"{__package__}.{facts['dialect']}", fromlist=("Spoken",))
    found: Dialect = module.Spoken(facts)
    return found
