"""A tool server to which nobody can ever speak again ends without a lease; whatever may still be spoken to stays."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processes.leftovers import WAIT, Started, carrying, program, told
from processes.test_orphans import LISTENS, MCP, OWNS_A_CHILD
from support.command import answer, data, tmpwarden
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.model.processes import Fate, Orphan
from tmpwarden.oskit.files import places, state_file
from tmpwarden.processes.census import Census
from tmpwarden.processes.find import look

LATER_S = 11 * 60
PLAIN = {"PATH": os.environ["PATH"]}  # no session, no agent: as most servers are started
LISTENS_LOCALLY = "import socket\nown = socket.socket(socket.AF_UNIX)\nown.bind({path!r})\nown.listen()\n"


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


@contextlib.contextmanager
def hung_up(kind: str, *, said: bytes = b"") -> Iterator[int]:
    """A standard input whose other end is closed."""
    if kind == "pipe":
        ours, theirs = os.pipe()
    else:
        pair = socket.socketpair()
        ours, theirs = (one.detach() for one in pair)
    if said:
        os.write(theirs, said)
    os.close(theirs)
    try:
        yield ours
    finally:
        os.close(ours)


@contextlib.contextmanager
def server(
    directory: Path,
    words: list[str] = MCP,
    source: str = WAIT,
    *,
    kind: str = "pipe",
    env: dict[str, str] = PLAIN,
    said: bytes = b"",
    is_read: bool = False,
    first: str = "os.setsid()",
) -> Iterator[Started]:
    with (
        hung_up(kind, said=said) as stdin,
        program(directory, words, env, source, stdin=stdin, is_read=is_read, first=first) as it,
    ):
        yield it


def seen_twice(pid: int) -> Orphan | None:
    """As a second look sees it, eleven minutes after the first."""
    look(pids=[pid])
    return told(look(now_ns=time.time_ns() + LATER_S * 10**9), pid)


@pytest.mark.parametrize("kind", ["pipe", "socket pair"])
def test_a_server_whose_client_is_gone_ends_at_the_second_look(tmp_path: Path, root: Path, kind: str) -> None:
    with server(tmp_path, kind=kind) as orphan:
        [first] = [one for one in data("orphans")["processes"] if one["pid"] == orphan.pid]
        assert (first["verdict"], first["session"], first["can_be_named"]) == ("keep", None, True)
        assert "seen again in 10m" in first["reason"]
        soon = data("orphans", later_s=300)["processes"]
        assert [one["verdict"] for one in soon if one["pid"] == orphan.pid] == ["keep"]
        later = data("orphans", later_s=LATER_S)["processes"]
        assert [one["verdict"] for one in later if one["pid"] == orphan.pid] == ["end"]
        status, envelope = answer("orphans", "end", "--kind", "mcp", "--yes", later_s=LATER_S)
        assert status == 0, envelope
        assert orphan.pid in [one["pid"] for one in envelope["data"]["ended"]]
        assert not orphan.is_alive(for_s=10)


def test_one_that_was_seen_once_is_not_ended_in_bulk_but_by_its_number(tmp_path: Path, root: Path) -> None:
    with server(tmp_path) as orphan:
        assert tmpwarden("orphans", "end", "--yes").returncode == 0
        assert orphan.is_alive(for_s=0.2)
        assert tmpwarden("orphans", "end", str(orphan.pid), "--yes").returncode == 0
        assert not orphan.is_alive(for_s=10)


def test_other_kinds_are_left_where_one_is_named(tmp_path: Path, root: Path) -> None:
    with server(tmp_path) as orphan:
        look()
        assert tmpwarden("orphans", "end", "--kind", "browser", "--yes", later_s=LATER_S).returncode == 0
        assert orphan.is_alive(for_s=0.2)
        assert tmpwarden("orphans", "end", "--kind", "mcp", str(orphan.pid), "--yes").returncode == 3


@contextlib.contextmanager
def spoken_to(kind: str, directory: Path) -> Iterator[Started]:
    if kind == "a named fifo":
        os.mkfifo(directory / "in")
        stdin = os.open(directory / "in", os.O_RDONLY | os.O_NONBLOCK)
        other = -1
    elif kind == "nothing":
        stdin, other = os.open("/dev/null", os.O_RDONLY), -1
    elif kind == "pipe":
        stdin, other = os.pipe()
    elif kind == "a socket that was never connected":
        stdin, other = socket.socket(socket.AF_UNIX).detach(), -1
    else:
        stdin, other = (one.detach() for one in socket.socketpair())
    with program(directory, MCP, PLAIN, stdin=stdin, is_read=False) as it:
        yield it
    for fd in (stdin, other):
        if fd >= 0:
            os.close(fd)


@pytest.mark.parametrize(
    "kind", ["pipe", "socket pair", "a named fifo", "nothing", "a socket that was never connected"]
)
def test_one_that_somebody_may_speak_to_is_not_ended(tmp_path: Path, root: Path, kind: str) -> None:
    with spoken_to(kind, tmp_path) as needed:
        assert (one := seen_twice(needed.pid)) is None or one.fate is not Fate.END
        assert tmpwarden("orphans", "end", "--yes", later_s=LATER_S).returncode == 0
        assert needed.is_alive(for_s=0.2)


@pytest.mark.parametrize("kind", ["pipe", "socket pair"])
def test_one_that_has_not_read_everything_is_not_ended(tmp_path: Path, root: Path, kind: str) -> None:
    with server(tmp_path, kind=kind, said=b'{"jsonrpc":"2.0"}') as busy:
        assert seen_twice(busy.pid) is None


def test_one_whose_answers_somebody_reads_is_not_ended(tmp_path: Path, root: Path) -> None:
    with server(tmp_path, is_read=True) as read:
        one = seen_twice(read.pid)
        assert one is not None and one.fate is Fate.KEEP
        assert "its output may still be read" in one.reason


def ledger_of(home: str) -> str:
    path = Path(home) / "books" / "ledger.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    return str(path)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (lambda: LISTENS + WAIT, "it listens on a socket"),
        (lambda: LISTENS_LOCALLY.format(path=f"{os.environ['HOME']}/s") + WAIT, "it listens on a socket"),
        (lambda: f"f = open({ledger_of(os.environ['HOME'])!r}, 'ab')\n" + WAIT, "for writing"),
    ],
    ids=["TCP", "unix", "a file of the user"],
)
def test_one_that_may_have_work_of_its_own_is_kept(
    tmp_path: Path, root: Path, source: Callable[[], str], words: str
) -> None:
    with server(tmp_path, source=source()) as working:
        one = seen_twice(working.pid)
        assert one is not None and one.fate is Fate.KEEP
        assert words in one.reason


def test_one_of_a_session_that_lives_is_never_ended(tmp_path: Path, root: Path) -> None:
    open_scratch(str(root), "claude", carrying()["CLAUDE_CODE_SESSION_ID"], pid=os.getpid())
    with server(tmp_path, env=carrying()) as living:
        assert seen_twice(living.pid) is None
        assert tmpwarden("orphans", "end", str(living.pid), "--yes").returncode == 7


def test_one_whose_parent_runs_is_kept(tmp_path: Path, root: Path) -> None:
    """It has closed the pipe and may wait for the server to end."""
    closed, theirs = os.pipe()
    os.close(theirs)
    script = tmp_path / "mcp-server-x.py"
    script.write_text("import signal; print('in', flush=True); signal.pause()")
    with subprocess.Popen([sys.executable, script], stdin=closed, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"in\n"
        child.stdout.close()
        one = seen_twice(child.pid)
        assert one is not None and one.fate is Fate.KEEP
        assert f"its parent {os.getpid()}" in one.reason
        child.kill()
    os.close(closed)


STARTS_MANY = """
import subprocess
servers = [
    subprocess.Popen(["node", {script!r}], executable={python!r}, env={env!r}, stdin=-1, stdout=-1)
    for _ in range({count})
]
for one in servers:
    while one.poll() is None and not open(f"/proc/{{one.pid}}/environ", "rb").read():
        pass  # an exec has begun when Popen returns; it ends a little later
{then}
"""


@contextlib.contextmanager
def gateway(directory: Path, count: int, script: str = "mcp-server.py", *, then: str = "") -> Iterator[Started]:
    """A daemon that starts a tool server for each session, keeps its pipe and never ends it."""
    directory.mkdir(exist_ok=True)
    (directory / script).write_text("import signal; signal.pause()")
    env = PLAIN | {"PYTHONHOME": sys.base_prefix}
    words = {"count": count, "script": str(directory / script), "env": env, "python": sys.executable, "then": then}
    source = STARTS_MANY.format(**words) + WAIT
    with program(directory, ["gatewayd", "gateway.py"], PLAIN, source) as it:
        yield it


def test_of_many_servers_that_a_living_parent_forgot_the_oldest_is_told_and_none_ended(
    tmp_path: Path, root: Path
) -> None:
    with gateway(tmp_path, 10) as parent:
        children = Census.take().children[parent.pid]
        listed = [one for one in data("orphans")["processes"] if one["pid"] in children]
        [one] = listed
        assert one["pid"] == min(children)
        assert (one["verdict"], one["can_be_named"], one["kind"]) == ("keep", False, "mcp")
        assert f"its parent {parent.pid}" in one["reason"] and "has 10 of these" in one["reason"]
        assert tmpwarden("orphans", "end", "--yes", later_s=LATER_S).returncode == 0
        assert tmpwarden("orphans", "end", str(one["pid"]), "--yes").returncode == 7
        assert sorted(Census.take().children[parent.pid]) == sorted(children)


@pytest.mark.parametrize(("count", "script"), [(9, "mcp-server.py"), (10, "worker.py")])
def test_a_few_servers_of_one_parent_and_other_children_are_not_told_of(
    tmp_path: Path, root: Path, count: int, script: str
) -> None:
    with gateway(tmp_path, count, script) as parent:
        children = Census.take().children[parent.pid]
        assert len(children) == count
        assert not [one for one in data("orphans")["processes"] if one["pid"] in children]


def test_a_worker_of_the_user_behind_a_pipe_is_not_told_of(tmp_path: Path, root: Path) -> None:
    """`cat x | nohup worker &` looks the same, and so does `cat x | vite`."""
    for words in (["python3", "worker.py"], ["node", "node_modules/.bin/vite"]):
        with server(tmp_path, words) as worker:
            one = seen_twice(worker.pid)
            assert one is None or one.fate is Fate.KEEP
            assert tmpwarden("orphans", "end", "--yes", later_s=LATER_S).returncode == 0
            assert tmpwarden("orphans", "end", str(worker.pid), "--yes").returncode == 7
            assert worker.is_alive(for_s=0.2)


def test_a_server_that_was_told_to_stay_is_never_ended(tmp_path: Path, root: Path) -> None:
    with server(tmp_path, first="signal.signal(signal.SIGHUP, signal.SIG_IGN)") as stays:
        one = seen_twice(stays.pid)
        assert one is not None and one.fate is Fate.NEVER


@pytest.mark.parametrize("package", ["mcp-server-x", "@playwright/mcp@latest"])
def test_npm_its_shell_and_the_server_below_go_together(tmp_path: Path, root: Path, package: str) -> None:
    script = tmp_path / "node_modules" / ".bin" / "mcp-server-x"
    script.parent.mkdir(parents=True)
    script.write_text("import signal; signal.pause()")
    words = {"name": "sh", "more": ["-c", str(script)], "script": str(script), "env": PLAIN, "python": sys.executable}
    # a shell whose program is Python: `sh SCRIPT -c ...`
    source = OWNS_A_CHILD.format(**words).replace("stdin=-3", "stdin=None, stdout=None") + WAIT
    with server(tmp_path, ["npm", "exec.py", "exec", package], source) as above:
        child = int((tmp_path / "exec.py.child").read_text())
        one, part = seen_twice(above.pid), seen_twice(child)
        assert one is not None and one.fate is Fate.END, one and one.reason
        assert part is not None and part.fate is Fate.END, part and part.reason


def test_a_browser_below_it_keeps_it(tmp_path: Path, root: Path) -> None:
    script = tmp_path / "chrome.py"
    script.write_text("import signal; signal.pause()")
    words = {"name": "chrome", "more": ["--headless"], "script": str(script), "env": PLAIN, "python": sys.executable}
    with server(tmp_path, source=OWNS_A_CHILD.format(**words) + WAIT) as above:
        one = seen_twice(above.pid)
        assert one is not None and one.fate is Fate.NEVER
        assert "is not a leftover" in one.reason


def test_a_browser_without_a_parent_is_listed_and_left(tmp_path: Path, root: Path) -> None:
    with program(tmp_path, ["chrome", "c.py", "--headless"], PLAIN) as browser:
        one = seen_twice(browser.pid)
        assert one is not None and one.fate is Fate.KEEP
        assert "its parent has ended" in one.reason


def test_a_number_that_was_used_again_starts_anew(tmp_path: Path, root: Path) -> None:
    with server(tmp_path) as orphan:
        look()
        path = f"{places.state_dir()}/unheard.json"
        noted = [{**one, "start": one["start"] - 1} for one in state_file.read(path)]
        state_file.write(path, noted)
        one = seen_twice(orphan.pid)
        assert one is not None and one.fate is Fate.END  # seen_twice notes it once more
        state_file.write(path, noted)
        late = told(look(now_ns=time.time_ns() + LATER_S * 10**9), orphan.pid)
        assert late is not None and late.fate is Fate.KEEP


@pytest.mark.parametrize("text", ["{", "[1]", '[{"pid": "x"}]', "null"])
def test_notes_that_cannot_be_read_prove_nothing(tmp_path: Path, root: Path, text: str) -> None:
    with server(tmp_path) as orphan:
        look()
        Path(f"{places.state_dir()}/unheard.json").write_text(text)
        one = told(look(now_ns=time.time_ns() + LATER_S * 10**9), orphan.pid)
        assert one is not None and one.fate is Fate.KEEP


def test_a_note_from_the_future_is_a_first_look(tmp_path: Path, root: Path) -> None:
    with server(tmp_path) as orphan:
        look(now_ns=time.time_ns() + 3600 * 10**9)
        one = told(look(), orphan.pid)
        assert one is not None and one.fate is Fate.KEEP


@pytest.mark.parametrize("how", ["its terminal is closed", "the other end of its standard input is closed"])
def test_an_agent_that_nobody_can_speak_to_is_listed_and_never_ended(tmp_path: Path, root: Path, how: str) -> None:
    keyboard, screen = os.openpty()
    ours, theirs = os.pipe()
    with program(tmp_path, ["claude", "x.py"], PLAIN, stdin=screen if "terminal" in how else ours) as agent:
        assert agent.pid not in [one["pid"] for one in data("orphans")["processes"]], "somebody may still type"
        for fd in (keyboard, screen, ours, theirs):
            os.close(fd)
        (one,) = [one for one in data("orphans")["processes"] if one["pid"] == agent.pid]
        assert (one["verdict"], one["can_be_named"]) == ("keep", False)
        assert how in one["reason"] and f"kill {agent.pid}" in one["reason"]
        assert tmpwarden("orphans", "end", "--yes", later_s=LATER_S).returncode == 0
        assert tmpwarden("orphans", "end", str(agent.pid), "--yes").returncode == 7
        assert agent.is_alive(for_s=0.2)


def test_a_terminal_that_is_closed_proves_nothing_of_a_tool_server(tmp_path: Path, root: Path) -> None:
    keyboard, screen = os.openpty()
    with program(tmp_path, MCP, PLAIN, stdin=screen) as server:
        os.close(keyboard)
        os.close(screen)
        assert seen_twice(server.pid) is None
