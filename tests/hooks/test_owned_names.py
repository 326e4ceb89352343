"""Own before you move: fresh names in a temp root that a call states are its session's, and go with it."""

import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from hooks.calling import hook, said
from support.command import data, tmpwarden
from support.holding import process
from tmpwarden.hooks import notebook
from tmpwarden.leases import births, stated
from tmpwarden.model.belongings import Birth

pytestmark = pytest.mark.usefixtures("packed")

MINUTES = 120


class Session:
    """Calls the hooks as Claude does, and runs what the guard lets through."""

    def __init__(self, world: Path, pid: int) -> None:
        self.root, self.state, self.pid = world / "tmp", world / "state" / "tmpwarden", pid
        self.id = str(uuid.uuid4())
        self.calls = 0
        self.project = Path(os.environ["HOME"]) / "project"
        self.project.mkdir(exist_ok=True)

    def say(self, event: str, **fields: object) -> dict[str, object]:
        payload = {"session_id": self.id, "hook_event_name": event, "cwd": str(self.project), **fields}
        env = {"CLAUDE_PID": str(self.pid), "AI_AGENT": "claude-code_2-1-325_x"}
        answer = said(hook("claude", event, payload, env=env))
        return answer.get("hookSpecificOutput", answer)  # type: ignore[return-value]

    def bash(self, command: str, *, runs: bool = True, **fields: object) -> str:
        """The guard's word, "" for none; what it does not deny is run."""
        self.calls += 1
        call = {"tool_name": "Bash", "tool_input": {"command": command, **fields}, "tool_use_id": f"toolu_{self.calls}"}
        word = str(self.say("PreToolUse", **call).get("permissionDecision", ""))
        if runs and word != "deny":
            subprocess.run(["bash", "-c", command], cwd=self.project, capture_output=True, check=False, timeout=30)
        self.say("PostToolUse", **call, tool_response={"stdout": ""}, duration_ms=500)
        return word

    def write(self, path: Path, text: str) -> str:
        self.calls += 1
        call = {"tool_name": "Write", "tool_input": {"file_path": str(path), "content": text}}
        call["tool_use_id"] = f"toolu_{self.calls}"  # type: ignore[assignment]
        word = str(self.say("PreToolUse", **call).get("permissionDecision", ""))
        path.write_text(text)
        self.say("PostToolUse", **call, tool_response={"type": "create"})
        return word

    def noted(self, *paths: Path) -> dict[str, Birth]:
        """The background is waited for."""
        until = time.monotonic() + 20
        wanted = {str(path) for path in paths}
        while not wanted <= (found := births.read(str(self.state))).keys() and time.monotonic() < until:
            time.sleep(0.02)
        return found

    def all_noted(self) -> None:
        """No call is open any more."""
        file = notebook.stated_file(str(self.state / "hooks"), self.id)
        until = time.monotonic() + 20
        while stated.read(file) and time.monotonic() < until:
            time.sleep(0.02)
        assert stated.read(file) == []


@pytest.fixture
def session(own_world: Path) -> Session:
    made = Session(own_world, os.getpid())
    made.say("SessionStart", source="startup")
    return made


LINES = (
    "echo x > {}/NAME", "date >> {}/NAME", "mkdir -p {}/NAME/sub", "cd {} && touch NAME",
    "touch {}/NAME && cat {}/NAME",
    "cp a.txt {}/NAME", "cp NAME {}", "F={}/NAME; echo x > $F", "echo x | tee {}/NAME", "tar cf {}/NAME a.txt",
    "python3 a.py made; cp made {}/NAME", "for i in 1; do echo $i > {}/NAME; done",
    "bash -c 'echo x > {}/NAME'", "(cd {}; echo x > NAME)", "if true; then echo x > {}/NAME; fi", "ln -s a.txt {}/NAME",
    "touch '{}/NAME'", "f() {{ echo x > {}/NAME; }}; f", "sh -c 'touch {}/NAME'", "git init -q {}/NAME",
    "python3 a.py {}/NAME", "python3 a.py --out={}/NAME", "cat > {}/NAME <<'E'\nbody\nE", "exec 3> {}/NAME",
    "rm -rf {}/NAME && mkdir {}/NAME", "dd if=/dev/zero of={}/NAME count=1", "touch {}/NAME; false",
)  # fmt: skip


