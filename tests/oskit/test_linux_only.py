"""The tests that a Mac leaves out are those that need Linux: a part of the suite runs in a simulated Mac."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support import linux_only
from support.bases import remove
from support.mac_world import mac_world
from support.mounts import needs_root

TESTS = Path(__file__).parents[1]
LISTED = [(test, row["why"]) for row in linux_only.rows() for test in row["tests"]]
SOMEBODY = 4242  # an ordinary user without an account, as the user of a CI machine is no root
PIECE = TESTS / "guard"  # the largest part; the others are left to CI on Macs
SHORT = "not long and not clients and not hosts and not fleet and not browser and not journey"


def test_each_is_listed_once_and_with_a_reason() -> None:
    names = [test for test, _ in LISTED]
    assert sorted(names) == sorted(set(names))
    assert all(why for _, why in LISTED)


@pytest.mark.parametrize("test", sorted(test for test, _ in LISTED))
def test_what_is_listed_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert not name or name.partition("[")[0] in functions


@needs_root
@pytest.mark.long
def test_in_a_simulated_mac_what_is_listed_fails_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "mac"
    place.mkdir()
    tmp_path.chmod(0o755)
    for above in tmp_path.parents[:3]:
        above.chmod(above.stat().st_mode | 0o011)
    with mac_world(place, tells=True) as world:
        env = {name: value for name, value in world.env.items() if not name.startswith(("XDG_", "TMPWARDEN_"))}
        env |= {
            "CI": "true",
            "HOME": "/nonexistent",
            linux_only.TRIED: "yes",
            "GIT_CONFIG_COUNT": "1",  # the clone is another user's
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        who = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups"]
        pytest_ = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "--dist", "worksteal", "-q"]
        words = [*who, "sh", "-c", 'cd "$0" && exec "$@"', str(TESTS.parent), *pytest_]
        words += ["--timeout=60", "--tb=line", "-m", SHORT, str(PIECE)]
        done = subprocess.run(world.words(*words), env=env, capture_output=True, text=True, check=False)
    remove(place)
    assert done.returncode == 0, done.stdout[-8000:]
