"""docs/fleet.md on three hosts: rolled out by the real ansible-playbook, lived with, reported, cleaned."""

import json
from pathlib import Path

import pytest

from hosts.host import Host
from hosts.steps import litter
from tmpwarden import __version__

from .controller import Controller, Played
from .rolling import RolledOut, wait_a_minute

pytestmark = pytest.mark.fleet
MANAGED = "/etc/claude-code/managed-settings.json"
METRICS = "/var/lib/prometheus/node-exporter/tmpwarden.prom"
STRANGE = 'we"ird'


def changed(played: Played) -> dict[str, int]:
    return {name: count for name, count in played.changed.items() if name != "localhost"}


def test_check_mode_says_that_much_would_change_and_changes_nothing(rolled_out: RolledOut) -> None:
    assert all(count > 5 for count in changed(rolled_out.would).values()), rolled_out.would.out[-3000:]
    assert set(rolled_out.before.values()) == {""}


def test_a_wheel_with_another_hash_is_refused_before_a_host_is_touched(rolled_out: RolledOut) -> None:
    assert rolled_out.wrong_hash.status != 0 and "another hash" in rolled_out.wrong_hash.out
    assert rolled_out.before["one"] == ""


def test_a_link_in_a_home_leads_roots_hand_nowhere_and_the_next_run_finishes(rolled_out: RolledOut) -> None:
    assert rolled_out.hostile.failed["three"] == 1
    assert rolled_out.target_of_the_link == "root 755"
    assert rolled_out.done.failed["three"] == 0


def test_it_is_rolled_out_in_batches_and_a_second_run_changes_nothing(
    rolled_out: RolledOut, hosts: dict[str, Host]
) -> None:
    assert rolled_out.done.out.count("PLAY [Roll tmpwarden out]") == 2
    assert all(count > 3 for count in changed(rolled_out.done).values())
    assert changed(rolled_out.would_again) == changed(rolled_out.again) == dict.fromkeys(hosts, 0)
    for host in hosts.values():
        assert host.says("tmpwarden --version") == f"tmpwarden {__version__}"
        assert host.says("systemctl is-active tmpwarden.timer") == "active"
        assert host.says("/home/bob/.local/bin/tmpwarden --version", user="bob") == f"tmpwarden {__version__}"
        assert host.is_green()
    assert "tmpwarden" in hosts["one"].says("cat ~alice/.claude/settings.json")
    hosts["two"].run("! grep -rs tmpwarden ~alice/.claude")


def test_managed_settings_run_our_hooks_for_a_user_who_came_last(rolled_out: RolledOut, hosts: dict[str, Host]) -> None:
    host = hosts["two"]
    host.run("useradd -m carol")
    settings = json.loads(host.says(f"runuser -u carol -- cat {MANAGED}"))
    [entry] = settings["hooks"]["SessionStart"]
    host.write("/srv/hook.sh", entry["hooks"][0]["command"] + "\n")
    payload = '{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/home/carol"}'
    said = host.says(f"cd /home/carol; echo '{payload}' | runuser -u carol -- env HOME=/home/carol sh /srv/hook.sh")
    assert "Temp files: use" in said


def test_the_policy_of_the_host_holds_against_a_users_own_file(rolled_out: RolledOut, hosts: dict[str, Host]) -> None:
    host = hosts["one"]
    host.write("/home/alice/.config/tmpwarden/config.toml", '[quarantine]\nkeep = "60s"\n', user="alice")
    shown = json.loads(host.says("tmpwarden config show --json", user="alice"))
    assert shown["data"]["keys"]["quarantine.keep"] == {
        "value": 2 * 86400, "from": "/etc/tmpwarden/config.toml:4", "locked": True,
    }  # fmt: skip
    assert any("is locked by /etc/tmpwarden/config.toml" in warning for warning in shown["warnings"])


def test_litter_on_every_host_is_one_table_and_one_page_and_is_cleaned_after_a_yes(
    rolled_out: RolledOut, controller: Controller, hosts: dict[str, Host]
) -> None:
    wait_a_minute(*hosts.values())
    out = controller.home / "report"
    played = controller.play("report", tmpwarden_report_dir=str(out))
    rows = [line.split() for line in (out / "table.txt").read_text().splitlines()]
    assert {(row[0], row[1]) for row in rows} >= {(name, user) for name in hosts for user in ("alice", "bob")}
    assert all(int(row[2]) >= 2 for row in rows if row[1] in ("alice", "bob"))
    assert "HOST" in played.out
    page = (out / "fleet.html").read_text()
    assert "one:/tmp" in page and "three:/tmp" in page
    unanswered = controller.play("clean")
    assert "Nothing was removed." in unanswered.out
    assert [litter(host, user) for host in hosts.values() for user in ("alice", "bob")] == [2] * 6
    cleaned = controller.play("clean", tmpwarden_yes=True)
    assert [litter(host, user) for host in hosts.values() for user in ("alice", "bob")] == [0] * 6
    assert changed(cleaned) == dict.fromkeys(hosts, 1)


def test_a_tick_writes_metrics_that_a_user_can_read_and_not_write(
    rolled_out: RolledOut, hosts: dict[str, Host]
) -> None:
    hosts["one"].run(f"useradd --badname -m '{STRANGE}'; install -d -o '{STRANGE}' /tmp/claude-$(id -u '{STRANGE}')")
    for host in hosts.values():
        host.run("systemctl start tmpwarden.service")
        text = host.says(f"cat {METRICS}", user="alice")
        assert 'tmpwarden_user_success{user="alice"} 1' in text
        for attempt in (f"echo x >> {METRICS}", f"touch {Path(METRICS).parent}/mine.prom", f"rm -f {METRICS}"):
            assert host.run(f"sh -c '{attempt}'", user="alice", check=False).returncode != 0
    assert 'tmpwarden_user_success{user="we\\"ird"} 1' in hosts["one"].says(f"cat {METRICS}")
