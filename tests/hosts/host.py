"""A real Debian host: systemd as pid 1, sshd, alice and bob, its own /tmp and network. It boots in seconds.

It is a directory tree that systemd-nspawn starts; ssh reaches it from inside its own network, a loopback alone.
"""

import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

_PACKAGES = (
    "systemd systemd-sysv dbus dbus-user-session libpam-systemd "
    "python3 python3-venv openssh-server procps cron git sudo"
)
_USERS = ("alice", "bob")
# No network, no index: what pipx does, from the wheels that were brought along.
_PIPX = """#!/bin/sh -e
set -- "$1" "$(basename "$2")"  # `pipx install ./tmpwarden`, as the pages have it: its wheel is here
venv=$HOME/.local/share/pipx/venvs/$2
case $1 in
install) python3 -m venv "$venv"; "$venv/bin/pip" install -q --no-index --find-links /opt/wheels "$2"
  mkdir -p "$HOME/.local/bin"; ln -sf "$venv/bin/$2" "$HOME/.local/bin/$2" ;;
uninstall) rm -r "$venv" "$HOME/.local/bin/$2" ;;
esac
"""
# The machine below may have no systemd itself: nothing is registered, and /run is not its.
_START = "mount --make-rprivate / && mount -t tmpfs tmpfs /run && exec systemd-nspawn"
_SSH = ["-q", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=5"]


def build(directory: Path) -> None:
    """The tree that hosts are copied from, and a key for ssh. Once: it takes two minutes and the network."""
    base, key = directory / "base", directory / "key"
    if (base / "built").exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(base, ignore_errors=True)
    with (directory / "build.log").open("w") as log:
        argv = ["debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES.split())}", "stable", str(base)]
        subprocess.run(argv, check=True, stdout=log, stderr=log)
    key.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for user in _USERS:
        subprocess.run(["chroot", str(base), "useradd", "-m", "-s", "/bin/bash", user], check=True)
    for home in ("root", *(f"home/{user}" for user in _USERS)):
        _let_in(base / home, key)
    (base / "root").chmod(0o700)
    (base / "built").touch()


def _let_in(home: Path, key: Path) -> None:
    owner = home.stat()
    keys = home / ".ssh" / "authorized_keys"
    keys.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(key.with_suffix(".pub"), keys)
    for path in (keys.parent, keys):
        os.chown(path, owner.st_uid, owner.st_gid)


class Host:
    def __init__(self, directory: Path, name: str) -> None:
        self.directory, self.name = directory, name
        self.tree = directory / name
        self._nspawn: subprocess.Popen[bytes] | None = None

    def boot(self, wheels: Path) -> None:
        shutil.rmtree(self.tree, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.directory / "base"), str(self.tree)], check=True)
        (self.tree / "etc/hostname").write_text(f"{self.name}\n")
        (self.tree / "etc/machine-id").unlink(missing_ok=True)
        shutil.copytree(wheels, self.tree / "opt/wheels")
        pipx = self.tree / "usr/local/bin/pipx"
        pipx.write_text(_PIPX)
        pipx.chmod(0o755)
        self._start()

    def _start(self) -> None:
        words = ["-q", "-D", str(self.tree), "--register=no", "--keep-unit", "--private-network", "-b"]
        argv = ["unshare", "--mount", "sh", "-c", f"{_START} {shlex.join(words)}"]
        with (self.directory / f"{self.name}.log").open("wb") as log:
            self._nspawn = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self.wait_until_up()

    def wait_until_up(self, seconds: float = 90) -> None:
        self.wait("systemctl is-system-running --wait", seconds)

    def down(self) -> None:
        assert self._nspawn
        self.run("systemctl poweroff --no-block", check=False)
        try:
            self._nspawn.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._nspawn.pid, signal.SIGKILL)
            self._nspawn.wait()
        shutil.rmtree(self.tree, ignore_errors=True)

    def reboot(self) -> None:
        """The disk stays, /tmp and every process go. (The kernel is this machine's: its boot id is the same.)"""
        assert self._nspawn
        self.run("systemctl reboot --no-block", check=False)
        self._nspawn.wait(60)
        self._start()

    def _leader(self) -> int | None:
        """Its pid 1, as this machine sees it."""
        assert self._nspawn
        waiting = [self._nspawn.pid]
        while waiting:
            pid = waiting.pop()
            try:
                status = Path("/proc", str(pid), "status").read_text()
                children = Path("/proc", str(pid), "task", str(pid), "children").read_text()
            except OSError:
                continue
            inside = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
            if len(inside) == 3 and inside[2] == "1":
                return pid
            waiting += map(int, children.split())
        return None

    def run(
        self, command: str, *, user: str = "root", check: bool = True, answer: str | None = None, seconds: float = 120
    ) -> "subprocess.CompletedProcess[str]":
        """By ssh, in a session of that user's own. With `answer` on a terminal, as if it was typed."""
        leader = self._leader()
        if leader is None:
            return subprocess.CompletedProcess(command, 255, "", "not up")
        terminal = ["-tt"] if answer is not None else []
        login = f'PATH="$HOME/.local/bin:$PATH"; {command}'  # as `pipx ensurepath` would have it
        ssh = ["ssh", *terminal, *_SSH, "-i", str(self.directory / "key"), f"{user}@127.0.0.1", login]
        argv = ["nsenter", f"--net=/proc/{leader}/ns/net", *ssh]
        done = subprocess.run(argv, input=answer or "", capture_output=True, text=True, timeout=seconds, check=False)
        assert not check or done.returncode == 0, f"{user}@{self.name}$ {command}\n{done.stdout}{done.stderr}"
        return done

    def says(self, command: str, *, user: str = "root") -> str:
        return self.run(command, user=user).stdout.strip()

    def wait(self, command: str, seconds: float = 30, *, user: str = "root") -> None:
        """Until it succeeds."""
        until = time.monotonic() + seconds
        while (done := self.run(command, user=user, check=False)).returncode:
            assert time.monotonic() < until, f"not within {seconds} s: {command}\n{done.stdout}{done.stderr}"
            time.sleep(0.3)

    def write(self, path: str, text: str, *, user: str = "root") -> None:
        """A file on its disk, which is a directory of ours."""
        file = self.tree / path.lstrip("/")
        made = [parent for parent in file.parents if not parent.exists()]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        owner = (self.tree / f"home/{user}").stat().st_uid if user != "root" else 0
        for each in (*made, file):
            os.chown(each, owner, owner)

    def is_green(self) -> bool:
        """Nothing on this host has failed."""
        failed = self.says("systemctl --failed --no-legend --plain")
        return failed == "" and self.says("systemctl is-system-running") == "running"
