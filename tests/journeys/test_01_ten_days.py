"""A server with one disk runs agents for ten days, and tmpwarden keeps it usable.

Ann sets tmpwarden up on the first day. Every day one session ends and one is killed, each with outputs in /tmp; one
session lives through all of it. The hooks alone keep the disk from filling. On the tenth day a download of her own
fills it to the last byte. The doctor says so, its remedy is typed as it is printed, and `true` works again. The
living session lost nothing.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Machine, Person

pytestmark = pytest.mark.journey
MB = 1 << 20
DAYS = 10


def a_day(machine: Machine, ann: Person) -> None:
    for is_killed in (False, True):
        agent = ann.agent()
        assert all(hook["status"] == 0 for hook in agent.started["hooks"]), agent.started
        machine.settles()
        agent.bash('head -c 300K /dev/zero > "$TMPDIR/build.o"; mktemp; ls "$TMPDIR"')
        output = agent.background("head -c 2M /dev/zero | tr '\\0' x")["output"]
        ann.types(f"until [ $(stat -c %s {output}) = {2 * MB} ]; do sleep 0.05; done").must()
        if is_killed:
            agent.is_killed()
        else:
            said = agent.ends()
            assert all(hook["status"] == 0 for hook in said["hooks"]), said
        machine.settles()
    machine.days_pass(1)


def ten_days(machine: Machine, ann: Person) -> tuple[list[int], Callable[[], None]]:
    """(bytes used, day by day; a look whether the living session still has all that it wrote)."""
    ann.types("tmpwarden setup --yes").must("Claude Code")
    alive = ann.agent(project="long")
    used, written = [], []
    for day in range(DAYS):
        a_day(machine, ann)
        machine.settles()
        said = alive.bash(f'echo day {day} | tee "$TMPDIR/notes-{day}"; echo "$TMPDIR"')
        assert said["status"] == 0, said
        written.append(f"{said['out'].split()[-1]}/notes-{day}")
        machine.settles()
        used.append(machine.used())

    def nothing_of_the_living_is_gone() -> None:
        for day, path in enumerate(written):
            assert ann.path(path).read_text() == f"day {day}\n", path
        assert alive.bash("true")["status"] == 0

    return used, nothing_of_the_living_is_gone


def test_hooks_alone_keep_the_disk_from_filling(start: Start, tell: Callable[[str], None]) -> None:
    machine = start("ext4", 96, "ann")
    used, nothing_of_the_living_is_gone = ten_days(machine, machine.person("ann"))
    made = 2 * 2 * MB * DAYS
    assert used[-1] < made * 0.75, used
    assert used[-1] <= max(used[4:7]) + 2 * 2 * MB, used  # what the day itself wrote
    nothing_of_the_living_is_gone()
    megabytes = " ".join(f"{each / MB:.0f}" for each in used)
    tell(
        f"ten days of agents left {made // MB} MB, and the disk never held more than {max(used) // MB} MB ({megabytes})"
    )


def test_a_full_disk_is_told_and_the_remedy_works_as_printed(start: Start, tell: Callable[[str], None]) -> None:
    machine = start("ext4", 96, "ann")
    ann = machine.person("ann")
    _, nothing_of_the_living_is_gone = ten_days(machine, ann)
    machine.fill("/home/ann/download.part", ann)
    doctor = ann.types("tmpwarden doctor --json")
    worst = doctor.data["diagnoses"][0]
    assert worst["status"] == "fail" and "full" in worst["summary"], doctor.text
    said = ann.answers(worst["remedy"], "y")
    agent = ann.agent()
    assert agent.bash("true")["status"] == 0, doctor.text + said.text
    assert ann.path("~/download.part").exists(), said.text
    nothing_of_the_living_is_gone()
    tell(f"full on the tenth day: `{worst['remedy']}` freed {machine.free() // MB} MB, and `true` works")
