"""docs/fleet.md on three hosts, in this order: rolled out, looked at, cleaned, watched, one host down, taken away."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosts.host import Host
from hosts.steps import litter, plant
from support.own_machine import REPOSITORY
from tmpwarden import __version__

from .controller import Controller
from .network import Network, wait_for
from .watch import Prometheus

pytestmark = pytest.mark.fleet
POLICY = '[policy]\nlock = ["quarantine"]\n[quarantine]\nkeep = "2d"\n'
EXPORTER = """[Service]
ExecStart=/usr/local/bin/node_exporter --collector.textfile.directory=/var/lib/prometheus/node-exporter
"""
FILL = "tmpwarden run --agent claude -- sh -c 'head -c61M /dev/zero > $TMPDIR/left; kill -9 $PPID $$'; ls /tmp/*/*/left"
WHOM = {"tmpwarden_hooks_users": ["alice"], "tmpwarden_users": ["bob"], "tmpwarden_managed_settings": True}
MANAGED = "/etc/claude-code/managed-settings.json"
METRICS = "/var/lib/prometheus/node-exporter/tmpwarden.prom"


def rollout(controller: Controller, *words: str) -> dict[str, int]:
    extra = {
        **controller.pin,
        "tmpwarden_config": POLICY,
        "tmpwarden_hooks_users": ["alice"],
        "tmpwarden_users": ["bob"],
    }
    played = controller.play("rollout", "-e", json.dumps(extra), *words)
    return {name: count for name, count in played.changed.items() if name != "localhost"}


def test_check_mode_says_that_much_would_change_and_changes_nothing(
    controller: Controller, hosts: dict[str, Host]
) -> None:
    hosts["one"].run("mkdir -p ~alice/.claude; chown alice: ~alice/.claude")
    changed = rollout(controller, "--check")
    assert all(count > 5 for count in changed.values()), changed
    for host in hosts.values():
        assert host.says("ls -d /opt/tmpwarden /etc/tmpwarden /etc/systemd/system/tmpwarden.* 2>/dev/null; true") == ""


def test_a_wheel_with_another_hash_is_refused_before_any_host_is_touched(
    controller: Controller, hosts: dict[str, Host]
) -> None:
    played = controller.play("rollout", check=False, **{**controller.pin, "tmpwarden_wheel_sha256": "0" * 64})
    assert played.status != 0 and "another hash" in played.out
    for host in hosts.values():
        host.run("! test -e /opt/tmpwarden")


def test_it_is_rolled_out_and_a_second_run_changes_nothing(controller: Controller, hosts: dict[str, Host]) -> None:
    changed = rollout(controller)
    assert all(count > 5 for count in changed.values()), changed
    assert rollout(controller, "--check") == dict.fromkeys(hosts, 0)
    assert rollout(controller) == dict.fromkeys(hosts, 0)
    for host in hosts.values():
        assert host.says("tmpwarden --version").startswith("tmpwarden ")
        assert host.says("systemctl is-active tmpwarden.timer") == "active"
        assert host.says("/home/bob/.local/bin/tmpwarden --version", user="bob").startswith("tmpwarden ")
        assert host.is_green()
    assert "tmpwarden" in hosts["one"].says("cat ~alice/.claude/settings.json")
    hosts["two"].run("! grep -rs tmpwarden ~alice/.claude")


def test_managed_settings_run_our_hooks_for_a_user_who_has_none(hosts: dict[str, Host]) -> None:
    settings = json.loads(hosts["two"].says(f"cat {MANAGED}", user="bob"))
    [entry] = settings["hooks"]["SessionStart"]
    hosts["two"].write("/home/bob/hook.sh", entry["hooks"][0]["command"] + "\n", user="bob")
    payload = '{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/home/bob"}'
    said = hosts["two"].says(f"echo '{payload}' | sh ~/hook.sh", user="bob")
    assert "Temp files: use" in said


def test_the_policy_of_the_host_holds_against_a_users_own_file(hosts: dict[str, Host]) -> None:
    host = hosts["one"]
    host.run(
        "mkdir -p ~/.config/tmpwarden; printf '[quarantine]\\nkeep = \"60s\"\\n' > ~/.config/tmpwarden/config.toml",
        user="alice",
    )
    shown = json.loads(host.says("tmpwarden config show --json", user="alice"))
    assert shown["data"]["keys"]["quarantine.keep"] == {
        "value": 2 * 86400, "from": "/etc/tmpwarden/config.toml:4", "locked": True,
    }  # fmt: skip
    assert any("is locked by /etc/tmpwarden/config.toml" in warning for warning in shown["warnings"])


def test_a_tick_writes_metrics_that_a_user_can_read_and_not_write(hosts: dict[str, Host]) -> None:
    for host in hosts.values():
        host.run("systemctl start tmpwarden.service")
        text = host.says(f"cat {METRICS}", user="alice")
        assert 'tmpwarden_user_success{user="alice"} 1' in text
        for attempt in (f"echo x >> {METRICS}", f"touch {Path(METRICS).parent}/mine.prom", f"rm -f {METRICS}"):
            assert host.run(f"sh -c '{attempt}'", user="alice", check=False).returncode != 0


def test_litter_on_every_host_is_one_table_and_one_page_and_is_cleaned_after_a_yes(
    controller: Controller, hosts: dict[str, Host], tmp_path: Path
) -> None:
    for host in hosts.values():
        plant(host, "alice", "bob")
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
    cleaned = controller.play("clean", tmpwarden_yes="true")
    assert [litter(host, user) for host in hosts.values() for user in ("alice", "bob")] == [0] * 6
    assert all(cleaned.changed[name] == 1 for name in hosts)


@pytest.fixture(scope="module")
def prometheus(
    hosts: dict[str, Host], network: Network, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """node_exporter on every host, reading the directory that the role has made."""
    for host in hosts.values():
        shutil.copy(shutil.which("prometheus-node-exporter") or "", host.tree / "usr/local/bin/node_exporter")
        host.write("/etc/systemd/system/node_exporter.service", EXPORTER)
        host.run("systemctl daemon-reload; systemctl start node_exporter")
    targets = [f"{network.addresses[host.name]}:9100" for host in hosts.values()]
    with Prometheus(tmp_path_factory.mktemp("prometheus"), network, targets) as watching:
        yield watching


def test_prometheus_reads_every_host_through_node_exporter(prometheus: Prometheus, hosts: dict[str, Host]) -> None:
    wait_for("three hosts tell", 60, lambda: prometheus.value("count(tmpwarden_build_info)") == 3)
    assert prometheus.value("sum(node_textfile_scrape_error)") == 0
    assert prometheus.value('count(tmpwarden_user_success{user="alice"} == 1)') == 3
    assert prometheus.value('count(node_textfile_mtime_seconds{file=~".*tmpwarden.prom"})') == 3
    text = (hosts["one"].tree / METRICS.lstrip("/")).read_text()
    ran = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def test_an_alert_fires_when_a_root_is_filled_and_resolves_after_a_clean(
    prometheus: Prometheus, hosts: dict[str, Host], controller: Controller, network: Network
) -> None:
    host = hosts["three"]
    alert = ("TmpwardenNearlyFull", f"{network.addresses[host.name]}:9100")
    assert alert not in prometheus.firing()
    host.run("mount -o remount,size=64m /tmp")
    host.run(FILL, user="alice")
    host.run("systemctl start tmpwarden.service")
    wait_for("the alert fires", 60, lambda: alert in prometheus.firing())
    assert {instance for name, instance in prometheus.firing() if name == alert[0]} == {alert[1]}
    host.run("sleep 61")  # a session that was killed may be cleared after a minute; nobody can set back a ctime
    controller.play("clean", tmpwarden_yes="true")
    host.run("systemctl start tmpwarden.service")
    wait_for("the alert resolves", 60, lambda: alert not in prometheus.firing())
    host.run("mount -o remount,size=1g /tmp")


def test_a_host_that_is_down_is_told_and_does_not_stop_the_rest(
    controller: Controller, hosts: dict[str, Host], network: Network
) -> None:
    plant(hosts["one"], "alice")
    network.set_wire(hosts["two"], "down")
    try:
        played = controller.play("report", check=False, tmpwarden_report_dir=str(controller.home / "down"))
        table = (controller.home / "down" / "table.txt").read_text()
        cleaned = controller.play("clean", check=False, tmpwarden_yes="true")
        doctored = controller.play("doctor", check=False)
        extra = {**controller.pin, "tmpwarden_config": POLICY, "tmpwarden_serial": [1, 1, 1]}
        rolled = controller.play("rollout", "-e", json.dumps(extra), check=False)
    finally:
        network.set_wire(hosts["two"], "up")
    for each in (played, cleaned, doctored, rolled):
        assert each.status != 0 and "could not be reached: two" in each.out, each.out[-3000:]
    assert ["two", "-", "-", "-", "could", "not", "be", "reached"] in [line.split() for line in table.splitlines()]
    assert litter(hosts["one"], "alice") == 0
    assert (rolled.failed["one"], rolled.failed["three"]) == (0, 0)


def test_it_is_taken_away_again_and_nothing_of_it_stays(controller: Controller, hosts: dict[str, Host]) -> None:
    would = controller.play("remove", "--check", "-e", json.dumps(WHOM))
    assert all(would.changed[name] > 3 for name in hosts)
    controller.play("remove", "-e", json.dumps(WHOM))
    again = controller.play("remove", "-e", json.dumps(WHOM))
    assert {name: again.changed[name] for name in hosts} == dict.fromkeys(hosts, 0)
    for host in hosts.values():
        places = f"{METRICS} {MANAGED} /etc/tmpwarden /opt/tmpwarden /usr/local/bin/tmpwarden /usr/local/lib/tmpwarden"
        units = "/etc/systemd/system/tmpwarden.* /etc/tmpfiles.d/tmpwarden.conf"
        assert host.says(f"ls -d {places} {units} 2>/dev/null; true") == ""
        assert host.is_green()
    hosts["one"].run("! grep -rs tmpwarden ~alice/.claude")


def test_one_user_is_served_from_a_mirror(controller: Controller, hosts: dict[str, Host], network: Network) -> None:
    index = controller.home / "index"
    for wheel in controller.wheels.glob("*.whl"):
        place = index / "simple" / wheel.name.split("-")[0].lower().replace("_", "-")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, place)
    host = hosts["three"]
    host.write("/etc/pip.conf", f"[global]\ntrusted-host = {network.GATEWAY}\n")
    serving = subprocess.Popen(
        network.inside([sys.executable, "-m", "http.server", "8080", "--bind", network.GATEWAY, "-d", str(index)]),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        mirror = {"tmpwarden_index_url": f"http://{network.GATEWAY}:8080/simple", "tmpwarden_version": __version__}
        extra = {**mirror, "tmpwarden_whole_host": False, "tmpwarden_users": ["alice"]}
        controller.play("rollout", "--limit", "three", "-e", json.dumps(extra))
        again = controller.play("rollout", "--limit", "three", "-e", json.dumps(extra))
    finally:
        serving.kill()
        serving.wait()
    assert host.says("/home/alice/.local/bin/tmpwarden --version", user="alice") == f"tmpwarden {__version__}"
    assert again.changed["three"] == 0
    host.run("! test -e /opt/tmpwarden")


def test_the_feature_of_dev_containers_installs_the_wheel_beside_it(
    controller: Controller, hosts: dict[str, Host]
) -> None:
    host = hosts["two"]
    shutil.copytree(REPOSITORY / "deploy" / "devcontainer" / "src" / "tmpwarden", host.tree / "opt/feature")
    host.run("! sh /opt/feature/install.sh")  # there is no wheel yet, and no index is asked
    shutil.copytree(controller.wheels, host.tree / "opt/feature", dirs_exist_ok=True)
    host.run("PIP_NO_INDEX=1 PIP_FIND_LINKS=/opt/feature HOOKS=true sh /opt/feature/install.sh")
    host.run("/usr/local/share/tmpwarden/post-create", user="alice")
    assert host.says("tmpwarden --version", user="alice") == f"tmpwarden {__version__}"
