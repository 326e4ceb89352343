"""Modules out of one file: the same modules, or the ordinary ones; never old code, never somebody else's."""

import json
import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN, hook
from support.mounts import needs_root

SOURCE = Path(__file__).parents[2] / "src"
USE = """
import posix, sys
sys.path.insert(0, {here!r})
from tmpwarden import bundle
loaded = frozenset(sys.modules)
posix.geteuid = lambda: {uid}
print(bundle.use({path!r}), end=" ")
import tmpwarden.sample.inner
print(tmpwarden.sample.inner.WORD, "file" if tmpwarden.sample.inner.__spec__ else "bundle")
from tmpwarden import sample
from tmpwarden.sample import later
assert sample.inner is sys.modules["tmpwarden.sample.inner"] and later.NAME == "later"
if len(sys.argv) > 1:
    from tmpwarden.hooks.bundling import bundle
    bundle({path!r}, ("tmpwarden.sample.inner",), loaded)
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A tmpwarden of our own, with one package more than the real one."""
    package = tmp_path / "lib" / "tmpwarden"
    shutil.copytree(SOURCE / "tmpwarden", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "sample").mkdir()
    sources = {
        "__init__": "from . import other\n",
        "inner": "from __future__ import annotations\nimport posix\nfrom .other import WORD\n",
        "other": "WORD = 'first'\n",
        "later": "NAME = 'later'\n",  # imported by nobody that is bundled
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


def test_what_was_bundled_is_loaded_from_the_bundle(sample: Path) -> None:
    assert run(sample, "make") == "False first file"
    assert run(sample) == "True first bundle"


def test_a_source_that_changed_makes_the_whole_bundle_unused(sample: Path) -> None:
    run(sample, "make")
    (sample / "sample" / "other.py").write_text("WORD = 'second'\n")
    assert run(sample) == "False second file"


@pytest.mark.parametrize("damage", ["cut", "empty", "other interpreter", "writable by others", "a link"])
def test_a_bundle_that_is_odd_is_not_used(sample: Path, damage: str) -> None:
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


def test_a_bundle_of_another_user_is_not_used(sample: Path) -> None:
    run(sample, "make")
    assert run(sample, uid=os.geteuid() + 1) == "False first file"


def test_a_module_that_fails_out_of_the_bundle_is_loaded_from_its_file(sample: Path) -> None:
    """Its source may depend on more than the stamps see, a missing library say."""
    other = sample / "sample" / "other.py"
    other.write_text("import sys\nif len(sys.argv) == 1 and __spec__ is None: raise OSError\nWORD = 'first'\n")
    run(sample, "make")
    assert run(sample) == "False first file"


def test_a_bundle_that_names_a_source_outside_the_package_is_not_used(sample: Path, tmp_path: Path) -> None:
    """Its stamp would be right, and its code somebody else's."""
    run(sample, "make")
    path = sample.parents[1] / "state" / "code"
    elsewhere = tmp_path / "other.py"
    elsewhere.write_text("WORD = 'crafted'\n")
    kind, modules = marshal.loads(path.read_bytes())
    seen = elsewhere.stat()
    crafted = [
        (
            name,
            is_package,
            [str(elsewhere), seen.st_mtime_ns, seen.st_size, seen.st_ino],
            compile("WORD = 2", "", "exec"),
        )
        if name.endswith("other")
        else (name, is_package, stamp, code)
        for name, is_package, stamp, code in modules
    ]
    path.write_bytes(marshal.dumps((kind, crafted)))
    assert run(sample) == "False first file"


def test_a_bundle_with_a_module_more_than_has_a_file_is_not_used(sample: Path) -> None:
    """The stamp of a file that is not there would fit for ever."""
    run(sample, "make")
    path = sample.parents[1] / "state" / "code"
    kind, modules = marshal.loads(path.read_bytes())
    gone = [str(sample / "sample" / "gone.py"), 0, 0, 0]
    more = ("tmpwarden.sample.gone", False, gone, compile("raise SystemExit", "", "exec"))
    path.write_bytes(marshal.dumps((kind, [*modules, more])))
    assert run(sample) == "False first file"


def test_a_bundle_with_the_stamp_of_another_module_is_not_used(sample: Path) -> None:
    run(sample, "make")
    path = sample.parents[1] / "state" / "code"
    kind, modules = marshal.loads(path.read_bytes())
    stamps = {name: stamp for name, _, stamp, _ in modules}
    code = compile("WORD = 'crafted'", "", "exec")
    other, inner = "tmpwarden.sample.other", "tmpwarden.sample.inner"
    crafted = [row if row[0] != other else (other, False, stamps[inner], code) for row in modules]
    path.write_bytes(marshal.dumps((kind, crafted)))
    assert run(sample) == "False first file"


@pytest.mark.parametrize("above", ["state", "."])
def test_a_bundle_below_a_directory_where_others_write_is_not_used(sample: Path, above: str) -> None:
    run(sample, "make")
    (sample.parents[1] / above).chmod(0o777)
    assert run(sample) == "False first file"


@needs_root
def test_a_bundle_below_another_users_directory_is_not_used(sample: Path) -> None:
    run(sample, "make")
    os.chown(sample.parents[1], 12345, 12345)
    assert run(sample) == "False first file"


def test_a_bundle_behind_a_link_is_judged_where_it_lies(sample: Path, tmp_path: Path) -> None:
    run(sample, "make")
    state, open_one = sample.parents[1] / "state", tmp_path / "open"
    open_one.mkdir()
    state.rename(open_one / "state")
    state.symlink_to(open_one / "state")
    assert run(sample) == "True first bundle"
    open_one.chmod(0o777)
    assert run(sample) == "False first file"


def before_bash(world: Path, command: str) -> dict[str, object]:
    return {
        "session_id": "4ccb12f1-61e7-48ad-9bec-1437a2f881f7",
        "cwd": str(world),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def test_a_call_with_nothing_to_judge_needs_the_bundle_of_the_first_look_alone(own_world: Path) -> None:
    """Without the guard's own bundle: whoever needs that makes it anew."""
    payload = before_bash(own_world, "ls -la")
    for _ in range(3):  # rules are compiled, bundles are made, bundles are used
        assert hook("claude", "PreToolUse", payload).stdout == b""
    guard = own_world / "state" / "tmpwarden" / "guard"
    (first,) = guard.glob("code-claude*-first")
    whole = first.with_name(first.name.removesuffix("-first"))
    whole.unlink()
    assert hook("claude", "PreToolUse", payload).stdout == b""
    assert not whole.exists()
    hook("claude", "PreToolUse", payload | {"tool_input": {"command": "rm -rf x > y"}})
    assert whole.exists()


@pytest.mark.parametrize("agent", ["claude", "copilot", "opencode"])
def test_a_call_with_nothing_to_judge_ends_at_the_first_look_in_every_agents_words(agent: str, own_world: Path) -> None:
    """Seen in the audit, and by the guard's own bundle, which only a call that goes on makes anew."""
    event, payload = {
        "claude": ("PreToolUse", before_bash(own_world, "ls -la")),
        "copilot": (
            "preToolUse",
            {"sessionId": "s-1", "cwd": "/", "toolName": "bash", "toolArgs": {"command": "ls -la"}},
        ),
        "opencode": (
            "tool.execute.before",
            {"cwd": "/", "input": {"sessionID": "s-1", "tool": "bash"}, "output": {"args": {"command": "ls -la"}}},
        ),
    }[agent]
    for _ in range(3):  # rules are compiled, bundles are made, bundles are used
        assert hook(agent, event, payload).stdout == b""
    guard = own_world / "state" / "tmpwarden" / "guard"
    (first,) = guard.glob(f"code-{agent}*-first")
    first.with_name(first.name.removesuffix("-first")).unlink()
    assert hook(agent, event, payload).stdout == b""
    assert sorted(guard.glob(f"code-{agent}*")) == [first]
    audited = [json.loads(line) for line in (guard / "audit.jsonl").read_text().splitlines()]
    assert [(line["decision"], line["before"]) for line in audited] == [("pass", "ls -la")] * 4


def test_a_call_finds_only_one_module_of_ours_the_ordinary_way(own_world: Path) -> None:
    """Finding one costs as much as running five: the rest lies in the bundles."""
    payload = before_bash(own_world, "time (FOO=1 npm test; ls) 2>&1 | tee out.log | tail -5 > x")
    for _ in range(3):  # as above
        hook("claude", "PreToolUse", payload)
    run = [PYTHON, "-v", "-I", "-S", str(RUN), "claude", "PreToolUse"]
    done = subprocess.run(run, input=json.dumps(payload), capture_output=True, text=True, check=False)
    files = [line for line in done.stderr.splitlines() if line.startswith("# code object from ")]
    ours = [Path(line.split("'")[1]).name for line in files if "tmpwarden" in line]
    assert [name.partition(".")[0] for name in ours] == ["bundle"]
