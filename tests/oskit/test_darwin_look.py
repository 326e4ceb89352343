"""The look of a Mac, over live processes here: what it cannot see, in each way that macOS may answer, is a doubt."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from support import on_darwin
from support.answers import witnesses
from support.holding import process
from support.litter import later
from support.users import MAP, OPEN, fill
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle.teardown import teardown
from tmpwarden.model.answers import Held, Nobody, NotMeasured
from tmpwarden.model.terms import Reason, WitnessKind
from tmpwarden.oskit import system
from tmpwarden.oskit.proc import grip, procs, vitals
from tmpwarden.oskit.proc.connections import Connections
from tmpwarden.oskit.proc.holders import Holders
from tmpwarden.oskit.system.darwin import (
    entries,
    everybody,
    family,
    identities,
    libproc,
    looking,
    mounting,
    processes,
    proof,
)
from tmpwarden.oskit.system.darwin import layouts as at
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.store.undo import undo

SESSION = "SESSION_OF_A_TEST"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return on_darwin.built(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def mac(library: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = libproc.LIBRARY
    kept = {name: vars(system).get(name) for name in on_darwin.ASKED}
    on_darwin.switch(library)
    monkeypatch.setenv("FAKE_SINCE", "")
    monkeypatch.setenv("FAKE_OURS", "")
    on_darwin.since()
    monkeypatch.setattr(family, "PROGRAMS", frozenset({"agent-of-a-test"}))  # the machine's own agents are none of ours
    yield
    libproc.LIBRARY = before
    for name, module in kept.items():
        vars(system).pop(name) if module is None else setattr(system, name, module)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    return fill(tmp_path / "unit")


def look(*variables: str, closely: bool = False) -> Holders:
    return Holders.look(variables, closely=closely)


def kinds(path: Path) -> set[WitnessKind]:
    return {one.kind for one in witnesses(look().within(str(path)))}


def until_loaded(pid: int) -> None:
    is_loaded = False
    while not is_loaded:
        with suppress(BlockingIOError):
            is_loaded = bool(procs.arguments(pid))


def doubts_about(pid: int, *variables: str) -> str:
    return " ".join(why for why in look(*variables).doubts if f"process {pid} " in why)


@pytest.mark.parametrize("closely", [False, True])
def test_each_use_counts_for_every_directory_on_its_way(unit: Path, closely: bool) -> None:
    with process(MAP, str(unit / "deep" / "file")) as holder:
        for path in (unit / "deep" / "file", unit / "deep", unit, unit.parent):
            seen = witnesses(look(closely=closely).within(str(path)))
            assert (WitnessKind.MAPPED_FILE, holder.pid) in {(one.kind, one.pid) for one in seen}
        assert not isinstance(look().within(str(unit / "deep" / "er")), Held)


def test_an_item_is_in_use_by_whatever_spelling_it_is_asked_about(unit: Path, tmp_path: Path) -> None:
    (tmp_path / "Private").symlink_to(".")
    with process(OPEN, str(unit / "deep" / "file")):
        for spelling in (unit, tmp_path / "Private" / "unit", f"{unit.parent}//./unit"):
            assert isinstance(look().within(str(spelling)), Held), spelling


def test_a_tmpdir_names_an_item_that_was_renamed_since_by_its_old_name(unit: Path) -> None:
    with process("", env={"TMPDIR": str(unit / "deep" / "not made yet")}) as other:
        assert kinds(unit) == {WitnessKind.TMPDIR}
        unit.rename(unit.parent / "q")
        seen = witnesses(look().within(str(unit)))
        assert [(one.kind, one.pid) for one in seen] == [(WitnessKind.TMPDIR, other.pid)]


def test_a_file_in_an_item_that_is_renamed_while_we_look_is_still_in_it(unit: Path) -> None:
    with process(OPEN, str(unit / "deep" / "file")):
        moved = unit.parent / "q"
        unit.rename(moved)
        assert kinds(moved) == {WitnessKind.OPEN_FILE}


def test_a_path_that_is_not_where_the_file_lies_is_a_doubt_about_its_whole_device(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_STALE", str(unit))
    with process(OPEN, str(unit / "deep" / "file")):
        (unit.parent / "other").mkdir()
        for path in (unit, unit.parent / "other"):
            answer = look().within(str(path))
            assert isinstance(answer, NotMeasured), path
            assert not answer.askable


def test_a_file_that_is_closed_to_us_says_nothing_about_the_rest_of_its_disk(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As what macOS guards from programs without leave: mail, photos. No item that we can walk through holds such."""
    (unit.parent / "other").mkdir()
    look_at = os.lstat

    def guarded(path: str) -> os.stat_result:
        if str(path).endswith("/deep/file"):
            raise PermissionError(1, "Operation not permitted", path)
        return look_at(path)

    with process(OPEN, str(unit / "deep" / "file")):
        monkeypatch.setattr(os, "lstat", guarded)
        holders = look()
        assert isinstance(holders.within(str(unit)), Held)
        assert not isinstance(holders.within(str(unit.parent / "other")), Held)
        assert identities.key_of(unit.stat().st_dev, 0)[0] not in holders.lost


