"""Own before you move: fresh names in a temp root that a call states are its session's, as far as it made them."""

import os
import shutil
from pathlib import Path

import pytest

from hooks.talking import Session
from support.command import data, tmpwarden
from support.holding import process
from support.planted import DAYS
from tmpwarden.hooks import notebook
from tmpwarden.leases import births
from tmpwarden.model.belongings import Birth

pytestmark = pytest.mark.usefixtures("packed")


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


def test_every_fresh_name_that_readable_lines_state_is_owned_and_goes_when_a_person_asks_for_it(
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
        assert [str(path) for path in paths if not found[str(path)].owned] == []
        (session.root / "somebodys").write_text("not the session's")
        data("clean", "--yes", "--all", later_s=DAYS)
        assert all(os.path.lexists(path) for path in paths), "not while its session lives"
    data("clean", "--yes", later_s=DAYS)
    assert all(os.path.lexists(path) for path in paths), "never by itself"
    done = data("clean", "--yes", "--all", later_s=DAYS)
    gone = {each["path"]: each["undoable"] for each in done["removed"]}
    assert [str(path) for path in paths if os.path.lexists(path)] == []
    assert gone[str(session.root / "data.json")], "into quarantine"
    assert (session.root / "somebodys").exists()
    assert (session.project / "a.txt").read_text() == "kept"


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
    known = births.read(str(session.state))
    assert not any(known[str(each)].owned for each in (path, hard) if str(each) in known)


def test_what_a_program_that_nobody_can_read_moved_there_does_not_go_with_the_session(session: Session) -> None:
    thesis, path = session.project / "thesis", session.root / "moved"
    thesis.write_text("years of work")
    (session.project / "move.py").write_text("import os, sys\nos.rename('thesis', sys.argv[1])\n")
    session.bash(f"python3 move.py {path}")
    session.all_noted()
    noted = births.read(str(session.state)).get(str(path))
    assert path.read_text() == "years of work"
    assert noted is None or not noted.owned


def test_a_name_that_a_finished_call_did_not_make_is_not_claimed_later(session: Session) -> None:
    path = session.root / "never.txt"
    session.bash(f"test -e nothing && echo x > {path}")
    session.all_noted()
    path.write_text("the user's own")
    assert session.bash(f"rm {path}", runs=False) == "ask"


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
    data("clean", "--yes", "--all", later_s=DAYS)
    assert not path.exists()
    session.pid = os.getpid()
    session.say("SessionStart", source="resume")
    assert path.read_text() == "{}"
    assert session.bash(f"rm {path}", runs=False) == "ask", "it was in another hand"
    data("clean", "--yes", "--all", later_s=DAYS)
    assert path.exists()


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
