"""An agent that tmpwarden can be written into: where its settings are, and what our part of them looks like."""

from __future__ import annotations

import copy
import json
import os
import shutil

from ...errors import BrokenSettings
from ...lazy_dataclass import dataclass
from ...model.facts import Facts
from ...oskit.files import places
from ...oskit.proc.own_mount import frozen_way
from ...text import shown
from ..edits import Document, Edit, line_of, parse, read, resolved, spell
from ..runtime import Runtime

MARK = "tmpwarden/hooks/run.py"  # in every command of ours and in nobody else's


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked for. `runtime` None: take everything of ours out."""

    runtime: Runtime | None
    guard: bool = False
    observe: bool = False
    tools: tuple[str, ...] = ()  # globs of further tools that rules of the guard name


class Target:
    """One agent whose hooks live in a JSON file, grouped by event as in Claude Code; the others override."""

    needs_consent = False  # its hooks stay off until the user has said yes to them in the agent

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.id = facts["id"]
        self.name = facts["name"]
        self.programs = facts["programs"]
        registered = [(name, event) for name, event in facts["events"].items() if event["registered"]]
        self.events = tuple((name, event["matcher"]) for name, event in registered if event["moment"] != "before")
        self.guard_events = tuple((name, event["matcher"]) for name, event in registered if event["moment"] == "before")

    def home(self) -> str:
        """The agent's configuration directory."""
        directory = os.environ.get(self.facts["variable"], "") if self.facts["variable"] else ""
        if os.path.isabs(directory):
            return directory
        config = os.path.dirname(places.config_dir())
        return self.facts["directory"].format(home=places.home(), xdg_config=config)

    def settings(self) -> str:
        """The first of its settings files that exists, else the first."""
        paths = [os.path.join(self.home(), name) for name in self.facts["settings"]]
        return next((path for path in paths if frozen_way(path) is None and os.path.exists(path)), paths[0])

    def is_here(self) -> bool:
        home = self.home()
        # what does not respond may be there: who asks for more is told why it cannot be had
        return (
            frozen_way(home) is not None
            or os.path.isdir(home)
            or any(shutil.which(program) for program in self.programs)
        )

    def edits(self, wish: Wish) -> list[Edit]:
        return [self.edit(resolved(self.settings()), wish)]

    def edit(self, path: str, wish: Wish) -> Edit:
        """What the wish makes of one file, which may also be where the settings were at an earlier install."""
        before = read(path)
        document = parse(path, before)
        self.check(path, before, document)
        wanted = self.merged(document, wish)
        if wanted == document:
            return Edit(path, before, before)
        return Edit(path, before, spell(path, wanted, before))

    def document(self) -> Document:
        """The settings as they are. Raises BrokenSettings."""
        path = resolved(self.settings())
        content = read(path)
        document = parse(path, content)
        self.check(path, content, document)
        return document

    def check(self, path: str, content: bytes | None, document: Document) -> None:
        """Raises BrokenSettings where something that we do not understand stands in our place."""
        hooks = document.get("hooks", {})
        if not isinstance(hooks, dict):
            raise BrokenSettings(shown(path), f"{line_of(content, 'hooks')}: 'hooks' is not an object")
        for event, groups in hooks.items():
            if event in dict(self.events + self.guard_events) and not isinstance(groups, list):
                raise BrokenSettings(shown(path), f"{line_of(content, event)}: {event!r} is not a list")

    def merged(self, document: Document, wish: Wish) -> Document:
        """The document with exactly the wished hooks of ours in it, everything else untouched and in place."""
        new = copy.deepcopy(document)
        hooks = new.get("hooks", {})
        assert isinstance(hooks, dict)
        wanted, theirs = self.groups(wish), document.get("hooks")
        for event in [*hooks, *(event for event in wanted if event not in hooks)]:
            groups = hooks.get(event, [])
            if not isinstance(groups, list):
                continue  # an event that we never asked for
            kept = _with(groups, wanted.get(event))
            if kept or (isinstance(theirs, dict) and event in theirs and not groups):
                hooks[event] = kept
            else:
                hooks.pop(event, None)
        if hooks or ("hooks" in document and not document["hooks"]):
            new["hooks"] = hooks
        else:
            new.pop("hooks", None)
        return new

    def groups(self, wish: Wish) -> dict[str, Document]:
        """Our group for each event."""
        if wish.runtime is None:
            return {}
        events = self.wished_events(wish)
        return {event: self.group(wish.runtime, event, matcher, wish.observe) for event, matcher in events}

    def wished_events(self, wish: Wish) -> tuple[tuple[str, str], ...]:
        return self.events + (self.judged_events(wish) if wish.guard else ())

    def judged_events(self, wish: Wish) -> tuple[tuple[str, str], ...]:
        """Before tool calls: those that we always judge, and those that the user's rules name."""
        more = "".join(f"|{name.replace('*', '.*').replace('?', '.')}" for name in wish.tools)
        return tuple((event, matcher + more if matcher else "") for event, matcher in self.guard_events)

    def group(self, runtime: Runtime, event: str, matcher: str, observe: bool) -> Document:
        line = self.line(runtime, event, observe)
        command: Document = {"type": "command", "command": line, "timeout": self.facts["timeout"]}
        return ({"matcher": matcher} if matcher else {}) | {"hooks": [command]}

    def line(self, runtime: Runtime, event: str, observe: bool) -> str:
        """What the agent runs."""
        is_guard = event in dict(self.guard_events)
        return runtime.command(self.id, event, observe=observe, is_guard=is_guard, if_killed=self._if_killed(event))

    def _if_killed(self, event: str) -> str:
        """No silent pass: what a hook of the guard says when a signal or crash ends it: ask, or a word to the user."""
        if event not in dict(self.guard_events):
            return ""
        why = "tmpwarden was killed or could not start, so this call was not checked"
        if "ask" not in self.facts["answers"]:
            return json.dumps({"systemMessage": why})
        fields = {"hookEventName": event, "permissionDecision": "ask", "permissionDecisionReason": why}
        return json.dumps({"hookSpecificOutput": fields})

    def commands(self) -> list[str]:
        """Our commands as they stand in the settings now. Raises BrokenSettings."""
        return _commands(self.document().get("hooks"))

    def state(self, current: Runtime) -> str:
        """absent, installed, outdated; agents add untrusted and twice."""
        commands = self.commands()
        if not commands:
            return "absent"
        is_current = all(current.script in command and current.interpreter in command for command in commands)
        return "installed" if is_current and os.path.isfile(current.script) else "outdated"

    def advice(self) -> tuple[str, ...]:
        """What the user still has to do after an install."""
        return ()


def is_ours(group: object) -> bool:
    return bool(_commands(group))


def _commands(value: object) -> list[str]:
    """Every text below `value` that runs our script."""
    if isinstance(value, str):
        return [value] if MARK in value else []
    if isinstance(value, dict):
        value = list(value.values())
    return [command for item in value for command in _commands(item)] if isinstance(value, list) else []


def _with(groups: list[object], wanted: Document | None) -> list[object]:
    """`groups` with our one in its old place, or last; without it if it is not wanted."""
    first = next((index for index, group in enumerate(groups) if is_ours(group)), len(groups))
    kept = [rest for group in groups if (rest := _without_us(group)) is not None]
    if wanted is not None:
        kept.insert(first, wanted)
    return kept


def _without_us(group: object) -> object | None:
    """The group as it is, or what somebody put into ours beside our hook; None if there is nothing else in it."""
    if not is_ours(group):
        return group
    hooks = group.get("hooks") if isinstance(group, dict) else None
    theirs = [hook for hook in hooks if not is_ours(hook)] if isinstance(hooks, list) else []
    return group | {"hooks": theirs} if theirs and isinstance(group, dict) else None