def test_a_refused_process_is_a_doubt_that_nobody_can_be_asked_about(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process("", env={SESSION: "one"}) as other:
        monkeypatch.setenv("FAKE_REFUSED", str(other.pid))
        answer = look(SESSION).carriers(SESSION, "one")
        assert isinstance(answer, NotMeasured)
        assert not answer.askable
        assert "cannot be read" in doubts_about(other.pid)


def test_of_a_strangers_process_the_program_is_told_and_no_doubt_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS refuses the command lines of other users: every daemon would be a doubt, and nothing ever removable."""
    with process("") as other:
        monkeypatch.setenv("FAKE_REFUSED", str(other.pid))
        with pytest.raises(OSError, match="arguments"):
            procs.arguments(other.pid)  # one of our own that is refused stays a doubt
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert procs.arguments(other.pid) == (os.fsencode(os.path.realpath(sys.executable)),)


def test_what_this_user_started_as_another_is_a_doubt_and_a_terminals_login_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walk = everybody.Pass(everybody.Seen(), (), frozenset(), closely=False)
    walk.uid = 501
    for name, uid, program, is_doubt in (
        ("login", 0, "/usr/bin/login", False),
        ("login", 0, "/tmp/login", True),
        ("sudo", 0, "/usr/bin/sudo", True),
        ("node", 501, "/opt/bin/node", False),
    ):
        monkeypatch.setattr(libproc, "program", lambda pid, program=program: program)
        child, above = _One(30, 300, 200, name), _One(20, 200, 1, "Terminal")
        for one, owner, parent in ((child, uid, 20), (above, 501, 1)):
            one.uid, one.parent = owner, parent  # type: ignore[attr-defined]
        walk.basics = {30: child, 20: above}  # type: ignore[dict-item]
        assert bool(walk.doubt_behind(child)) is is_doubt, name  # type: ignore[arg-type]


@pytest.mark.parametrize("flavor", [at.SHORT, at.UNIQUE, at.LIST_FDS, at.PLACES, at.FILE_REGIONS, at.FD_VNODE + 100])
def test_an_answer_of_another_size_is_not_measured(unit: Path, monkeypatch: pytest.MonkeyPatch, flavor: int) -> None:
    with process(OPEN, str(unit / "deep" / "file")):
        monkeypatch.setenv("FAKE_SHORT", str(flavor))
        assert isinstance(look().within(str(unit / "deep" / "er")), NotMeasured)


def test_lists_that_fill_the_buffer_are_asked_again_with_a_larger_one(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CROWD", str(3 * 4096))
    with process(OPEN, str(unit / "deep" / "file")) as holder:
        assert holder.pid in libproc.pids()
        assert kinds(unit) == {WitnessKind.OPEN_FILE}


def test_a_hidden_environment_is_a_doubt_below_an_agent_and_none_below_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = tmp_path / "hidden-shell"
    shell.symlink_to("/bin/sleep")
    monkeypatch.setenv("FAKE_HIDDEN", os.path.basename(os.path.realpath("/bin/sleep")))
    source = (
        "import subprocess, sys; child = subprocess.Popen([sys.argv[1], '600'], env={}); print(child.pid, flush=True)"
    )
    for name, is_doubt in (("terminal-of-a-test", False), ("agent-of-a-test", True)):
        above = subprocess.Popen(
            [name, "-I", "-c", source + "; sys.stdin.read(); child.kill()", str(shell)],
            executable=sys.executable,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert above.stdin
        assert above.stdout
        try:
            child = int(above.stdout.readline())
            until_loaded(child)
            assert ("hides the environment" in doubts_about(child)) is is_doubt, name
            with pytest.raises(PermissionError):
                procs.environment(child)
            assert isinstance(vitals.look_at(child), vitals.PartlyUnread)
        finally:
            above.stdin.close()
            above.wait()
            above.stdout.close()


def test_a_program_that_may_keep_all_to_itself_hides_its_environment_and_is_no_riddle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """com.apple.private.no-read-procargs: some of macOS' own programs, on every Mac. Their path may have any length."""
    with process("", env={SESSION: "one"}) as other:
        monkeypatch.setenv("FAKE_SECRET", str(other.pid))
        program = os.fsencode(os.path.realpath(sys.executable))
        assert processes.words(other.pid) == ((program,), None)
        assert not doubts_about(other.pid), "it was started by this test, which is no agent"


def test_a_program_that_changed_its_title_still_tells_its_environment(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process("", env={SESSION: "one", "TMPDIR": str(unit)}) as other:
        monkeypatch.setenv("FAKE_TITLE", str(other.pid))
        assert isinstance(look(SESSION).carriers(SESSION, "one"), Held)
        assert kinds(unit) == {WitnessKind.TMPDIR}


@pytest.mark.parametrize("closely", [False, True])
def test_a_file_in_memory_that_a_sandbox_lets_nobody_look_at_is_a_doubt(
    unit: Path, monkeypatch: pytest.MonkeyPatch, closely: bool
) -> None:
    with process(MAP, str(unit / "deep" / "file")) as other:
        monkeypatch.setenv("FAKE_UNTOLD", str(other.pid))
        holders = look(closely=closely)
        assert isinstance(holders.within(str(unit)), NotMeasured)
        assert "which file is in its memory" in " ".join(holders.doubts)


@contextmanager
def agent_with_a_shell() -> Iterator[None]:
    """An agent whose child is a program of macOS. Its environment is hidden: any agent's session may be its own."""
    source = "import subprocess, sys; child = subprocess.Popen(['/bin/sleep', '600'], env={})\n"
    source += "print(child.pid, flush=True); sys.stdin.read(); child.kill()"
    with subprocess.Popen(
        ["agent-of-a-test", "-I", "-c", source],
        executable=sys.executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as above:
        assert above.stdout
        child = int(above.stdout.readline())
        until_loaded(child)
        yield
        above.communicate()


def left_by_a_session(own_world: Path) -> Path:
    """A temp directory of ours whose session has ended."""
    with process("") as owner:
        start = procs.start_ticks(owner.pid)
        made = open_scratch(str(own_world / "tmp"), "claude", "s", pid=owner.pid, start=start)
    return fill(Path(made.path))


@pytest.fixture
def hiding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_HIDDEN", os.path.basename(os.path.realpath("/bin/sleep")))


def test_a_hidden_process_says_nothing_about_a_session_that_began_after_it(own_world: Path, hiding: None) -> None:
    with agent_with_a_shell():
        scratch = left_by_a_session(own_world)
        clean(now_ns=later(100))
        assert not scratch.exists()


def test_a_hidden_process_keeps_what_a_session_left_that_began_before_it(own_world: Path, hiding: None) -> None:
    scratch = left_by_a_session(own_world)
    with agent_with_a_shell():
        (kept,) = (kept for kept in clean(now_ns=later(100)).kept if kept.finding.path == str(scratch))
        assert kept.reason is Reason.NOT_MEASURED and "hides the environment" in kept.detail
    clean(now_ns=later(100))
    assert not scratch.exists()


def test_in_such_a_doubt_a_teardown_puts_it_where_it_can_come_back_from(own_world: Path, hiding: None) -> None:
    """Its caller says that the session is over, and whatever is open would be seen."""
    scratch = left_by_a_session(own_world)
    with agent_with_a_shell():
        with process(OPEN, str(scratch / "deep" / "file")):
            assert teardown(session="s", wait=True).removed == []
            assert scratch.exists()
        result = teardown(session="s", wait=True)
        assert not result.kept, result.kept
        (taken,) = result.removed
        assert taken.undoable and not scratch.exists()
        undo(taken.id)
        assert (scratch / "deep" / "file").exists()


class _One:
    def __init__(self, pid: int, unique: int, above: int, name: str = "zsh") -> None:
        self.pid, self.unique, self.unique_parent, self.name = pid, unique, above, name


def _doubt(*line: _One, words: dict[int, tuple[bytes, ...]] | None = None, carriers: tuple[int, ...] = ()) -> str:
    basics = {one.pid: one for one in (_One(1, 1, 0, "launchd"), *line)}
    by_unique = {one.unique: one for one in basics.values()}
    return family.doubt_about(line[0].pid, by_unique, basics, words or {}, carriers)  # type: ignore[arg-type]


def test_who_started_it_decides_by_the_ids_that_survive_their_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "PROGRAMS", frozenset({"claude"}))
    shell, login, terminal = _One(40, 400, 300), _One(30, 300, 200, "login"), _One(20, 200, 1, "Terminal")
    assert _doubt(shell, login, terminal) == ""
    assert "has ended" in _doubt(shell, terminal)  # login is gone: who was above it cannot be told
    node = _One(30, 300, 200, "node")
    assert _doubt(shell, node, terminal, words={30: (b"node", b"/opt/bin/serve")}) == ""
    assert "started" in _doubt(shell, node, terminal, words={30: (b"node", b"/opt/bin/claude")})
    assert "started" in _doubt(shell, _One(30, 300, 200, "claude"), terminal)
    assert "started" in _doubt(shell, login, terminal, carriers=(20,))
    assert "cannot be told" in _doubt(_One(40, 400, 300), _One(30, 300, 400))  # no ring ends


def test_a_process_that_never_answers_costs_a_deadline_and_is_a_doubt(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that has a file open below a server that is gone."""
    monkeypatch.setattr(mounting, "somebody_may_hang", lambda: True)
    monkeypatch.setattr(looking, "STUCK_S", 1.0)
    with process(OPEN, str(unit / "deep" / "file")) as holder:
        seen = witnesses(look().within(str(unit)))
        assert {(one.kind, one.pid) for one in seen} == {(WitnessKind.OPEN_FILE, holder.pid)}, (
            "by a child, all the same"
        )
        monkeypatch.setenv("FAKE_HANGS", str(holder.pid))
        began = time.monotonic()
        holders = look()
        assert time.monotonic() - began < 30
        assert isinstance(holders.within(str(unit)), NotMeasured)
        assert f"process {holder.pid} cannot be asked" in " ".join(holders.doubts)


def test_without_a_library_nobody_is_seen(unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libproc, "LIBRARY", "/nonexistent/libSystem.dylib")
    monkeypatch.setitem(sys.modules, "psutil", None)
    answer = look().within(str(unit))
    assert isinstance(answer, NotMeasured)
    assert "cannot see" in answer.why


def test_a_look_that_was_not_proven_believes_witnesses_and_no_absence(
    unit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "_known", {})
    assert isinstance(look().within(str(unit)), NotMeasured)
    with process(OPEN, str(unit / "deep" / "file")):
        assert isinstance(look().within(str(unit)), Held)


def test_an_identity_survives_an_exec_and_its_number_does_not(tmp_path: Path) -> None:
    source = "import os, sys; print('ready', flush=True); os.read(0, 1); os.execv('/bin/cat', ['cat'])"
    with process(source) as running:
        assert running.stdin
        before = procs.living(running.pid)
        running.stdin.write("x")
        running.stdin.flush()
        assert before
        assert procs.start_ticks(running.pid) == before.start
    assert procs.living(running.pid) is None
    first, second = (process("") for _ in range(2))
    with first as one, second as other:
        assert procs.start_ticks(one.pid) != procs.start_ticks(other.pid)


def test_a_grip_reaches_that_very_process_or_nobody() -> None:
    with process("") as running:
        start = procs.start_ticks(running.pid)
        assert start is not None
        assert grip.take_hold(running.pid, start + 1) is None
        held = grip.take_hold(running.pid, start)
        assert held
        with held:
            assert not held.has_ended()
            assert held.send(signal.SIGKILL)
            assert held.has_ended(within_s=10)
            assert not held.send(signal.SIGKILL)


def test_a_socket_is_asked_by_a_path_of_any_length(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    here, server = os.open(deep, os.O_RDONLY), socket.socket(socket.AF_UNIX)
    os.chdir(deep)
    try:
        server.bind("s")
        server.listen()
    finally:
        os.chdir("/")
    assert isinstance(system.locks.listeners(here, "s"), Held)
    server.close()
    assert system.locks.listeners(here, "s") == Nobody()
    (deep / "plain").write_text("")
    assert isinstance(system.locks.listeners(here, "plain"), NotMeasured)
    os.close(here)


def test_ports_and_who_is_connected_are_told_process_by_process() -> None:
    listens = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
    listens += "; c = s.accept()"
    with subprocess.Popen(
        [sys.executable, "-I", "-c", listens + "; import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        port = int(server.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)):
            found = Connections((server.pid, os.getpid()))
            assert found.ports(server.pid) == (port,)
            assert found.clients(server.pid) == (os.getpid(),)
        server.kill()


def test_a_name_that_is_taken_is_never_renamed_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    here = os.open(tmp_path, os.O_RDONLY)
    assert entries.rename_new(here, "a", here, "b") is False
    assert (tmp_path / "b").read_text() == "b"
    assert entries.rename_new(here, "a", here, "c") is True
    assert (tmp_path / "c").read_text() == "a"
    os.close(here)


@pytest.mark.parametrize(
    ("flags", "is_held_back"),
    [
        (0x2, True),  # chflags uchg
        (0x80000, True),  # `restricted` of ls -lO
        (0x40000000, True),  # `dataless`: in iCloud alone
        (0x20, False),  # UF_COMPRESSED
        (0x8000, False),  # UF_HIDDEN
        (0, False),
    ],
)
def test_what_is_immutable_guarded_or_elsewhere_is_held_back(flags: int, is_held_back: bool) -> None:
    assert entries.is_held_back(SimpleNamespace(st_flags=flags)) is is_held_back  # type: ignore[arg-type]


def test_attributes_are_copied_or_that_they_were_not_is_said(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    os.setxattr(tmp_path / "a", "user.kept", b"1")
    entries.copy_attributes(str(tmp_path / "a"), str(tmp_path / "b"))
    assert os.getxattr(tmp_path / "b", "user.kept") == b"1"
    with pytest.raises(FileNotFoundError):
        entries.copy_attributes(str(tmp_path / "gone"), str(tmp_path / "b"))


def test_arguments_that_are_empty_are_not_taken_for_variables() -> None:
    words = [sys.executable, "-I", "-c", "import sys; sys.stdin.read()", "", "A=B", ""]
    with subprocess.Popen(words, stdin=subprocess.PIPE, env={"C": "D"}) as running:
        assert running.stdin
        while len(procs.arguments(running.pid)) != len(words):
            pass
        assert procs.arguments(running.pid) == tuple(map(os.fsencode, words))
        assert procs.environment(running.pid) == b"C=D\0"
        running.stdin.close()


def test_ctypes_of_a_broken_library_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that lacks what we need, as on a macOS to come."""
    monkeypatch.setattr(libproc, "LIBRARY", ctypes.CDLL(None)._name or "libc.so.6")
    assert not libproc.is_there()
    assert system.machine.boot_id() is None
    with pytest.raises(OSError, match="proc_listpids"):
        procs.pids()


def test_the_identity_of_a_place_is_no_text(unit: Path) -> None:
    status = unit.stat()
    assert identities.locate(str(unit)) == identities.key_of(status.st_dev, status.st_ino)
    assert identities.locate(str(unit / "not there")) == identities.named(str(unit / "not there"))
    assert processes.basics(os.getpid()) is not None
