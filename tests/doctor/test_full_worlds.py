"""A full temp root, in each of the ways it can be full: doctor's first line ends it when run as printed, or says why
nothing may go. No answer leads back to where one came from."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import forked
from support.command import LATER
from support.holding import process
from support.litter import claude_session
from support.mounts import ext4, fill_bytes, needs_root, tmpfs
from support.terminal import on_a_terminal
from support.user import UID

pytestmark = needs_root
MEGABYTE = 1 << 20


class World:
    """One machine whose only temp root is a tmpfs of 8 MB, and a `tmpwarden` whose clock can be ahead."""

    def __init__(self, root: Path, base: Path) -> None:
        self.root = root
        tools = base / "bin"
        tools.mkdir(parents=True)
        (tools / "tmpwarden").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{LATER}" "$@"\n')
        (tools / "tmpwarden").chmod(0o755)
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "TMPWARDEN_ROOTS": str(root), "TMPDIR": ""}
        self.env["NO_COLOR"] = "1"
        self.later(7200)

    def later(self, seconds: float) -> None:
        self.env["LATER_S"] = str(seconds)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return forked.run([sys.executable, str(LATER), *words], env=self.env, capture_output=True, text=True)

    def doctor(self, check: str = "room") -> dict[str, str]:
        return next(each for each in self.diagnoses() if each["check"] == check)

    def diagnoses(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.run("doctor", "--json", "--no-probe").stdout)["data"]["diagnoses"]
        return found

    def repaired(self, remedy: str, prompt: str = "[y/N") -> str:
        """Run it as printed, and say yes if it asks."""
        _, said = on_a_terminal(["bash", "-c", remedy], answer="y", env=self.env, columns=300, prompt=prompt)
        assert self.free() > 3 * MEGABYTE, said
        assert self.doctor()["status"] == "ok"
        return said

    def free(self) -> int:
        room = os.statvfs(self.root)
        return room.f_bavail * room.f_frsize


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with tmpfs(tmp_path / "t", size="8m") as root:
        yield World(root, tmp_path)


def big(path: Path, megabytes: float = 7.8) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, contextlib.suppress(OSError):
        os.posix_fallocate(file.fileno(), 0, int(megabytes * MEGABYTE))
    return path


def test_only_what_may_go(world: World) -> None:
    big(claude_session(world.root) / "big")
    found = world.doctor()
    assert (found["status"], found["remedy"]) == ("fail", "tmpwarden clean --yes")
    world.repaired(found["remedy"])


def test_only_a_process_that_outlived_its_session(world: World) -> None:
    unit = claude_session(world.root)
    with process("import sys; f = open(sys.argv[1])", str(big(unit / "big"))) as orphan:
        found = world.doctor()
        assert found["remedy"] == f"kill {orphan.pid}; tmpwarden clean --yes"
        assert f"{unit}, by 1 process" in found["detail"]
        world.run("clean", "--yes")
        assert unit.exists(), "a clean alone does not help, so it is not what doctor says"
        world.repaired(found["remedy"])


def test_only_a_session_at_work(world: World) -> None:
    unit = claude_session(world.root, recorded=False)
    big(unit / "big")
    env = {"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": unit.name}
    with process("", env=env, cwd=unit) as agent:
        found = world.doctor()
        assert (found["status"], found["remedy"]) == ("fail", "")
        assert "are in use" in found["detail"] and str(agent.pid) in found["detail"]
        assert "nothing else is removable, so you have to decide" in found["detail"]
        said = world.run("clean", "--yes").stderr
        assert "doctor" not in said or world.doctor()["remedy"] == "", "and clean's word leads to that answer"


def test_only_git_work(world: World) -> None:
    unit = claude_session(world.root)
    subprocess.run(["git", "init", "-q", str(unit / "clone")], check=True)
    (unit / "clone" / "work.py").write_text("mine\n")
    big(unit / "output", 7.5)
    found = world.doctor()
    assert found["remedy"] == f"tmpwarden rescue {unit} && rm -rI -- {unit}"
    assert f"hold git work that exists nowhere else ({unit})" in found["detail"]
    world.repaired(found["remedy"], prompt="recursively?")
    assert json.loads(world.run("rescue", "list", "--json").stdout)["data"]["rescued"]


def test_only_git_work_that_cannot_be_looked_at(world: World) -> None:
    unit = claude_session(world.root)
    (unit / "clone" / ".git").mkdir(parents=True)
    (unit / "clone" / ".git" / "HEAD").write_text("no head\n")
    big(unit / "clone" / "work.bin", 7.5)
    found = world.doctor()
    assert (found["status"], found["remedy"]) == ("fail", "")
    assert "you have to decide" in found["detail"]


def test_only_the_ask_tier(world: World) -> None:
    assert world.run("adopt", "orch-*").returncode == 0
    unit = big(world.root / "orch-1a2b" / "big").parent
    world.later(100 * 3600)
    found = world.doctor()
    assert found["remedy"] == "tmpwarden clean --all"
    world.repaired(found["remedy"])
    assert not unit.exists()


def test_only_unknown_shapes(world: World) -> None:
    for number in range(70):
        big(world.root / f"orch-{number:04x}" / "log", 0.11)
    found = world.doctor()
    assert found["remedy"] == "", "what is the user's own is asked about, and no command removes it"
    assert f"are not recognised: do you still need {world.root}/orch-* (7." in found["detail"]
    assert found["detail"].count("you have to decide") == 1


def test_only_what_is_too_young(world: World) -> None:
    unit = claude_session(world.root)
    big(unit / "big")
    world.later(0)
    found = world.doctor()
    assert found["remedy"] == f"tmpwarden clean {unit}"
    assert "are too new" in found["detail"] and "goes in " in found["detail"]
    world.repaired(found["remedy"])


def test_only_quarantine(world: World) -> None:
    unit = claude_session(world.root)
    big(unit / "big", 6)
    world.later(100 * 3600)
    assert world.run("clean", "--yes").returncode == 0
    assert not unit.exists()
    assert world.free() < 3 * MEGABYTE, "it waits for undo, and fills the disk"
    big(world.root / "mine", 1.6)
    found = world.doctor()
    assert (found["remedy"], "in quarantine" in found["detail"]) == ("tmpwarden clean --yes", True)
    _, said = on_a_terminal(["bash", "-c", found["remedy"]], answer="y", env=world.env, columns=300, prompt="[y/N")
    assert world.free() > 3 * MEGABYTE, said


def test_only_other_users(world: World) -> None:
    os.chown(big(world.root / "database"), UID, UID)
    found = world.doctor()
    assert (found["status"], found["remedy"]) == ("fail", f"du -xh -d 1 {world.root} | sort -h | tail")
    assert "belongs to others" in found["detail"]


class Contained(World):
    """The same in a pid namespace of its own: no process outside can be seen."""

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        inside = ["unshare", "-p", "-f", "--mount-proc", sys.executable, str(LATER), *words]
        return subprocess.run(inside, env=self.env, capture_output=True, text=True, check=False, timeout=60)


def test_in_a_container_no_command_is_printed_that_would_not_help(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="8m") as root:
        world = Contained(root, tmp_path)
        world.later(100 * 3600)
        unit = claude_session(root)
        big(unit / "big")
        found = world.doctor()
        assert (found["status"], found["remedy"]) == ("fail", "")
        sentence = "could not be checked here (processes outside this PID namespace are not visible)"
        for said in (found["detail"], world.run("clean", "--yes").stderr):
            assert sentence in said and "on the host: this is a container" in said, said
            assert f"decide yourself whether you still need {unit} (7." in said
        assert world.free() < MEGABYTE, "it would not have helped"
        world.later(0)  # what waits in quarantine has not waited long enough
        found = world.doctor()
        assert (found["status"], found["remedy"]) == ("fail", "")
        assert "stay in quarantine until they expire" in found["detail"] and sentence in found["detail"]
        on_the_host = World(root, tmp_path / "host")
        on_the_host.later(0)
        found = on_the_host.doctor()
        assert found["remedy"] == "tmpwarden clean --yes --purge", (
            "its day of undo is kept until a person says otherwise"
        )
        on_the_host.repaired(found["remedy"])


def test_in_a_container_no_other_way_is_a_circle_either(tmp_path: Path) -> None:
    """Too young, and asked for: naming and --all only put aside there, too."""
    with tmpfs(tmp_path / "t", size="8m") as root:
        world = Contained(root, tmp_path)
        unit = claude_session(root)
        big(unit / "big", 4)
        assert World.run(world, "adopt", "orch-*").returncode == 0
        asked = big(root / "orch-1a2b" / "big", 3.8).parent
        world.later(0)
        assert world.doctor()["remedy"] == ""
        world.later(100 * 3600)
        found = world.doctor()
        assert found["remedy"] == ""
        assert f"still need {unit} (4." in found["detail"] and f"still need {asked} (3." in found["detail"]


def test_out_of_inodes_the_remedy_counts_inodes(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "t", size="64m", inodes=400) as root:
        world = World(root, tmp_path)
        big(root / "huge-file", 40)
        with contextlib.suppress(OSError):
            for number in range(400):
                (root / f"orch-{number:04x}").touch()
        found = next(each for each in world.diagnoses() if "no inodes left" in each["summary"])
        assert found["remedy"] == ""
        assert f"do you still need {root}/orch-* (39" in found["detail"], "files are what is short, so they are counted"
        for number in range(300):
            (root / f"orch-{number:04x}").unlink()
        unit = claude_session(root, files=1)
        with contextlib.suppress(OSError):
            for number in range(400):
                (unit / f"{number:04x}").touch()
        found = next(each for each in world.diagnoses() if "no inodes left" in each["summary"])
        assert found["remedy"] == "tmpwarden clean --yes"
        world.run("clean", "--yes")
        assert os.statvfs(root).f_favail > 150
        assert (root / "huge-file").exists()


def test_a_little_that_may_go_is_not_called_a_remedy(world: World) -> None:
    """4 KB may go, 7 MB are the user's own: the clean is not what helps."""
    claude_session(world.root, files=1)
    big(world.root / "orch-1" / "big")
    found = world.doctor()
    assert found["remedy"] == ""
    assert found["detail"].index("can be removed now") < found["detail"].index("do you still need")


