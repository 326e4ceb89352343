"""What users reported, planted as they describe it, and what becomes of it today. docs/demand.md has the sums."""

import os
import re
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from processes.leftovers import carrying, program, scratch_of_the_dead
from processes.test_orphans import MCP, SERVER
from processes.test_unheard import LATER_S, PLAIN, server
from support.command import LATER, data, tmpwarden
from support.holding import ended_pid, process
from support.repos import git
from support.terminal import on_a_terminal
from support.users import dead_process
from tmpwarden.catalogue import planting
from tmpwarden.catalogue.load import load
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.sweep.compose import clean
from worktrees import shapes
from worktrees.test_harmless import is_taken, locked, with_copies

REPORTS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "reports.toml").read_text())
PAGE = (Path(__file__).parents[2] / "docs" / "demand.md").read_text()
DAYS_4 = 4 * 86400
SESSION = "5e551011-0000-4000-8000-0000000de3a1"
BIG = 1 << 19  # two such files are worth a question


def told_on_the_page(cluster: str) -> tuple[int, ...]:
    found = re.search(rf"^\| {cluster} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE, re.M)
    assert found, f"docs/demand.md has no line for {cluster}"
    return tuple(map(int, found.groups()))


def check(cluster: str, done: dict[str, str]) -> None:
    """solved, partly, not: the page says what came of it, and a report that got worse is named here."""
    sums = Counter(done.values())
    counted = (len(done), sums["solved"], sums["partly"], sums["not"])
    assert counted == told_on_the_page(cluster), {name: how for name, how in done.items() if how != "solved"}


def verdict(left: Iterable[object], planted: Iterable[object]) -> str:
    left, planted = list(left), list(planted)
    return "solved" if not left else "partly" if len(left) < len(planted) else "not"


def plant_names(root: Path, names: list[str]) -> list[Path]:
    for name in names:
        path = root / name
        if name.startswith("."):
            path.mkdir()  # an empty mount target
        elif name.endswith("/"):
            path.mkdir()
            (path / "content").write_bytes(b"x" * 2 * BIG)
        else:
            path.write_bytes(b"x" * 2 * BIG)
    return [root / name for name in names]


def plant_row(key: str, root: Path, pid: int) -> list[Path]:
    row = load(dirs=()).row(key)
    assert row is not None, key
    found = planting.plant(row, str(root), os.environ["HOME"], pid=pid, session=SESSION)
    return [Path(each.path) for each in found if each.is_match]


def test_temp_files_that_users_reported(own_world: Path) -> None:
    """Four days later: one `clean --all`, its question about what is not recognised, and a path that is named."""
    root, (pid, _) = own_world / "tmp", dead_process()
    planted = {report: plant_row(key, root, pid) for report, key in REPORTS["temp"]["rows"]}
    planted |= {report: plant_names(root, names) for report, *names in REPORTS["temp"]["names"]}
    env = {**os.environ, "LATER_S": str(DAYS_4)}
    argv = [sys.executable, str(LATER), "clean"]
    everything = Request(roots=(str(root),), home=os.environ["HOME"], thresholds=Thresholds(take_ask=True))
    clean(everything, now_ns=lambda: time.time_ns() + DAYS_4 * 10**9)  # as `clean --all --yes`, home rows too
    for _ in range(12):
        status, shown = on_a_terminal(argv, answer="y", env=env, prompt="[y/N", timeout_s=120)
        assert status == 0, shown
        if "too?" not in shown:
            break
    hidden = [str(root / name) for name in (".git", ".codex", ".agents")]
    tmpwarden("clean", "--yes", *hidden, later_s=DAYS_4)
    left = {report: [path for path in paths if os.path.lexists(path)] for report, paths in planted.items()}
    check("temp", {report: verdict(left[report], paths) for report, paths in planted.items()})


MAKE: dict[str, Callable[[Path], Path]] = {
    "locked by a dead agent": lambda place: locked(place, f"claude agent a1 (pid {ended_pid()} start 4711)"),
    "published": shapes.plain,
    "squash merged": shapes.squash_merged,
    "with derived files": shapes.with_derived_files,
    "with copies of .env and settings": lambda place: with_copies(place)[1],
    "with changes: must stay": shapes.modified,
    "with commits: must not lose them": shapes.detached_with_commits,
    "with changes: reported as left": shapes.modified,
}


def under_run(root: Path) -> bool:
    assert tmpwarden("run", "--", "sh", "-c", "mktemp && mktemp -d").returncode == 0
    return not list(root.glob("tmp.*"))


def leased(root: Path) -> bool:
    with process("") as orchestrator:
        path = Path(data("lease", "open", "--session", "job-7", "--pid", str(orchestrator.pid))["path"])
        (path / "content").write_bytes(b"x" * BIG)
        data("lease", "close", "--session", "job-7", "--pid", str(orchestrator.pid))
    return not path.exists()


def in_a_private_tmp(root: Path) -> bool:
    name = f"worktree-of-a-test-{os.getpid()}"
    ran = tmpwarden("run", "--private-tmp", "--", "sh", "-c", f"mkdir /tmp/{name} && echo made")
    assert ran.stdout == "made\n", ran.stderr
    return not os.path.exists(f"/tmp/{name}")


PREVENTED = {
    "under tmpwarden run": under_run,
    "leased by an orchestrator": leased,
    "a name of its own in /tmp, under run --private-tmp": in_a_private_tmp,
}


def test_what_a_report_wants_kept_out_of_tmp_stays_out(own_world: Path) -> None:
    done = {kind: way(own_world / "tmp") for kind, way in PREVENTED.items()}
    check("kept out", {report: "solved" if done[kind] else "not" for report, kind in REPORTS["temp"]["kinds"]})


def test_a_command_that_prints_for_ever_ends_at_the_limit(own_world: Path) -> None:
    line = 'yes > "$TMPDIR/out"; stat -c %s "$TMPDIR/out"'
    ran = tmpwarden("run", "--max-file", "1M", "--", "sh", "-c", line)
    is_capped = ran.stdout.strip() == str(1 << 20)
    check("runaway", {report: "solved" if is_capped else "not" for report, _ in REPORTS["runaway"]["kinds"]})


def test_worktrees_that_users_reported(own_world: Path, tmp_path: Path) -> None:
    """Each kind is made once; a kind that must stay is solved where it stays."""
    kinds: dict[str, str] = {}
    for number, kind in enumerate(sorted({kind for _, kind in REPORTS["worktrees"]["kinds"]})):
        place = tmp_path / str(number)
        tree = MAKE[kind](place)
        head = git(tree, "rev-parse", "HEAD").strip()
        is_right = is_taken(tree) != kind.endswith("must stay")
        keeps_commits = bool(git(place / "project", "for-each-ref", "--contains", head).strip())
        kinds[kind] = "solved" if is_right and keeps_commits else "not"
    check("worktrees", {report: kinds[kind] for report, kind in REPORTS["worktrees"]["kinds"]})


@pytest.fixture
def fate_of(own_world: Path, tmp_path: Path) -> dict[str, str]:
    """What becomes of a process of each kind when a person says `orphans end`, at the second look."""
    scratch_of_the_dead(own_world / "tmp")
    browser = ["chrome", "c.py", "--headless"]
    with (
        server(tmp_path / "1") as unheard,
        program(tmp_path / "2", MCP, carrying()) as of_the_dead,
        program(tmp_path / "3", browser, PLAIN) as alone,
        server(tmp_path / "4", SERVER) as dev,
        program(tmp_path / "5", ["claude", "x.py"], PLAIN) as idle,
    ):
        kinds = {
            "a tool server that nobody can speak to": unheard,
            "a tool server of a dead session": of_the_dead,
            "a browser without a session": alone,
            "a dev server without a session": dev,
            "an idle agent that lives": idle,
        }
        data("orphans")
        listed = {each["pid"] for each in data("orphans", later_s=LATER_S)["processes"]}
        assert tmpwarden("orphans", "end", "--yes", later_s=LATER_S).returncode == 0
        return {
            kind: "solved" if not one.is_alive(for_s=5 if one in (unheard, of_the_dead) else 0)
            else "partly" if one.pid in listed else "not"
            for kind, one in kinds.items()
        }  # fmt: skip


def test_processes_that_users_reported(fate_of: dict[str, str]) -> None:
    """Listed with what is known, and left to the user, is partly."""
    check("processes", {report: fate_of[kind] for report, kind in REPORTS["processes"]["kinds"]})


def test_no_report_is_planted_twice() -> None:
    names = [row[0] for part in REPORTS.values() for kind in part.values() for row in kind]
    assert len(names) == len(set(names)) and len(names) >= 100
