"""Modules out of one file: the same modules, or the ordinary ones; never old code, never somebody else's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
USE = """
import sys
sys.path[:0] = [{src!r}, {here!r}]
from tmpwarden.oskit import pack
print(pack.use({path!r}, uid={uid}), end=" ")
known = frozenset(sys.modules)
import tmpwarden.sample.inner
print(tmpwarden.sample.inner.WORD, type(tmpwarden.sample.inner.__spec__.loader).__name__)
if len(sys.argv) > 1:
    pack.make({path!r}, known)
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A tmpwarden of our own, with one package more than the real one."""
    package = tmp_path / "lib" / "tmpwarden"
    for name in ("oskit", "sample"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text("")
    for name in ("__init__.py", "oskit/pack.py", "oskit/atomic.py", "errors.py"):
        (package / name).write_text((SOURCE / "tmpwarden" / name).read_text())
    (package / "sample" / "inner.py").write_text("from .other import WORD\n")
    (package / "sample" / "other.py").write_text("WORD = 'first'\n")
    return package


def run(sample: Path, *args: str, uid: int | None = None) -> str:
    path = sample.parents[1] / "state" / "code"
    here = str(sample.parent)
    code = USE.format(src=here, here=here, path=str(path), uid=os.geteuid() if uid is None else uid)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_was_packed_is_loaded_from_the_pack(sample: Path) -> None:
    assert run(sample, "make") == "False first SourceFileLoader"
    assert run(sample) == "True first Pack"


def test_a_source_that_changed_makes_the_whole_pack_unused(sample: Path) -> None:
    run(sample, "make")
    (sample / "sample" / "other.py").write_text("WORD = 'second'\n")
    assert run(sample) == "False second SourceFileLoader"


@pytest.mark.parametrize("damage", ["cut", "empty", "other interpreter", "writable by others", "a link"])
def test_a_pack_that_is_odd_is_not_used(sample: Path, damage: str) -> None:
    run(sample, "make")
    path = sample.parents[1] / "state" / "code"
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other interpreter":
        path.write_bytes(
            data.replace(sys.implementation.cache_tag.encode(), b"x" * len(sys.implementation.cache_tag), 1)
        )
    elif damage == "writable by others":
        path.chmod(0o620)
    else:
        path.rename(path.with_name("real"))
        path.symlink_to("real")
    assert run(sample) == "False first SourceFileLoader"


def test_a_pack_of_another_user_is_not_used(sample: Path) -> None:
    run(sample, "make")
    assert run(sample, uid=os.geteuid() + 1) == "False first SourceFileLoader"
