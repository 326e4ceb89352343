"""Console blocks of the documentation: found, run in a world of their own, compared."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from support.terminal import on_a_terminal

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"(?:<!-- world: (?P<world>[\w-]+) -->\n)?```console\n(?P<body>.*?)```", re.S)
_ASKED = re.compile(r"\[y/N\] (\w*)$", re.M)


@dataclass(frozen=True)
class Block:
    """One ```console block: its commands, each with what the page says it prints."""

    page: str
    line: int
    world: str  # `<!-- world: NAME -->` right above it names a function of WORLDS
    steps: tuple[tuple[str, str], ...]


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


def run(command: str, expected: str, world: Path, env: Mapping[str, str]) -> str:
    """What `command` really prints, in the words of the page: /tmp and /home/you instead of the test's directories."""
    asked = _ASKED.search(expected)
    if asked:
        _, said = on_a_terminal(["bash", "-c", command], answer=asked[1] or "n", env=env)
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
    return said.replace(str(world / "tmp"), "/tmp").replace(str(world / "home"), "/home/you").rstrip("\n")


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
        "LATER_S": str(9 * 86400),
        "NO_COLOR": "1",
        "TERM": "xterm",
        "COLUMNS": "110",
    }


def matches(expected: str, said: str) -> bool:
    """Line by line; `...` stands for anything within a line, a line of its own for any number of lines."""
    pattern = re.escape(expected.strip("\n"))
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.$", "(?:.*\n?)*?", pattern).replace(r"\.\.\.", "[^\n]*")
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in said.splitlines())) is not None


def nothing(_: Path) -> None:
    """A machine on which no agent ever ran."""


WORLDS: dict[str, Callable[[Path], None]] = {"empty": nothing}
