"""docs/install-vps.md on a fresh host: every step as printed, by those whom it is for, and what it promises.

One host for the whole file, in this order: it is installed, lived with, rebooted, and taken away again.
"""

import json
import re

import pytest

from .host import Host
from .steps import fire, follow, litter, plant

pytestmark = pytest.mark.hosts
BOB = "/home/bob/.local/bin/tmpwarden"
WAYS = {
    "su-l": f"su - bob -c '{BOB} {{}}'",
    "su": f"su bob -c '{BOB} {{}}'",
    "sudo": f"sudo -u bob {BOB} {{}}",
    "cron": f"runuser -u bob -- env -i HOME=/home/bob PATH=/usr/bin:/bin {BOB} {{}}",
}
NEEDED_BY_UNDO = re.compile(r"(/home/\w+|/root)/\.local/state/tmpwarden|/var/tmp/tmpwarden-\d+")
ROOTS = "[Service]\nEnvironment=TMPWARDEN_ROOTS=/tmp:/srv/closed\n"
WORKER = """[Service]
PrivateTmp=yes
User=bob
ExecStart=/bin/sh -c 'echo /work > /tmp/claude-1a2b-cwd; exec sleep infinity'
"""


def test_every_step_of_the_page_is_followed_and_both_timers_clear_what_two_users_left(host: Host) -> None:
    follow(host, "user")
    follow(host, "root")
    assert host.says("stat -c %a /root") == "700"
    host.run("pipx install tmpwarden", user="bob")
    plant(host, "alice", "bob")
    assert [litter(host, user) for user in ("alice", "bob")] == [2, 2]
    fire(host, user="alice")
    assert [litter(host, user) for user in ("alice", "bob")] == [0, 2]
    fire(host)
    assert litter(host, "bob") == 0
    assert "bob: removed " in host.says("journalctl -u tmpwarden.service -o cat")
    assert host.is_green()


def test_looks_at_all_users_work_as_printed_and_name_each(host: Host) -> None:
    plant(host, "alice", "bob")
    said = follow(host, "looks")
    assert ["alice (uid 1000)" in each and "bob (uid 1001)" in each for each in said[:3]] == [True, True, True]
    assert [litter(host, user) for user in ("alice", "bob")] == [0, 0]


def test_the_timer_says_for_whom_and_why_it_failed_in_the_journal_and_in_status(host: Host) -> None:
    host.run("mkdir -m 750 /srv/closed; chgrp bob /srv/closed")
    host.write("/etc/systemd/system/tmpwarden.service.d/roots.conf", ROOTS)
    host.run("rm -f ~alice/.local/state/tmpwarden/last-clean; systemctl daemon-reload")
    host.run("! systemctl start tmpwarden.service")
    why = "alice: cannot clean /srv/closed: it cannot be read"
    assert why in host.says("journalctl -u tmpwarden.service -o cat")
    assert f"FAILED for {why}" in host.says("tmpwarden status")
    host.run("rm -r /etc/systemd/system/tmpwarden.service.d; systemctl daemon-reload")
    host.run("systemctl start tmpwarden.service")
    assert "FAILED" not in host.says("tmpwarden status")
    assert host.is_green()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("lingers", [False, True], ids=["no-session", "lingers"])
def test_a_timer_is_installed_where_nothing_names_the_users_systemd(host: Host, way: str, lingers: bool) -> None:
    host.run(f"loginctl {'enable' if lingers else 'disable'}-linger bob")
    host.wait(f"{'' if lingers else '! '}test -S /run/user/1001/bus", 60)
    said = host.says(way.format("install timer"))
    assert ("by systemd" in said, "loginctl enable-linger bob" in said) == (lingers, not lingers)
    assert "not active" not in host.says(way.format("doctor"))
    host.run(way.format("uninstall timer"))
    host.run("! crontab -u bob -l | grep tick.py; ! ls ~bob/.config/systemd/user/tmpwarden.timer")
    assert host.is_green()


def test_the_systems_ageing_beside_us_spares_a_live_scratch_and_what_undo_would_bring_back(host: Host) -> None:
    host.run("tmpwarden run -- sh -c 'echo x > $TMPDIR/work; exec sleep 600' >/dev/null 2>&1 &", user="alice")
    host.wait("ls /tmp/tmpwarden-1000/*/work")
    waiting = host.says("find /tmp/tmpwarden-1001/q -name left", user="bob")
    host.write("/etc/tmpfiles.d/tmp.conf", "q /tmp 1777 root root 0\n")
    host.run("touch /tmp/other; systemd-tmpfiles --clean; rm /etc/tmpfiles.d/tmp.conf")
    host.run("! test -e /tmp/other; ls /tmp/tmpwarden-1000/*/work; kill $(pgrep -u alice -x sleep)")
    assert waiting
    assert host.says("find /tmp/tmpwarden-1001/q -name left", user="bob") == waiting
    assert host.is_green()


def test_a_service_with_a_private_tmp_keeps_what_it_has(host: Host) -> None:
    inside = "/tmp/systemd-private-*-worker.service-*/tmp/claude-1a2b-cwd"
    host.write("/etc/systemd/system/worker.service", WORKER)
    host.run("systemctl daemon-reload; systemctl start worker.service")
    host.wait(f"ls {inside}")
    host.run("sleep 61; tmpwarden clean --all-users --yes")
    host.run(f"ls {inside} && systemctl is-active worker.service && systemctl stop worker.service")
    assert host.is_green()


def test_on_a_full_tmp_the_timer_still_clears_and_doctor_still_speaks(host: Host) -> None:
    plant(host, "bob")
    host.run("mount -o remount,size=2m /tmp")
    host.run("head -c 100M /dev/zero > /tmp/filler; test -s /tmp/filler", user="alice")
    assert "FAIL" in host.run("tmpwarden doctor", user="bob", check=False).stdout
    fire(host)
    assert litter(host, "bob") == 0
    host.run("rm /tmp/filler; mount -o remount,size=1g /tmp")
    assert host.is_green()


def test_after_a_reboot_both_timers_are_there_and_clear(host: Host) -> None:
    host.run("loginctl enable-linger alice")
    host.reboot()
    alices = "sudo -u alice XDG_RUNTIME_DIR=/run/user/1000 systemctl --user is-active tmpwarden.timer"
    assert (host.says("systemctl is-active tmpwarden.timer"), host.says(alices)) == ("active", "active")
    [listed] = json.loads(host.says("systemctl list-timers tmpwarden.timer -o json"))
    assert 0 < listed["next"] / 1e6 - float(host.says("date +%s")) < 8 * 60
    plant(host, "bob")
    fire(host)
    assert litter(host, "bob") == 0
    assert host.is_green()


def test_removal_as_printed_leaves_nothing_of_ours_but_what_undo_needs(host: Host) -> None:
    follow(host, "removal")
    host.run("pipx uninstall tmpwarden", user="bob")
    left = host.says(r"find / -xdev \( -path /proc -o -path /opt \) -prune -o -name '*tmpwarden*' -print").splitlines()
    assert [path for path in left if not NEEDED_BY_UNDO.match(path)] == []
    assert host.says("systemctl list-unit-files 'tmpwarden*' --no-legend; true") == ""
    assert host.is_green()
