"""The users of this machine whom a run for all concerns, and how root becomes one of them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import pwd
import re
import sys
from collections.abc import Iterable, Iterator

import tmpwarden

from ..lazy_dataclass import dataclass

_PEOPLE = range(1000, 60_000)  # as Debian, Fedora and Arch give uids to people; services have others
_NO_LOGIN = ("nologin", "false")
# What root's shell may say to a child of another user. All else stays behind: git shows its environment to that user.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "NO_COLOR", "TMPWARDEN_ROOTS", "TMPWARDEN_DEBUG")


@dataclass(frozen=True, slots=True)
class User:
    uid: int
    gid: int
    name: str
    home: str
    has_temp: bool = True  # owns something in a temp root; else only the home may hold what an agent left


def users_of(roots: Iterable[str]) -> list[User]:
    """Everybody with an account who owns something right below a root, and everybody who may log in; root first."""
    uids = {os.geteuid()}
    for root in roots:
        with os.scandir(root) as entries:
            for entry in entries:
                try:
                    uids.add(entry.stat(follow_symlinks=False).st_uid)
                except OSError:
                    continue
    accounts = {account.pw_uid: account for account in pwd.getpwall() if _is_a_person(account)}
    for uid in uids:
        try:
            accounts[uid] = pwd.getpwuid(uid)  # of a directory service, too, which need not list its people
        except KeyError:
            continue  # no home to keep its journal in: nobody could undo
    return list(_users(accounts, uids))


def _is_a_person(account: pwd.struct_passwd) -> bool:
    return account.pw_uid in _PEOPLE and os.path.basename(account.pw_shell) not in _NO_LOGIN


def _users(accounts: dict[int, pwd.struct_passwd], seen: set[int]) -> Iterator[User]:
    for uid, account in sorted(accounts.items()):
        yield User(uid, account.pw_gid, account.pw_name, account.pw_dir, uid in seen)


def switch_to(user: User) -> None:
    """Drop every privilege for good, and see the world with that user's home. That user's process stays as it is."""
    os.chdir("/")
    if user.uid == os.geteuid():
        return
    os.setgroups([])
    os.initgroups(user.name, user.gid)
    os.setgid(user.gid)  # as root: the real, the effective and the saved one
    os.setuid(user.uid)
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    os.environ.clear()
    os.environ.update(passed_on | {"HOME": user.home, "USER": user.name, "LOGNAME": user.name})


def has_own_home(user: User) -> bool:
    """Asked by a child that has become `user`: a journal needs a place of that user's, or nothing can be undone."""
    try:
        return user.uid == os.stat(user.home).st_uid and os.access(user.home, os.W_OK | os.X_OK)
    except OSError:
        return False


def has_agents(user: User, places: Iterable[str]) -> bool:
    """Whether a place that a row names (`{home}/.codex/...`) begins at that user's home."""
    words = {place.removeprefix("{home}/").split("/")[0] for place in places if place.startswith("{home}/")}
    return any(os.path.lexists(os.path.join(user.home, word)) for word in words if "*" not in word and "{" not in word)


# All that a child may still need once it is somebody else: an install below /root, or root's Python, is closed to
# it.
#
# Modules are loaded late elsewhere, to start fast. Here one import after the privileges are gone is a failure.

_LEFT_OUT = ("hooks", "guard", "__main__", "lifecycle.tick", "cli.ui", "early")  # they draw, or are not for a child
_NOT_NEEDED = tuple(f"tmpwarden.{name}" for name in _LEFT_OUT)
_LATE = re.compile(r"^[ \t]+(?:import ([\w.]+)|from ([\w.]+) import )", re.MULTILINE)
_OF_THE_LIBRARY = ("encodings.ascii", "encodings.latin_1", "encodings.utf_8", "traceback")  # what it loads late itself


def preload() -> None:
    """Import this package, what its functions import late, and the built-in catalogue."""
    for name in _modules():
        module = importlib.import_module(name)
        for late in _late_imports(getattr(module, "__file__", None)):
            importlib.import_module(late)
    for name in _OF_THE_LIBRARY:
        importlib.import_module(name)
    from tmpwarden.catalogue import process_rows
    from tmpwarden.catalogue.load import load

    load(dirs=())
    process_rows.rows()
    process_rows.markers()


def _modules() -> Iterator[str]:
    """Of layers that are loaded already, all of them; a timer has no `cli`."""
    modules = pkgutil.walk_packages(tmpwarden.__path__, "tmpwarden.", onerror=lambda _: None)
    for module in modules:
        if module.name.startswith("tmpwarden.cli") and "tmpwarden.cli" not in sys.modules:
            continue
        if not module.name.startswith(_NOT_NEEDED):
            yield module.name


def _late_imports(path: str | None) -> Iterator[str]:
    """Modules of the standard library that a function of ours imports when it runs."""
    if path is None or not path.endswith(".py"):
        return
    with open(path, encoding="utf-8") as source:
        for match in _LATE.finditer(source.read()):
            name = match[1] or match[2]
            if name.partition(".")[0] in sys.stdlib_module_names and _is_here(name):
                yield name


def _is_here(name: str) -> bool:
    """Not on every system: `_winapi`, say."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
