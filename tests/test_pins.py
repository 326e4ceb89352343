"""What development and CI install has one version each, written down; and an option of a feature is no code."""

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "tools" / "constraints.txt").read_text().lower(), re.M))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ASKED = (*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"])


BY_HAND = ("playwright", "ansible-core")  # what only a person's runs need (docs/journeys.md)


def plain(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement)[0].lower().replace("_", "-")


def needed() -> set[str]:
    """What was asked for and all that those need, as far as it is installed here."""
    found: set[str] = set()
    waiting = [plain(each) for each in ASKED]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            requires = distribution(name).requires or []
        except PackageNotFoundError:  # for other systems, or for older Pythons
            continue
        found.add(name)
        waiting += [plain(each) for each in requires if "extra ==" not in each]
    return found


def test_every_dependency_of_development_has_one_version() -> None:
    known = {name.replace("_", "-") for name in PINS}
    assert needed() - known == set()
    for requirement in ASKED:
        assert plain(requirement) in known, requirement


def test_nothing_is_installed_without_them() -> None:
    for path in (ROOT / "Makefile", *(ROOT / ".github" / "workflows").iterdir()):
        for line in path.read_text().splitlines():
            if "pip install" in line and not any(name in line for name in BY_HAND):
                assert re.search(r"-c (\$\(PINS\)|tools/constraints\.txt)", line), f"{path.name}: {line.strip()}"


@pytest.mark.parametrize("said", ['true"; touch ran; "', "$(touch ran)", "yes", "true\ntouch ran"])
def test_an_option_of_the_devcontainer_feature_is_no_code(tmp_path: Path, said: str) -> None:
    script = ROOT / "deploy" / "devcontainer" / "src" / "tmpwarden" / "install.sh"
    env = {"PATH": "/usr/bin:/bin", "HOOKS": said, "SOURCE": "nothing"}
    done = subprocess.run(["sh", str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "tmpwarden: the option hooks is true or false\n")
    assert list(tmp_path.rglob("ran")) == []