def test_every_fresh_name_that_readable_lines_state_is_owned_and_gone_after_the_session_and_one_clean(
    own_world: Path,
) -> None:
    with process("") as agent:
        session = Session(own_world, agent.pid)
        session.say("SessionStart", source="startup")
        (session.project / "a.txt").write_text("kept")
        (session.project / "a.py").write_text("import sys\nopen(sys.argv[1].rpartition('=')[2], 'w')\n")
        paths = []
        for at, line in enumerate(LINES):
            name = f"name{at}"
            (session.project / name).write_text("x")
            assert session.bash(line.format(*[session.root] * 4).replace("NAME", name)) == ""
            paths.append(session.root / name)
        assert session.write(session.root / "data.json", "{}") == ""
        paths.append(session.root / "data.json")
        missing = [str(path) for path in paths if not os.path.lexists(path)]
        assert missing == []
        found = session.noted(*paths)
        assert [str(path) for path in paths if not (found[str(path)].owned and found[str(path)].stated)] == []
        (session.root / "somebodys").write_text("not the session's")
        data("clean", "--yes", later_s=MINUTES)
        assert all(os.path.lexists(path) for path in paths), "not while its session lives"
    done = data("clean", "--yes", later_s=MINUTES)
    gone = {each["path"]: each["undoable"] for each in done["removed"]}
    assert [str(path) for path in paths if os.path.lexists(path)] == []
    assert gone[str(session.root / "data.json")], "into quarantine"
    assert (session.root / "somebodys").exists()
    assert (session.project / "a.txt").read_text() == "kept"


def test_what_a_killed_call_had_made_goes_too(own_world: Path) -> None:
    """No hook came after the call: whoever cleans notes what was made."""
    with process("") as agent:
        session = Session(own_world, agent.pid)
        session.say("SessionStart", source="startup")
        path = session.root / "half.bin"
        session.say("PreToolUse", tool_name="Bash", tool_input={"command": f"make > {path}"}, tool_use_id="t1")
        path.write_text("x")
    data("clean", "--yes", later_s=MINUTES)
    assert not path.exists()


def test_the_sessions_own_names_are_free_and_others_ask(session: Session) -> None:
    root, mine = session.root, session.root / "mine"
    theirs = root / "theirs"
    theirs.write_text("somebody's")
    assert session.bash(f"mkdir {mine}") == ""
    assert session.bash(f"echo x > {mine}/a; cat {mine}/a") == "", "at once: nobody waits for the background"
    assert session.bash(f"rm -rf {mine}/a") == "allow"
    for command in (f"echo x > {theirs}", f"echo x >> {theirs}", f"rm {theirs}", f"cp a {theirs}", f"mv {theirs} b"):
        assert session.bash(command, runs=False) == "ask", command
    assert theirs.read_text() == "somebody's"
    assert session.bash(f"rm -rf {mine} && mkdir {mine}") == "allow"
    assert session.bash(f"rm -rf {mine}", runs=False) == "allow", "made anew by the session itself"


def test_another_entry_of_an_owned_name_asks(session: Session) -> None:
    path = session.root / "out.txt"
    assert session.bash(f"echo x > {path}") == ""
    session.all_noted()
    other = session.root / "other"
    other.write_text("the user's")
    other.rename(path)
    assert session.bash(f"rm {path}", runs=False) == "ask"
    assert session.bash(f"echo y > {path}", runs=False) == "ask"


def test_a_link_that_the_session_made_frees_the_link_and_not_what_it_leads_to(session: Session) -> None:
    outside = Path(os.environ["HOME"]) / "precious"
    outside.mkdir()
    link = session.root / "link"
    session.bash(f"ln -s {outside} {link}")
    session.noted(link)
    assert session.bash(f"rm {link}", runs=False) == "allow"
    for command in (f"rm -rf {link}/", f"rm -rf {link}/x", f"touch {link}/x"):
        assert session.bash(command, runs=False) == "ask", command


