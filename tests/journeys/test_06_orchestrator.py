"""An orchestrator spawns agents, crashes, and is started again.

Ann's orchestrator is the program of docs/orchestrators.md. It starts an agent with a temp directory of its own and is
killed while the agent works. The agent goes on, nothing of it is removed, and when it is done the next clean takes
its directory. Started again, the orchestrator runs a second agent to its end and leaves nothing; a shell script does
the same with `tmpwarden teardown`.
"""

import json
import time
from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import REPOSITORY, Person

pytestmark = pytest.mark.journey
WORKS = (
    'echo result > "$TMPDIR/result"; echo $$ > ~/worker; echo "$TMPDIR" > ~/where; '
    "until [ -e ~/done ]; do sleep 0.05; done"
)


def orchestrator_of(ann: Person) -> list[str]:
    program = ann.path("~/orchestrator.py")
    program.write_text((REPOSITORY / "examples" / "orchestrator.py").read_text())
    return ["/opt/tmpwarden/bin/python", "orchestrator.py"]


def written(ann: Person, path: str) -> str:
    ann.types(f"for i in $(seq 200); do [ -s {path} ] && exit 0; sleep 0.05; done; exit 1").must()
    return ann.path(path).read_text().strip()


def test_a_crash_of_the_orchestrator_costs_its_agent_nothing_and_nothing_is_left(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine = start("ext4", 48, "ann")
    ann = machine.person("ann")
    orchestrator = orchestrator_of(ann)
    first = ann.starts(*orchestrator, "sh", "-c", WORKS)
    scratch = written(ann, "~/where")
    worker = written(ann, "~/worker")
    first.kill()
    first.wait()
    machine.days_pass(9)
    ann.types("tmpwarden clean --yes").must()
    assert ann.path(f"{scratch}/result").read_text() == "result\n"
    ann.types("touch ~/done").must()
    ann.types(f"for i in $(seq 200); do kill -0 {worker} 2>/dev/null || exit 0; sleep 0.05; done; exit 1").must()
    machine.days_pass(0.1)
    ann.types("tmpwarden clean --yes").must()
    assert not ann.path(scratch).exists()
    ann.types("rm ~/done ~/where").must()
    again = ann.types(f"{' '.join(orchestrator)} sh -c 'echo r > $TMPDIR/r; echo $TMPDIR > ~/where'").must()
    told = json.loads(again.out)
    second = written(ann, "~/where")
    assert told["status"] == 0 and told["error"] is None and told["kept"] == {}, again.text
    assert not ann.path(second).exists() and second != scratch
    assert not list(ann.path("/tmp").rglob("*.lease"))
    tell("the orchestrator crashed: its agent went on, the next clean took what was over, and a restart left nothing")


def test_a_script_in_any_language_opens_and_tears_down(start: Start, tell: Callable[[str], None]) -> None:
    machine = start("ext4", 48, "ann")
    ann = machine.person("ann")
    began = time.monotonic()
    keeper = ann.starts("sleep", "600")
    opened = ann.types(f"tmpwarden lease open --session job-7 --pid {keeper.pid} --json").must().data
    scratch = opened["path"]
    ann.types(f"echo x > {scratch}/x && tmpwarden clean --yes && cat {scratch}/x").must("x")
    keeper.kill()
    keeper.wait()
    ended = ann.types("tmpwarden teardown --session job-7 --json").must().data
    assert [each["path"] for each in ended["removed"]] == [scratch] and ended["released"], ended
    assert not ann.path(scratch).exists()
    tell(f"lease open, work, teardown by command: nothing is left ({time.monotonic() - began:.1f} s in all)")
