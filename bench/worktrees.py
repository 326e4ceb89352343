"""What a look at many worktrees of one repository costs, beside `git worktree list` and `git status` in a loop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.frame import Line, against, interleaved, ratio, timed

_FILES = 40  # in each worktree
_LOOP = """
import subprocess, sys
listed = subprocess.run(["git", "-C", sys.argv[1], "worktree", "list", "--porcelain"], capture_output=True, text=True)
for line in listed.stdout.splitlines():
    if line.startswith("worktree "):
        words = ["git", "-C", line[9:], "status", "--porcelain=v2", "--ignored"]
        subprocess.run(words, capture_output=True, check=True)
"""


def lines(quick: bool) -> Iterator[Line]:
    if shutil.which("git") is None:
        yield Line("worktrees", None, "x git status", note="there is no git")
        return
    count = 50 if quick else 500
    with tempfile.TemporaryDirectory(prefix="tmpwarden-bench-") as place:
        main = _repository(Path(place), count)
        env = _world(Path(place), main)
        runs = interleaved(
            {
                "git status loop": lambda: timed([sys.executable, "-I", "-S", "-c", _LOOP, str(main)]),
                "worktrees": lambda: timed([sys.executable, "-m", "tmpwarden", "worktrees", "--json"], env),
            },
            1 if quick else 3,
        )
        assert not any(run.status for each in runs.values() for run in each)
        yield Line(
            f"worktrees: {count} with proof, size and merge state",
            ratio(runs, "worktrees", "git status loop"),
            "x git status loop, wall",
            gate=8.0,
            note=against(runs, "git status loop", but="worktrees"),
        )
        one = str(main / ".claude" / "worktrees" / "t0")
        status = ["/usr/bin/env", "git", "-C", one, "status", "--porcelain=v2", "--ignored"]
        alone = interleaved(
            {
                "git status": lambda: timed(status),
                "proof": lambda: timed([sys.executable, "-m", "tmpwarden", "worktrees", "proof", one, "--json"], env),
            },
            3 if quick else 9,
        )
        yield Line(
            f"worktrees proof: one of {count}",
            ratio(alone, "proof", "git status"),
            "x git status, wall",
            note=against(alone, "git status", but="proof"),
        )


def _repository(place: Path, count: int) -> Path:
    main = place / "home" / "project"
    main.mkdir(parents=True)
    _git(main, "init", "-q", "-b", "main")
    for number in range(_FILES):
        (main / f"file{number}").write_text(f"{number}\n" * 50)
    _git(main, "add", ".")
    _git(main, "commit", "-qm", "first")
    for number in range(count):
        tree = main / ".claude" / "worktrees" / f"t{number}"
        _git(main, "worktree", "add", "-q", "-b", f"b{number}", str(tree))
        if number % 5 == 1:
            (tree / "file0").write_text("changed")
        if number % 5 == 2:
            (tree / "new").write_text("new")
        if number % 5 == 3:
            (tree / "file1").write_text("committed")
            _git(tree, "commit", "-qam", "work")
    return main


def _world(place: Path, main: Path) -> dict[str, str]:
    """No home and no temp directory but ours."""
    home = place / "home"
    (home / ".claude.json").write_text(f'{{"projects": {{"{main}": {{}}}}}}')
    (place / "tmp").mkdir()
    spared = ("TMPWARDEN_", "XDG_", "CLAUDE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(spared)}
    return env | {"HOME": str(home), "TMPDIR": str(place / "tmp")}


def _git(where: Path, *words: str) -> None:
    settings = ("-c", "user.name=b", "-c", "user.email=b@localhost", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *settings, *words], cwd=where, check=True, capture_output=True)
