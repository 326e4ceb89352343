"""Runs inside a disposable mount, pid and network namespace: each line as it was sent and as it was led, and compares.

`python twins.py LINES.json` reads a list of worlds, each a list of lines that one session runs after the other, and
prints one JSON object a world: which lines were led, and where the two differed. The worlds are two copies of the same
/tmp, project and home, one after the other in the same place. A path in the scratch and the same path in /tmp count as
the same, in what was said, in what was left and in what files hold.
"""

import json
import os
import shutil
import subprocess
import sys

from tmpwarden.guard.context import AgentFacts, CallPlace, Context, Probes
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall
from tmpwarden.oskit.files.disk import Disk

UID = 65534
SCRATCH, PROJECT, HOME = "/tmp/agent-s1", "/srv/project", "/srv/home"
RULES = load((), preset="claude").rules
ENVIRON = {"HOME": HOME, "TMPDIR": SCRATCH, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
# a program that nobody can read; with `see` it looks into /tmp by itself
STUB = """#!/bin/sh
echo "$0 $*"
cat /tmp/old.txt
[ "$1" != see ] || ls /tmp | grep -v agent-s1
exit 0
"""


def build() -> None:
    for top in ("/tmp", "/srv"):
        for entry in os.scandir(top):
            shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)
    for place in (SCRATCH, f"{PROJECT}/src", HOME):
        os.makedirs(place)
    files = {
        "/tmp/old.txt": "old\n", f"{PROJECT}/a.txt": "b\na\nc\n", f"{PROJECT}/b.txt": "a\nb\n",
        f"{PROJECT}/src/x.c": "int main(){return 0;}\n", f"{PROJECT}/data.json": '{"a": [1, 2]}\n',
        f"{PROJECT}/tool": STUB, f"{PROJECT}/use.py": "import sys\nprint(open(sys.argv[1]).read())\n",
    }  # fmt: skip
    for path, text in files.items():
        with open(path, "w") as file:
            file.write(text)
    os.chmod(f"{PROJECT}/tool", 0o755)
    for top in ("/tmp", "/srv"):
        for directory, _, names in os.walk(top, topdown=False):
            for name in ("", *names):
                os.chown(os.path.join(directory, name), UID, UID, follow_symlinks=False)
                os.utime(os.path.join(directory, name), (1e9, 1e9))  # archives hold it


def led(line: str) -> tuple[str | None, dict[str, str]]:
    """The text that runs instead, None for the line as it is; what the model is told about places."""
    place = CallPlace(
        scratch=SCRATCH, project=PROJECT, cwd=PROJECT, home=HOME, uid=UID, is_tmpdir=True,
        environ={name.encode(): value.encode() for name, value in ENVIRON.items()},
    )  # fmt: skip
    disk = Disk()
    context = Context(place, Probes(disk.look, is_plain=disk.is_plain, entries=disk.entries), AgentFacts())
    decision = evaluate(ToolCall("claude", "shell", command=line, cwd=PROJECT), RULES, context)
    return decision.rewritten if decision.verdict in ("allow", "pass") else None, decision.places


def ran(line: str) -> tuple[int, str]:
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", line], cwd=PROJECT, env=ENVIRON, stdin=subprocess.DEVNULL, capture_output=True,
            user=UID, group=UID, extra_groups=[], timeout=20, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, ""
    return done.returncode, plain((done.stdout + done.stderr).decode("utf-8", "replace"))


def plain(text: str) -> str:
    return text.replace(SCRATCH, "/tmp")


def left() -> dict[str, str]:
    """What there is, by its name without the scratch."""
    found = {}
    for top in ("/tmp", "/srv"):
        for directory, names, files in os.walk(top):
            for name in (*names, *files):
                path = os.path.join(directory, name)
                if path != SCRATCH:
                    found[plain(path)] = _content(path)
    return found


def _content(path: str) -> str:
    if os.path.islink(path):
        return "-> " + plain(os.readlink(path))
    if os.path.isdir(path):
        return "directory"
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] in (b"\x1f\x8b", b"PK") or data[257:262] == b"ustar":
        return "archive"  # dates of its members
    return plain(data.decode("utf-8", "replace"))


def world(lines: list[str]) -> dict[str, object]:
    build()
    first = [ran(line) for line in lines]
    before = left()
    build()
    texts, told, second = [], [], []
    for line in lines:
        other, places = led(line)
        texts.append(other)
        told.append(places)
        second.append(ran(other or line))
    after = left()
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    said = [at for at, (one, other) in enumerate(zip(first, second, strict=True)) if one != other]
    wrong = [(at, first[at], second[at]) for at in said]
    return {"lines": lines, "led": texts, "told": told, "changed": changed, "said": wrong}


if __name__ == "__main__":
    assert os.getpid() == 1, "only in a pid namespace of its own"
    with open(sys.argv[1]) as given:
        print(json.dumps([world(lines) for lines in json.load(given)]))
