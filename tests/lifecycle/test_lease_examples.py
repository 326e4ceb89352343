"""The programs that show `tmpwarden lease` in other languages, built and run as they are where their tool is here."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import tmpwarden
from support.wrapped import eventually

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = EXAMPLES.parent / "docs" / "orchestrators.md"
BUILDS = {
    "lease.ts": ["esbuild", "--bundle", "--platform=node", "--log-level=warning", "--outfile={program}.js", "{source}"],
    "lease.go": ["go", "build", "-o", "{program}", "{source}"],
    "lease.rs": ["rustc", "--edition", "2021", "-o", "{program}", "{source}"],
}


@pytest.fixture(params=BUILDS)
def program(request: pytest.FixtureRequest, own_world: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words that start the example, with `tmpwarden` on its PATH."""
    build = BUILDS[request.param]
    for tool in (build[0], *(["node"] if build[0] == "esbuild" else [])):
        if not shutil.which(tool):
            pytest.skip(f"needs the program {tool}")
    tools = own_world / "bin"
    tools.mkdir()
    (tools / "tmpwarden").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tmpwarden "$@"\n')
    (tools / "tmpwarden").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    built = own_world / "built"
    built.mkdir()
    places = {"program": str(built / "program"), "source": str(EXAMPLES / request.param)}
    home = pwd.getpwuid(os.geteuid()).pw_dir  # where rustup keeps its compilers
    compiling = {**os.environ, "GOCACHE": str(built), "TMPDIR": str(built), "HOME": home}
    subprocess.run([word.format(**places) for word in build], env=compiling, cwd=built, check=True, timeout=300)
    return ["node", f"{places['program']}.js"] if build[0] == "esbuild" else [places["program"]]


def leases(root: Path) -> list[Path]:
    return list(root.rglob("*.lease"))


def test_the_agent_has_a_directory_of_its_own_and_nothing_is_left_of_it(program: list[str], own_world: Path) -> None:
    agent = 'echo work > "$TMPDIR/work"; echo "$TMPDIR" > "$HOME/where"; exit 3'
    done = subprocess.run(
        [*program, "job-7", "sh", "-c", agent], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3, done.stderr
    scratch = Path((own_world / "home" / "where").read_text().strip())
    assert scratch.parent == own_world / "tmp" / f"tmpwarden-{os.geteuid()}"
    assert str(scratch) in done.stdout
    assert not scratch.exists()
    assert eventually(lambda: leases(own_world / "tmp") == [])


def test_a_crash_costs_the_agent_nothing_and_the_next_clean_takes_what_is_over(
    program: list[str], own_world: Path
) -> None:
    agent = 'echo $$ > "$HOME/pid"; echo "$TMPDIR" > "$HOME/where"; echo work > "$TMPDIR/work"; exec sleep 600'
    where, pid = own_world / "home" / "where", own_world / "home" / "pid"
    with subprocess.Popen([*program, "job-7", "sh", "-c", agent]) as orchestrator:
        assert eventually(lambda: where.exists() and where.read_text().endswith("\n"))
        orchestrator.kill()
    work = Path(where.read_text().strip()) / "work"
    try:
        assert eventually(work.exists)
        assert tmpwarden("clean", "--yes", later_s=9 * 86400).returncode == 0
        assert work.read_text() == "work\n"
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)
    assert eventually(lambda: not Path(f"/proc/{int(pid.read_text())}/environ").exists() or _has_ended(pid))
    assert tmpwarden("clean", "--yes", later_s=9 * 86400).returncode == 0
    assert not work.exists() and leases(own_world / "tmp") == []


def _has_ended(pid: Path) -> bool:
    """A zombie, where nobody reaps."""
    return Path(f"/proc/{int(pid.read_text())}/stat").read_text().rpartition(") ")[2].startswith("Z")


@pytest.mark.parametrize(("name", "language"), [("lease.ts", "ts"), ("lease.go", "go"), ("lease.rs", "rust")])
def test_the_page_shows_the_example_as_it_is(name: str, language: str) -> None:
    assert f"```{language}\n{(EXAMPLES / name).read_text()}```" in PAGE.read_text()
