"""A fleet under real eyes: node_exporter on every host, one Prometheus with our rules, every panel of the dashboard."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from hosts.host import Host
from support.own_machine import REPOSITORY

from .controller import Controller
from .network import Network, wait_for
from .rolling import RolledOut, note, wait_a_minute
from .test_fleet import METRICS
from .watch import Prometheus

pytestmark = pytest.mark.fleet
DASHBOARD = json.loads((REPOSITORY / "deploy" / "grafana" / "dashboards" / "tmpwarden.json").read_text())
NONE_IF_ALL_IS_WELL = {"Full soonest", "Failures in 6 h", "Doctor"}
EXPORTER = """[Service]
ExecStart=/usr/local/bin/node_exporter --collector.textfile.directory=/var/lib/prometheus/node-exporter
"""
# Markers of calls, a page each: they go for good after a minute, also in a container, where doubt keeps trees for undo.
FILL = """python3 -c 'for n in range(4096, 19396): open(f"/tmp/claude-{n:04x}-cwd", "w").write("/home/alice\\n")'"""


@pytest.fixture(scope="module")
def prometheus(
    rolled_out: RolledOut, hosts: dict[str, Host], network: Network, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """node_exporter on every host, reading the directory that the role has made."""
    for host in hosts.values():
        shutil.copy(shutil.which("prometheus-node-exporter") or "", host.tree / "usr/local/bin/node_exporter")
        host.write("/etc/systemd/system/node_exporter.service", EXPORTER)
        host.run("systemctl start tmpwarden.service; systemctl daemon-reload; systemctl start node_exporter")
    targets = [f"{network.addresses[host.name]}:9100" for host in hosts.values()]
    with Prometheus(tmp_path_factory.mktemp("prometheus"), network, targets) as watching:
        yield watching


def test_prometheus_reads_every_host_through_node_exporter(prometheus: Prometheus, hosts: dict[str, Host]) -> None:
    wait_for("three hosts tell", 240, lambda: prometheus.value("count(tmpwarden_build_info)") == 3)
    assert prometheus.value("sum(node_textfile_scrape_error)") == 0
    assert prometheus.value('count(tmpwarden_user_success{user="alice"} == 1)') == 3
    assert prometheus.value('count(node_textfile_mtime_seconds{file=~".*tmpwarden.prom"})') == 3
    text = (hosts["one"].tree / METRICS.lstrip("/")).read_text()
    ran = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


@pytest.fixture
def crowded(hosts: dict[str, Host]) -> Iterator[Host]:
    """A host with a small /tmp; whoever comes after it has room again, however it went."""
    host = hosts["three"]
    host.run("mount -o remount,size=64m /tmp")
    yield host
    host.run("mount -o remount,size=1g /tmp")


def test_an_alert_fires_when_a_root_is_filled_and_resolves_after_a_clean_and_every_panel_has_data(
    prometheus: Prometheus, crowded: Host, controller: Controller, network: Network
) -> None:
    host = crowded
    alert = ("TmpwardenNearlyFull", f"{network.addresses[host.name]}:9100")
    assert alert not in prometheus.firing()
    host.run(FILL, user="alice")
    note(host)
    host.run("systemctl start tmpwarden.service")
    wait_for("the alert fires", 240, lambda: alert in prometheus.firing())
    assert {instance for name, instance in prometheus.firing() if name == alert[0]} == {alert[1]}
    wait_for("every panel has data", 240, lambda: empty(prometheus) <= NONE_IF_ALL_IS_WELL)
    wait_a_minute(host)
    controller.play("clean", tmpwarden_yes=True, tmpwarden_hosts="three")
    host.run("systemctl start tmpwarden.service")
    wait_for("the alert resolves", 240, lambda: alert not in prometheus.firing())


def empty(prometheus: Prometheus) -> set[str]:
    return {title for title, queries in panels() if not any(prometheus.rows(query) for query in queries)}


def panels() -> Iterator[tuple[str, list[str]]]:
    """(title, queries as Grafana asks them with every host chosen)"""
    for panel in DASHBOARD["panels"]:
        queries = [re.sub(r"\$(job|instance)", ".*", target["expr"]) for target in panel.get("targets", ())]
        if queries:
            yield panel["title"], queries


def test_what_the_dashboard_lets_one_choose_from_is_there(prometheus: Prometheus) -> None:
    jobs = prometheus.ask("label/job/values?match[]=tmpwarden_build_info")
    hosts = prometheus.ask("label/instance/values?match[]=tmpwarden_build_info")
    assert (jobs, len(hosts)) == (["node"], 3)
