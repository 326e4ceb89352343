"""A process ends only if its session is proven dead and its program is a known left-over; everything else stays."""

import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from processes.leftovers import SESSION, WAIT, carrying, dead_process, program, scratch_of_the_dead, told
from support import interpreters
from support.bases import base_for_all
from support.command import data, tmpwarden
from support.mounts import needs_root
from support.user import UID
from tmpwarden.catalogue import process_rows
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle import orphans
from tmpwarden.model.processes import Fate, Orphan
from tmpwarden.oskit.system.linux import open_files
from tmpwarden.processes.find import look

MCP = ["node", "node_modules/.bin/playwright-mcp", "--headless"]
LISTENS = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], file=open(__file__ + ".port", "w"), flush=True)
"""
OWNS_A_CHILD = """
import subprocess, sys
env = {env!r} | {{"PYTHONHOME": sys.base_prefix}}
child = subprocess.Popen([{name!r}, {script!r}, *{more!r}], executable={python!r}, env=env, stdin=-3)
while child.poll() is None and not open(f"/proc/{{child.pid}}/environ", "rb").read():
    pass  # an exec has begun when Popen returns; it ends a little later
print(child.pid, file=open(__file__ + '.child', 'w'), flush=True)
"""


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def seen(pid: int) -> Orphan:
    found = told(look(pids=[pid]), pid)
    assert found is not None
    return found


@pytest.mark.parametrize("row", process_rows.rows(), ids=lambda row: row.id)
def test_every_row_takes_its_examples_and_spares_the_others(row: process_rows.ProcessRow) -> None:
    assert row.matches and row.spares and row.seen and row.why
    for line in row.matches:
        assert process_rows.is_match(row, shlex.split(line)), line
    for line in row.spares:
        assert not process_rows.is_match(row, shlex.split(line)), line


def test_a_tool_server_of_a_dead_session_may_end_and_is_told_with_its_port(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying(), LISTENS + WAIT) as server:
        one = told(look(), server.pid)
        assert one is not None
        assert one.fate is Fate.END, one.reason
        assert (one.row and one.row.kind, one.binding and one.binding.session) == ("mcp", SESSION)
        port = int((tmp_path / (MCP[1] + ".port")).read_text())
        assert one.ports == (port,)
        assert one.memory_bytes > 1 << 20


def test_an_agents_own_registry_proves_a_death_too(tmp_path: Path, root: Path) -> None:
    pid, start = dead_process()
    registry = Path(os.environ["HOME"]) / ".claude" / "sessions"
    registry.mkdir(parents=True)
    (registry / f"{pid}.json").write_text(f'{{"pid": {pid}, "sessionId": "{SESSION}", "procStart": "{start}"}}')
    with program(tmp_path, MCP, carrying()) as server:
        assert seen(server.pid).fate is Fate.END


@pytest.mark.parametrize("way", ["TMPDIR", "cwd"])
def test_a_scratch_binds_as_a_session_id_does(tmp_path: Path, root: Path, way: str) -> None:
    scratch = scratch_of_the_dead(root)
    env = {"PATH": os.environ["PATH"]} | ({"TMPDIR": scratch.path} if way == "TMPDIR" else {})
    source = WAIT if way == "TMPDIR" else f"import os; os.chdir({scratch.path!r})\n{WAIT}"
    with program(tmp_path, MCP, env, source) as server:
        one = seen(server.pid)
        assert one.fate is Fate.END and one.binding and one.binding.session == SESSION


def test_nothing_is_told_of_a_session_that_lives(tmp_path: Path, root: Path) -> None:
    open_scratch(str(root), "claude", SESSION, pid=os.getpid())
    with program(tmp_path, MCP, carrying()) as server:
        assert told(look(), server.pid) is None
        assert seen(server.pid).fate is Fate.NEVER


def test_a_session_that_nothing_written_names_is_not_proven_dead(tmp_path: Path, root: Path) -> None:
    with program(tmp_path, MCP, carrying("nobody-wrote-this-down")) as server:
        one = told(look(), server.pid)
        assert one is not None
        assert one.fate is Fate.KEEP


def test_a_name_alone_proves_nothing(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, {"PATH": os.environ["PATH"]}) as server:
        assert told(look(), server.pid) is None
        assert seen(server.pid).fate is Fate.KEEP


def test_an_environment_alone_proves_nothing(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, ["gradle", "daemon.py"], carrying()) as daemon:
        assert seen(daemon.pid).fate is Fate.KEEP


def test_what_a_daemon_starts_later_is_not_the_dead_sessions(tmp_path: Path, root: Path) -> None:
    """An emacs that an agent started gives its environment to every vite that its user starts from it."""
    scratch_of_the_dead(root)
    script = tmp_path / "node_modules" / ".bin" / "vite"
    script.parent.mkdir(parents=True)
    script.write_text("import signal; signal.pause()")
    source = OWNS_A_CHILD.format(name="node", more=[], script=str(script), env=carrying(), python=sys.executable) + WAIT
    with program(tmp_path, ["emacs", "daemon.py"], carrying(), source):
        child = int((tmp_path / "daemon.py.child").read_text())
        one = seen(child)
        assert one.fate is Fate.KEEP
        assert "emacs" in one.reason or "parent" in one.reason


@pytest.mark.parametrize(("above", "is_part"), [("chromium", True), ("emacs", False)])
def test_a_renderer_without_an_environment_is_its_browsers(
    tmp_path: Path, root: Path, above: str, is_part: bool
) -> None:
    """Chromium's zygotes and renderers write their title over their environment."""
    scratch_of_the_dead(root)
    script = tmp_path / "part.py"
    script.write_text("import signal; signal.pause()")
    words = {"name": "chromium", "more": ["--type=renderer"], "script": str(script), "env": {}}
    source = OWNS_A_CHILD.format(**words, python=sys.executable) + WAIT
    with program(tmp_path, [above, "browser.py", "--headless"], carrying(), source) as browser:
        child = int((tmp_path / "browser.py.child").read_text())
        assert (seen(child).fate is Fate.END) == is_part
        assert (told(look(), child) is not None) == is_part
        assert (seen(browser.pid).fate is Fate.END) == is_part


