"""The roll-out that all tests of the fleet live with, step by step as an operator goes: look, try, do, look, again."""

import time
from dataclasses import dataclass

from hosts.host import Host
from hosts.steps import MARKER, SCRATCH

from .controller import Controller, Played

POLICY = '[policy]\nlock = ["quarantine"]\n[quarantine]\nkeep = "2d"\n'
WHOM = {"tmpwarden_hooks_users": ["alice"], "tmpwarden_users": ["bob"], "tmpwarden_managed_settings": True}
AT_ONCE = {"tmpwarden_serial": ["100%"]}
OURS = "/opt/tmpwarden /etc/tmpwarden /etc/systemd/system/tmpwarden.* /usr/local/bin/tmpwarden /etc/claude-code"
_LEAVE = """echo /work > {marker}
tmpwarden run --agent claude -- sh -c 'echo x > $TMPDIR/left; kill -9 $PPID $$'
ls {left}"""
_LEFT_S: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class RolledOut:
    """What ansible said in each step, and what each host had of ours before the first that was to change anything."""

    would: Played
    before: dict[str, str]
    wrong_hash: Played
    hostile: Played
    target_of_the_link: str
    done: Played
    would_again: Played
    again: Played


def roll_out(controller: Controller, hosts: dict[str, Host]) -> RolledOut:
    wish = {**controller.pin, **WHOM, "tmpwarden_config": POLICY}
    hosts["one"].run("mkdir -p ~alice/.claude; chown alice: ~alice/.claude")
    would = controller.play("rollout", "--check", **wish, **AT_ONCE)
    wrong = {**wish, "tmpwarden_wheel_sha256": "0" * 64}
    wrong_hash = controller.play("rollout", "--limit", "one,localhost", check=False, **wrong)
    before = {name: host.says(f"ls -d {OURS} 2>/dev/null; true") for name, host in hosts.items()}

    hosts["three"].run("mkdir /srv/roots")
    hosts["three"].run("mkdir -p ~/.local; ln -s /srv/roots ~/.local/bin", user="bob")
    hostile = controller.play("rollout", "--limit", "three,localhost", check=False, **wish)
    target = hosts["three"].says("stat -c '%U %a' /srv/roots; ls /srv/roots")
    hosts["three"].run("rm ~/.local/bin", user="bob")

    done = controller.play("rollout", **wish, tmpwarden_serial=["1", "100%"])
    for host in hosts.values():
        leave(host, "alice", "bob")
    would_again = controller.play("rollout", "--check", **wish, **AT_ONCE)
    again = controller.play("rollout", **wish, **AT_ONCE)
    return RolledOut(would, before, wrong_hash, hostile, target, done, would_again, again)


def leave(host: Host, *users: str) -> None:
    """A stale marker, and the scratch of a session that was killed: both may go a minute later."""
    for user in users:
        host.run(_LEAVE.format(marker=MARKER, left=SCRATCH), user=user)
    note(host)


def note(host: Host) -> None:
    """That something was left there just now."""
    _LEFT_S[host.name] = time.monotonic()


def wait_a_minute(*hosts: Host) -> None:
    """Until what was left last is a minute old. Nobody can set back a ctime; a look there renews an atime."""
    for host in hosts:
        time.sleep(max(0.0, _LEFT_S[host.name] + 62 - time.monotonic()))
