"""Live and dead units side by side, while processes start and end and `clean` runs in a loop."""

import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from support import users
from support.litter import later
from tmpwarden.sweep.compose import clean

# Takes over a unit in one of four ways, says so, holds it for a moment, checks that nothing was touched, and lets go.
USER = """
import os, random, subprocess, sys, time
unit, how, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
file = os.path.join(unit, "deep", "file")
if how == "cwd":
    os.chdir(os.path.join(unit, "deep"))
elif how == "open":
    fd = os.open(file, os.O_RDONLY)
elif how == "child":  # the file is held by a child that outlives us
    if os.fork() == 0:
        fd = os.open(file, os.O_RDONLY)
    else:
        time.sleep(seconds / 4)
        os._exit(0)
print("holding" if os.path.exists(file) else "gone", flush=True)
time.sleep(seconds)
print("intact" if os.path.exists(file) else "TOUCHED", flush=True)
"""
WAYS = ("cwd", "open", "child", "tmpdir")


def start(unit: Path, way: str, seconds: float) -> "subprocess.Popen[str]":
    env = {"TMPDIR": str(unit)} if way == "tmpdir" else {}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", USER, str(unit), way, str(seconds)],
        stdout=subprocess.PIPE, text=True, cwd="/", env=env,
    )  # fmt: skip


def churn(root: Path, rounds: int) -> int:
    """Run it for so many cleans, however long they take; how many live units were checked."""
    choose = random.Random(4)
    owner = users.dead_process()
    running: list[tuple[Path, subprocess.Popen[str]]] = []
    checked = cleans = 0
    while cleans < rounds or running:
        while len(running) < 4 and cleans < rounds:
            unit = users.leased_scratch(root, session=str(uuid.uuid4()), owner=owner)
            user = start(unit, choose.choice(WAYS), choose.uniform(0.1, 0.8))
            assert user.stdout
            assert user.stdout.readline() == "holding\n"
            running.append((unit, user))
        dead = users.leased_scratch(root, session=str(uuid.uuid4()), owner=owner)
        result = clean(now_ns=later(2))
        assert not dead.exists(), f"a dead unit stays: {result}"
        cleans += 1
        for entry in [entry for entry in running if entry[1].poll() is not None]:
            unit, user = entry
            assert user.stdout
            assert user.stdout.read() == "intact\n", f"{unit} was touched while in use"
            user.stdout.close()
            running.remove(entry)
            checked += 1
    clean(now_ns=later(2))
    assert [path for path in root.glob("tmpwarden-*/*") if path.is_dir() and len(path.name) == 8] == []
    return checked


def test_no_live_unit_is_touched_and_every_dead_one_goes(own_world: Path) -> None:
    assert churn(own_world / "tmp", 15) >= 4


@pytest.mark.long
def test_no_live_unit_is_touched_in_a_thousand_cleans(own_world: Path) -> None:
    assert churn(own_world / "tmp", 1000) >= 100
