"""docs/containers.md as printed: in a pid namespace, which is what a container is to the processes in it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import hiding, holding, planted
from support.mounts import needs_root
from support.own_machine import REPOSITORY
from support.user import OrdinaryUser
from support.users import OPEN
from support.wrapped import in_quarantine

PAGE = (REPOSITORY / "docs" / "containers.md").read_text()
KUBERNETES = REPOSITORY / "deploy" / "kubernetes"
FEATURE = REPOSITORY / "deploy" / "devcontainer" / "src" / "tmpwarden"
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
LATER = str(REPOSITORY / "tests" / "support" / "later.py")


def ours(argv: list[str]) -> list[str]:
    assert argv[0] == "tmpwarden"
    return [sys.executable, "-m", *argv]


def ran(argv: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, **options)


@needs_root
def test_the_entrypoint_runs_its_command_with_a_temp_directory_and_hands_back_its_status(own_world: Path) -> None:
    [entry] = [json.loads(words) for words in re.findall(r"^ENTRYPOINT (.*)$", PAGE, re.MULTILINE)]
    done = ran([*CONTAINER, *ours(entry), "sh", "-c", 'echo $PPID; test -d "$TMPDIR" && echo x >"$TMPDIR/x"; exit 5'])
    assert (done.returncode, done.stdout, done.stderr) == (5, "1\n", "")
    assert not list((own_world / "tmp").glob("tmpwarden-*/[0-9a-f]*"))


def test_the_steps_of_a_ci_job_leave_nothing_behind(own_world: Path) -> None:
    [block] = re.findall(r"<!-- recipe: ci -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    planted.marker(own_world / "tmp")
    work, tidy = (ours(shlex.split(line)) for line in re.findall(r"^  run: (.*)$", block, re.MULTILINE))
    done = ran(work)
    assert done.returncode == 0, done.stderr
    assert not os.path.exists(done.stdout.strip())
    tidy[1:3] = [LATER]
    assert ran(tidy, env={**os.environ, "LATER_S": str(planted.DAYS)}).returncode == 0
    assert not list((own_world / "tmp").glob("claude-*"))


@needs_root
def test_the_daemonset_takes_what_the_kernel_says_nobody_has_open_and_nothing_else(ordinary_user: OrdinaryUser) -> None:
    """The holder is a process of another pod: outside the pid namespace, so /proc does not tell of it."""
    [loop] = re.findall(
        r'args: \["while :; do (tmpwarden clean .*?); sleep', (KUBERNETES / "daemonset.yaml").read_text()
    )
    uid = os.stat(ordinary_user.tmp).st_uid
    units = [planted.session(ordinary_user.tmp, 9000, uid=uid) for _ in range(2)]
    for path in ordinary_user.tmp.rglob("*"):
        os.chown(path, uid, uid)
    held, free = units
    words = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", ordinary_user.python, "-c", hiding.LATER]
    env = {**ordinary_user.env, "XDG_STATE_HOME": str(ordinary_user.home)}
    with holding.process(OPEN, str(held / "tasks" / "b1234abcd.output")):
        done = ran([*CONTAINER, *words, *shlex.split(loop)[1:]], env=env, cwd="/")
        assert done.returncode == 0, done.stderr
        assert (held.exists(), free.exists()) == (True, False)
    assert [path.suffix for path in in_quarantine(ordinary_user.tmp)] == [".k"]


def test_the_pod_has_a_limit_a_first_process_of_ours_and_a_teardown() -> None:
    pod = (KUBERNETES / "agent-pod.yaml").read_text()
    assert re.search(r"emptyDir:\n\s+sizeLimit: \w+", pod)
    entry, stop = (json.loads(words) for words in re.findall(r"command: (\[.*\])", pod))
    assert entry[:2] == ["tmpwarden", "run"]
    assert ran(ours(stop)).returncode == 0  # twice, or of nothing: a pod that ends must not be kept by it


def test_the_feature_is_what_the_specification_of_features_asks_for() -> None:
    feature = json.loads((FEATURE / "devcontainer-feature.json").read_text())
    assert feature["id"] == FEATURE.name and re.fullmatch(r"\d+\.\d+\.\d+", feature["version"])
    for name, option in feature["options"].items():
        assert isinstance(option["default"], {"string": str, "boolean": bool}[option["type"]]), name
        assert f"${{{name.upper()}:-" in (FEATURE / "install.sh").read_text()


@pytest.mark.fleet
@pytest.mark.parametrize("manifest", sorted(KUBERNETES.glob("*.yaml")), ids=lambda path: path.name)
def test_the_manifests_are_valid_by_the_published_schemas(manifest: Path) -> None:
    done = ran([str(Path(sys.executable).parent / "kubernetes-validate"), "--strict", str(manifest)])
    assert done.returncode == 0, done.stdout + done.stderr
