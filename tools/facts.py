"""An agent's TOML file -> what hooks, setup and guard have to know of it. Hooks read the module that is generated from
it, and drop-ins have no say here (who writes one may not loosen the guard)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tmpwarden.catalogue.decode import TABLES
from tmpwarden.model.facts import Event, Facts

ANSWERS = {
    "allow": "runs without a question to the user",
    "ask": "the user is asked",
    "deny": "does not run, and the model is told why",
    "rewrite": "runs the input that the hook hands back, with or without an allow",
    "rewrite-with-allow": "runs it only together with an allow",
    "told-path": "hands a line to the model beside a rewrite",
    "context": "hands a line to the model when a session starts",
}
MOMENTS = ("start", "guide", "before", "after", "stop", "end")
TOOLS = ("shell", "read", "search", "list", "write", "edit", "notebook", "patch")
SHELLS = ("bash", "bash or zsh", "login", "environment")  # login: of the user; environment: whatever SHELL names
TEMP_BY = ("env-file", "answer", "toml-set", "dotenv", "shell")
_HOOKS = {
    "dialect",
    "answers",
    "keeps_rewrite",
    "version_from",
    "owner_pid",
    "project",
    "own",
    "guarded",
    "shell",
    "snapshots",
    "tools",
    "events",
}
_SETUP = {"directory", "variable", "settings", "more_settings", "timeout", "update"}
_TEMP = {"by", "variable", "file", "own_variable", "witness_variable", "sandbox", "silent", "shared_names"}
_SINCE = re.compile(r">=(\d+(?:\.\d+)+)")
_VERSION_FROM = re.compile(r"environment:[A-Z][A-Z0-9_]*|payload:[a-z_]+|package:[@a-z0-9/_.-]+|program")


def facts_of(data: dict[str, Any]) -> Facts:
    """The facts in a decoded built-in file with a [hooks] table. Raises ValueError with a sentence."""
    head, hooks, setup, temp = (data.get(name, {}) for name in ("agent", *TABLES))
    for table, known, name in ((hooks, _HOOKS, "hooks"), (setup, _SETUP, "setup"), (temp, _TEMP, "temp")):
        _refuse(table.keys() - known, f"[{name}] does not know")
    _refuse(set(hooks["answers"]) - ANSWERS.keys(), "answers does not know")
    _refuse(set(hooks["tools"].values()) - set(TOOLS), "tools does not know")
    _refuse({temp["by"]} - set(TEMP_BY), "by does not know")
    _refuse({hooks["shell"]} - set(SHELLS), "shell does not know")
    return Facts(
        id=head["id"],
        name=head["name"],
        programs=tuple(head["programs"]),
        dialect=hooks["dialect"],
        answers=tuple(hooks["answers"]),
        keeps_rewrite=_since(hooks.get("keeps_rewrite", "")),
        version_from=tuple(_source(told) for told in hooks["version_from"]),
        owner_pid=hooks.get("owner_pid", ""),
        project=hooks.get("project", ""),
        own=tuple(hooks["own"]),
        guarded=tuple(hooks.get("guarded", ())),
        shell=hooks["shell"],
        snapshots=hooks.get("snapshots", ""),
        tools=dict(hooks["tools"]),
        events={name: _event(told) for name, told in hooks["events"].items()},
        directory=setup["directory"],
        variable=setup.get("variable", ""),
        settings=tuple(setup["settings"]),
        more_settings=tuple(setup.get("more_settings", ())),
        timeout=setup["timeout"],
        update=setup.get("update", ""),
        temp_by=temp["by"],
        temp_variable=temp.get("variable", ""),
        temp_file=temp.get("file", ""),
        temp_own_variable=temp.get("own_variable", ""),
        temp_witness_variable=temp.get("witness_variable", ""),
        sandbox=temp.get("sandbox", ""),
        shared_names=tuple(temp.get("shared_names", ())),
        silent=tuple(_since(">=" + version) for version in temp.get("silent", ())),
    )


def moments(known: Iterable[Facts]) -> dict[str, str]:
    """What each event name means, whoever uses it. Raises ValueError where two agents mean different moments."""
    found: dict[str, str] = {}
    for facts in known:
        for name, event in facts["events"].items():
            if found.setdefault(name, event["moment"]) != event["moment"]:
                raise ValueError(f"{facts['id']} means another moment by {name} than the agents before it")
    return found


def _event(told: dict[str, Any]) -> Event:
    _refuse(told.keys() - {"moment", "matcher", "registered"}, "an event does not know")
    _refuse({told["moment"]} - set(MOMENTS), "moment does not know")
    return Event(moment=told["moment"], matcher=told.get("matcher", ""), registered=told.get("registered", True))


def _since(told: str) -> tuple[int, ...]:
    found = _SINCE.fullmatch(told)
    if told and found is None:
        raise ValueError(f'keeps_rewrite = "{told}": it must be like ">=2.1.300"')
    return tuple(map(int, found[1].split("."))) if found else ()


def _source(told: str) -> str:
    if not _VERSION_FROM.fullmatch(told):
        raise ValueError(f'version_from: "{told}" is not one of environment:NAME, payload:KEY, package:NAME, program')
    return told


def _refuse(unknown: Iterable[str], sentence: str) -> None:
    if found := sorted(unknown):
        raise ValueError(f"{sentence} {found[0]!r}")
