"""A command on a machine whose /tmp, /var/tmp, /dev/shm and home are empty, and what it left there. Needs root."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_MARK = "== left behind =="
# The clone may itself lie in one of them: it is held by a descriptor while they are covered, and shown again.
_COVER = """
set -e
exec 9<"$REPOSITORY"
mount --make-rprivate /
for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o mode=1777 none "$place"; done
[ -e "$REPOSITORY" ] || { mkdir -p "$REPOSITORY"; mount -c --bind /proc/self/fd/9 "$REPOSITORY"; }
exec 9<&-
mkdir -m 700 "$HOME"
cd "$REPOSITORY"
status=0
"$@" || status=$?
echo; echo "$MARK"
find /tmp /var/tmp /dev/shm -mindepth 1 -path "$REPOSITORY" -prune -o -mindepth 1 -print
exit $status
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended on its own machine, and which paths it left there."""

    status: int
    said: str
    left: frozenset[str]


def run(*argv: str | Path, timeout_s: float = 120) -> Ended:
    home = "/dev/shm/home"
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": home, "REPOSITORY": str(REPOSITORY), "MARK": _MARK}
    inside: Sequence[str | Path] = ("unshare", "--mount", "sh", "-c", _COVER, "sh", *argv)
    ended = subprocess.run(
        inside, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s, check=False
    )
    said, _, listed = ended.stdout.partition(f"\n{_MARK}\n")
    return Ended(ended.returncode, said, frozenset(listed.splitlines()) - {home, *map(str, REPOSITORY.parents)})