def test_one_with_a_terminal_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    first = "import fcntl, pty, termios; os.setsid(); a, b = pty.openpty(); os.set_inheritable(a, True)"
    first += "; fcntl.ioctl(b, termios.TIOCSCTTY, 0)"
    with program(tmp_path, MCP, carrying(), first=first) as server:
        one = seen(server.pid)
        assert (one.fate, one.reason) == (Fate.NEVER, "it has a terminal")


def test_one_that_was_told_to_outlive_its_shell_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying(), first="signal.signal(signal.SIGHUP, signal.SIG_IGN)") as server:
        assert "nohup" in seen(server.pid).reason
        assert seen(server.pid).fate is Fate.NEVER


def test_a_server_that_somebody_uses_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying(), LISTENS + WAIT) as server:
        port = int((tmp_path / (MCP[1] + ".port")).read_text())
        with socket.create_connection(("127.0.0.1", port)):
            assert seen(server.pid).fate is Fate.NEVER


def test_a_server_that_another_process_of_ours_uses_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    source = "import socket, sys\ns = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
    source += "print('in', flush=True)\nsys.stdin.read()"
    with program(tmp_path, MCP, carrying(), LISTENS + WAIT) as server:
        port = (tmp_path / (MCP[1] + ".port")).read_text().strip()
        argv = [sys.executable, "-c", source, port]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None and client.stdout.readline() == "in\n"
            one = seen(server.pid)
            assert (one.fate, one.reason) == (Fate.NEVER, f"process {client.pid} is connected to it")


