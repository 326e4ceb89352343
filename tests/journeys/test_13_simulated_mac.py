"""Max has a Mac: no /proc, and /tmp leads to /private/tmp.

This is a simulation on Linux: every interpreter there believes that it is on macOS, and what only Linux has is gone. It
proves what tmpwarden says and does where it cannot see processes, and nothing about a Mac's kernel. Sessions of an
agent end and are killed; every command that Max tries answers in sentences. What a preview promises, the deed does.
Nothing that lives is touched, ten sessions leave nothing behind, and no model is told of an end that never comes.
"""

import json
import plistlib
from collections.abc import Callable
from pathlib import Path

import pytest

from journeys.conftest import Start
from journeys.machine import REPOSITORY, Machine, Person
from support.mac import AGENTS, BROKEN, COMMANDS

pytestmark = pytest.mark.journey
PAYLOADS = REPOSITORY / "tests" / "hooks" / "payloads"


def a_mac(start: Start) -> tuple[Machine, Person]:
    machine = start("ext4", 48, "max", is_mac=True)
    max_ = machine.person("max")
    max_.types("python3 -c 'import sys; sys.exit(sys.platform != \"darwin\")'").must()
    return machine, max_


def scratches(person: Person) -> list[Path]:
    return [path for path in person.path("/private/tmp").glob("tmpwarden-*/[0-9a-fr]*") if path.is_dir()]