def test_what_was_moved_there_from_elsewhere_is_not_the_sessions(session: Session) -> None:
    thesis = session.project / "thesis"
    thesis.write_text("years of work")
    path = session.root / "thesis"
    assert session.bash(f"mv thesis {path}") == ""
    hard = session.root / "hard"
    (session.project / "other").write_text("x")
    session.bash(f"ln other {hard}")
    assert session.bash(f"rm {path}", runs=False) == "ask"
    assert session.bash(f"rm {hard}", runs=False) == "ask"
    stated_now = births.read(str(session.state))
    assert not any(stated_now[str(each)].stated for each in (path, hard) if str(each) in stated_now)


def test_what_a_program_that_nobody_can_read_moved_there_does_not_go_with_the_session(session: Session) -> None:
    thesis, path = session.project / "thesis", session.root / "moved"
    thesis.write_text("years of work")
    (session.project / "move.py").write_text("import os, sys\nos.rename('thesis', sys.argv[1])\n")
    session.bash(f"python3 move.py {path}")
    session.all_noted()
    noted = births.read(str(session.state)).get(str(path))
    assert path.read_text() == "years of work"
    assert noted is None or not noted.stated


def test_a_name_that_a_finished_call_did_not_make_is_not_claimed_later(session: Session) -> None:
    path = session.root / "never.txt"
    session.bash(f"test -e nothing && echo x > {path}")
    session.all_noted()
    path.write_text("the user's own")
    assert session.bash(f"rm {path}", runs=False) == "ask"


def test_a_command_in_the_background_may_make_its_name_later(session: Session) -> None:
    path = session.root / "later.log"
    session.bash(f"sleep 1; echo x > {path}", runs=False, run_in_background=True)
    session.bash("true")
    path.write_text("x")
    assert session.bash(f"rm {path}", runs=False) == "allow"


def test_another_session_does_not_own_what_this_one_made(session: Session, own_world: Path) -> None:
    path = session.root / "shared.txt"
    session.bash(f"echo x > {path}")
    session.noted(path)
    other = Session(own_world, os.getpid())
    other.say("SessionStart", source="startup")
    assert other.bash(f"cat {path}") == ""
    assert other.bash(f"rm {path}", runs=False) == "ask"


def test_a_resumed_session_finds_its_names_again(own_world: Path) -> None:
    with process("") as agent:
        session = Session(own_world, agent.pid)
        session.say("SessionStart", source="startup")
        path = session.root / "data.json"
        session.write(path, "{}")
        session.noted(path)
    data("clean", "--yes", later_s=MINUTES)
    assert not path.exists()
    session.pid = os.getpid()
    session.say("SessionStart", source="resume")
    assert path.read_text() == "{}"
    assert session.bash(f"rm {path}", runs=False) == "allow"
    data("clean", "--yes", later_s=MINUTES)
    assert path.exists(), "its session lives again"


def test_with_own_off_nothing_is_stated(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text("[redirect]\nown = false\n")
    session = Session(own_world, os.getpid())
    session.say("SessionStart", source="startup")
    assert session.bash(f"echo x > {session.root}/a", runs=False) == "ask"
    assert not notebook.has_stated(str(session.state / "hooks"), session.id)


def test_why_tells_whose_it_is(session: Session) -> None:
    path = session.root / "out.txt"
    session.bash(f"date > {path}")
    session.noted(path)
    told = tmpwarden("why", str(path)).stdout
    assert f"while claude session {session.id[:8]} ran `date > " in told


def test_a_full_journal_of_births_forgets_what_is_gone_first(session: Session) -> None:
    path = session.root / "kept"
    session.bash(f"touch {path}")
    session.noted(path)
    gone = [Birth(f"{session.root}/g{at}", 1, at, at, "claude", "s", "x" * 80, owned=True) for at in range(6000)]
    births.note(str(session.state), gone)
    assert (session.state / births.FILE).stat().st_size > 1 << 20
    births.note(str(session.state), gone[:1])
    assert (session.state / births.FILE).stat().st_size < 1 << 19
    assert births.is_owned(str(session.state), session.id, str(path))
    shutil.rmtree(session.root / "kept", ignore_errors=True)
