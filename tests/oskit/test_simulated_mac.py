"""A Mac, simulated: no /proc, `sys.platform` says darwin, what only Linux has is gone. What nobody can check is said as
such, nothing is promised that is not done, and what is ours goes. A part of it with each `make test`, all of it with
`make test-long`; as a story of a person, it is a journey (13)."""

import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.bases import remove
from support.mac import AGENTS, BROKEN, COMMANDS
from support.mac_world import MacWorld, mac_world
from support.mounts import needs_root
from tmpwarden.cli.commands import TABLE

pytestmark = needs_root
TMPWARDEN = (sys.executable, "-m", "tmpwarden")
NINE_DAYS_S = 9 * 86400
PAYLOADS = Path(__file__).parents[1] / "hooks" / "payloads"
FEW = ("scan", "clean -n --all --json", "report -o ~/report.html", "why {tmp}", "metrics", "run -- true", "undo")


@pytest.fixture(scope="module")
def mac(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MacWorld]:
    place = tmp_path_factory.mktemp("mac")
    with mac_world(place) as world:
        assert world.run(sys.executable, "-c", "import sys, os; print(sys.platform, hasattr(os, 'O_PATH'))").stdout == (
            "darwin False\n"
        )
        marker = place / "tmp" / "claude-1a2b-cwd"
        marker.write_text("/home/me\n")
        long_ago = time.time() - NINE_DAYS_S
        os.utime(marker, (long_ago, long_ago))
        yield world
    remove(place)


def said(mac: MacWorld, *words: str) -> str:
    done = mac.run(*TMPWARDEN, *words)
    text = f"$ tmpwarden {' '.join(words)}\n{done.stdout}{done.stderr}[exit {done.returncode}]"
    assert not [word for word in BROKEN if word in text], text
    return text


@pytest.mark.parametrize("words", ["status", "orphans", "brake", "doctor"])
def test_what_cannot_be_checked_is_said_and_never_taken_for_no(mac: MacWorld, words: str) -> None:
    text = said(mac, words)
    assert "could not be checked here" in text or "could not be looked for here" in text, text
    for lie in ("No process writes", "No process outlived", "none running"):
        assert lie not in text


def test_a_preview_promises_only_what_the_clean_then_does(mac: MacWorld) -> None:
    promised = json.loads(mac.run(*TMPWARDEN, "clean", "-n", "--all", "--json").stdout)["data"]["removed"]
    done = json.loads(mac.run(*TMPWARDEN, "clean", "--yes", "--all", "--json").stdout)["data"]["removed"]
    assert [each["path"] for each in promised] == [each["path"] for each in done]


def test_a_command_gets_its_own_directory_and_it_goes_with_it(mac: MacWorld) -> None:
    done = mac.run(*TMPWARDEN, "run", "--", "sh", "-c", 'echo "$TMPDIR"; touch "$TMPDIR/x"')
    place = done.stdout.strip()
    assert "/tmpwarden-" in place and not os.path.exists(place), done


def test_a_limit_on_all_that_a_command_leaves_is_held(mac: MacWorld) -> None:
    fill = 'head -c 3000000 /dev/zero > "$TMPDIR/x"; exec sleep 60'
    done = mac.run(*TMPWARDEN, "run", "--max-bytes", "1m", "--", "sh", "-c", fill)
    assert "COMMAND is ended" in done.stderr and done.returncode != 0, done


def test_a_session_directory_of_ones_own_goes(mac: MacWorld) -> None:
    program = """
import os, tmpwarden
with tmpwarden.session("mycli") as s:
    open(s.file("a"), "w")
print(os.path.exists(s.path))
"""
    done = mac.run(sys.executable, "-c", program)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_no_hook_hands_out_a_scratch_or_tells_of_its_end(mac: MacWorld) -> None:
    said(mac, "install", "claude", "--guard")
    entry = next(Path(mac.env["XDG_DATA_HOME"]).glob("tmpwarden/*/tmpwarden/hooks/run.py"))
    told = ""
    for number in range(10):
        start = {"session_id": f"s-{number}", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}
        bash = {**start, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls /tmp"}}
        env_file = Path(mac.env["HOME"], f"env-{number}")
        for payload in (start, bash, {**start, "hook_event_name": "SessionEnd", "reason": "other"}):
            words = (sys.executable, "-I", "-S", str(entry), "claude", str(payload["hook_event_name"]))
            done = mac.run(*words, stdin=json.dumps(payload), env={"CLAUDE_ENV_FILE": str(env_file)})
            assert (done.returncode, done.stderr) == (0, "")
            told += done.stdout
        assert not env_file.exists()
    assert "deleted" not in told and "TMPDIR" not in told
    root = Path(mac.env["TMPWARDEN_ROOTS"]).resolve()
    assert [path for path in root.glob("tmpwarden-*/*") if path.name != "q"] == []


def test_setup_says_what_it_cannot_promise_and_takes_itself_out(mac: MacWorld) -> None:
    assert "nothing is removed automatically" in said(mac, "setup", "--yes")
    said(mac, "setup", "--remove", "--yes")
    settings = Path(mac.env["HOME"], ".claude", "settings.json")
    assert "tmpwarden" not in (settings.read_text() if settings.exists() else "")


def spelled(mac: MacWorld, words: str) -> list[str]:
    return shlex.split(words.format(tmp=mac.env["TMPWARDEN_ROOTS"]).replace("~", mac.env["HOME"]))


def test_the_list_of_commands_has_every_command() -> None:
    tried = {words.partition(" ")[0] for words in COMMANDS}
    assert {name for _, name, _ in TABLE} <= tried


def test_a_few_commands_answer_in_sentences(mac: MacWorld) -> None:
    for words in FEW:
        said(mac, *spelled(mac, words))


@pytest.mark.long
@pytest.mark.parametrize("tells", [False, True], ids=["nobody can be seen", "the self-test passes"])
def test_every_command_answers_in_sentences(tmp_path: Path, tells: bool) -> None:
    place = tmp_path / "mac"
    place.mkdir()
    with mac_world(place, tells=tells) as world:
        (place / "tmp" / "claude-1a2b-cwd").write_text("/home/me\n")
        said(world, "install", "claude", "--guard")
        for words in COMMANDS:
            said(world, *spelled(world, words))
        left = [path for path in (place / "private" / "tmp").glob("tmpwarden-*/*") if path.name != "q"]
        assert left == []
    remove(place)


def calls_of(agent: str) -> list[Path]:
    return sorted((PAYLOADS / agent).glob("*.json"))


@pytest.mark.parametrize(
    "agents",
    [pytest.param(1, id="one call of each agent"), pytest.param(None, id="all", marks=pytest.mark.long)],
)
def test_hooks_of_six_agents_answer_and_promise_no_end(mac: MacWorld, agents: int | None) -> None:
    for agent in AGENTS:
        said(mac, "install", agent, "--guard")
    entry = next(Path(mac.env["XDG_DATA_HOME"]).glob("tmpwarden/*/tmpwarden/hooks/run.py"))
    for agent in AGENTS:
        assert calls_of(agent)
        for path in calls_of(agent)[:agents]:
            recorded = json.loads(path.read_text())
            words = (sys.executable, "-I", "-S", str(entry), agent, recorded["event"])
            done = mac.run(*words, stdin=json.dumps(recorded["stdin"]), env=recorded["env"])
            assert (done.returncode, done.stderr) == (0, ""), f"{path}: {done}"
            assert "deleted after" not in done.stdout, path
    log = Path(mac.env["XDG_STATE_HOME"], "tmpwarden", "hooks", "log")
    assert "Traceback" not in (log.read_text() if log.exists() else "")
