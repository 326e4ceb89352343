"""A server with one disk is full, and only now its owner installs tmpwarden.

Ann's machine has one disk for /tmp and for her home. For weeks sessions of her agent were killed; their outputs lie
in /tmp. Beside them lies a film of hers, and one session is alive. Now no byte is free, and every command of the live
session fails. Ann installs tmpwarden, types `tmpwarden clean`, says yes, and `true` works again. Nothing of hers and
nothing of the live session is gone, and `tmpwarden log` names everything that is.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Agent, Machine, Person

pytestmark = pytest.mark.journey
SESSIONS = 4
MB = 1 << 20


def weeks_without_us(machine: Machine, ann: Person) -> list[str]:
    """Killed sessions with an output of 5 MB each; their directories."""
    left = []
    for _ in range(SESSIONS):
        agent = ann.agent()
        output = agent.background("head -c 5M /dev/zero | tr '\\0' x")["output"]
        ann.types(f"until [ $(stat -c %s {output}) = {5 * MB} ]; do sleep 0.05; done").must()
        agent.is_killed()
        left.append(output.rpartition("/tasks/")[0])
    machine.days_pass(9)
    return left


def full_with_a_live_session(machine: Machine, ann: Person) -> Agent:
    alive = ann.agent()
    alive.bash("true")
    ann.path("~/film.mkv").write_bytes(b"film" * (4 * MB // 4))
    machine.fill("/home/ann/download.part", ann)
    assert machine.free() < 4096
    assert alive.bash("true")["status"] != 0
    return alive


@pytest.mark.parametrize("disk", ["tmpfs", "ext4", "ext4-1k"])
def test_installed_on_a_full_disk_one_clean_makes_the_agent_work_again(
    disk: str, start: Start, tell: Callable[[str], None]
) -> None:
    machine = start(disk, 48, "ann")
    ann = machine.person("ann")
    left = weeks_without_us(machine, ann)
    alive = full_with_a_live_session(machine, ann)
    cleaned = ann.types("tmpwarden clean --yes")
    assert alive.bash("true")["status"] == 0, cleaned.text
    assert not any(ann.path(path).exists() for path in left), cleaned.text
    assert ann.path("~/film.mkv").stat().st_size == 4 * MB
    assert ann.path("~/download.part").exists()
    log = ann.types("tmpwarden log -n 100").must()
    assert all(path.rpartition("/")[2] in log.out for path in left), log.text
    tell(f"{disk}: full, then installed; one clean freed {machine.free() // MB} MB, and `true` works")


@pytest.mark.parametrize("disk", ["tmpfs", "ext4"])
def test_what_the_doctor_prints_on_a_full_disk_helps_when_it_is_run_as_printed(
    disk: str, start: Start, tell: Callable[[str], None]
) -> None:
    machine = start(disk, 48, "ann")
    ann = machine.person("ann")
    weeks_without_us(machine, ann)
    alive = full_with_a_live_session(machine, ann)
    doctor = ann.types("tmpwarden doctor --json")
    remedies = [each["remedy"] for each in doctor.data["diagnoses"] if each["status"] == "fail" and each["remedy"]]
    assert remedies, doctor.text
    assert "film.mkv" not in remedies[0] and "download.part" not in remedies[0], doctor.text
    said = ann.answers(remedies[0], "y")
    assert alive.bash("true")["status"] == 0, doctor.text + said.text
    assert ann.path("~/film.mkv").stat().st_size == 4 * MB
    tell(f"{disk}: the doctor's first remedy is `{remedies[0]}`, and `true` works after it")
