"""`run --private-tmp`: /tmp itself is the scratch, and what other programs offer there can still be reached."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import mounts
from support.litter import later
from support.user import OrdinaryUser, make_base
from support.wrapped import FORMS, eventually, left_behind, outcome
from tmpwarden.errors import NoNamespace
from tmpwarden.lifecycle import private_tmp
from tmpwarden.model.sweep import Keep
from tmpwarden.sweep.compose import scan

PRIVATE = FORMS[1]
IN_A_TMP_OF_ITS_OWN = 'mount -t tmpfs -o mode=1777 none /tmp && exec "$@"'
# Three servers in the machine's /tmp, then a command in front of which /tmp is private.
SERVERS = """
import os, socket, subprocess, sys
names = [".X11-unix/X0", "tmux-%d/default" % os.geteuid(), "ssh-AbCdEf/agent.12", "docker.sock"]
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


def test_a_working_directory_below_tmp_is_still_there(own_world: Path) -> None:
    """Nobody who stands in /tmp/project and builds wants an empty directory."""
    if not str(own_world).startswith("/tmp/"):
        pytest.skip("the test's own directory is not below /tmp")
    (own_world / "here").write_text("source")
    assert outcome([*PRIVATE, "sh", "-c", "cat here; pwd"], b"", own_world) == (0, f"source{own_world}\n".encode())


@pytest.fixture
def home_elsewhere() -> Iterator[str]:
    """A temp root that holds a home is no temp root, and pytest's own directories are below /tmp."""
    base = make_base()
    try:
        yield str(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


@mounts.needs_root
def test_what_other_programs_offer_in_tmp_can_be_reached_and_leaves_no_trace(home_elsewhere: str) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": home_elsewhere,
        "XDG_STATE_HOME": home_elsewhere,
        "TMPWARDEN_ROOTS": "/tmp",
    }
    inside = ["unshare", "--mount", "sh", "-c", IN_A_TMP_OF_ITS_OWN, "sh", sys.executable, "-c", SERVERS]
    done = subprocess.run(inside, env=env, capture_output=True, text=True, check=False, timeout=120)
    seen, length, left = done.stdout.splitlines()
    assert seen == f"['.X11-unix', 'docker.sock', 'ssh-AbCdEf', 'tmux-{os.geteuid()}'] /tmp", done.stderr
    assert int(length) <= 40, "sockets must fit below it"
    assert left == "[]", "an unused scratch is gone, not in quarantine"


def test_one_inside_the_other_is_private_again(root: Path, home_elsewhere: str) -> None:
    inner = [*PRIVATE, "sh", "-c", "ls /tmp; echo y >/tmp/inner"]
    script = 'echo x >/tmp/outer; "$@"; ls /tmp | grep -v tmpwarden'
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
        pytest.skip(done.stderr)
    assert done.returncode == 4
    assert "this machine does not allow a private /tmp: " in done.stderr
    assert "`tmpwarden run -- COMMAND` works without" in done.stderr
    assert not (ordinary_user.tmp / "ran").exists(), "it must not run in the shared /tmp by mistake"
    assert ordinary_user.run([*inside, *ours, "--", "true"]).returncode == 0


def test_a_system_that_allows_the_namespace_and_no_mount_in_it_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ubuntu's AppArmor does for programs without a profile."""

    def refused(source: str, target: str, flags: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(private_tmp, "_mount", refused)
    with pytest.raises(NoNamespace, match="permission denied"):
        private_tmp.check()
