"""`tmpwarden bugreport`: what a maintainer would ask for first, with names hashed."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import platform
import re
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from ... import __version__
from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...errors import TmpwardenError
from ...oskit.files import places, space
from ...setup import apply, timer
from ...sweep.store import journal
from .. import documents
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import at_least

_LINES = 20
_VARIABLES = ("TMPDIR", "TMPWARDEN_ROOTS", "TMPWARDEN_DISABLE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "SHELL", "TERM")


@click.command()
@click.option("--names", is_flag=True, help="Print paths, sessions, user and host unchanged.")
@click.option(
    "-n",
    "count",
    type=at_least(0),
    metavar="COUNT",
    default=_LINES,
    show_default=True,
    help="How many journal lines to include.",
)
@pass_call
def command(call: Call, names: bool, count: int) -> Answer:
    """Print versions, settings, doctor's findings and the last journal lines, to paste into a bug report.

    Names of files, sessions, this user and this host are replaced by codes such as #3f9a1c (the same name, the same
    code; the key is not stored). Nothing is sent anywhere: read it, then paste it.
    """
    discreet = Discreet(_agents(), is_open=names)
    sections: dict[str, Callable[[], object]] = {
        "versions": _versions,
        "environment": lambda: {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "roots": lambda: [documents.space(space.space_of(root)) for root in places.temp_roots(call.roots)],
        "settings": lambda: _settings(call),
        "agents": lambda: {each.id: each.state for each in apply.table()} | {"timer": timer.state()},
        "doctor": lambda: _doctor(call),
        "journal": lambda: list(deque(journal.entries(places.state_dir()), maxlen=count)),
    }
    redacted = {title: discreet.data(_section(look)) for title, look in sections.items()}
    return Answer(redacted, lambda: _lines(redacted))


def _agents() -> tuple[str, ...]:
    try:
        return tuple(agent.id for agent in load(dirs=()).agents)
    except (TmpwardenError, OSError):
        return ()


def _section(look: Callable[[], object]) -> object:
    """What is broken may be what the report is about: the rest is told all the same."""
    try:
        return look()
    except Exception as error:
        return f"not available: {type(error).__name__}: {error}"


def _versions() -> dict[str, object]:
    from importlib import metadata

    versions: dict[str, object] = {"tmpwarden": __version__, "python": platform.python_version()}
    for name in ("click", "rich", "textual", "psutil"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return versions | {"system": system, "executable": sys.executable, "uid": places.uid()}


def _settings(call: Call) -> dict[str, object]:
    """What somebody set; the rest has its default."""
    settings = load_settings(call.config_file)
    changed_keys = {key: str(value) for key, value, origin in settings.effective() if origin != "default"}
    return {"set": changed_keys, "files": list(settings.files), "warnings": list(settings.warnings)}


def _doctor(call: Call) -> object:
    from . import doctor

    answer = doctor.answer(call, no_probe=True, verbose=True)
    return answer.data() if callable(answer.data) else answer.data


def _lines(redacted: dict[str, object]) -> Iterator[str]:
    """Markdown, as an issue wants it."""
    for title, content in redacted.items():
        yield f"### {title}"
        yield "```"
        rows = content.get("diagnoses") if isinstance(content, dict) and "diagnoses" in content else content
        if isinstance(rows, list):
            yield from (json.dumps(each, ensure_ascii=True) for each in rows)
        elif isinstance(rows, dict):
            yield from (f"{key}: {json.dumps(value, ensure_ascii=True)}" for key, value in rows.items())
        else:
            yield str(rows)
        yield "```"


_KNOWN = frozenset((
    "tmp", "var", "dev", "shm", "run", "user", "home", "root", "etc", "usr", "bin", "lib", "lib64", "local", "share",
    "opt", "proc", "sys", "mnt", "state", "cache", ".config", ".local", ".cache", "tmpwarden", "config.toml", "keep",
    "agents.d", "q", "tw", "settings.json", "hooks.json", "hooks", "site-packages", "src", "cli", "systemd", "bash",
    "zsh", "fish", "sh", "cron.d", "tmpfiles.d",
))  # fmt: skip
_PATHS = ("path", "root", "scratch", "settings", "place", "parent")  # keys whose value is a path, blanks and all
_PATH = re.compile(r"(?<![\w#~])~?(?:/[^\s'\"`,;:()\[\]{}|<>]+)+")
_TOKEN = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_PLAIN = re.compile(r"python3?(\.\d+)?|\d{1,3}")


class Discreet:
    """Text in, text out. `is_open`: the user said that names may be told."""

    def __init__(self, agents: Iterable[str] = (), *, is_open: bool = False) -> None:
        self.is_open, self._key = is_open, os.urandom(16)
        self._known = _KNOWN | {f".{agent}" for agent in agents} | set(agents)
        self._home = os.path.expanduser("~")
        self._people = [word for word in (_user(), socket.gethostname()) if len(word) > 1 and word not in self._known]

    def text(self, words: str) -> str:
        """A sentence: what looks like a path, a session or this machine."""
        if self.is_open:
            return words
        words = _PATH.sub(lambda match: self.path(match[0]), words)
        words = _TOKEN.sub(lambda match: self._mark(match[0]), words)
        for word in self._people:
            words = re.sub(rf"(?<![\w#]){re.escape(word)}(?!\w)", self._mark(word), words)
        return words

    def path(self, path: str) -> str:
        """Every component that is not one of everybody's; how it ends is told."""
        if self.is_open:
            return path
        start = "~" if self._home not in ("", "/") and f"{path}/".startswith(f"{self._home}/") else ""
        rest = path[len(self._home) :] if start else path
        return start + "/".join(self._component(part) for part in rest.split("/"))

    def data(self, value: Any, key: str = "") -> Any:
        """A document: values below keys that hold names are marked whole."""
        if self.is_open:
            return value
        if isinstance(value, dict):
            return {name: self.data(each, name) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(each, key) for each in value]
        if not isinstance(value, str):
            return value
        if key in ("session", "name", "names", "command", "host"):
            return self._mark(value) if value else value
        is_path = value.startswith(("/", "~")) and (key in _PATHS or len(value.split()) == 1)
        return self.path(value) if is_path else self.text(value)

    def _component(self, part: str) -> str:
        of_a_user, _, number = part.rpartition("-")  # tmpwarden-1000 and its like
        if not part or part in ("~", ".", "..") or part in self._known or _PLAIN.fullmatch(part):
            return part
        if number.isdigit() and of_a_user in self._known:
            return part
        ending = re.search(r"\.[A-Za-z0-9]{1,5}$", part[1:])
        return self._mark(part) + (ending[0] if ending else "")

    def _mark(self, name: str) -> str:
        return "#" + hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=3, key=self._key).hexdigest()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
