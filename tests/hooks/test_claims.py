"""What a session made by name in a temp root is its own until another hand touches it, and never goes by itself."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hooks.calling import wait_for_jobs
from hooks.talking import Session
from support.command import data, tmpwarden
from support.holding import process
from support.mounts import ext4, needs_root
from support.planted import DAYS

pytestmark = pytest.mark.usefixtures("packed")

HOUR = 3600


@contextmanager
def running(world: Path, root: Path | None = None) -> Iterator[Session]:
    """A session whose agent ends with the block, after its background jobs: a job that looked after the agent had ended
    would note now, instead of `later_s`, as the first moment at which the session was gone."""
    with process("") as agent:
        session = Session(world, agent.pid, root)
        session.say("SessionStart", source="startup")
        yield session
        wait_for_jobs(world)


def clean(*args: str, later_s: float = DAYS) -> list[str]:
    """What went, but for the scratches of the sessions, which always go."""
    went = [each["path"] for each in data("clean", "--yes", *args, later_s=later_s)["removed"]]
    return [path for path in went if "/tmpwarden-" not in path]


def auto(world: Path) -> None:
    config = world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True, mode=0o700)
    (config / "config.toml").write_text('[births]\ntier = "auto"\n')


def is_claimed(path: Path) -> bool:
    told = data("why", str(path)).get("birth")
    return told is not None and told["owned"] is True


def test_a_report_for_the_user_stays_when_its_session_ends(own_world: Path) -> None:
    with running(own_world) as session:
        report = session.root / "report.md"
        assert session.write(report, "what you asked for") == ""
        session.noted(report)
    for later_s in (120, HOUR, DAYS):
        assert str(report) not in clean(later_s=later_s)
        assert tmpwarden("clean", "--yes", "--if-due", "1s", later_s=later_s).returncode == 0
    assert report.read_text() == "what you asked for"


def test_a_directory_into_which_the_user_copied_a_photo_is_no_longer_the_sessions(own_world: Path) -> None:
    photo = Path(os.environ["HOME"]) / "photo.jpg"
    photo.write_text("the only one")
    with running(own_world) as session:
        album = session.root / "album"
        assert session.bash(f"mkdir {album} && touch {album}/index.html") == ""
        session.noted(album)
        assert is_claimed(album)
        assert session.asked(f"rm -rf {album}") == "allow"
        shutil.copy2(photo, album / "photo.jpg")
        photo.unlink()
        assert session.asked(f"rm -rf {album}") == "ask"
    assert not is_claimed(album)
    told = tmpwarden("why", str(album)).stdout
    assert f"while claude session {session.id[:8]}" in told
    assert "photo.jpg" in told
    auto(own_world)
    for later_s in (HOUR, DAYS, 2 * DAYS):
        assert str(album) not in clean("--all", later_s=later_s)
    assert (album / "photo.jpg").read_text() == "the only one"


def test_a_call_that_the_user_denied_claims_nothing(own_world: Path) -> None:
    with running(own_world) as session:
        path = session.root / "out"
        session.before(session.call("Bash", command=f"mkdir {path}"))  # the user says no: nothing else is heard of it
        path.mkdir()
        (path / "thesis").write_text("years of work")
        session.bash("true")
        assert session.asked(f"rm -rf {path}") == "ask"
    auto(own_world)
    assert not is_claimed(path)
    for later_s in (HOUR, DAYS, 2 * DAYS):
        assert clean("--all", later_s=later_s) == []
    assert (path / "thesis").exists()


@pytest.mark.parametrize("how", ["failed", "interrupted", "killed"])
def test_a_call_that_did_not_end_well_claims_nothing(own_world: Path, how: str) -> None:
    with running(own_world) as session:
        path = session.root / "half"
        call = session.call("Bash", command=f"make > {path}")
        session.before(call)
        path.write_text("x")
        if how == "failed":
            session.say("PostToolUseFailure", **call, error="Exit code 7", duration_ms=20)
        if how == "interrupted":
            session.say("PostToolUse", **call, tool_response={"stdout": "", "interrupted": True}, duration_ms=20)
        session.bash("true")
        assert session.asked(f"rm {path}") == "ask"
    assert not is_claimed(path)
    assert clean("--all") == []


def test_what_the_user_makes_while_a_question_waits_for_an_answer_is_the_users(own_world: Path) -> None:
    """PreToolUse comes before the question: what was made in the meantime is older than the command."""
    with running(own_world) as session:
        path = session.root / "out"
        call = session.call("Bash", command=f"mkdir -p {path}; touch {path}/agent")
        session.before(call)
        path.mkdir()
        (path / "mine").write_text("the user's")
        time.sleep(2.5)  # the user thinks about it
        (path / "agent").touch()
        session.after(call, 0.01)
        session.bash("true")
        assert session.asked(f"rm -rf {path}") == "ask"
    assert not is_claimed(path)


def test_a_directory_of_one_session_in_which_another_keeps_results_is_nobodys(own_world: Path) -> None:
    with running(own_world) as one:
        shared = one.root / "shared"
        one.bash(f"mkdir {shared}")
        one.noted(shared)
        with running(own_world) as other:
            other.bash(f"echo results > {shared}/results.csv")
        assert one.asked(f"rm -rf {shared}") == "ask"
    auto(own_world)
    for later_s in (120, DAYS, 2 * DAYS):
        assert clean("--all", later_s=later_s) == []
    assert (shared / "results.csv").read_text() == "results\n"


@needs_root
def test_where_no_birth_time_is_written_down_a_name_has_only_appeared(own_world: Path, tmp_path: Path) -> None:
    with ext4(tmp_path / "disk", tmp_path / "image", "-I", "128") as root:
        root.chmod(0o1777)
        with running(own_world, root) as session:
            path = root / "out"
            assert session.bash(f"echo x > {path}") == ""
            session.noted(path)
            assert session.asked(f"rm {path}") == "ask"
        told = data("why", "--root", str(root), str(path))
        assert (told["birth"]["session"], told["birth"]["owned"]) == (session.id, False)
        assert clean("--all", "--root", str(root)) == []


@needs_root
def test_an_inode_number_that_comes_back_is_another_directory(own_world: Path, tmp_path: Path) -> None:
    """ext4 hands the number out again at once."""
    reused = 0
    with ext4(tmp_path / "disk", tmp_path / "image", megabytes=32) as root:
        root.chmod(0o1777)
        with running(own_world, root) as session:
            for at in range(20):
                path = root / f"d{at}"
                session.bash(f"mkdir {path}")
                session.noted(path)
                inode = path.stat().st_ino
                path.rmdir()
                time.sleep(0.02)
                path.mkdir()
                (path / "thesis").write_text("the user's")
                reused += path.stat().st_ino == inode
                assert session.asked(f"rm -rf {path}") == "ask", at
    assert reused >= 15, "this test needs a file system that hands numbers out again"


def test_what_a_command_in_the_background_wrote_after_its_call_is_nobodys(own_world: Path) -> None:
    with running(own_world) as session:
        log = session.root / "server.log"
        call = session.call("Bash", command=f"python3 server.py > {log}", run_in_background=True)
        session.before(call)
        log.write_text("started\n")
        session.after(call)
        session.noted(log)
        assert session.asked(f"rm {log}") == "allow"
        time.sleep(0.05)
        with log.open("a") as file:
            file.write("a line\n")
        assert session.asked(f"rm {log}") == "ask"
    assert not is_claimed(log)


def test_what_its_own_process_was_seen_writing_is_still_the_sessions(own_world: Path) -> None:
    """A look at all processes proves whose hand it was, up to that moment."""
    with running(own_world) as session:
        log = session.root / "server.log"
        call = session.call("Bash", command=f"python3 server.py > {log}", run_in_background=True)
        session.before(call)
        source = "import sys; f = open(sys.argv[1], 'a', 1); f.write('started\\n')"
        carried = {"PATH": "/usr/bin:/bin", "CLAUDE_CODE_SESSION_ID": session.id}
        with process(source, str(log), env=carried):
            session.after(call)
            session.noted(log)
            time.sleep(0.05)
            with log.open("a") as file:
                file.write("a line\n")
            assert not is_claimed(log)
            session.bash("true")  # after which somebody looks
            until = time.monotonic() + 20
            while not is_claimed(log) and time.monotonic() < until:
                time.sleep(0.05)
        assert is_claimed(log)
        assert session.asked(f"rm {log}") == "allow"
        time.sleep(0.02)
        with log.open("a") as file:
            file.write("the user's remark\n")
        assert not is_claimed(log)
        assert session.asked(f"rm {log}") == "ask"


def test_a_link_that_the_user_put_in_its_place_is_nobodys(own_world: Path) -> None:
    precious = Path(os.environ["HOME"]) / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    with running(own_world) as session:
        link = session.root / "link"
        session.bash(f"ln -s {precious} {link}")
        session.noted(link)
        assert is_claimed(link)
        assert session.asked(f"rm {link}") == "allow"
        assert session.asked(f"rm -rf {link}/") == "ask"
        session.bash(f"mkdir {session.root}/d")
        session.noted(session.root / "d")
        (session.root / "d" / "away").symlink_to(precious)
        assert not is_claimed(session.root / "d")
    assert clean("--all") == [str(link)]
    assert (precious / "file").read_text() == "x"


def test_a_file_that_has_another_name_by_now_is_nobodys(own_world: Path) -> None:
    with running(own_world) as session:
        path, tree = session.root / "out", session.root / "tree"
        session.bash(f"echo x > {path}; mkdir {tree}; echo x > {tree}/a")
        session.noted(path, tree)
        assert is_claimed(path)
        assert is_claimed(tree)
        os.link(path, session.project / "mine")
        session.bash(f"chmod 600 {path}")  # its dates are the session's again
        assert not is_claimed(path)
        assert session.asked(f"rm {path}") == "ask"
        os.link(tree / "a", session.project / "mine too")
        session.bash(f"chmod 600 {tree}/a")
        assert session.asked(f"rm -rf {tree}") == "ask"
    assert clean("--all") == []


def test_a_file_that_was_moved_into_it_ends_the_claim(own_world: Path) -> None:
    """By the user, and also by the session: what is in it is older than the session."""
    with running(own_world) as session:
        thesis = session.project / "thesis"
        thesis.write_text("years of work")
        os.utime(thesis, (1, 1))
        tree, other = session.root / "tree", session.root / "other"
        session.bash(f"mkdir {tree} {other}")
        session.noted(tree, other)
        thesis.rename(other / "thesis")
        assert session.asked(f"rm -rf {other}") == "ask"
        (other / "thesis").rename(thesis)
        time.sleep(0.02)  # the clock of files runs behind: a call begins 10 ms before its hook
        session.bash(f"mv {thesis} {tree}/thesis")
        assert session.asked(f"rm -rf {tree}") == "ask"
    assert clean("--all") == []
    assert (tree / "thesis").read_text() == "years of work"


def test_what_nobody_touched_goes_when_a_person_asks_for_it_and_comes_back(own_world: Path) -> None:
    with running(own_world) as session:
        tree = session.root / "tree"
        session.bash(f"mkdir -p {tree}/sub; echo x > {tree}/sub/file; ln -s file {tree}/sub/link")
        session.bash("true")
        session.bash(f"echo y >> {tree}/sub/file")
        session.noted(tree)
        assert is_claimed(tree)
        assert clean("--all") == [], "its session lives"
    assert clean() == []
    assert clean("--all", later_s=HOUR) == [], "its session may still be resumed"
    assert clean("--all") == [str(tree)]
    assert tmpwarden("undo").returncode == 0
    assert (tree / "sub" / "file").read_text() == "x\ny\n"
    assert not is_claimed(tree), "another hand had it"


def test_with_tier_auto_it_goes_72_hours_after_its_session_died_and_no_sooner(own_world: Path) -> None:
    auto(own_world)
    with running(own_world) as session:
        path = session.root / "out"
        session.bash(f"echo x > {path}")
        session.noted(path)
        assert clean(later_s=DAYS) == [], "its session lives"
    assert clean(later_s=DAYS) == [], "the first look that finds its session dead"
    assert clean(later_s=DAYS + 71 * HOUR) == []
    went = data("clean", "--yes", later_s=DAYS + 73 * HOUR)["removed"]
    assert [(each["path"], each["undoable"]) for each in went] == [(str(path), True)]


def test_a_session_that_came_back_to_life_is_waited_for_anew(own_world: Path) -> None:
    auto(own_world)
    with running(own_world) as session:
        path = session.root / "out"
        session.bash(f"echo x > {path}")
        session.noted(path)
    assert clean(later_s=DAYS) == []
    with process("", env={"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": session.id}):
        assert clean(later_s=DAYS + 80 * HOUR) == []
    assert clean(later_s=DAYS + 81 * HOUR) == []
    assert clean(later_s=DAYS + 160 * HOUR) == [str(path)]


def test_what_two_sessions_say_of_one_entry_makes_it_nobodys(own_world: Path) -> None:
    with running(own_world) as one, running(own_world) as other:
        path = one.root / "both"
        mine, theirs = one.call("Bash", command=f"echo x > {path}"), other.call("Bash", command=f"echo y > {path}")
        one.before(mine)
        other.before(theirs)
        path.write_text("x")
        one.after(mine)
        other.after(theirs)
        one.all_noted()
        other.all_noted()
        assert not is_claimed(path)
        assert one.asked(f"rm {path}") == "ask"
        assert other.asked(f"rm {path}") == "ask"


def test_a_bare_name_in_a_listing_claims_nothing(own_world: Path) -> None:
    """`ls` tells what is there, whoever made it."""
    with running(own_world) as session:
        session.bash("true")
        call = session.call("Bash", command=f"sleep 1; ls {session.root}")
        session.before(call)
        path = session.root / "from-my-own-shell.txt"
        path.write_text("the user's")
        session.after(call, 1.0, "from-my-own-shell.txt\n")
        session.noted(path)
        assert not is_claimed(path)
        assert session.asked(f"rm {path}") == "ask"


def test_a_file_that_a_line_only_waits_for_is_whoever_made_its(own_world: Path) -> None:
    with running(own_world) as session:
        ready = session.root / "ready.txt"
        call = session.call("Bash", command=f"until test -e {ready}; do sleep 1; done; cat {ready}")
        session.bash("true")
        session.before(call)
        ready.write_text("the user's answer")
        session.after(call, 1.0, "the user's answer")
        session.all_noted()
        session.noted(ready)
        assert not is_claimed(ready)
        assert session.asked(f"rm {ready}") == "ask"
