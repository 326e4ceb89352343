"""The function and the package share a name; imports stay cheap; types reach the user; Windows can import it."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.program import Programs

HEAVY = {
    "argparse", "asyncio", "click", "dataclasses", "inspect", "json", "pathlib", "random", "re", "shutil",
    "socket", "subprocess", "tempfile", "threading", "typing",
}  # fmt: skip


@pytest.mark.parametrize(
    "first",
    [
        "import tmpwarden",
        "import tmpwarden.session.session",
        "import tmpwarden, tmpwarden.session.session, tmpwarden.session.answer",
        "from tmpwarden import session; import tmpwarden",
        "import tmpwarden; tmpwarden.session; import tmpwarden.session.directory",
        "from tmpwarden.session import session, Session, in_session; import tmpwarden",
    ],
)
def test_the_name_can_be_called_in_whatever_order_it_was_imported(programs: Programs, first: str) -> None:
    source = f"""
{first}
with tmpwarden.session("mycli") as s: pass
from tmpwarden import session as one
from tmpwarden.session import Session, answers, in_session, run_argparse, session
import tmpwarden.session.session
with one("mycli") as s, session("mycli") as t: assert isinstance(s, Session)
assert tmpwarden.in_session is in_session and tmpwarden.session is one
assert tmpwarden.session.session is session
"""
    result = programs.run(source, imports_anew=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_entering_and_leaving_imports_nothing_heavy(programs: Programs) -> None:
    source = f"""
import sys
before = set(sys.modules)
import tmpwarden
with tmpwarden.session("mycli") as s: s.file("a"); s.dir("b"); s.hand_over("c")
with tmpwarden.session("mycli") as s: pass
print(sorted((set(sys.modules) - before) & {HEAVY!r}))
"""
    assert programs.run(source, imports_anew=True).stdout == "[]\n"


def test_users_see_the_types(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        """
import tmpwarden
from tmpwarden.session import Session

with tmpwarden.session("mycli", on_cancel=print) as s:
    reveal_type(s.file("a"))
    reveal_type(s)

@tmpwarden.in_session("mycli")
def main(s: Session, rows: int) -> str:
    return s.path

reveal_type(main(3))
main("three")
"""
    )
    source = Path(__file__).parents[2] / "src"
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(user)],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(source), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    said = [line.partition(": ")[2] for line in result.stdout.splitlines()]
    assert said[:3] == [
        'note: Revealed type is "str"',
        'note: Revealed type is "tmpwarden.session.session.Session"',
        'note: Revealed type is "str"',
    ], result.stdout
    assert 'Argument 1 to "main" has incompatible type "str"' in said[3]
    assert len([line for line in said if line.startswith("error")]) == 1


def test_it_works_without_what_windows_lacks(programs: Programs) -> None:
    """No fcntl, no uid, no directory descriptors, no fchmod, no SIGHUP: what this can show of Windows on Linux."""
    source = """
import os, signal, subprocess, sys
sys.modules["fcntl"] = None
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_PATH", "O_NONBLOCK", "geteuid", "getuid", "fchmod", "register_at_fork",
             "killpg", "pidfd_open"):
    delattr(os, name)
os.supports_dir_fd.clear()
import shutil  # before there is no posix: it would ask for that here
sys.modules["posix"] = None
del signal.SIGHUP, signal.SIGKILL
import tmpwarden
with tmpwarden.session("mycli") as s:
    file, folder, report = s.file("a"), s.dir("b"), s.hand_over("c")
    assert all(map(os.path.exists, (file, folder, report)))
    assert s.run([sys.executable, "-c", "import os; print(os.environ['TEMP'])"], capture_output=True, text=True)
    s.envelope()
assert not os.path.exists(s.path) and os.path.exists(report)
assert os.listdir(os.path.dirname(s.path)) == ["out"]
"""
    result = programs.run(source, imports_anew=True)
    assert (result.returncode, result.stderr) == (0, "")
