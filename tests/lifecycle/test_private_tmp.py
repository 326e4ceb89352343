"""`run --private-tmp`: /tmp itself is the scratch, and what other programs offer there can still be reached."""

import contextlib
import errno
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import mounts
from support.bases import base_for_all
from support.interpreters import for_everybody
from support.litter import later
from support.user import UID, OrdinaryUser
from support.wrapped import FORMS, eventually, left_behind, outcome
from tmpwarden.lifecycle import private_tmp
from tmpwarden.model.sweep import Keep
from tmpwarden.oskit import system
from tmpwarden.oskit.files.opening import closing
from tmpwarden.sweep.compose import scan

PRIVATE = FORMS[1]
IN_A_TMP_OF_ITS_OWN = 'mount -t tmpfs -o mode=1777 none /tmp && exec "$@"'
# Three servers in the machine's /tmp, then a command in front of which /tmp is private.
SERVERS = """
import os, socket, subprocess, sys
names = [".X11-unix/X0", "tmux-%d/default" % os.geteuid(), "ssh-AbCdEf/agent.12", "docker.sock"]
names += ["wayland-0", "vscode-ipc-1b4e28ba.sock", "nvim.me/0/nvim.1.0", "runtime/wayland-1"]
names += ["my agent/s", "bus", "other-tmux/s"]
os.environ |= {"XDG_RUNTIME_DIR": "/tmp/runtime", "SSH_AUTH_SOCK": "/tmp/my agent/s"}
os.environ |= {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/tmp/bus,guid=12", "TMUX": "/tmp/other-tmux/s,12,0"}
servers = []
for name in names:
    os.makedirs(os.path.dirname("/tmp/" + name), mode=0o700, exist_ok=True)
    servers.append(socket.socket(socket.AF_UNIX))
    servers[-1].bind("/tmp/" + name)
    servers[-1].listen()
open("/tmp/others-file", "w").close()
client = "import socket, sys, os\\nfor name in sys.argv[1:]: socket.socket(socket.AF_UNIX).connect('/tmp/' + name)\\n"
client += "print(sorted(os.listdir('/tmp')), os.environ['TMPDIR'])"
command = [sys.executable, "-m", "tmpwarden", "run", "--private-tmp", "--", sys.executable, "-c", client, *names]
print(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip())
print(len(subprocess.run(command[:4] + ["--", "sh", "-c", "printf %s $TMPDIR"], stdout=subprocess.PIPE).stdout))
import glob, time
deadline = time.monotonic() + 60
ours = "/tmp/tmpwarden-%d/*" % os.geteuid()
while glob.glob(ours + ".lease") and time.monotonic() < deadline:
    time.sleep(0.05)
print([path for path in glob.glob(ours) + glob.glob(ours + "/*") if not path.endswith("/q")])
"""


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def test_literal_paths_land_in_the_scratch_and_not_in_the_machines_tmp(root: Path) -> None:
    name = f"tmpwarden-test-{os.getpid()}"
    script = f"echo x >/tmp/{name} && cat /tmp/{name} && echo $TMPDIR"
    assert outcome([*PRIVATE, "sh", "-c", script], b"", Path("/")) == (0, b"x\n/tmp\n")
    assert not os.path.lexists(f"/tmp/{name}")
    assert eventually(lambda: left_behind(root) == [])


def test_a_working_directory_below_tmp_is_still_there() -> None:
    """Nobody who stands in /tmp/project and builds wants an empty directory."""
    with tempfile.TemporaryDirectory(prefix="twtest-", dir="/tmp") as project:
        Path(project, "here").write_text("source")
        told = outcome([*PRIVATE, "sh", "-c", "cat here; pwd"], b"", Path(project))
    assert told == (0, f"source{project}\n".encode())


@pytest.fixture
def home_elsewhere() -> Iterator[str]:
    """A temp root that holds a home is no temp root, and pytest's own directories are below /tmp."""
    with base_for_all() as base:
        yield str(base)


