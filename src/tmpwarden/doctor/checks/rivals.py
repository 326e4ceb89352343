"""Other cleaners that go by name and age, and would kill live sessions: cron lines, hooks, tmpfiles.d rules."""

import os
import re
from collections.abc import Iterator

from ...agent_facts import FACTS
from ...model.sweep import Diagnosis
from ...oskit.files import places
from ...oskit.files.opening import entry_names
from ...oskit.proc.own_mount import frozen_way
from ...text import quoted, shown
from ..patient import Patient

_SYSTEM = (
    "/etc/crontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/tmpfiles.d",
    "/etc/systemd/system",
)  # fmt: skip
_SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_HOME = (".config/user-tmpfiles.d", ".config/systemd/user")
_AGENTS = rf"(?:cc-|{'|'.join(FACTS)})"
_FIND = re.compile(r"find\s+[\"']?/?(?:\S*/)?tmp\b.*-(?:delete|exec\s+\S*rm\b)")
_NAMED = re.compile(r"-i?(?:name|path|regex)\s")
_DELETES = re.compile(
    rf"rm\s+-\w*[rf]\w*\s+\S*tmp/\S*{_AGENTS}"
    r"|(?:^|[\s/;&|])(?:tmpreaper|tmpwatch)\s+[^\s\])]"  # called with arguments, not asked for or configured
)
_AGES = re.compile(rf"^[dDeqQrR]!?\s+\S*tmp/\S*{_AGENTS}\S*\s")
_OWN_CRONTAB = "crontab -l"
_LARGEST = 1 << 20


def check(patient: Patient) -> Iterator[Diagnosis]:
    found = [(path, *first) for path in _files() if (first := next(_lines(path), None))]
    for path, number, line in found[:3]:
        summary = f"{shown(path)}:{number} removes agents' files by name or age, whether a session lives or not."
        yield Diagnosis("rivals", "warn", summary, shown(line.strip())[:200], _remedy(path, number))
    if not found:
        yield Diagnosis("rivals", "ok", "no other cleaner goes after agents' files.")


def _remedy(path: str, number: int) -> str:
    """One command that stops it and can be taken back."""
    if path == _OWN_CRONTAB:
        return f"crontab -l | sed '{number}s/^/# /' | crontab -"
    sudo = "" if os.access(path, os.W_OK) else "sudo "
    if _is_script(path):
        return f"{sudo}chmod -x {quoted(path)}"
    if path.endswith(".json"):
        return f"${{EDITOR:-vi}} +{number} {quoted(path)}"
    return f"{sudo}sed -i '{number}s/^/# /' {quoted(path)}"


def _is_script(path: str) -> bool:
    """run-parts runs what is executable there, and nothing else."""
    return os.path.dirname(path).endswith(("/cron.hourly", "/cron.daily", "/cron.weekly"))


def _files() -> Iterator[str]:
    home = places.home()
    for path in (*_SYSTEM, *_SPOOLS, *_of_agents(home), *(f"{home}/{name}" for name in _HOME)):
        if frozen_way(path):
            continue  # the check of mounts tells it
        if os.path.isdir(path):
            files = [file for name in entry_names(path) if os.path.isfile(file := f"{path}/{name}")]
            yield from (file for file in files if not _is_script(file) or os.access(file, os.X_OK))
        elif os.path.isfile(path):
            yield path
    if not any(os.access(spool, os.R_OK) for spool in _SPOOLS):
        yield _OWN_CRONTAB


def _of_agents(home: str) -> Iterator[str]:
    """Where agents keep their hooks: settings files, or a directory of them."""
    for facts in FACTS.values():
        directory = facts["directory"].format(home=home, xdg_config=f"{home}/.config")
        for name in (*facts["settings"], *facts["more_settings"]):
            yield f"{directory}/{os.path.dirname(name) or name}"


def _lines(path: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_text(path).split("\n"), 1):  # lines as sed counts them
        is_comment = line.lstrip().startswith("#")
        if not is_comment and "tmpwarden" not in line and _removes(line):
            yield number, line


def _removes(line: str) -> bool:
    """By an agent's name, or everything in a temp directory whatever its name."""
    if _FIND.search(line) and (not _NAMED.search(line) or re.search(_AGENTS, line)):
        return True
    return bool(_DELETES.search(line) or _AGES.match(line))


def _text(path: str) -> str:
    if path == _OWN_CRONTAB:
        return _own_crontab()
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""


def _own_crontab() -> str:
    """Only crontab itself may read the spool for an ordinary user."""
    import subprocess

    try:
        done = subprocess.run(["crontab", "-l"], capture_output=True, timeout=5, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")[:_LARGEST] if done.returncode == 0 else ""