def test_what_the_judge_would_free_comes_first_and_the_users_own_last(world: World) -> None:
    """2 MB of a dead session beside 5 MB of the user's own: the smaller one is no question."""
    unit = claude_session(world.root)
    big(unit / "big", 2)
    film = big(world.root / "film.mkv", 5.9)
    found = world.doctor()
    assert found["remedy"] == "tmpwarden clean --yes"
    assert found["detail"].index("can be removed now") < found["detail"].index(f"do you still need {film} (5.")
    world.run("clean", "--yes")
    assert (unit.exists(), film.stat().st_size) == (False, int(5.9 * MEGABYTE))
    (world.root / "true").write_bytes(b"x" * MEGABYTE)


def test_a_full_disk_is_named_once_with_whose_what_is_on_it(own_world: Path, tmp_path: Path) -> None:
    """One disk for two temp roots and the home: one failure, and one command for it and for the journal."""
    with ext4(tmp_path / "disk", tmp_path / "image", megabytes=24) as disk:
        roots = [disk / "tmp", disk / "var-tmp"]
        for each in roots:
            each.mkdir(mode=0o1777)
        world = World(roots[0], tmp_path)
        world.env |= {"TMPWARDEN_ROOTS": ":".join(map(str, roots)), "XDG_STATE_HOME": str(disk / "home")}
        big(claude_session(roots[0]) / "big", 6)
        big(claude_session(roots[1]) / "big", 5)
        big(roots[1] / "film.mkv", 2)
        (disk / "home").mkdir()
        fill_bytes(disk / "home")
        failing = [each for each in world.diagnoses() if each["status"] == "fail"]
        assert [each["check"] for each in failing] == ["room", "journal"]
        assert failing[0]["summary"].startswith(f"{roots[0]} and {roots[1]} (ext4 at {disk}) is full")
        told = failing[0]["detail"].rpartition("; ")[2]
        assert re.fullmatch(
            r"of 2\d\.\d MB: agents 11\.\d MB, tmpwarden \d B, your own in temp roots 2\.0 MB, all else .* MB", told
        ), told
        assert {each["remedy"] for each in failing} == {"tmpwarden clean --yes"}
        assert f"no room in {disk}/home to record removals (the file system at {disk} is full)" in failing[1]["summary"]


def test_a_home_on_another_full_disk_is_shown_by_that_disk(world: World, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "home", size="2m") as home:
        world.env["XDG_STATE_HOME"] = str(home)
        fill_bytes(home)
        found = world.doctor("journal")
        assert (found["status"], found["remedy"]) == ("fail", f"du -xh -d 1 {home} | sort -h | tail")
