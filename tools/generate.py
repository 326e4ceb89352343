"""Write the modules that are made from data: `make generate`. A test fails when one is stale."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

# nothing here may need what is generated: the first run makes it
from facts import facts_of, moments
from programs import rows
from tmpwarden.model.facts import Facts

SOURCE = Path(__file__).parents[1] / "src" / "tmpwarden"
_WIDTH = 120
_HEAD = '''"""What is true of each agent with hooks, from catalogue/agents. Written by `make generate`; do not edit."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .model.facts import Facts

'''


def _known() -> list[Facts]:
    known: list[Facts] = []
    for path in sorted((SOURCE / "catalogue" / "agents").glob("*.toml")):
        data = tomllib.loads(path.read_text())
        if "hooks" in data:
            try:
                known.append(facts_of(data))
            except (ValueError, KeyError) as wrong:
                raise SystemExit(f"{path.name}: {wrong!r}") from None
    return known


def agent_events() -> str:
    """The text of agent_events.py: apart, because most calls of a hook need nothing else."""
    head = '"""What each event of an agent means to us, from catalogue/agents. Made by `make generate`; do not edit."""'
    return head + "\n\n" + _assigned('MOMENTS: "dict[str, str]"', moments(_known()))


def agent_facts() -> str:
    """The text of agent_facts.py."""
    known = _known()
    facts = {one["id"]: one for one in known}
    lists = {
        "SANDBOXES": [one["sandbox"] for one in known],
        "NAMES_IN_TEMP": [path.removeprefix("/tmp/") for one in known for path in one["own"] if path[:5] == "/tmp/"],
        "SHARED_NAMES": [name for one in known for name in one["shared_names"]],
        "HOME_VARIABLES": [one["variable"] for one in known],
        "TEMP_VARIABLES": [one["temp_own_variable"] for one in known],
        "TEMP_WITNESSES": [one["temp_witness_variable"] for one in known],
    }
    return (
        _HEAD
        + "".join(_assigned(f'{name}: "tuple[str, ...]"', tuple(filter(None, words))) for name, words in lists.items())
        + _assigned('FACTS: "dict[str, Facts]"', facts)
    )


def known_programs() -> str:
    """The text of guard/programs/known.py."""
    head = '"""What is known about programs, from *.toml beside this file. Written by `make generate`; do not edit."""'
    typed = """
TYPE_CHECKING = False
if TYPE_CHECKING:
    Named = tuple[tuple[str, tuple[str, ...]], ...]
    Row = tuple[str, Named, Named]  # what plain arguments are, options by kind, what else is true

"""
    try:
        names, found = rows(SOURCE / "guard" / "programs")
    except ValueError as wrong:
        raise SystemExit(f"guard/programs/{wrong}") from None
    written = _assigned('NAMES: "dict[str, int]"', names) + _assigned('ROWS: "tuple[Row, ...]"', found)
    return f"{head}\n{typed}{written}"


def _assigned(name: str, value: object) -> str:
    return f"{name} = {_spelled(value, len(name) + 3, 0)}\n"


def _spelled(value: object, used: int, depth: int) -> str:
    """As ruff would format it: on one line if that fits, else one item a line."""
    flat = _flat(value)
    if used + len(flat) < _WIDTH or not isinstance(value, dict | tuple) or not value:
        return flat
    inner = "    " * (depth + 1)
    if isinstance(value, dict):
        heads = [f"{json.dumps(key)}: " for key in value]
        items = list(value.values())
    else:
        heads, items = [""] * len(value), list(value)
    lines = [
        f"{inner}{head}{_spelled(item, len(inner) + len(head) + 1, depth + 1)},\n"
        for head, item in zip(heads, items, strict=True)
    ]
    opened, closed = ("{", "}") if isinstance(value, dict) else ("(", ")")
    return f"{opened}\n{''.join(lines)}{'    ' * depth}{closed}"


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {_flat(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_flat, value)) + ("," if len(value) == 1 else "") + ")"
    return json.dumps(value) if isinstance(value, str) else repr(value)


TARGETS = {
    SOURCE / "agent_facts.py": agent_facts,
    SOURCE / "agent_events.py": agent_events,
    SOURCE / "guard" / "programs" / "known.py": known_programs,
}

if __name__ == "__main__":
    for target, text in TARGETS.items():
        target.write_text(text())
