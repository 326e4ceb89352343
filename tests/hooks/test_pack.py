"""Modules out of one file: the same modules, or the ordinary ones; never old code, never somebody else's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN, hook

SOURCE = Path(__file__).parents[2] / "src"
USE = """
import posix, sys
sys.path.insert(0, {here!r})
from tmpwarden import pack
loaded = frozenset(sys.modules)
posix.geteuid = lambda: {uid}
print(pack.use({path!r}), end=" ")
import tmpwarden.sample.inner
print(tmpwarden.sample.inner.WORD, "file" if tmpwarden.sample.inner.__spec__ else "pack")
from tmpwarden import sample
from tmpwarden.sample import later
assert sample.inner is sys.modules["tmpwarden.sample.inner"] and later.NAME == "later"
told = [f() for f in sample.other.each()] if hasattr(sample.other, "each") else []
assert told in ([], [("a", 2, 3), ("m", 4), ("c", "Kind"), "s", "p", [0, 1], ("w", 1)]), told
assert told == ([] if len(told) == 0 else [f() for f in sample.other.each()])
if len(sys.argv) > 1:
    from tmpwarden.hooks import packing
    packing.make({path!r}, ("tmpwarden.sample.inner",), loaded, frozenset())
"""


FUNCTIONS = """
def wrapped(function):
    return lambda: function(1)
def plain(one, two=2, *, three=3):
    return one, two, three
@wrapped
def odd(one):
    return "w", one
def numbers(most):
    for counted in range(most):
        yield counted
class Kind:
    def method(self, one):
        return "m", one
    @classmethod
    def of(cls):
        return "c", cls.__name__
    @staticmethod
    def still():
        return "s"
    @property
    def word(self):
        return "p"
def each():
    kind = Kind()
    return [lambda: plain("a"), lambda: kind.method(4), Kind.of, Kind.still, lambda: kind.word,
            lambda: list(numbers(2)), odd]
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A tmpwarden of our own, with one package more than the real one."""
    package = tmp_path / "lib" / "tmpwarden"
    for name in ("hooks", "oskit", "oskit/files", "sample"):
        (package / name).mkdir(parents=True, exist_ok=True)
        (package / name / "__init__.py").write_text("")
    for name in (
        "__init__.py",
        "headstart.py",
        "pack.py",
        "hooks/packing.py",
        "hooks/slim_code.py",
        "oskit/files/atomic.py",
        "oskit/files/own_dirs.py",
        "oskit/race.py",
        "errors.py",
        "stamped.py",
    ):
        (package / name).write_text((SOURCE / "tmpwarden" / name).read_text())
    sources = {
        "__init__": "from . import other\n",
        "inner": "from __future__ import annotations\nimport posix\nfrom .other import WORD\nn: memoryview = [WORD]\n",
        "other": "WORD = 'first'\ndef use(one: memoryview, *, two: memoryview = None) -> memoryview: ...\n" + FUNCTIONS,
        "later": "NAME = 'later'\n",  # imported by nobody that is packed
    }
    for name, text in sources.items():
        (package / "sample" / f"{name}.py").write_text(text)
    return package


def run(sample: Path, *args: str, uid: int | None = None) -> str:
    path = sample.parents[1] / "state" / "code"
    code = USE.format(here=str(sample.parent), path=str(path), uid=os.geteuid() if uid is None else uid)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_was_packed_is_loaded_from_the_pack(sample: Path) -> None:
    assert run(sample, "make") == "False first file"
    assert run(sample) == "True first pack"


def test_a_source_that_changed_makes_the_whole_pack_unused(sample: Path) -> None:
    run(sample, "make")
    (sample / "sample" / "other.py").write_text("WORD = 'second'\n")
    assert run(sample) == "False second file"


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
    assert run(sample) == "False first file"


def test_a_pack_of_another_user_is_not_used(sample: Path) -> None:
    run(sample, "make")
    assert run(sample, uid=os.geteuid() + 1) == "False first file"


def test_a_module_that_fails_out_of_the_pack_is_loaded_from_its_file(sample: Path) -> None:
    """Its source may depend on more than the stamps see, a missing library say."""
    other = sample / "sample" / "other.py"
    other.write_text("import sys\nif len(sys.argv) == 1 and __spec__ is None: raise OSError\nWORD = 'first'\n")
    run(sample, "make")
    assert run(sample) == "False first file"


def test_annotations_and_future_imports_are_not_packed(sample: Path) -> None:
    run(sample, "make")
    packed = (sample.parents[1] / "state" / "code").read_bytes()
    assert b"__future__" not in packed
    assert b"memoryview" not in packed


def test_a_function_that_no_typical_call_uses_is_read_when_it_is_called(sample: Path) -> None:
    """`run` calls functions, methods and properties twice, with defaults, wrapped ones and generators among them."""
    run(sample, "make")
    path = sample.parents[1] / "state" / "code"
    data = path.read_bytes()
    at_once = 16 + int.from_bytes(data[:8], "big")
    assert b"counted" not in data[:at_once]
    assert b"counted" in data[at_once:]
    assert run(sample) == "True first pack"
    path.write_bytes(data[:at_once] + bytes(len(data) - at_once))  # what a wrapped function needs at once is gone
    assert run(sample) == "False first file"


def before_bash(world: Path, command: str) -> dict[str, object]:
    return {
        "session_id": "4ccb12f1-61e7-48ad-9bec-1437a2f881f7",
        "cwd": str(world),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def test_a_call_with_nothing_to_judge_needs_the_pack_of_the_first_look_alone(own_world: Path) -> None:
    """Without the guard's own pack: whoever needs that makes it anew."""
    payload = before_bash(own_world, "ls -la")
    for _ in range(3):  # rules are compiled, packs are made, packs are used
        assert hook("claude", "PreToolUse", payload).stdout == b""
    guard = own_world / "state" / "tmpwarden" / "guard"
    (first,) = guard.glob("code-claude*-first")
    whole = first.with_name(first.name.removesuffix("-first"))
    whole.unlink()
    assert hook("claude", "PreToolUse", payload).stdout == b""
    assert not whole.exists()
    hook("claude", "PreToolUse", payload | {"tool_input": {"command": "rm -rf x > y"}})
    assert whole.exists()


def test_a_call_finds_only_one_module_of_ours_the_ordinary_way(own_world: Path) -> None:
    """Finding one costs as much as running five: what modules call while they load lies in the pack, too."""
    payload = before_bash(own_world, "time (FOO=1 npm test; ls) 2>&1 | tee out.log | tail -5 > x")
    for _ in range(3):  # as above
        hook("claude", "PreToolUse", payload)
    run = [PYTHON, "-v", "-I", "-S", str(RUN), "claude", "PreToolUse"]
    done = subprocess.run(run, input=json.dumps(payload), capture_output=True, text=True, check=False)
    files = [line for line in done.stderr.splitlines() if line.startswith("# code object from ")]
    ours = [Path(line.split("'")[1]).name for line in files if "tmpwarden" in line]
    assert [name.partition(".")[0] for name in ours] == ["headstart"]