def test_a_supervisor_is_spared_for_a_child_that_is_no_left_over(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    script = tmp_path / "work.py"
    script.write_text("import signal; signal.pause()")
    source = OWNS_A_CHILD.format(name="make", more=[], script=str(script), env=carrying(), python=sys.executable) + WAIT
    with program(tmp_path, MCP, carrying(), source) as server:
        assert "is not a leftover" in seen(server.pid).reason
        assert seen(server.pid).fate is Fate.NEVER


SERVER = ["node", "node_modules/.bin/vite", "--port", "0"]
WRITES = "f = open({path!r}, 'ab'); f.write(b'one line'); f.flush()\n" + WAIT
# Python's own mmap would keep a descriptor.
MAPS = (
    """
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
fd = os.open({path!r}, os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
assert libc.mmap(None, ctypes.c_size_t(4096), 3, 1, fd, ctypes.c_long(0)) > 0
os.close(fd)
"""
    + WAIT
)


@pytest.mark.parametrize("way", ["open", "mapped", "its child"])
def test_one_that_writes_a_file_of_the_user_is_kept_and_says_which(tmp_path: Path, root: Path, way: str) -> None:
    scratch_of_the_dead(root)
    ledger = Path(os.environ["HOME"]) / "books" / "ledger.db"
    ledger.parent.mkdir(parents=True)
    source = {"open": WRITES, "mapped": MAPS, "its child": ""}[way].format(path=str(ledger))
    if way == "its child":
        script = tmp_path / "node_modules" / ".bin" / "tsx"
        script.parent.mkdir(parents=True)
        script.write_text(f"import signal; f = open({str(ledger)!r}, 'ab'); signal.pause()")
        words = {"name": "node", "more": [], "script": str(script), "env": carrying(), "python": sys.executable}
        source = OWNS_A_CHILD.format(**words) + WAIT
    with program(tmp_path, SERVER, carrying(), source) as server:
        while way == "its child" and not ledger.exists():
            assert server.is_alive(for_s=0.01)
        answer = tmpwarden("orphans", "end", "--yes")
        assert answer.returncode == 0, answer.stderr
        assert server.is_alive(for_s=0.2)
        one = seen(server.pid)
        assert one.fate is Fate.KEEP
        assert f"{ledger}" in one.reason and "for writing" in one.reason
        if way == "its child":
            child = int((tmp_path / (SERVER[1] + ".child")).read_text())
            assert f"process {child} (" in one.reason
            assert seen(child).fate is Fate.KEEP


@pytest.mark.parametrize(
    "where", ["tmp/x.db", "home/.cache/vite/x.db", "home/p/node_modules/.vite/x", "home/p/dev.log"]
)
def test_what_a_server_writes_for_itself_keeps_it_not(tmp_path: Path, root: Path, where: str) -> None:
    scratch_of_the_dead(root)
    path = (root if where.startswith("tmp/") else Path(os.environ["HOME"])) / where.partition("/")[2]
    path.parent.mkdir(parents=True, exist_ok=True)
    with program(tmp_path, SERVER, carrying(), WRITES.format(path=str(path))) as server:
        assert seen(server.pid).fate is Fate.END
        assert tmpwarden("orphans", "end", "--yes").returncode == 0
        assert not server.is_alive(for_s=10)


def test_a_file_that_it_only_reads_keeps_it_not(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    ledger = Path(os.environ["HOME"]) / "ledger.db"
    ledger.touch()
    with program(tmp_path, SERVER, carrying(), f"f = open({str(ledger)!r})\n" + WAIT) as server:
        assert seen(server.pid).fate is Fate.END


def test_one_whose_files_cannot_be_checked_is_kept(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str) -> bytes:
        if path.endswith("/maps"):
            raise PermissionError(13, "refused")
        return real(path)

    scratch_of_the_dead(root)
    with program(tmp_path, SERVER, carrying()) as server:
        real = open_files.read
        monkeypatch.setattr(open_files, "read", refused)
        one = seen(server.pid)
        assert (one.fate, one.reason) == (Fate.KEEP, "which files it writes could not be checked")


def test_one_that_nothing_binds_to_a_session_is_refused_by_its_number(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, SERVER, {"PATH": os.environ["PATH"]}) as server:
        answer = tmpwarden("orphans", "end", str(server.pid), "--yes")
        assert answer.returncode == 7, answer.stdout
        assert "it does not belong to any known session" in answer.stderr
        assert f"kill {server.pid}" in answer.stderr
        assert server.is_alive(for_s=0.2)


def test_an_agent_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, ["claude", "x.py"], carrying()) as agent:
        assert seen(agent.pid).reason == "it is claude itself"


def test_a_script_in_claudes_scratchpad_is_not_claude_itself(tmp_path: Path, root: Path) -> None:
    """The doctor sends people to `brake` and `orphans` for just these."""
    scratch_of_the_dead(root)
    scratchpad = root / f"claude-{os.geteuid()}" / "-home-u-p" / SESSION / "scratchpad"
    scratchpad.mkdir(parents=True)
    with program(scratchpad, ["python3", "fill.py"], carrying()) as script:
        assert seen(script.pid).fate is Fate.KEEP
        assert tmpwarden("brake", "--stop", str(script.pid)).returncode == 0
        assert tmpwarden("brake", "--resume", str(script.pid)).returncode == 0
        assert tmpwarden("orphans", "end", str(script.pid), "--yes").returncode == 0
        assert not script.is_alive(for_s=10)
    with program(scratchpad, ["node", "claude-code/cli.js"], carrying()) as agent:
        assert seen(agent.pid).reason == "it looks like claude itself"


def test_a_database_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, ["postgres", "x.py"], carrying()) as database:
        assert seen(database.pid).fate is Fate.NEVER


