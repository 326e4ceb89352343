"""Ann works with the real Claude Code under tmpwarden's guard.

She sets tmpwarden up with the guard, in the mode in which Claude asks before it does anything. Its model removes
directories below $TMPDIR in ten calls: each is let through without a question. It writes temp files, and so does a
subagent. The session is killed, resumed with its files, ended; a next session begins with an empty directory of its
own, and after a clean nothing of the first is left.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from journeys.machine import REPOSITORY
from support.bases import remove
from support.told import NOT_PROVEN

pytestmark = pytest.mark.journey
VERSION = "2.1.325"  # what the harness's ./install fetches; it is kept from run to run
UID = 1000  # the harness's user
NPM = Path(os.environ.get("CLIENTS_NPM", "/var/cache/tmpwarden-clients"))
HARNESS = (REPOSITORY.parent / "shared" / "clients", Path("/work/shared/clients"))
NOT_GRANTED = re.compile(
    r"requires approval|haven't granted|requested permission|Allowing runs the command|can't be checked", re.I
)
SETUP = "/opt/tmpwarden/bin/tmpwarden install claude --guard"
CALLS = 10


@functools.cache
def harness() -> Path:
    """Where the scripted model lies; skips where this machine has none of what the real client needs."""
    named = os.environ.get("TMPWARDEN_CLIENTS")
    places = (Path(named),) if named else HARNESS
    found = next((place for place in places if (place / "claude" / "run.py").is_file()), None)
    if found is None:
        pytest.skip(f"{NOT_PROVEN}real Claude (no shared/clients beside the clone, and TMPWARDEN_CLIENTS names none)")
    if not all(map(shutil.which, ("node", "npm", "ip", "unshare"))):
        pytest.skip(f"{NOT_PROVEN}real Claude (needs node, npm, iproute2 and util-linux)")
    package = NPM / "claude" / "node_modules" / "@anthropic-ai" / "claude-code" / "package.json"
    if not package.is_file():
        NPM.mkdir(parents=True, exist_ok=True)
        words, env = [str(found / "install"), "claude"], {**os.environ, "CLIENTS_NPM": str(NPM)}
        env["HOME"] = tempfile.gettempdir()
        if subprocess.run(words, env=env, capture_output=True, check=False, timeout=110).returncode != 0:
            pytest.skip(f"{NOT_PROVEN}real Claude (npm could not fetch it)")
    if json.loads(package.read_text())["version"] != VERSION:
        pytest.skip(f"{NOT_PROVEN}real Claude {VERSION} ({NPM}/claude holds another version)")
    return found


class Desk:
    """A home, a project and a /tmp that stay from session to session."""

    def __init__(self, base: Path, opt: Path) -> None:
        self.base, self.opt, self.count = base, opt, 0
        for name in ("home", "work"):
            (base / name).mkdir()
            os.chown(base / name, UID, UID)
        (base / "tmp").mkdir()
        (base / "tmp").chmod(0o1777)

    def session(self, *turns: dict, sub: tuple[dict, ...] = (), options: tuple[str, ...] = ()) -> dict:
        """What became of one session of the real client whose model takes these turns."""
        out = self.base / f"out{self.count}"
        self.count += 1
        script = json.dumps({"scripts": {"main": [*turns, {"text": "done"}], "sub": [*sub, {"text": "done"}]}})
        keep = [f"--{name}={self.base / where}" for name, where in (("home", "home"), ("work", "work"))]
        words = [str(harness() / "claude" / "run.py"), "--script", script, "--out", str(out), *keep]
        words += ["--tmp-bind", str(self.base / "tmp"), "--mode", "default", *options]
        inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /opt && exec "$@"']
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "CLIENTS_NPM": str(NPM)}
        ran = subprocess.run([*inside, str(self.opt), *words], env=env, capture_output=True, text=True, timeout=110,
                             check=False)  # fmt: skip
        assert (out / "full.json").is_file(), ran.stderr[-2000:]
        found = json.loads((out / "full.json").read_text())
        ids = [event["session_id"] for event in found["events"] if event.get("session_id")]
        return {**found["res"], "session": ids[0] if ids else ""}

    def scratches(self) -> list[Path]:
        return sorted(path for path in (self.base / "tmp").glob(f"tmpwarden-{UID}/[0-9a-f]*") if path.is_dir())


@pytest.fixture
def desk(opt: Path) -> Iterator[Desk]:
    harness()
    base = Path(tempfile.mkdtemp(prefix="twjourney-", dir="/var/tmp"))
    base.chmod(0o755)
    yield Desk(base, opt)
    remove(base)


def bash(command: str) -> dict:
    return {"tool": "Bash", "input": {"command": command, "description": "work"}}


def results(session: dict) -> list[str]:
    """What the main model was given back, call by call."""
    asked = [each for each in session["requests"] if each.get("script") == "main"]
    return [result["content"] for each in asked for result in each.get("tool_results", ())]


def test_ten_calls_that_stay_in_the_temp_directory_are_let_through(desk: Desk, tell: Callable[[str], None]) -> None:
    calls = [bash(f"rm -rf $TMPDIR/b{n}") for n in range(CALLS)]
    told = results(desk.session(*calls, options=("--pre", SETUP)))
    assert len(told) == CALLS and not any(map(NOT_GRANTED.search, told)), told
    audit = desk.base / "home" / ".local" / "state" / "tmpwarden" / "guard" / "audit.jsonl"
    assert [json.loads(line)["decision"] for line in audit.read_text().splitlines()] == ["allow"] * CALLS
    tell(f"real Claude {VERSION}: {CALLS} of {CALLS} calls inside $TMPDIR ran without a question")


@pytest.mark.parametrize("how", ["bashrc", "exported"])
def test_a_function_in_place_of_rm_is_never_let_through(how: str, desk: Desk, tell: Callable[[str], None]) -> None:
    body = "{ command touch ~/hit; }"
    if how == "bashrc":
        (desk.base / "home" / ".bashrc").write_text(f"rm() {body}\n")
    options = ("--env", f"BASH_FUNC_rm%%=() {body}") if how == "exported" else ()
    calls = [bash(f"rm -rf $TMPDIR/b{n}") for n in range(3)]
    told = results(desk.session(*calls, options=("--pre", SETUP, *options)))
    assert len(told) == len(calls) and all(map(NOT_GRANTED.search, told)), told
    audit = desk.base / "home" / ".local" / "state" / "tmpwarden" / "guard" / "audit.jsonl"
    said = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(one["decision"], "rm is a function" in one["reason"]) for one in said] == [("pass", True)] * len(calls), (
        said
    )
    assert not (desk.base / "home" / "hit").exists()
    tell(f"real Claude {VERSION}: rm as a function ({how}) was let through 0 times of {len(calls)}")


def test_removing_what_is_the_users_is_not_let_through(desk: Desk, tell: Callable[[str], None]) -> None:
    (desk.base / "work" / "thesis").write_text("years\n")
    (desk.base / "home" / "photos").mkdir()
    told = results(desk.session(bash("rm -rf ~/photos"), bash("rm -rf ../home/photos"), options=("--pre", SETUP)))
    assert (desk.base / "home" / "photos").is_dir(), told
    assert all(NOT_GRANTED.search(said) or "outside" in said for said in told), told
    tell(f"real Claude {VERSION}: removing a directory of the home was not let through")


def test_killed_resumed_ended_and_cleaned(desk: Desk, tell: Callable[[str], None]) -> None:
    writes = [bash('echo one > "$TMPDIR/one"'), bash("mktemp")]
    agent = {
        "tool": "Agent",
        "input": {"description": "sub", "prompt": "SCRIPT:sub go", "subagent_type": "general-purpose"},
    }
    free = ("--mode", "bypassPermissions", "--settle", "3")
    first = desk.session(
        *writes, agent, bash("echo waits; sleep 20"), sub=(bash('echo sub > "$TMPDIR/sub"'),),
        options=("--pre", SETUP, *free, "--signal", "KILL", "--signal-at", "main:3:2"),
    )  # fmt: skip
    (scratch,) = desk.scratches()
    assert (scratch / "one").read_text() == "one\n" and (scratch / "sub").read_text() == "sub\n"
    assert sorted(path.name for path in scratch.iterdir() if path.name.startswith("tmp")), "no file of mktemp"
    resumed = desk.session(bash('cat "$TMPDIR/one"; echo two > "$TMPDIR/two"'),
                           options=(*free, "--", "--resume", first["session"]))  # fmt: skip
    assert "one" in results(resumed)[-1], results(resumed)
    second = desk.session(bash('ls -A "$TMPDIR" | wc -l; echo "at $TMPDIR"'), options=free)
    said = results(second)[-1]
    assert said.startswith("0"), said
    clean = "/opt/tmpwarden/bin/tmpwarden clean --yes"
    desk.session(options=(*free, "--post", clean))
    assert desk.scratches() == []
    tell(f"real Claude {VERSION}: killed, resumed with its files, ended; nothing is left")
