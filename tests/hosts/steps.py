"""What is done again and again on a host: follow the page, leave litter, let a timer fire."""

import re
from pathlib import Path

from .host import Host

PAGE = (Path(__file__).parents[2] / "docs" / "install-vps.md").read_text()
_BLOCK = re.compile(r"<!-- host: (?P<user>\w+), (?P<part>\w+) -->\n```sh\n(?P<lines>.*?)```", re.DOTALL)
_SOON = "[Timer]\nOnActiveSec=\nOnActiveSec=1s\nAccuracySec=100ms\nRandomizedDelaySec=0\n"
_UNITS = {"root": "/etc/systemd/system", "alice": "/home/alice/.config/systemd/user"}
MARKER = "/tmp/claude-$(printf %04x $(id -u))-cwd"
SCRATCH = "/tmp/tmpwarden-$(id -u)/*/left"
_KILLED = "tmpwarden run --agent claude -- sh -c 'echo x > $TMPDIR/left; kill -9 $PPID $$'"
_AN_HOUR_LATER = "rm -f ~/.local/state/tmpwarden/last-clean"


def follow(host: Host, part: str) -> list[str]:
    """Run the steps of one part of the page as printed, on a terminal, with yes for an answer; what each said."""
    blocks = [block for block in _BLOCK.finditer(PAGE) if block["part"] == part]
    said = [
        host.run(line, user=block["user"], answer="y\n").stdout
        for block in blocks
        for line in filter(None, block["lines"].splitlines())
    ]
    assert said, f"the page has no part {part}"
    return said


def plant(host: Host, *users: str) -> None:
    """A stale marker, and the scratch of a session that was killed: both may go after a minute, which passes here."""
    for user in users:
        host.run(f"echo /work > {MARKER}; {_KILLED}; ls {SCRATCH}", user=user)
    host.run("sleep 61")  # nobody can set back a ctime
    for user in users:
        host.run(_AN_HOUR_LATER, user=user)


def litter(host: Host, user: str) -> int:
    return len(host.says(f"ls -d {MARKER} {SCRATCH} 2>/dev/null; true", user=user).split())


def fire(host: Host, *, user: str = "root") -> None:
    """Let the timer itself start the service, a second from now instead of five minutes, and wait until it is done."""
    systemctl = "systemctl" if user == "root" else "systemctl --user"
    host.write(f"{_UNITS[user]}/tmpwarden.timer.d/soon.conf", _SOON, user=user)
    before = host.says(f"{systemctl} show -p InvocationID --value tmpwarden.service", user=user)
    host.run(f"{systemctl} daemon-reload; {systemctl} restart tmpwarden.timer", user=user)
    again = f'test "$({systemctl} show -p InvocationID --value tmpwarden.service)" != "{before}"'
    over = f'test "$({systemctl} show -p ActiveState --value tmpwarden.service)" != activating'
    host.wait(f"{again} && {over}", 30, user=user)
    host.run(f"rm -r {_UNITS[user]}/tmpwarden.timer.d; {systemctl} daemon-reload", user=user)
    assert host.says(f"{systemctl} show -p Result --value tmpwarden.service", user=user) == "success"
