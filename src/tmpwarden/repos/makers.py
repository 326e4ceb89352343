"""Which directories of a checkout a build or an install makes again: most of the bytes, none of the work.

Only the maker's own evidence counts: every member must be listed by npm, pnpm, python or cargo, or have the form and
the dates of what they make. A sample is no proof, any doubt says no, and a name such as `build`, or a CACHEDIR.TAG, is
no evidence: people keep files in such places too. A date of change (ctime) cannot be forged: what was touched after the
maker wrote its list is not the maker's. Everything else that git does not track may be the only copy: `.env`,
databases, links. A person can add names of directories.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import stat
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator

from ..lazy_dataclass import dataclass
from ..small_files import read

_LONGEST_LIST = 64 << 20
_SAME_RUN_NS = 60 * 10**9  # a package is unpacked within a minute
_LIST, _RECORD = ".package-lock.json", "RECORD"
_COMPILED = re.compile(r"(.+)\.(?:cpython|pypy)-?\d+[\w.-]*\.pyc")
_PYC_HEADER = 16


class _Foreign(Exception):
    """A member that the maker neither lists nor makes, or that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class _Member:
    """One file or link; `name` is relative to the directory that is looked at."""

    top: str
    name: str
    status: os.stat_result

    @property
    def path(self) -> str:
        return f"{self.top}/{self.name}"

    @property
    def parts(self) -> list[str]:
        return self.name.split("/")

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def changed_ns(self) -> int:
        return max(self.status.st_mtime_ns, self.status.st_ctime_ns)


def is_made_again(path: str) -> bool:
    """Whether all of this directory can be made again by the tool that made it."""
    name = os.path.basename(path)
    for evidence, members, check in _MAKERS:
        if members in ("", name) and (not evidence or _is_plain(f"{path}/{evidence}")):
            try:
                check(path)
            except (_Foreign, OSError, ValueError, KeyError, TypeError, AttributeError):  # a list that is none
                continue
            return True
    return False


def _members(top: str) -> Iterator[_Member]:
    todo = [""]
    while todo:
        here = todo.pop()
        with os.scandir(f"{top}/{here}") as entries:
            for entry in entries:
                name = f"{here}/{entry.name}".lstrip("/")
                if entry.name == ".git":
                    raise _Foreign(name)
                if entry.is_dir(follow_symlinks=False):
                    todo.append(name)
                    continue
                status = entry.stat(follow_symlinks=False)
                if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                    raise _Foreign(name)
                yield _Member(top, name, status)


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _text(path: str) -> str:
    content = read(path, _LONGEST_LIST)
    if content is None:
        raise _Foreign(path)
    return content.decode("utf-8")


def _require(holds: object, member: _Member) -> None:
    if not holds:
        raise _Foreign(member.name)


# node_modules


def _by_npm(top: str) -> None:
    """npm writes its hidden list last, and takes it for outdated itself once anything is younger."""
    packages = {
        name.removeprefix("node_modules/"): row
        for name, row in json.loads(_text(f"{top}/{_LIST}"))["packages"].items()
        if name.startswith("node_modules/")
    }
    written_ns = os.lstat(f"{top}/{_LIST}").st_mtime_ns
    for member in _members(top):
        if member.name == _LIST:
            continue
        if member.is_link:
            is_program = member.parts[-2:-1] == [".bin"]
            _require(is_program or packages.get(member.name, {}).get("link"), member)
            _require(not is_program or _stays_inside(member), member)
            continue
        package = next((above for above in _above(member.parts) if above in packages), None)
        status = member.status  # the last that npm does is to make programs executable, perhaps in the same instant
        is_older = status.st_mtime_ns < written_ns and status.st_ctime_ns <= written_ns
        _require(package and is_older and _is_of_one_run(member, f"{top}/{package}"), member)


