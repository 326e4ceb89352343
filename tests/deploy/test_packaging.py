"""The GitHub Action, and one version in every file that names one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import tmpwarden
from support import planted
from support.own_machine import REPOSITORY

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs the program node")
ACTION = REPOSITORY / "deploy" / "action"
VERSIONED = {
    "pyproject.toml": r'^version = "(.+)"$',
    "src/.claude-plugin/plugin.json": r'"version": "(.+)"',
    "deploy/devcontainer/src/tmpwarden/devcontainer-feature.json": r'"version": "(.+)"',
}


@pytest.mark.parametrize("name", VERSIONED)
def test_every_file_that_names_the_version_names_the_same(name: str) -> None:
    assert re.findall(VERSIONED[name], (REPOSITORY / name).read_text(), re.M) == [tmpwarden.__version__]


def test_the_action_reads_the_inputs_that_it_declares() -> None:
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    source = "".join(path.read_text() for path in ACTION.glob("*.js"))
    assert set(re.findall(r'input\("([^"]+)"\)', source)) == set(action["inputs"])
    assert set(re.findall(r'"GITHUB_OUTPUT", `([^=]+)=', source)) == set(action["outputs"])
    assert all((REPOSITORY / action["runs"][end]).is_file() for end in ("main", "post"))


def steps(world: Path, runner: Path, **inputs: str) -> tuple[str, dict[str, str]]:
    """What main and post say as GitHub would run them around a job that leaves a dead session; what main noted."""
    files = {name: runner / name for name in ("GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")}
    env = {**os.environ, "RUNNER_TEMP": str(runner), **{name: str(path) for name, path in files.items()}}
    env |= {f"INPUT_{name.upper()}": value for name, value in {"before": "true", "after": "true", **inputs}.items()}
    said = ""
    for end in ("main", "post"):
        planted.session(world / "tmp")
        ran = subprocess.run(
            ["node", ACTION / f"{end}.js"], env=env, capture_output=True, text=True, timeout=110, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        said += ran.stdout
        env |= {f"STATE_{name}": value for name, value in noted(files["GITHUB_STATE"]).items()}
    return said, noted(files["GITHUB_OUTPUT"])


def noted(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def a_python_that_installs_nothing(runner: Path) -> Path:
    """Its venv holds a tmpwarden of this checkout, nine days ahead, where the dead sessions are old enough."""
    program = runner / "python"
    later = REPOSITORY / "tests" / "support" / "later.py"
    program.write_text(
        "#!/bin/sh\n"
        'mkdir -p "$3/bin"; printf "#!/bin/sh\\nexit 0\\n" >"$3/bin/pip"\n'
        f'printf \'#!/bin/sh\\nLATER_S={planted.DAYS} exec {sys.executable} {later} "$@"\\n\' >"$3/bin/tmpwarden"\n'
        'chmod +x "$3/bin/pip" "$3/bin/tmpwarden"\n'
    )
    program.chmod(0o755)
    return program


@needs_node
def test_the_action_cleans_before_and_after_a_job(own_world: Path, tmp_path: Path) -> None:
    said, outputs = steps(
        own_world, tmp_path, python=str(a_python_that_installs_nothing(tmp_path)), arguments="--purge"
    )
    assert re.findall(r"tmpwarden, (before|after) the job: [1-9] removed, \d+ bytes freed", said) == ["before", "after"]
    assert int(outputs["freed-bytes"]) > 0
    assert Path(outputs["tmpwarden"]).exists()
    assert not list((own_world / "tmp").glob("claude-*/*/*"))


@needs_node
def test_a_clean_that_fails_is_a_warning_and_not_the_end_of_the_job(own_world: Path, tmp_path: Path) -> None:
    said, _ = steps(own_world, tmp_path, python=str(a_python_that_installs_nothing(tmp_path)), arguments="--frobnicate")
    assert said.count("::warning title=tmpwarden::") == 2


@pytest.mark.long
@needs_node
def test_the_action_installs_itself_from_its_checkout(own_world: Path, tmp_path: Path) -> None:
    _, outputs = steps(own_world, tmp_path, python=sys.executable)
    shutil.rmtree(own_world / "tmp")
    ran = subprocess.run([outputs["tmpwarden"], "--version", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["data"]["version"] == tmpwarden.__version__
