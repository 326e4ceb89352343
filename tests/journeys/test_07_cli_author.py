"""Cleo writes a command-line tool and keeps its temp files in a session of tmpwarden.

Her program has thirty lines. mypy and pyright, both strict, have nothing to say about it. It is run, answers in JSON
with a file for the caller, and leaves nothing else. It is killed in the middle with a child at work; the child keeps
what it uses, and once that has ended the next run of her program removes the rest.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from journeys.conftest import Start
from journeys.machine import CACHE
from support.told import NOT_PROVEN

pytestmark = pytest.mark.journey
MYPY, PYRIGHT = "2.4.1", "1.1.414"
PROGRAM = '''
"""lines TEXT...: the lines of some files, sorted. `--wait` holds on until somebody ends us."""

import argparse
import subprocess
import sys
import time

import tmpwarden


def work(s: tmpwarden.session, names: list[str], wait: bool) -> dict[str, object]:
    merged = s.file("merged.txt")
    with open(merged, "w") as out:
        for name in names:
            with open(name) as text:
                out.write(text.read())
    if wait:
        child = subprocess.Popen(["sleep", "600"], cwd=s.path, env=s.env)
        print(s.path, child.pid, flush=True)
        time.sleep(600)
    report = s.hand_over("sorted.txt", keep=300)
    s.run(["sort", "-o", report, merged], check=True)
    with open(report) as text:
        return {"lines": len(text.readlines())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser("lines")
    parser.add_argument("text", nargs="+")
    parser.add_argument("--wait", action="store_true")
    arguments = parser.parse_args()
    with tmpwarden.session("lines") as s:
        print(s.envelope(work(s, arguments.text, arguments.wait)))
        sys.exit(0)
'''.lstrip()


def checkers() -> Path:
    """mypy from PyPI and pyright from npm, each of one version, kept from run to run."""
    place = CACHE / f"checkers-{MYPY}-{PYRIGHT}"
    if not (place / "node_modules" / "pyright").is_dir() or not (place / "bin" / "mypy").exists():
        if shutil.which("npm") is None:
            pytest.skip(f"{NOT_PROVEN}pyright (needs npm)")
        place.mkdir(parents=True, exist_ok=True)
        for words in (
            [sys.executable, "-m", "venv", str(place)],
            [f"{place}/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"mypy=={MYPY}"],
            ["npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", "--silent", f"pyright@{PYRIGHT}"],
        ):
            if subprocess.run(words, capture_output=True, check=False).returncode != 0:
                shutil.rmtree(place, ignore_errors=True)
                pytest.skip(f"{NOT_PROVEN}type checkers ({words[0]} could not fetch them)")
    return place


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_strict_type_checker_has_nothing_to_say(
    checker: str, opt: Path, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    place = checkers()
    program = tmp_path / "lines.py"
    program.write_text(PROGRAM)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "include": ["lines.py"]}')
    python = str(opt / "tmpwarden" / "bin" / "python")
    words = {
        "mypy": [f"{place}/bin/mypy", "--strict", "--python-executable", python, str(program)],
        "pyright": ["node", f"{place}/node_modules/pyright/index.js", "--pythonpath", python, "-p", str(tmp_path)],
    }[checker]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    tell(f"{checker} --strict: {said.stdout.strip().splitlines()[-1]}")


def test_after_a_kill_the_next_run_removes_what_no_child_uses(start: Start, tell: Callable[[str], None]) -> None:
    machine = start("ext4", 48, "cleo")
    cleo = machine.person("cleo")
    cleo.path("~/lines.py").write_text(PROGRAM)
    run = "/opt/tmpwarden/bin/python lines.py a.txt"
    cleo.types("printf 'b\\na\\n' > a.txt").must()
    told = json.loads(cleo.types(run).must().out)
    assert told["data"]["lines"] == 2
    assert cleo.path(told["data"]["output_file"]).read_text() == "a\nb\n"
    cleo.types(told["data"]["cleanup"]["command"]).must()
    assert not cleo.path(told["data"]["output_file"]).exists()
    killed = cleo.starts("/opt/tmpwarden/bin/python", "lines.py", "--wait", "a.txt")
    assert killed.stdout is not None
    path, child = killed.stdout.readline().split()
    killed.kill()
    killed.wait()
    cleo.types(run).must()
    assert cleo.path(path).is_dir(), "a child of the killed run works in it"
    cleo.types(f"kill -9 {child}; until ! grep -q '^State:.[^ZX]' /proc/{child}/status; do sleep 0.05; done")
    cleo.types(run).must()
    assert not cleo.path(path).exists()
    tell("a program of thirty lines was killed: its child kept the directory, then the next run removed it")
