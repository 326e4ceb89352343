"""deploy/prometheus and deploy/grafana: rules that promtool accepts and tests, links that lead somewhere."""

import importlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.own_machine import REPOSITORY
from tmpwarden.metrics.families import FAMILIES

DEPLOY = REPOSITORY / "deploy"
RULES = (DEPLOY / "prometheus" / "tmpwarden.rules.yml").read_text()
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboards" / "tmpwarden.json").read_text())
OURS = re.compile(r"(?<![\w:])tmpwarden_([a-z_]+)(?!\w*:)")
WANTED = {"FullSoon", "Inodes", "NoClean", "CleanFails", "Runaway", "Orphans", "QuarantineFull", "Silent"}
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="needs the program promtool")


def expressions() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


@needs_promtool
@pytest.mark.parametrize(("verb", "file"), [("check", "tmpwarden.rules.yml"), ("test", "tmpwarden.rules.test.yml")])
def test_promtool_is_content(verb: str, file: str) -> None:
    argv = ["promtool", verb, "rules", file]
    ran = subprocess.run(argv, cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_promtool
def test_every_query_of_the_dashboard_is_one_that_prometheus_reads(tmp_path: Path) -> None:
    plain = [query.replace("$job", ".*").replace("$instance", ".*") for query in expressions()]
    rules = [{"record": f"query:number_{number}", "expr": query} for number, query in enumerate(plain)]
    (tmp_path / "queries.json").write_text(
        json.dumps({"groups": [{"name": "queries", "rules": rules}]})
    )  # JSON is YAML
    argv = ["promtool", "check", "rules", "queries.json"]
    ran = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_alert_has_a_wait_a_severity_and_a_place_in_the_runbook() -> None:
    alerts = re.split(r"\n      - alert: ", RULES)[1:]
    runbook = (REPOSITORY / "docs" / "runbook.md").read_text()
    places = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", runbook, re.MULTILINE)}
    tests = (DEPLOY / "prometheus" / "tmpwarden.rules.test.yml").read_text()
    named = set()
    for alert in alerts:
        name = alert.split("\n")[0]
        assert re.search(r"\n        for: \d+[mhd]\n", alert), name
        assert re.search(r"severity: (critical|warning|info)\n", alert), name
        [place] = re.findall(r"runbook_url: .*#([\w-]+)'", alert)
        assert place in places, name
        assert f"alertname: {name}\n" in tests
        named.add(name.removeprefix("Tmpwarden"))
    assert named >= WANTED


@pytest.mark.parametrize("text", [RULES, "\n".join(expressions())], ids=["rules", "dashboard"])
def test_only_series_that_exist_are_asked_for(text: str) -> None:
    found = set(OURS.findall(text)) - {"runbook"}
    assert found
    assert found - FAMILIES.keys() == set()


def test_what_the_dashboard_takes_from_recording_rules_is_recorded() -> None:
    recorded = set(re.findall(r"record: (\S+)", RULES))
    wanted = {name for query in expressions() for name in re.findall(r"[a-z_]+:[a-z_]+:[a-z0-9]+", query)}
    assert wanted and wanted <= recorded


def test_the_dashboard_shows_the_fleet_and_one_host_and_no_two_panels_lie_upon_each_other() -> None:
    rows = [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] == "row"]
    assert rows == ["Fleet", "One host: $instance"]
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.fleet
def test_grafanas_own_model_reads_every_word_of_the_dashboard() -> None:
    """There is no Grafana to be had here; its makers publish the model that their builders of dashboards use."""
    importlib.import_module("grafana_foundation_sdk.cog.plugins").register_default_plugins()
    model = importlib.import_module("grafana_foundation_sdk.models.dashboard").Dashboard.from_json(DASHBOARD)
    encode = importlib.import_module("grafana_foundation_sdk.cog.encoder").JSONEncoder().encode
    assert unread(DASHBOARD, json.loads(encode(model)), "") == []
    assert {type(panel).__name__ for panel in model.panels} == {"RowPanel", "Panel"}


def unread(wanted: Any, found: Any, where: str) -> list[str]:
    """The places of what is not in `found` as `wanted` has it."""
    match wanted:
        case dict() if isinstance(found, dict):
            return [each for key, value in wanted.items() for each in unread(value, found.get(key), f"{where}.{key}")]
        case list() if isinstance(found, list) and len(found) == len(wanted):
            pairs = enumerate(zip(wanted, found, strict=True))
            return [each for number, (one, other) in pairs for each in unread(one, other, f"{where}[{number}]")]
        case _:
            return [] if wanted == found else [where]
