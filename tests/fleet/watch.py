"""A real Prometheus in the network of the hosts: our rules in it, their waits shortened, asked by its own API."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from support.own_machine import REPOSITORY

from .network import Network, wait_for

RULES = REPOSITORY / "deploy" / "prometheus" / "tmpwarden.rules.yml"
_ADDRESS = "127.0.0.1:9090"  # of the namespace, not of this machine
_ASK = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=10).read().decode())"


class Prometheus:
    def __init__(self, directory: Path, network: Network, targets: list[str], *, scrape: str = "3s") -> None:
        self._directory, self._network = directory, network
        rules = re.sub(r"\n        for: \w+\n", "\n        for: 2s\n", RULES.read_text())
        (directory / "rules.yml").write_text(rules)
        config = {
            "global": {"scrape_interval": scrape, "scrape_timeout": scrape, "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": targets}]}],
        }
        (directory / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML

    def __enter__(self) -> "Prometheus":
        argv = ["prometheus", f"--config.file={self._directory}/prometheus.yml", f"--web.listen-address={_ADDRESS}"]
        argv += [f"--storage.tsdb.path={self._directory}/data", "--web.enable-admin-api"]
        with (self._directory / "log").open("wb") as log:
            self.process = subprocess.Popen(self._network.inside(argv), stdout=log, stderr=log)
        wait_for("Prometheus is ready", 60, self._is_ready)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, (self._directory / "log").read_text()[-2000:]
        argv = [sys.executable, "-c", _ASK, f"http://{_ADDRESS}/-/ready"]
        return subprocess.run(self._network.inside(argv), capture_output=True, check=False).returncode == 0

    def ask(self, path: str) -> Any:
        said = self._network.run([sys.executable, "-c", _ASK, f"http://{_ADDRESS}/api/v1/{path}"])
        return json.loads(said.stdout)["data"]

    def own(self, name: str) -> float:
        """A series of its own."""
        said = self._network.run([sys.executable, "-c", _ASK, f"http://{_ADDRESS}/metrics"]).stdout
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", said, re.MULTILINE))

    def snapshot(self) -> str:
        """The name of a copy of all that it holds, as it would lie on disk."""
        post = _ASK.replace("r.urlopen(sys.argv[1],", "r.urlopen(r.Request(sys.argv[1], method='POST'),")
        argv = [sys.executable, "-c", post, f"http://{_ADDRESS}/api/v1/admin/tsdb/snapshot"]
        return str(json.loads(self._network.run(argv).stdout)["data"]["name"])

    def value(self, query: str) -> float | None:
        """Of a query that has one answer, or none."""
        found = self.ask(f"query?query={quote(query)}")["result"]
        return float(found[0]["value"][1]) if found else None

    def rows(self, query: str) -> list[Any]:
        """All that it answers."""
        found: list[Any] = self.ask(f"query?query={quote(query)}")["result"]
        return found

    def firing(self) -> set[tuple[str, str]]:
        """(alert, instance)"""
        alerts = [alert for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"]
        return {(alert["labels"]["alertname"], alert["labels"]["instance"]) for alert in alerts}
