"""What each agent does with an answer of the guard: rows of agents.toml as keywords for a Context. Not the hot path."""

import os
import tomllib

_FLAGS = ("keeps_rewrite", "has_ask", "applies_rewrite_without_allow", "rewrites_edits")


def abilities() -> dict[str, dict[str, object]]:
    with open(os.path.join(os.path.dirname(__file__), "agents.toml"), "rb") as file:
        return tomllib.load(file)


def context_keywords(agent: str, *, home: str, uid: int) -> dict[str, object]:
    """Flags and own directories of one agent; KeyError if nobody knows it."""
    row = abilities()[agent]
    own = row.get("own", [])
    assert isinstance(own, list)
    places = tuple(home + path[1:] if path.startswith("~/") else path.format(uid=uid) for path in own)
    return {flag: row[flag] for flag in _FLAGS if flag in row} | {"own": places, "agent": agent}
