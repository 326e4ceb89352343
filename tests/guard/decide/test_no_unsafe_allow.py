"""Whatever the guard allows changes nothing outside the scratch: real shells, real files, a namespace to throw away."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[3] / "src"
WORKER = Path(__file__).with_name("allow_fuzz.py")
CLONE = "/mnt"  # in the jail: where it lies otherwise may be a place where work is done
# private tmpfs where work is done; everything else read-only, so that a mistake of ours cannot reach the machine.
# A descriptor holds the clone while its own place may be covered, and -c does not ask where that leads.
JAIL = """
set -e
exec 9<"$CLONE"
mount --make-rprivate /
mount -o remount,bind,ro /
for d in /tmp /var/tmp /srv /dev/shm /run; do mount -t tmpfs -o mode=1777 tmpfs $d; done
mount -c --bind /proc/self/fd/9 /mnt
mount -o remount,bind,ro /mnt
exec 9<&-
exec "$@"
"""


def in_jail(script: str, *words: str) -> Any:
    """What a Python program told as JSON, run by `script` in namespaces that go with it."""
    jail = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script]
    done = subprocess.run(
        [*jail, "jail", *map(_shown, (sys.executable, *words))],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": _shown(str(SOURCE)),
            "CLONE": str(SOURCE.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=3000,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _shown(word: str) -> str:
    """A path of the clone as the jail has it."""
    return word.replace(f"{SOURCE.parent}/", f"{CLONE}/", 1) if word.startswith(f"{SOURCE.parent}/") else word


def fuzz(seed: int, runs: int, *how: str) -> dict[str, object]:
    return in_jail(JAIL, str(WORKER), str(seed), str(runs), *how)  # type: ignore[no-any-return]


def check(result: dict[str, object], runs: int) -> None:
    assert result["bad"] == []
    assert result["ran"] == runs, result  # else the guard allows hardly anything, and this shows nothing
    programs = result["programs"]
    assert isinstance(programs, dict)
    assert {"rm", "rmdir", "mkdir", "touch", "mv", "cp"} <= set(programs)
    shells = result["shells"]
    assert isinstance(shells, dict)
    assert len(shells) > 1  # bash and dash are on every machine that we test on; zsh where it is installed
    assert result["bases"] == {"proven": runs}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a mount namespace")
def test_nothing_outside_the_scratch_changes_by_a_command_that_was_allowed() -> None:
    check(fuzz(1, 150), 150)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a mount namespace")
@pytest.mark.parametrize("seed", range(100, 110))
def test_nothing_outside_the_scratch_changes_by_thousands_of_commands_that_were_allowed(seed: int) -> None:
    check(fuzz(seed, 3000), 3000)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a mount namespace")
def test_what_is_trusted_changes_nothing_outside_the_project_and_the_scratch() -> None:
    result = fuzz(1, 120, "trusted")
    assert result["bad"] == [] and result["ran"] == 120
    bases = result["bases"]
    assert isinstance(bases, dict) and bases["trusted"] > 30
