"""What a fleet costs: 200 simulated hosts' textfiles scraped by one real Prometheus; the figures of docs/fleet.md."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import planted
from support.command import data
from tmpwarden.cli.main import main

from .network import Network, wait_for
from .watch import Prometheus

pytestmark = pytest.mark.fleet
HOSTS, USERS, MOST_SERIES_OF_A_USER = 200, 5, 140


def textfile_of_a_host(own_world: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What one user's look really says, told for several."""
    planted.session(own_world / "tmp", 70_000)
    planted.staging(own_world / "tmp")
    data("clean", "--yes", later_s=planted.DAYS)
    planted.session(own_world / "tmp", 70_000)
    (own_world / "home" / ".claude").mkdir()
    capsys.readouterr()
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = []
    for line in lines:
        names = [f"user{number}" for number in range(USERS)] if 'user="' in line else [""]
        told += [re.sub(r'user="\w+"', f'user="{name}"', line) for name in names]
    return "\n".join(told) + "\n"


def test_two_hundred_hosts_are_nothing_to_one_prometheus(
    own_world: Path, tmp_path: Path, network: Network, capsys: pytest.CaptureFixture[str]
) -> None:
    text = textfile_of_a_host(own_world, capsys)
    series = sum(not line.startswith("#") for line in text.splitlines())
    assert series <= USERS * MOST_SERIES_OF_A_USER + 40
    files = tmp_path / "files"
    files.mkdir()
    for number in range(HOSTS):
        (files / f"{number}.prom").write_text(text)
    server = [sys.executable, str(Path(__file__).with_name("simulated.py")), "9101", str(files)]
    serving = subprocess.Popen(network.inside(server))
    try:
        with Prometheus(tmp_path, network, [], scrape="5s") as prometheus:
            rewire(tmp_path, prometheus)
            wait_for("all hosts are seen", 120, lambda: prometheus.value("count(tmpwarden_build_info)") == HOSTS)
            wait_for("a while", 180, lambda: appended(prometheus) >= HOSTS * series * 12)
            figures = measured(prometheus, tmp_path, network)
    finally:
        serving.kill()
        serving.wait()
    figures |= {"hosts": HOSTS, "users": USERS, "series_of_a_host": series, "file_bytes": len(text)}
    with capsys.disabled():
        print(json.dumps(figures))
    assert HOSTS * series <= figures["head_series"] <= HOSTS * (series + 40)


def rewire(directory: Path, prometheus: Prometheus) -> None:
    """One port, a path for each host."""
    config = json.loads((directory / "prometheus.yml").read_text())
    config["scrape_configs"][0]["static_configs"] = [
        {"targets": ["127.0.0.1:9101"], "labels": {"instance": f"host{number}", "__metrics_path__": f"/{number}"}}
        for number in range(HOSTS)
    ]
    (directory / "prometheus.yml").write_text(json.dumps(config))
    prometheus.process.send_signal(1)  # SIGHUP: read it again


def appended(prometheus: Prometheus) -> float:
    return prometheus.own("prometheus_tsdb_head_samples_appended_total")


def measured(prometheus: Prometheus, directory: Path, network: Network) -> dict[str, float]:
    before = appended(prometheus)
    snapshot = prometheus.snapshot()
    sizes = [path.stat().st_size for path in (directory / "data" / "snapshots" / snapshot).rglob("*") if path.is_file()]
    status = Path(f"/proc/{prometheus.process.pid}/status").read_text()
    return {
        "head_series": prometheus.own("prometheus_tsdb_head_series"),
        "samples": before,
        "bytes_per_sample": round(sum(sizes) / before, 3),
        "resident_mb": round(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024, 1),
        "cpu_s": prometheus.own("process_cpu_seconds_total"),
        "rules_s": prometheus.own("prometheus_rule_group_last_duration_seconds"),
    }
