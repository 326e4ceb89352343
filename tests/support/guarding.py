"""A context of the guard from one list of facts: a test names what matters to it and leaves the rest as it is."""

from typing import Any

from tmpwarden.guard.context import AgentFacts, CallPlace, Context, Probes

_AGENT = frozenset(AgentFacts.__slots__)
_PROBES = frozenset(Probes.__slots__)


def context_with(**facts: Any) -> Context:
    agent = {name: value for name, value in facts.items() if name in _AGENT}
    probes = {name: value for name, value in facts.items() if name in _PROBES}
    place = {name: value for name, value in facts.items() if name not in _AGENT | _PROBES and name != "agent"}
    return Context(CallPlace(**place), Probes(**probes), AgentFacts(**agent))
