"""The users of this machine who own something in its temp roots, and how root becomes one of them."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_OF_ANOTHER = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")


@dataclass(frozen=True, slots=True)
class User:
    uid: int
    gid: int
    name: str
    home: str


def users_of(roots: Iterable[str]) -> list[User]:
    """Everybody who owns something right below a root and has an account; lowest uid first."""
    uids = {os.geteuid()}
    for root in roots:
        with os.scandir(root) as entries:
            for entry in entries:
                try:
                    uids.add(entry.stat(follow_symlinks=False).st_uid)
                except OSError:
                    continue
    return list(_accounts(sorted(uids)))


def _accounts(uids: Iterable[int]) -> Iterator[User]:
    for uid in uids:
        try:
            account = pwd.getpwuid(uid)
        except KeyError:
            continue  # no home to keep its journal in: nobody could undo
        yield User(uid, account.pw_gid, account.pw_name, account.pw_dir)


def become(user: User) -> None:
    """Drop every privilege for good, and see the world with that user's home."""
    os.setgroups([])
    os.initgroups(user.name, user.gid)
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)
    for name in _OF_ANOTHER:
        os.environ.pop(name, None)
    os.environ |= {"HOME": user.home, "USER": user.name, "LOGNAME": user.name}
    os.chdir("/")