def test_what_another_user_runs_is_refused_by_its_number() -> None:
    answer = tmpwarden("orphans", "end", "1", "--yes", "--json")
    assert answer.returncode == 3  # init is never meant
    if os.geteuid() == 0:
        stranger = subprocess.Popen(["sleep", "60"], user=UID)
        try:
            refused = tmpwarden("orphans", "end", str(stranger.pid), "--yes")
            assert refused.returncode == 7
            assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()


@needs_root
def test_a_tool_server_of_a_dead_session_that_another_user_runs_is_spared(root: Path) -> None:
    scratch_of_the_dead(root)
    first, python = f"os.setsid(); os.setuid({UID})", interpreters.for_everybody()
    with base_for_all() as base, program(base, MCP, carrying(), first=first, python=python) as server:
        one = seen(server.pid)
        assert (one.fate, one.reason) == (Fate.NEVER, "it belongs to another user")


def test_end_without_a_terminal_touches_nothing(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying()) as server:
        assert tmpwarden("orphans", "end").returncode == 4
        assert server.is_alive()


def test_end_ends_all_that_may_end_and_leaves_a_receipt(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying()) as server, program(tmp_path, ["make", "w.py"], carrying()) as other:
        answer = tmpwarden("orphans", "end", "--yes", "--json")
        assert answer.returncode == 0, answer.stdout
        assert [one["outcome"] for one in json.loads(answer.stdout)["data"]["ended"]] == ["ended"]
        assert not server.is_alive(for_s=10)
        assert other.is_alive()
    lines = (Path(os.environ["XDG_STATE_HOME"]) / "tmpwarden" / "journal.jsonl").read_text()
    assert f'"pid":{server.pid}' in lines and SESSION in lines


def test_one_that_ignores_term_is_killed_and_one_that_was_named_ends(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmpwarden.processes.end.PATIENCE_S", 0.2)
    scratch_of_the_dead(root)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WAIT
    with program(tmp_path, ["make", "w.py"], carrying(), deaf) as stubborn:
        ended = orphans.end([seen(stubborn.pid)])
        assert [one.outcome for one in ended] == ["killed"]


def test_a_process_on_the_keep_list_is_never_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying()) as server:
        assert tmpwarden("keep", f"pid:{server.pid}").returncode == 0
        assert seen(server.pid).reason == "it is on the keep list"
        assert tmpwarden("orphans", "end", "--yes").returncode == 0
        assert server.is_alive()
        assert tmpwarden("keep", "--forget", f"pid:{server.pid}").returncode == 0
        assert tmpwarden("keep", "process:*playwright-mcp*").returncode == 0
        assert seen(server.pid).fate is Fate.NEVER
    assert tmpwarden("keep", f"pid:{dead_process()[0]}").returncode == 5


