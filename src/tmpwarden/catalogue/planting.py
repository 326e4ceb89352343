"""Make a row's examples real: entries of the right kind and content, where the row looks. For proofs, in a scratch."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator

from ..lazy_dataclass import dataclass
from ..model.sweep import Litter
from ..model.terms import Kind, OwnerRule, Tier
from ..oskit import system
from ..oskit.files.opening import closing
from .files import XDG
from .patterns import FLAGS, name_pattern, split_place

_BELOW_HOME = {"home": ""} | {f"xdg_{kind}": below for kind, below in XDG.items()}
_MAC_TEMP = "folders/zz/xyz/T"
_ANYTHING = "-x"  # what `*` becomes: a name that no row takes for a unit
_CACHEDIR_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n"


@dataclass(frozen=True, slots=True)
class Planted:
    row: Litter
    path: str
    kind: Kind
    is_match: bool  # False: one of its `spares`


def plant(row: Litter, tmp: str, home: str, *, pid: int, session: str) -> tuple[Planted, ...]:
    """Every example of a row below `tmp` or `home`, owned by that process or session where a name tells its owner."""
    directory = directory_of(row, tmp, home)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    result = []
    for name, is_match in _examples(row, {OwnerRule.PID: str(pid), OwnerRule.SESSION: session}):
        path = os.path.join(directory, name)
        kind = row.kind if row.kind is not Kind.ANY else Kind.DIR if row.tier is Tier.NEVER else Kind.FILE
        if not os.path.lexists(path):  # what one row spares may be another's example
            _make(row, path, kind)
        result.append(Planted(row, path, kind, is_match))
    return tuple(result)


def root_for(row: Litter, directory: str) -> str:
    """The temp root, or the project, below `directory` beside which a row's examples are planted; made."""
    root = os.path.join(directory, _MAC_TEMP) if row.place.startswith(("{mac_folders}", "{darwin_")) else directory
    os.makedirs(root, mode=0o700, exist_ok=True)
    return root


def directory_of(row: Litter, tmp: str, home: str) -> str:
    """Where a row looks; `*` becomes a name that is nobody's."""
    base, parts = split_place(row.place)
    folders = os.path.dirname(tmp)
    starts = {"tmp": tmp, "project": tmp, "mac_folders": folders, "library": os.path.join(home, "Library")}
    starts |= {"darwin_temp": os.path.join(folders, "T"), "darwin_cache": os.path.join(folders, "C")}
    start = starts.get(base) or os.path.join(home, _BELOW_HOME[base])
    uid = str(os.geteuid())
    return os.path.join(start, *(part.replace("{uid}", uid).replace("*", _ANYTHING) for part in parts))


def _examples(row: Litter, owners: dict[OwnerRule, str]) -> Iterator[tuple[str, bool]]:
    uid, pattern = os.geteuid(), re.compile(name_pattern(row.name, 1000), FLAGS)
    for name in row.matches:
        yield _for_user(row, _owned(name, pattern, row.owner, owners) or name, uid), True
    for name in row.spares:
        yield _for_user(row, name, uid), False


def _owned(name: str, pattern: re.Pattern[str], rule: OwnerRule, owners: dict[OwnerRule, str]) -> str | None:
    """The name with this owner in it, if the pattern allows that."""
    match = pattern.fullmatch(name)
    group = {OwnerRule.PID: "pid", OwnerRule.SESSION: "session"}.get(rule)
    if match is None or group is None:
        return None
    start, end = match.span(group)
    owned = f"{name[:start]}{owners[rule]}{name[end:]}"
    return owned if pattern.fullmatch(owned) else None


def _for_user(row: Litter, name: str, uid: int) -> str:
    """Examples are written for uid 1000."""
    return name.replace("1000", str(uid)) if "{uid}" in row.name else name


def _make(row: Litter, path: str, kind: Kind) -> None:
    if kind is Kind.DIR:
        os.mkdir(path, 0o700)
        _fill(row, path)
    elif kind is Kind.SOCKET:
        _make_socket(path)
    else:
        with open(path, "xb") as file:
            file.write(_content(row))
        if "read-only" in row.checks:
            os.chmod(path, 0o444)


def _fill(row: Litter, path: str) -> None:
    if "empty-dir" in row.checks or row.tier is Tier.NEVER:
        return
    if "transform-dump" in row.checks:
        os.mkdir(os.path.join(path, "ssr"))
        return
    if "cargo-home" in row.checks:
        os.mkdir(os.path.join(path, "registry"))
        return
    if "orphaned" in row.checks:
        with open(os.path.join(path, ".orphaned_at"), "xb") as mark:
            mark.write(b"1778282953517")
    name, content = ("CACHEDIR.TAG", _CACHEDIR_TAG) if "cachedir-tag" in row.checks else ("file", b"content\n")
    with open(os.path.join(path, name), "xb") as file:
        file.write(content)


def _content(row: Litter) -> bytes:
    if row.max_bytes == 0 or row.tier is Tier.NEVER:
        return b""
    if "elf" in row.checks:
        return b"\x7fELF\x02\x01\x01"
    if "mach-o" in row.checks:
        return b"\xcf\xfa\xed\xfe\x0c"
    if "finder-store" in row.checks:
        return b"\0\0\0\1Bud1\0"
    return b"/home/me/project\n"


def _make_socket(path: str) -> None:
    """A socket that nobody listens on. Its path may be longer than AF_UNIX allows: go through the directory."""
    with closing(os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.bind(f"{system.descriptors.way_to(fd)}/{os.path.basename(path)}")
