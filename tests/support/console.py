"""Console blocks of the documentation: found, run in a world of their own, compared."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from support import planted
from support.terminal import on_a_terminal

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"(?:<!-- world: (?P<world>[\w-]+) -->\n)?```console\n(?P<body>.*?)```", re.S)
_ASKED = re.compile(r"\[y/N\] (\w*)$", re.M)
_VARIES = (  # from machine to machine and from run to run, so on the page it is an example
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(?:\r?(?:Checking|Measuring|Removing)[^\r\n]*)+\r? *\r"), ""),  # what a slow machine shows meanwhile
    (re.compile(r"\([\w.]+\) is \d+% full: .*"), "(FS) is N% full"),
    (re.compile(r"\bpid \d+"), "pid N"),
    # absence is known only while every process of the machine can be looked at: a neighbour that hides makes it age
    (re.compile(r"no process of its session is left|past its age limit and unused"), "GONE"),
    (re.compile(r"\b[0-9a-f]{8}(?=  )"), "UNDO-ID "),
    (re.compile(r" +(?:12|4)\.0 KB"), " SMALL"),  # a directory takes 4 KB on ext4, and nothing on tmpfs
    (re.compile(r"such as claude-[0-9a-f]{4}-cwd"), "such as MARKER"),  # the first that the file system lists
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\dZ)?"), "TIME"),
)


@dataclass(frozen=True)
class Block:
    """One ```console block: its commands, each with what the page says it prints."""

    page: str
    line: int
    world: str  # `<!-- world: NAME -->` right above it names a function of WORLDS
    steps: tuple[tuple[str, str], ...]

    @property
    def is_on_a_terminal(self) -> bool:
        """A block in which a question is answered shows what a person sees."""
        return any(_ASKED.search(expected) for _, expected in self.steps)


def blocks() -> Iterator[Block]:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text()
        for found in _BLOCK.finditer(text):
            steps = re.split(r"^\$ ", found["body"], flags=re.M)[1:]
            yield Block(
                str(page.relative_to(ROOT)),
                text.count("\n", 0, found.start()) + 1,
                found["world"] or "empty",
                tuple((step.partition("\n")[0], step.partition("\n")[2].rstrip("\n")) for step in steps),
            )


def run(command: str, expected: str, world: Path, env: Mapping[str, str], *, is_on_a_terminal: bool) -> str:
    """What `command` really prints, in the words of the page: /tmp and /home/you instead of the test's directories."""
    if is_on_a_terminal:
        asked = _ASKED.search(expected)
        answer = (asked[1] or "n") if asked else ""
        _, said = on_a_terminal(
            ["bash", "-c", command], answer=answer, env=env, columns=300
        )  # the real paths are longer
    else:
        said = subprocess.run(
            ["bash", "-c", command],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=env["HOME"],
            text=True,
            timeout=60,
            check=False,
        ).stdout
    for real, told in ((world / "tmp", "/tmp"), (world / "home", "/home/you")):
        said = said.replace(str(real), told)
    return re.sub(rf"\b(claude|tmpwarden)-{os.geteuid()}\b", r"\1-1000", said).rstrip("\n")


def environment(world: Path) -> dict[str, str]:
    """A PATH whose `tmpwarden` runs nine days later than the files of the world were made."""
    tools = world / "bin"
    tools.mkdir()
    script = tools / "tmpwarden"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/tests/support/later.py" "$@"\n')
    script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("XDG_", "TMPWARDEN_", "LANG"))}
    return kept | {
        "HOME": str(world / "home"),
        "PATH": f"{tools}:{os.environ['PATH']}",
        "TMPDIR": str(world / "tmp"),
        "LATER_S": str(9 * 86400),
        "NO_COLOR": "1",
        "TERM": "xterm",
    }


def matches(expected: str, said: str) -> bool:
    """Line by line; `...` stands for anything within a line, a line of its own for any number of lines."""
    pattern = re.escape(_masked(expected))
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.$", "(?:.*\n?)*?", pattern).replace(r"\.\.\.", "[^\n]*")
    return re.fullmatch(pattern, _masked(said)) is not None


def _masked(text: str) -> str:
    for varying, mask in _VARIES:
        text = varying.sub(mask, text)
    lines = (
        line.rpartition("\r")[2].rstrip() for line in text.strip("\n").split("\n")
    )  # a progress line is overwritten
    return "\n".join(lines)


@contextlib.contextmanager
def empty(_: Path) -> Iterator[None]:
    """A machine on which no agent ever ran."""
    yield


@contextlib.contextmanager
def litter(world: Path) -> Iterator[None]:
    """A dead session with a big output, the markers of 1,204 calls, and a session in which a program still works."""
    root = world / "tmp"
    big = planted.session(root, name="3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11") / "tasks" / "b7c1d2e3f.output"
    with open(big, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, 48 << 20)
        else:  # a Mac
            file.write(bytes(48 << 20))
    planted.markers(root, 1204)
    live = planted.session(root, name="9b2d7e10-44c8-4f0a-8d53-61f2a0c7be94")
    program = world / "node"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([program, "600"], cwd=live / "tasks") as worker:
        try:
            yield
        finally:
            worker.kill()


@contextlib.contextmanager
def acme(world: Path) -> Iterator[None]:
    """The file of docs/add-an-agent.md, written by its reader."""
    page = (ROOT / "docs" / "add-an-agent.md").read_text()
    found = re.search(r"```toml\n(schema = 1.*?)```", page, re.S)
    assert found
    (world / "home" / "acme.toml").write_text(found[1])
    yield


WORLDS: dict[str, Callable[[Path], contextlib.AbstractContextManager[None]]] = {
    "acme": acme,
    "empty": empty,
    "litter": litter,
}