def _by_pnpm(top: str) -> None:
    listed = _text(f"{top}/.pnpm/lock.yaml")
    written_ns = os.lstat(f"{top}/.modules.yaml").st_mtime_ns
    known: dict[str, bool] = {}
    for member in _members(top):
        if member.name in (".modules.yaml", ".pnpm/lock.yaml") or re.fullmatch(
            r"\.pnpm-workspace-state(-v\d+)?\.json", member.name
        ):
            continue
        if member.is_link:
            _require(_stays_inside(member), member)
            continue
        parts, changed_ns = member.parts, member.changed_ns
        if parts[-2:-1] == [".bin"]:
            _require(changed_ns < written_ns, member)
            continue
        _require(parts[0] == ".pnpm" and len(parts) > 4 and parts[2] == "node_modules", member)
        if parts[1] not in known:
            known[parts[1]] = _is_in_lock(parts[1], listed)
        package = f"{top}/{'/'.join(parts[: 5 if parts[3].startswith('@') else 4])}"
        if member.status.st_nlink > 1:  # the store has it too; a link made elsewhere later dates it anew
            changed_ns = member.status.st_mtime_ns
        _require(known[parts[1]] and changed_ns < written_ns, member)
        _require(member.status.st_nlink > 1 or _is_of_one_run(member, package), member)


def _is_in_lock(directory: str, listed: str) -> bool:
    """`@babel+core@7.0.0_peer@1` as `@babel/core@7.0.0` or, in older lists, `/@babel/core/7.0.0`."""
    plain = re.split(r"[(_]", directory)[0].replace("+", "/")
    name, _, version = plain.rpartition("@")
    either = f"{re.escape(name)}[@/]{re.escape(version)}"
    return bool(name) and re.search(rf"^ +['\"]?/?{either}[('\"_:]", listed, re.MULTILINE) is not None


