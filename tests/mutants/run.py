"""`make mutants`: break each line of list.toml in a copy of the tree; whoever survives the tests is told, status 1.

`run.py WORD...` runs those whose file or sentence holds a word.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.listed import REPOSITORY, Mutant, mutants

AT_ONCE = 2
_RED = 1  # pytest: tests ran, and some failed
_LIMIT_S = 600
_COPIED = ("src", "tests", "bench", "docs", "examples", "pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md")


def main(words: list[str]) -> int:
    chosen = [one for one in mutants() if not words or any(word in f"{one.file} {one.says}" for word in words)]
    with tempfile.TemporaryDirectory(prefix="twmutants-") as base:
        copies: Queue[Path] = Queue()
        for number in range(AT_ONCE):
            copies.put(_copy(Path(base) / f"copy-{number}"))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ended = list(pool.map(lambda one: _tried(one, copies), chosen))
    survivors = [one for one in ended if one]
    print(f"{len(chosen)} broken lines, {len(survivors)} unnoticed")
    for complaint in survivors:
        print(complaint)
    return 1 if survivors or not chosen else 0


def _copy(place: Path) -> Path:
    place.mkdir()
    for name in _COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        elif source.exists():
            shutil.copy(source, place)
    return place


def _lives(mutant: Mutant, copies: "Queue[Path]") -> str:
    """Why it counts as unnoticed, or "" if its tests turned red."""
    copy = copies.get()
    try:
        path = copy / mutant.path
        text = path.read_text()
        try:
            path.write_text(mutant.applied_to(text))
            status, said = _tested(copy, mutant)
        finally:
            path.write_text(text)
    except (ValueError, OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    finally:
        copies.put(copy)
    if status == _RED:
        return ""
    return "all its tests pass" if status == 0 else f"its tests did not run (status {status}):\n{said[-1500:]}"


def _tested(copy: Path, mutant: Mutant) -> tuple[int, str]:
    said = ""
    for target in mutant.tests:
        place, _, words = target.partition(" ")
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile=thorough",
            "--timeout=120",  # a broken line may make its test wait for ever: that is noticed too
            "-m",
            "not long and not clients and not hosts and not fleet and not browser",
        ]
        ran = subprocess.run(
            [*argv, *(["-k", words] if words else []), f"tests/{place}"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
        said += ran.stdout
        if ran.returncode:
            return ran.returncode, said
    return 0, said


def _tried(mutant: Mutant, copies: "Queue[Path]") -> str:
    began = time.monotonic()
    why = _lives(mutant, copies)
    name = f"law {mutant.law}: {mutant.says} ({mutant.file})"
    print(f"{'UNNOTICED' if why else 'noticed  '} {time.monotonic() - began:4.0f} s  {name}", flush=True)
    return f"\n{name}\n- {mutant.old}\n+ {mutant.new}\n  {why}" if why else ""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