@pytest.mark.parametrize("how", ["not JSON", "not text", "a link to a disk that is away"])
def test_a_keep_list_that_cannot_be_read_may_name_any_of_them(tmp_path: Path, root: Path, how: str) -> None:
    scratch_of_the_dead(root)
    listed = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "keep-processes"
    listed.parent.mkdir()
    if how == "a link to a disk that is away":
        listed.symlink_to("/nowhere/keep-processes")
    else:
        listed.write_bytes(b"node *\n" if how == "not JSON" else b"\xff\xfe\n")
    with program(tmp_path, MCP, carrying()) as server:
        one = seen(server.pid)
        assert one.fate is Fate.NEVER and f"it may be on the keep list ({listed}" in one.reason
        listed.unlink()
        assert seen(server.pid).fate is Fate.END


def test_held_bytes_count_deleted_files_too(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    source = (
        f"import os\nf = open({str(root / 'big')!r}, 'wb'); f.write(b'x' * (1 << 20)); f.flush()\nos.unlink(f.name)\n"
    )
    with program(tmp_path, MCP, carrying(), source + WAIT) as server:
        assert seen(server.pid).held_bytes >= 1 << 20
        listed = data("orphans")["processes"]
        assert [one["held_bytes"] >= 1 << 20 for one in listed if one["pid"] == server.pid] == [True]


def test_only_what_the_configuration_names_ends_unattended(tmp_path: Path, root: Path) -> None:
    from tmpwarden.catalogue.settings import Settings

    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying()) as server:
        assert orphans.end_unattended(Settings()) == []
        assert orphans.end_unattended(Settings(orphans_end=("browser",), orphans_after_s=0)) == []
        assert orphans.end_unattended(Settings(orphans_end=("mcp",))) == []  # it is younger than 12 hours
        assert server.is_alive()
        done = orphans.end_unattended(Settings(orphans_end=("mcp",), orphans_after_s=0))
        assert [one.pid for one in done] == [server.pid]


def test_in_tmux_nothing_is_ever_ended(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    script = tmp_path / "node_modules" / ".bin" / "vite"
    script.parent.mkdir(parents=True)
    script.write_text("import signal; signal.pause()")
    source = OWNS_A_CHILD.format(name="node", more=[], script=str(script), env=carrying(), python=sys.executable)
    source += "open('/proc/self/comm', 'w').write('tmux: server')\n" + WAIT
    with program(tmp_path, ["tmux", "server.py"], carrying(), source):
        child = int((tmp_path / "server.py.child").read_text())
        assert seen(child).fate is Fate.NEVER
        assert "tmux" in seen(child).reason


def test_teardown_ends_what_is_certainly_the_sessions_own_if_told_to(tmp_path: Path, root: Path) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    scratch_of_the_dead(root)
    env = carrying()
    with program(tmp_path, MCP, env) as server, program(tmp_path, ["make", "w.py"], env) as other:
        assert tmpwarden("teardown", "--session", SESSION).returncode == 0
        assert server.is_alive()
        config.write_text("[orphans]\nat_end = true\n")
        scratch_of_the_dead(root)
        assert tmpwarden("teardown", "--session", SESSION).returncode == 0
        assert not server.is_alive(for_s=10)
        assert other.is_alive()


def test_doctor_names_the_port_and_its_remedy_frees_it(tmp_path: Path, root: Path) -> None:
    scratch_of_the_dead(root)
    with program(tmp_path, MCP, carrying(), LISTENS + WAIT) as server:
        port = (tmp_path / (MCP[1] + ".port")).read_text().strip()
        [found] = [one for one in data("doctor", "--no-probe")["diagnoses"] if one["check"] == "orphans"]
        assert port in found["summary"]
        assert found["remedy"] == "tmpwarden orphans end"
        assert tmpwarden(*found["remedy"].split()[1:], "--yes").returncode == 0
        assert not server.is_alive(for_s=10)
    logged = data("log")["entries"]
    assert [entry["outcome"] for entry in logged] == ["ended"]