def test_every_command_answers_in_sentences_and_nothing_alive_is_touched(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, max_ = a_mac(start)
    max_.types("tmpwarden install claude --guard").must()
    dead, alive = max_.agent(), max_.agent(project="long")
    dead.bash("true")
    kept = alive.background("echo mine")["output"]
    max_.types(f"until [ -s {kept} ]; do sleep 0.05; done").must()
    dead.is_killed()
    machine.days_pass(9)
    for words in COMMANDS:
        said = max_.types(f"tmpwarden {words.format(tmp='/tmp')}".strip())
        assert not [word for word in BROKEN if word in said.text], said.text
    assert max_.path(kept).read_text() == "mine\n"
    assert alive.bash("true")["status"] == 0
    assert not scratches(max_), "what `run` made is gone with its command"
    assert "could not be checked here" in max_.types("tmpwarden orphans").must().out
    assert "could not be checked here" in max_.types("tmpwarden brake").must().out
    assert "could not be checked here" in max_.types("tmpwarden status").must().out
    tell(f"without /proc: {len(COMMANDS)} commands answered in sentences, and the living session lost nothing")


def test_what_the_preview_promises_the_deed_does(start: Start, tell: Callable[[str], None]) -> None:
    machine, max_ = a_mac(start)
    for _ in range(3):
        agent = max_.agent()
        agent.background("echo old")
        agent.is_killed()
    max_.types("pwd > /tmp/claude-1a2b-cwd").must()
    machine.settles()
    machine.days_pass(9)
    promised = max_.types("tmpwarden clean -n --all --json").must().data["removed"]
    assert "kept" in max_.types("tmpwarden why /tmp/claude-1a2b-cwd").must().out
    done = max_.types("tmpwarden clean --yes --all --json").data["removed"]
    assert sorted(each["path"] for each in promised) == sorted(each["path"] for each in done), (promised, done)
    tell(f"without /proc: {len(promised)} items were promised and {len(done)} removed")


def test_ten_sessions_leave_no_scratch_and_no_model_is_told_of_an_end(
    start: Start, tell: Callable[[str], None]
) -> None:
    machine, max_ = a_mac(start)
    max_.types("tmpwarden install claude").must("nothing is removed automatically")
    for _ in range(10):
        agent = max_.agent()
        assert not [hook["out"] for hook in agent.started["hooks"] if "deleted" in hook["out"]]
        agent.bash('echo x > "${TMPDIR:-/tmp}/x"')
        agent.ends()
    machine.settles()
    assert scratches(max_) == []
    assert "TMPDIR" not in "".join(path.read_text() for path in max_.path("~/.claude").rglob("*.sh"))
    tell("without /proc: ten sessions left 0 scratches, and the model was told of none")


def test_the_hooks_of_six_agents_answer_and_setup_takes_itself_out(start: Start, tell: Callable[[str], None]) -> None:
    machine, max_ = a_mac(start)
    for agent in AGENTS:
        max_.types(f"tmpwarden install {agent} --guard").must()
    (entry,) = max_.path("~/.local/share/tmpwarden").glob("*/tmpwarden/hooks/run.py")
    entry_there = f"~/.local/share/tmpwarden/{entry.parts[-4]}/tmpwarden/hooks/run.py"
    max_.types("mkdir -p ~/payloads ~/shop").must()
    asked = 0
    for path in sorted(PAYLOADS.glob("*/*.json")):
        recorded, agent = json.loads(path.read_text()), path.parent.name
        max_.path("~/payloads/one").write_text(json.dumps(recorded["stdin"]))
        words = f"python3 -I -S {entry_there} {agent} {recorded['event']}"
        said = max_.types(f"{words} < ~/payloads/one", env=recorded["env"])
        assert (said.status, said.err) == (0, ""), f"{path.name}: {said.text}"
        assert "deleted after" not in said.out, said.text
        asked += 1
    assert asked >= 60
    machine.settles()
    assert scratches(max_) == []
    log = max_.path("~/.local/state/tmpwarden/hooks/log")
    assert "Traceback" not in (log.read_text() if log.exists() else "")
    max_.types("tmpwarden setup --yes").must()
    max_.types("tmpwarden setup --remove --yes").must()
    assert "tmpwarden" not in max_.types("cat ~/.claude/settings.json ~/.gemini/settings.json ~/.zshrc 2>/dev/null").out
    tell(f"without /proc: {asked} recorded calls of {len(AGENTS)} agents were answered, and setup left nothing")


def test_a_session_of_ones_own_goes_and_no_lease_is_open(start: Start, tell: Callable[[str], None]) -> None:
    _, max_ = a_mac(start)
    program = (
        "import os, tmpwarden\n"
        "with tmpwarden.session('mycli') as s:\n"
        "    open(s.file('a'), 'w').write('x')\n"
        "print(os.path.exists(s.path))\n"
    )
    max_.path("~/mine.py").write_text(program)
    assert max_.types("/opt/tmpwarden/bin/python3 mine.py").must().out == "False\n"
    opened = max_.types("tmpwarden lease open --session job-1 --pid $$")
    assert "could not be checked" in opened.err and not [word for word in BROKEN if word in opened.text], opened.text
    assert scratches(max_) == []
    tell("without /proc: a program's own session directory is gone with it, and no lease names whom it cannot check")


LINES = ("echo x > {}/y", "rm -rf {}/x", "rm -rf {}", "rm -rf {}/*", "cp a {}/b", "mktemp -d {}/foo.XXXX", "cat {}/q")


def test_the_guard_takes_both_names_of_tmp_for_one(start: Start, tell: Callable[[str], None]) -> None:
    _, max_ = a_mac(start)
    max_.types("mkdir -p /tmp/mine").must()
    for line in LINES:
        answers = []
        for tmp in ("/tmp", "/private/tmp"):
            words = f"tmpwarden guard check --json --preset claude --scratch /tmp/mine '{line.format(tmp)}'"
            data = max_.types(words).must(status=None).data
            answers.append((data["decision"], (data["rewritten"] or "").replace("/private/tmp", "/tmp")))
        assert answers[0] == answers[1], f"{line}: {answers}"
    tell(f"/private/tmp is /tmp to the guard in {len(LINES)} lines")


def test_the_timer_is_launchds_and_says_that_it_removes_nothing_yet(start: Start, tell: Callable[[str], None]) -> None:
    _, max_ = a_mac(start)
    max_.types(
        r"""mkdir ~/bin && printf '#!/bin/sh\necho "$@" >> ~/asked\n' > ~/bin/launchctl && chmod +x ~/bin/launchctl"""
    ).must()
    path = {"PATH": f"{max_.home}/bin:{max_.environment()['PATH']}"}
    max_.types("tmpwarden install timer", env=path).must("by launchd", "removes nothing yet")
    plist = max_.path("~/Library/LaunchAgents/tmpwarden.plist")
    assert plistlib.loads(plist.read_bytes())["ProgramArguments"][-1].endswith("/lifecycle/tick.py")
    max_.types("tmpwarden uninstall timer", env=path).must()
    assert not plist.exists()
    asked = max_.path("~/asked").read_text()
    assert f"load -w {max_.home}/Library/LaunchAgents/tmpwarden.plist" in asked and "unload" in asked
    tell("the timer is a launchd agent, and goes again")
