"""Ten situations of a /tmp that agents use, and what four cleaners make of them: docs/comparison.md is this test.

Each cleaner meets the same machine after the same twelve days, with the settings that it comes with. The page's table
says `removed`, `kept`, `in part`, `yes` or `no`, and is compared with what lies on the disk afterwards.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.conftest import Start
from journeys.machine import REPOSITORY, Agent, Machine, Person

pytestmark = pytest.mark.journey
PAGE = REPOSITORY / "docs" / "comparison.md"
DAYS = 12
CLEANERS = {
    "tmpwarden": ("ann", "tmpwarden clean --yes"),
    "systemd-tmpfiles": ("root", "systemd-tmpfiles --clean /run/tmp.conf"),
    "tmpreaper": ("root", "tmpreaper 7d /tmp"),
    "cron, find": ("root", "find /tmp -xdev -mindepth 1 -mtime +7 -delete"),
}
LISTENS = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); s.accept()"


def written(ann: Person, agent: Agent, command: str, until: str) -> str:
    """The file that a command of the agent's writes in the background, when it has written that much."""
    output = agent.background(command)["output"]
    ann.types(f"until [ -s {output} ] && {until.format(output)}; do sleep 0.05; done").must()
    return str(output)


def killed_with(ann: Person, command: str, project: str) -> str:
    """The directory that a killed session left; `command` ran in it."""
    agent = ann.agent(project=project)
    directory = written(ann, agent, "echo said", "true").rpartition("/tasks/")[0]
    ann.types(f"cd {directory} && {command}").must()
    agent.is_killed()
    return directory


def twelve_days(machine: Machine) -> dict[str, list[str]]:
    """What lies in /tmp, by situation."""
    ann = machine.person("ann")
    machine.path("/run/tmp.conf").write_text("q /tmp 1777 root root 10d\n")
    places = {
        "a session that was killed 12 days ago": [killed_with(ann, "echo x > notes.txt", "dead")],
        "a clone with a commit that was never pushed, of a session killed 12 days ago": [
            killed_with(
                ann,
                "git init -q w && cd w && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m work",
                "clone",
            )
        ],
        "notes of yours, 12 days old": ["/tmp/notes-for-monday.txt"],
    }
    ann.types("echo mine > /tmp/notes-for-monday.txt").must()
    alive = ann.agent(project="alive")
    served = killed_with(ann, "true", "served")
    socket = f"{served}/bridge.sock"
    ann.starts("/usr/bin/python3", "-c", LISTENS, socket)
    worked_in = killed_with(ann, "mkdir build && echo object > build/a.o", "worked-in")
    ann.starts("sleep", "900", cwd=f"{worked_in}/build")
    ann.types(f"until [ -S {socket} ]; do sleep 0.05; done").must()
    open_for_days = written(ann, alive, "echo started; exec sleep 900", "true")
    half = ann.agent(project="half")
    old = written(ann, half, "echo old; exec sleep 900", "true").rpartition("/tasks/")[0] + "/scratchpad"
    ann.types(f"mkdir -p {old} && echo plan > {old}/plan.md").must()
    machine.days_pass(DAYS)
    ann.types(f"echo today > {old}/today.md").must()
    ann.types("for n in 0 1 2 3 4 5 6 7 8 9; do echo /tmp > /tmp/claude-0a1$n-cwd; done").must()
    machine.days_pass(1 / 24)
    return places | {
        "a log that a running session has open and last wrote to 12 days ago": [open_for_days],
        "a directory that a process works in, untouched for 12 days": [f"{worked_in}/build", f"{worked_in}/build/a.o"],
        "a socket that a tool server listens on": [socket],
        "a running session's plan of 12 days ago, beside its file of today": [f"{old}/plan.md", f"{old}/today.md"],
        "ten empty marker files that an agent left an hour ago": [f"/tmp/claude-0a1{n}-cwd" for n in range(10)],
    }


def outcome(machine: Machine, paths: list[str]) -> str:
    there = [machine.path(path).exists() or machine.path(path).is_symlink() for path in paths]
    return "kept" if all(there) else "in part" if any(there) else "removed"


def frees_a_full_disk(start: Start, cleaner: str) -> str:
    """A session filled the disk and was killed an hour ago; does `true` work after one run?"""
    machine = start("tmpfs", 48, "ann")
    ann = machine.person("ann")
    machine.path("/run/tmp.conf").write_text("q /tmp 1777 root root 10d\n")
    agent = ann.agent()
    written(ann, agent, "head -c 8M /dev/zero", "[ $(stat -c %s {0}) = 8388608 ]")
    agent.is_killed()
    machine.days_pass(1 / 24)
    alive = ann.agent(project="alive")
    alive.bash("true")
    machine.fill("/home/ann/download.part", ann)
    assert alive.bash("true")["status"] != 0
    who, line = CLEANERS[cleaner]
    (ann if who == "ann" else machine.root).types(line)
    return "yes" if alive.bash("true")["status"] == 0 else "no"


def rows() -> Iterator[tuple[str, list[str]]]:
    """The table of the page: (situation, a word for each cleaner)."""
    lines = PAGE.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("| In /tmp lies"))
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            return
        situation, *words = [cell.strip() for cell in line.strip("|").split("|")]
        yield situation, [word.strip("*") for word in words]


@pytest.mark.parametrize("cleaner", list(CLEANERS))
def test_the_page_tells_what_each_cleaner_does(cleaner: str, start: Start) -> None:
    machine = start("ext4", 64, "ann")
    who, line = CLEANERS[cleaner]
    person = machine.person("ann") if who == "ann" else machine.root
    if person.types(f"command -v {line.split()[0]}").status != 0:
        pytest.skip(f"machine: no {line.split()[0]}")
    places = twelve_days(machine)
    said = person.types(line)
    found = {situation: outcome(machine, paths) for situation, paths in places.items()}
    if cleaner == "tmpwarden":
        person.types("tmpwarden undo").must()
    dead = places["a session that was killed 12 days ago"]
    found["can a removed session be brought back?"] = "yes" if outcome(machine, dead) == "kept" else "no"
    found["a session filled the disk and was killed an hour ago: does one run help?"] = frees_a_full_disk(
        start, cleaner
    )
    at = list(CLEANERS).index(cleaner)
    assert found == {situation: words[at] for situation, words in rows()}, said.text


def test_the_page_shows_the_lines_that_were_run() -> None:
    text = Path(PAGE).read_text()
    assert all(f"`{line}`" in text for _, line in CLEANERS.values())
    assert "q /tmp 1777 root root 10d" in text
