"""How the command leaves: without tearing the interpreter down, and with all that it said."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
START = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\nfrom tmpwarden.cli.main import run\n"
TORN_DOWN = "import tmpwarden.cli.main as m; m._leave = lambda status: None\n"


@pytest.mark.parametrize(("words", "status"), [(("scan",), 0), (("scan", "--wrong"), 3), (("--version",), 0)], ids=str)
def test_it_leaves_with_its_status_and_all_that_it_said(
    own_world: Path, words: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    """Into a pipe and into a file, where nothing is written before it is flushed."""
    told = []
    for code in (START + "run()", START + TORN_DOWN + "run()"):
        with (tmp_path / "out").open("w+") as out:
            done = subprocess.run(
                [sys.executable, "-c", code, *words], stdout=out, stderr=subprocess.PIPE, text=True, check=False
            )
            out.seek(0)
            told.append((done.returncode, out.read(), done.stderr))
    assert told[0] == told[1]
    assert told[0][0] == status


def test_a_thread_that_still_runs_is_waited_for(own_world: Path) -> None:
    more = (
        "import threading; threading.Thread(target=lambda: (threading.main_thread().join(), print('last'))).start()\n"
    )
    code = START + more + "sys.argv = ['tmpwarden', '--version']\nrun()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("last\n")


def test_what_cannot_be_written_is_told_as_ever(own_world: Path) -> None:
    with open("/dev/full", "w") as full:
        argv = [sys.executable, "-c", START + "run()", "scan"]
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
