"""Names that are nobody else's business, as marks: the same name has the same mark within one report, and no other.

The key is random and forgotten with the process: nobody can try names against a mark.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

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
        words = _PATH.sub(lambda found: self.path(found[0]), words)
        words = _TOKEN.sub(lambda found: self._mark(found[0]), words)
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