@mounts.needs_root
def test_what_other_programs_offer_in_tmp_can_be_reached_and_leaves_no_trace(
    home_elsewhere: str, readable_library: Path
) -> None:
    """The clone may lie in the machine's /tmp: we and Python come from elsewhere."""
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(readable_library),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": home_elsewhere,
        "XDG_STATE_HOME": home_elsewhere,
        "TMPWARDEN_ROOTS": "/tmp",
    }
    inside = ["unshare", "--mount", "sh", "-c", IN_A_TMP_OF_ITS_OWN, "sh", for_everybody(), "-c", SERVERS]
    done = subprocess.run(inside, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=120)
    seen, length, left = done.stdout.splitlines()
    there = [".X11-unix", "bus", "docker.sock", "my agent", "nvim.me", "other-tmux", "runtime", "ssh-AbCdEf"]
    there += [f"tmux-{os.geteuid()}", "vscode-ipc-1b4e28ba.sock", "wayland-0"]
    assert seen == f"{there} /tmp", done.stderr
    assert int(length) <= 40, "sockets must fit below it"
    assert left == "[]", "an unused scratch is gone, not in quarantine"


@pytest.mark.parametrize("how", ["by its path", "by PATH", "by a link", "beside us"])
def test_a_program_that_lies_in_tmp_starts_as_without(how: str) -> None:
    with tempfile.TemporaryDirectory(prefix="twtest-", dir="/tmp") as place:
        program = Path(place) / "bin" / "twtest-program"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho ran; touch {place}-left\n")
        program.chmod(0o755)
        (Path(place) / "link").symlink_to(program)
        env = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        name = {
            "by its path": program,
            "by PATH": program.name,
            "by a link": f"{place}/link",
            "beside us": f"bin/{program.name}",
        }
        cwd = place if how == "beside us" else "/"
        done = subprocess.run([*PRIVATE, str(name[how])], env=env, cwd=cwd, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    assert not os.path.exists(f"{place}-left")


def test_one_inside_the_other_is_private_again(root: Path, home_elsewhere: str) -> None:
    """Some of the machine's /tmp is shown on purpose (tmux, ssh-agent): only our own names are looked at."""
    inner = [*PRIVATE, "sh", "-c", "ls /tmp | grep -x outer; echo y >/tmp/inner"]
    script = 'echo x >/tmp/outer; "$@"; ls /tmp | grep -x -e outer -e inner'
    in_there = ["env", "TMPWARDEN_ROOTS=/tmp", f"XDG_STATE_HOME={home_elsewhere}", f"HOME={home_elsewhere}"]
    argv = [*PRIVATE, *in_there, "sh", "-c", script, "sh", *inner]
    done = subprocess.run(argv, cwd="/", stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert done.stdout == "outer\n"
    assert eventually(lambda: not list(root.glob("tmpwarden-*/*/outer")) or _only_waits_for_its_inner_one(root))


def _only_waits_for_its_inner_one(root: Path) -> bool:
    """The inner one still judges what it took when the outer one ends: kept, and the next clean's."""
    return all(isinstance(verdict, Keep) for verdict in scan(now_ns=later(0)) if verdict.finding.root == str(root))


def test_without_a_safe_scratch_it_does_not_run_in_the_shared_tmp(root: Path, own_world: Path) -> None:
    (root / f"tmpwarden-{os.geteuid()}").symlink_to(own_world / "home")
    status, _ = outcome([*PRIVATE, "touch", str(own_world / "ran")], b"", Path("/"))
    assert status == 7
    assert not (own_world / "ran").exists()


def test_where_namespaces_are_denied_it_says_so_and_offers_the_plain_form(ordinary_user: OrdinaryUser) -> None:
    """Root of a user namespace whose limit is zero, without any capability: as in a hardened container."""
    denied = 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
    ours = [ordinary_user.python, "-m", "tmpwarden", "run"]
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", denied, "sh"]
    done = ordinary_user.run([*inside, *ours, "--private-tmp", "--", "touch", str(ordinary_user.tmp / "ran")])
    if "unshare failed" in done.stderr or "setpriv" in done.stderr:
        pytest.skip(f"this machine has no user namespaces: {done.stderr}")
    assert done.returncode == 4
    assert "this system does not allow a private /tmp: " in done.stderr
    assert "`tmpwarden run -- COMMAND` works without" in done.stderr
    assert not (ordinary_user.tmp / "ran").exists(), "it must not run in the shared /tmp by mistake"
    assert ordinary_user.run([*inside, *ours, "--", "true"]).returncode == 0


_REFUSE = """
import ctypes, os, struct, sys
numbers, code = {"unshare": 272, "mount": 165}, int(sys.argv[2])
program = [(0x20, 0, 0, 0), (0x15, 0, 1, numbers[sys.argv[1]]), (0x06, 0, 0, 0x50000 | code), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
class Filter(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(len(program), ctypes.addressof(code)))) == 0
os.execvp(sys.argv[3], sys.argv[3:])
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="this machine is no x86_64, whose numbers it knows")
@pytest.mark.parametrize(
    ("call", "number", "said"),
    [
        ("unshare", errno.EPERM, "operation not permitted"),  # docker's default filter
        ("mount", errno.EACCES, "permission denied"),  # Ubuntu's AppArmor: the namespace is allowed, and no mount in it
        ("unshare", errno.ENOSPC, "/proc/sys/user/max_user_namespaces is reached"),
    ],
)
def test_where_the_kernel_refuses_it_says_so_and_offers_the_plain_form(
    call: str, number: int, said: str, own_world: Path
) -> None:
    denied = [sys.executable, "-c", _REFUSE, call, str(number)]
    argv = [*denied, *PRIVATE, "touch", str(own_world / "ran")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert f"this system does not allow a private /tmp: {said}" in done.stderr
    assert "`tmpwarden run -- COMMAND` works without" in done.stderr
    assert not (own_world / "ran").exists()
    assert subprocess.run([*denied, *FORMS[0], "sh", "-c", "exit 3"], check=False).returncode == 3


HERE = Path(__file__).parent
OWN_TMP = 'touch "$0/of-the-test" && mount --bind "$0" /tmp && test -e /tmp/of-the-test && exec "$@"'


@pytest.fixture(params=["root", "ordinary user"])
def in_a_tmp(request: pytest.FixtureRequest) -> Any:
    """Runs private_tmp_world.py, in a mount namespace whose /tmp is a directory of the test; what it tells."""
    user: OrdinaryUser = request.getfixturevalue("ordinary_user")
    user.tmp.chmod(0o1777)
    result = user.home / "result.json"
    for name in ("private_tmp_world.py", "private_tmp_inside.sh"):
        (user.home / name).write_bytes((HERE / name).read_bytes())
    become = [] if request.param == "root" else ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    python = sys.executable if request.param == "root" else user.python

    def run(*options: str, stand_in: str = "/", program: str = "sh", **env: str) -> Any:
        world = [python, str(user.home / "private_tmp_world.py"), str(result)]
        argv = ["unshare", "--mount", "sh", "-c", OWN_TMP, str(user.tmp), *become, *world]
        there = {**user.env, "TMPWARDEN_ROOTS": "/tmp", "TMPDIR": "/tmp", **env}
        words = [str(user.home / "private_tmp_inside.sh"), stand_in, program, *options]
        done = subprocess.run([*argv, *words], env=there, capture_output=True, text=True, check=False, timeout=180)
        assert done.returncode == 0, done.stderr
        told = json.loads(result.read_text())
        if "does not allow a private /tmp" in told["complained"]:
            pytest.skip(told["complained"])
        assert told["status"] == 7, told["complained"]
        return told

    return run


def _seen(told: Any) -> set[str]:
    """What was no directory in the private /tmp before anything was done in it."""
    return {line for line in told["said"].splitlines() if line[0] == "/"}


@mounts.needs_root
def test_rm_in_a_private_tmp_costs_nothing_outside(in_a_tmp: Any) -> None:
    """Once it took 10 of 15 files of the machine's /tmp, and both sockets."""
    told = in_a_tmp()
    assert (told["gone"], told["new"], told["changed"]) == ([], [], [])
    assert told["reachable"] == told["sockets"]


@mounts.needs_root
def test_sockets_that_are_listened_on_are_all_that_is_seen_of_the_shared_tmp_and_stay(in_a_tmp: Any) -> None:
    told = in_a_tmp()
    lines = told["said"].splitlines()
    assert _seen(told) == {f"/tmp/{name}" for name in told["sockets"]}
    for when in ("first", "last"):
        assert [line for line in lines if line.startswith(when)] == [f"{when} {name}" for name in told["sockets"]]
    assert lines[-1] == "moved elsewhere/er/than/s", "its directory may be renamed; the socket goes along"
    assert told["complained"] == ""


@mounts.needs_root
@pytest.mark.parametrize("options", [("--agent", "claude"), ("--size", "8M")], ids=str)
def test_the_forms_for_agents_and_in_memory_keep_the_shared_tmp_too(in_a_tmp: Any, options: tuple[str, ...]) -> None:
    told = in_a_tmp(*options)
    assert (told["gone"], told["new"], told["changed"]) == ([], [], [])
    assert told["reachable"] == told["sockets"]


@mounts.needs_root
def test_of_a_directory_that_one_stands_in_only_that_is_shared_and_it_is_said(in_a_tmp: Any) -> None:
    told = in_a_tmp(stand_in="/tmp/stand")
    assert told["gone"] == ["/tmp/stand/here"], "`rm -rf /tmp/*` goes for the working directory too"
    assert told["changed"] == ["/tmp/stand"] or told["changed"] == []
    assert told["reachable"] == told["sockets"], "the one in the working directory too"
    said = "/tmp/stand is not private: it is the working directory, and what COMMAND removes there is gone"
    assert told["complained"] == f"tmpwarden run: {said}\n"


@mounts.needs_root
def test_a_program_in_tmp_is_seen_with_what_lies_beside_it_and_cannot_be_changed(in_a_tmp: Any) -> None:
    told = in_a_tmp(program="/tmp/tool/bin/shell")
    assert (told["gone"], told["new"], told["changed"]) == ([], [], [])
    assert _seen(told) - {f"/tmp/{name}" for name in told["sockets"]} == {"/tmp/tool/bin/shell", "/tmp/tool/lib"}
    assert told["complained"] == "tmpwarden run: /tmp/tool is not private, but read-only: shell is in it\n"


@mounts.needs_root
def test_a_cookie_that_a_variable_names_is_seen_and_cannot_be_changed(in_a_tmp: Any) -> None:
    told = in_a_tmp(XAUTHORITY="/tmp/cookie", SSH_AUTH_SOCK="/tmp/data", TMUX="/tmp/../etc/passwd,1,0")
    assert (told["gone"], told["new"], told["changed"]) == ([], [], [])
    assert _seen(told) - {f"/tmp/{name}" for name in told["sockets"]} == {"/tmp/cookie"}, (
        "a directory that a variable names is not shown"
    )


@mounts.needs_root
def test_another_users_socket_is_shown_only_under_a_name_that_is_offered_to_all(
    home_elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_tmp, "TMP", home_elsewhere)
    with contextlib.ExitStack() as stack:
        for name in ("server", "a b", ".s.PGSQL.5432"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(f"{home_elsewhere}/{name}")
            listener.listen()
            if name != "a b":
                os.chown(f"{home_elsewhere}/{name}", UID, UID)
        found = [(path, may_be) for path, may_be in private_tmp._files_and_sockets() if os.path.lexists(path)]
        shown = [os.path.basename(path) for path, may_be in found if may_be(os.lstat(path))]
    assert sorted(shown) == [".s.PGSQL.5432", "a b"]


@pytest.mark.parametrize("path", ["/tmp/../etc/passwd", "/tmp/a/../../x", "/tmpx/a", "/tmp", "/tmp/", "relative"])
def test_a_path_that_is_not_below_tmp_leads_nowhere(path: str) -> None:
    assert private_tmp._parts(path) == []


@pytest.mark.parametrize("way", [["link", "server"], ["link-to-server"]], ids=["on the way", "at the end"])
def test_no_link_leads_to_what_is_shown(tmp_path: Path, way: list[str]) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "server").touch()
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "link-to-server").symlink_to(elsewhere / "server")
    try:
        with closing(private_tmp._opened(str(tmp_path), way)) as found:
            assert not os.path.samestat(os.fstat(found), (elsewhere / "server").stat())
    except NotADirectoryError:
        assert len(way) == 2


MOVES = ["a link in place of its directory", "an empty file of the command's own", "content", "the scratch is gone"]


@pytest.mark.parametrize("move", MOVES)
def test_the_tidy_up_removes_placeholders_and_nothing_else(tmp_path: Path, move: str) -> None:
    """The command could move things in the scratch: what lies under the noted name may be anything by then."""
    scratch, elsewhere = tmp_path / "scratch", tmp_path / "elsewhere"
    for folder in (scratch, elsewhere):
        folder.mkdir()
    made: list[private_tmp.Placeholder] = []
    private_tmp._make(str(scratch), ["tmux-1", "default"], False, made)
    made = [private_tmp.Placeholder.parse(str(placeholder)) for placeholder in made]
    assert [placeholder.relative for placeholder in made] == ["tmux-1", "tmux-1/default"]
    placeholder = scratch / "tmux-1" / "default"
    if move == MOVES[0]:
        placeholder.rename(elsewhere / "default")  # the very same file: only the way to it tells
        (scratch / "tmux-1").rmdir()
        (scratch / "tmux-1").symlink_to(elsewhere)
    elif move == MOVES[1]:
        placeholder.rename(elsewhere / "default")
        placeholder.touch()
    elif move == MOVES[2]:
        placeholder.write_text("data")
    else:
        scratch.rename(tmp_path / "away")
    before = sorted(tmp_path.rglob("*"))
    private_tmp.tidy(str(scratch), made)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_tidy_up_leaves_an_unused_scratch_empty(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made: list[private_tmp.Placeholder] = []
    for parts in (["a", "b", "socket"], ["a", "other"], ["directory"]):
        private_tmp._make(str(scratch), parts, parts == ["directory"], made)
    private_tmp.tidy(str(scratch), made)
    assert list(scratch.iterdir()) == []


@mounts.needs_root
def test_what_becomes_a_link_after_it_was_looked_at_is_shown_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the shared /tmp another user may swap a directory of his for a link to anywhere."""
    offered, secret, place = tmp_path / "tmux-1", tmp_path / "secret", tmp_path / "place"
    for folder in (offered, secret, place):
        folder.mkdir()
    (offered / "socket").touch()
    (secret / "key").touch()

    def swap(_: str) -> None:
        offered.rename(tmp_path / "moved")
        offered.symlink_to(secret)

    monkeypatch.setattr(private_tmp, "_race_window", swap)
    monkeypatch.setattr(private_tmp, "TMP", str(tmp_path))
    told, tell = os.pipe()
    if os.fork() == 0:
        try:
            ours = system.private_mounts
            ours.unshare()
            ours.mount("none", "/", ours.RECURSIVE | ours.PRIVATE)
            private_tmp._show(str(offered), private_tmp._is_cwd, str(place), [])
            os.write(tell, " ".join(os.listdir(place / "tmux-1")).encode())
        finally:
            os._exit(0)
    os.close(tell)
    with open(told, "rb") as answer:
        assert answer.read() == b"socket"
