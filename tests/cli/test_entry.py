"""The script finds its modules in one file: the same answers, never old code, and nothing in its way."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tmpwarden"
RUN = """
import os, sys
sys.path.insert(0, {here!r})
sys.argv = ["tmpwarden", *{words!r}]
from tmpwarden.cli import entry, module_file
def leave(status, leave=os._exit):
    ours = [name for name in sys.modules if name.startswith("tmpwarden.")]
    print(sum(module_file.has_served(sys.modules[name]) for name in ours), len(ours), file=sys.stderr, flush=True)
    leave(status)
os._exit = leave
{more}
entry.run()
"""


START = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\nfrom tmpwarden.cli.{{}} import run; run()"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tmpwarden of our own, compiled as pip leaves it."""
    package = tmp_path_factory.mktemp("lib") / "tmpwarden"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("entry.*.scan", "entry.*.status", "*.tmp"))
    return package


def run(package: Path, *words: str, **environ: str) -> tuple[dict[str, object], int, int]:
    """(the answer, modules out of the pack, modules of ours in all)"""
    code = RUN.format(here=str(package.parent), words=words, more="")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environ
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    packed, ours = done.stderr.splitlines()[-1].split()
    return json.loads(done.stdout), int(packed), int(ours)


def packs(package: Path) -> list[Path]:
    return sorted(path for path in (package / "cli" / "__pycache__").glob("entry.*") if path.suffix != ".pyc")


def told(answer: dict[str, object]) -> object:
    """Without what others change meanwhile: how full the disk is, and what time it took."""
    data = answer["data"]
    assert isinstance(data, dict)
    return answer["ok"], answer["error"], answer["warnings"], {**data, "roots": len(data["roots"])}


def test_what_one_call_needed_the_next_finds_in_one_file(copied: Path, own_world: Path) -> None:
    first, packed, _ = run(copied, "scan", "--json")
    assert packed == 0
    second, packed, ours = run(copied, "scan", "--json")
    assert packed > 60
    assert ours - packed < 12
    assert told(first) == told(second)


def test_a_pack_holds_only_what_the_sources_say_now(copied: Path, own_world: Path) -> None:
    run(copied, "scan", "--json")
    source = copied / "cli" / "envelope.py"
    before = source.read_text()
    try:
        source.write_text(before.replace("SCHEMA = 1\n", "SCHEMA = 2\n"))
        changed, packed, _ = run(copied, "scan", "--json")
        assert (changed["meta"]["schema"], packed) == (2, 0)
        again, packed, _ = run(copied, "scan", "--json")
        assert again["meta"]["schema"] == 2
        assert packed > 60
    finally:
        source.write_text(before)


@pytest.mark.parametrize("junk", [b"", b"no marshal", b"N"], ids=repr)
def test_a_pack_that_is_none_is_not_used(copied: Path, own_world: Path, junk: bytes) -> None:
    whole, _, _ = run(copied, "status", "--json")
    (pack,) = [path for path in packs(copied) if path.suffix == ".status"]
    pack.write_bytes(junk)
    answer, packed, _ = run(copied, "status", "--json")
    assert packed == 0
    assert answer["ok"] and answer["data"].keys() == whole["data"].keys()
    assert pack.stat().st_size > 100_000  # and it is written anew


def test_who_wants_no_compiled_files_gets_none(copied: Path, own_world: Path) -> None:
    for path in packs(copied):
        path.unlink()
    run(copied, "scan", "--json", PYTHONDONTWRITEBYTECODE="1")
    assert packs(copied) == []


def test_a_command_that_need_not_start_fast_has_no_pack(copied: Path, own_world: Path) -> None:
    before = packs(copied)
    run(copied, "log", "--json")
    run(copied, "--json", "--root", "scan", "log")
    assert packs(copied) == before


def test_who_may_not_write_there_goes_without(copied: Path, own_world: Path) -> None:
    for path in packs(copied):
        path.unlink()
    folder = copied / "cli" / "__pycache__"
    folder.rename(copied / "cli" / "away")
    folder.write_text("no directory")
    try:
        answer, packed, _ = run(copied, "scan", "--json")
    finally:
        folder.unlink()
        (copied / "cli" / "away").rename(folder)
    assert answer["ok"] and packed == 0


@pytest.mark.parametrize(("words", "status"), [(("scan",), 0), (("scan", "--wrong"), 3), (("--version",), 0)], ids=str)
def test_it_leaves_with_its_status_and_all_that_it_said(
    own_world: Path, words: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    """Into a pipe and into a file, where nothing is written before it is flushed."""
    told = []
    for code in (START.format("entry"), START.format("main")):
        with (tmp_path / "out").open("w+") as out:
            done = subprocess.run(
                [sys.executable, "-c", code, *words], stdout=out, stderr=subprocess.PIPE, text=True, check=False
            )
            out.seek(0)
            told.append((done.returncode, out.read(), done.stderr))
    assert told[0] == told[1]
    assert told[0][0] == status


def test_a_thread_that_still_runs_is_waited_for(copied: Path, own_world: Path) -> None:
    more = "import threading; threading.Thread(target=lambda: (threading.main_thread().join(), print('last'))).start()"
    code = RUN.format(here=str(copied.parent), words=("--version",), more=more)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("last\n")


def test_what_cannot_be_written_is_told_as_ever(own_world: Path) -> None:
    argv = [sys.executable, "-c", START.format("entry"), "scan"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "the answer could not be written" in done.stderr