def _above(parts: list[str]) -> Iterator[str]:
    """Directories above a member, the nearest first."""
    return ("/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))


def _is_of_one_run(member: _Member, package: str) -> bool:
    manifest = os.lstat(f"{package}/package.json")
    return abs(member.status.st_ctime_ns - manifest.st_ctime_ns) <= _SAME_RUN_NS


def _stays_inside(member: _Member) -> bool:
    target = os.readlink(member.path)
    there = os.path.normpath(os.path.join(os.path.dirname(member.name), target))
    is_inside = not os.path.isabs(target) and there.split("/")[0] != ".."
    return is_inside and os.path.exists(member.path)


# a virtual environment of Python


def _by_venv(top: str) -> None:
    made_ns = os.lstat(f"{top}/pyvenv.cfg").st_mtime_ns
    recorded = _recorded(top)
    scripts: list[int] = []
    for member in _members(top):
        name = member.name
        if member.is_link:
            is_python = re.fullmatch(r"(?:bin|Scripts)/(?:python|pypy)[\d.]*", name)
            _require(is_python or (name == "lib64" and os.readlink(member.path) == "lib"), member)
        elif name in recorded and recorded[name].digest:
            _require(recorded[name].fits(member), member)
        elif _COMPILED.fullmatch(member.parts[-1]):
            _require(_is_compiled(member), member)
        elif name in recorded:
            _require(name.endswith(f".dist-info/{_RECORD}"), member)
        elif _SCRIPTS.fullmatch(name):
            _require(_ends_as_made(member), member)
            scripts.append(member.changed_ns)
        else:
            _require(name in _OF_A_VENV and _OF_A_VENV[name](_text(member.path)), member)
    # all were written in one go: who has edited one since has given it another date
    if scripts and (max(scripts) - min(scripts) > _SAME_GO_NS or max(scripts) - made_ns > 10 * _SAME_RUN_NS):
        raise _Foreign("bin/activate")


_SAME_GO_NS = 2 * 10**9
_SCRIPTS = re.compile(
    r"(?:bin|Scripts)/(?:[Aa]ctivate(?:\.\w+|_this\.py)?|deactivate\.\w+)|lib/[^/]+/site-packages/_virtualenv\.(?:py|pth)"
)
# An agent writes `export KEY=...` to the end of such a script in the same second in which the script was made.
_LAST_LINES = {
    "activate": ("fi", "hash -r 2> /dev/null", "hash -r 2>/dev/null || true"),
    "activate.csh": ("rehash",),
    "activate.fish": ("end",),
}
_KEYS = frozenset(
    ("home", "include-system-site-packages", "version", "version_info", "executable", "command", "prompt", "uv", "seed",
     "implementation", "extends-environment", "base-prefix", "base-exec-prefix", "base-executable", "virtualenv",
     "relocatable", "version-info")
)  # fmt: skip
_OF_A_VENV: dict[str, Callable[[str], bool]] = {
    "pyvenv.cfg": lambda text: all(line.partition(" = ")[0] in _KEYS for line in text.splitlines()),
    ".gitignore": lambda text: all(line.startswith("#") or line in ("*", "") for line in text.splitlines()),
    "CACHEDIR.TAG": lambda text: text.startswith("Signature: 8a477f597d28d172789f06886806bc55") and len(text) < 1000,
    ".lock": lambda text: text == "",
}


def _ends_as_made(member: _Member) -> bool:
    last = _LAST_LINES.get(member.parts[-1])
    return last is None or _text(member.path).rstrip("\n").rpartition("\n")[2] in last


@dataclass(frozen=True, slots=True)
class _Recorded:
    digest: str  # `sha256=...`; "" if the list gives none
    size: int
    written_ns: int  # when the list was

    def fits(self, member: _Member) -> bool:
        if member.status.st_size != self.size:
            return False
        return member.changed_ns < self.written_ns or _digest(member.path) == self.digest


def _recorded(top: str) -> dict[str, _Recorded]:
    """What installers wrote down, by names relative to `top`."""
    records: dict[str, _Recorded] = {}
    for lib in os.listdir(f"{top}/lib"):
        site = f"lib/{lib}/site-packages"
        for info in os.listdir(f"{top}/{site}"):
            path = f"{top}/{site}/{info}/{_RECORD}"
            if not info.endswith(".dist-info") or not _is_plain(path):
                continue
            written_ns = os.lstat(path).st_mtime_ns
            for name, digest, size in csv.reader(_text(path).splitlines()):
                records[os.path.normpath(f"{site}/{name}")] = _Recorded(digest, int(size or 0), written_ns)
    return records


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    return f"sha256={urlsafe_b64encode(digest).decode().rstrip('=')}"


# what Python compiled


def _by_python(top: str) -> None:
    for member in _members(top):
        _require(len(member.parts) == 1 and not member.is_link and _is_compiled(member), member)


def _is_compiled(member: _Member) -> bool:
    """`__pycache__/x.cpython-311.pyc` beside the `x.py` that it was made from."""
    where, _, name = member.path.rpartition("/")
    match = _COMPILED.fullmatch(name)
    if match is None or os.path.basename(where) != "__pycache__":
        return False
    with open(member.path, "rb") as file:
        header = file.read(_PYC_HEADER)
    return len(header) == _PYC_HEADER and header[2:4] == b"\r\n" and _is_plain(f"{where}/../{match[1]}.py")


# cargo's target directory

_HASHED = re.compile(r"(?:lib)?.+?-([0-9a-f]{16})((?:\..+)?)")
_OUTPUTS = ("", ".d", ".rlib", ".rmeta", ".so", ".o", ".a", ".dylib", ".dll", ".exe", ".pdb", ".wasm", ".dwp")
_TOP_OF_CARGO = ("CACHEDIR.TAG", ".rustc_info.json", ".rustdoc_fingerprint.json", ".future-incompat-report.json")
_STEPS = r"lib|bin|test|example|bench|build-script|run-build-script|doc|custom-build"
_FINGERPRINT = re.compile(rf"invoked\.timestamp|(?:dep-|output-|test-)?(?:{_STEPS})-[\w-]+(?:\.json)?")
_OF_A_SCRIPT = re.compile(
    r"invoked\.timestamp|output|root-output|stderr|build-script-[\w-]+|build_script_[\w]+-[0-9a-f]{16}(?:\.d)?"
)
_SESSION = re.compile(r"s-[0-9a-z]+-[0-9a-z]+(?:-[0-9a-z]+)?(\.lock)?")


def _by_cargo(top: str) -> None:
    profiles = list(_profiles(top))
    if not profiles:
        raise _Foreign(".fingerprint")
    units = {name: frozenset(each[-16:] for each in os.listdir(f"{top}/{name}/.fingerprint")) for name in profiles}
    lifted: list[tuple[str, _Member]] = []
    hashes: set[tuple[str, int]] = set()
    for member in _members(top):
        _require(not member.is_link, member)
        if member.name in _TOP_OF_CARGO:
            continue
        profile = next((name for name in profiles if member.name.startswith(f"{name}/")), None)
        if profile is None:
            raise _Foreign(member.name)
        inside = member.name[len(profile) + 1 :].split("/")
        if inside == [".cargo-lock"]:
            _require(member.status.st_size == 0, member)
        elif len(inside) == 1 or (inside[0] == "examples" and len(inside) == 2 and not _HASHED.fullmatch(inside[1])):
            lifted.append((profile, member))
        else:
            _require(_is_of_cargo(member, inside, units[profile]), member)
            hashes.add((profile, member.status.st_ino))
    results = {member.path for profile, member in lifted if (profile, member.status.st_ino) in hashes}
    for _, member in lifted:  # what is put in front of people is a hard link to what lies behind it
        stem = member.path.removesuffix(".d")
        is_list = stem != member.path and any(f"{stem}{more}" in results for more in (*_OUTPUTS, ".rlib"))
        _require(member.path in results or is_list, member)


def _profiles(top: str) -> Iterator[str]:
    """`debug`, or `x86_64-unknown-linux-gnu/debug`."""
    for first in os.listdir(top):
        if os.path.isdir(f"{top}/{first}/.fingerprint"):
            yield first
        elif os.path.isdir(f"{top}/{first}") and not os.path.islink(f"{top}/{first}"):
            for second in os.listdir(f"{top}/{first}"):
                if os.path.isdir(f"{top}/{first}/{second}/.fingerprint"):
                    yield f"{first}/{second}"


def _is_of_cargo(member: _Member, inside: list[str], units: frozenset[str]) -> bool:
    kind, name = inside[0], inside[1]
    match = _HASHED.fullmatch(name)
    if kind in ("deps", "examples"):
        is_listed = match is not None and match[1] in units
        return len(inside) == 2 and is_listed and os.path.splitext(f"x{match[2] if match else '.?'}")[1] in _OUTPUTS
    if kind == "incremental":
        is_session = len(inside) in (3, 4) and _SESSION.fullmatch(inside[2])
        return bool(is_session) and (len(inside) == 3 or os.path.splitext(name := inside[3])[1] in (".o", ".bin"))
    if match is None or match[1] not in units or match[2]:
        return False
    if kind == ".fingerprint":
        return len(inside) == 3 and _FINGERPRINT.fullmatch(inside[2]) is not None
    if kind != "build" or len(inside) < 3:
        return False
    if inside[2] != "out":
        return len(inside) == 3 and _OF_A_SCRIPT.fullmatch(inside[2]) is not None
    where = member.path[: -len("/".join(inside[2:]))]
    began, ended = os.lstat(f"{where}invoked.timestamp"), os.lstat(f"{where}output")
    return began.st_mtime_ns <= member.status.st_ctime_ns <= ended.st_ctime_ns


# What must lie in it, what it must be called, and whose it is then.
_MAKERS: tuple[tuple[str, str, Callable[[str], None]], ...] = (
    (_LIST, "node_modules", _by_npm),
    (".modules.yaml", "node_modules", _by_pnpm),
    ("pyvenv.cfg", "", _by_venv),
    (".rustc_info.json", "", _by_cargo),
    ("", "__pycache__", _by_python),
)


NO_NAMES: frozenset[str] = frozenset()


def is_derived(path: str, also: frozenset[str] = NO_NAMES) -> bool:
    """Whether what lies at `path` can be made again. `also`: names of directories that a person calls so."""
    if os.path.islink(path) or not os.path.isdir(path):
        return False
    return os.path.basename(path) in also or is_made_again(path)


def derived_directories(top: str, also: frozenset[str] = NO_NAMES) -> Iterator[str]:
    """Outermost derived directories in a checkout; repositories inside are not entered."""
    todo = [top]
    while todo:
        here = todo.pop()
        try:
            with os.scandir(here) as entries:
                directories = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for path in directories:
            if path.endswith("/.git"):
                continue
            if is_derived(path, also):
                yield path
            elif not os.path.lexists(f"{path}/.git"):
                todo.append(path)


def unique(path: str, also: frozenset[str] = NO_NAMES, *, with_repositories: bool = False) -> Iterator[str]:
    """Everything at or below `path` that cannot be created again: files, links, and directories that cannot be read.
    Repositories below are left to their own inspection, unless asked for."""
    todo = [path]
    while todo:
        here = todo.pop()
        if is_derived(here, also):
            continue
        if os.path.islink(here) or not os.path.isdir(here):
            yield here
            continue
        try:
            names = sorted(os.listdir(here), reverse=True)
        except OSError:
            yield here
            continue
        if with_repositories or ".git" not in names:
            todo += (f"{here}/{name}" for name in names)
