"""`python -m bench.flame [-o FILE.svg] COMMAND...`: where the CPU time of a small command goes, as a flame graph.

The command runs many times, each in an interpreter of its own; a timer that counts CPU time notes the stack. What
Python needs before our first line is measured beside it. Plain SVG, as all our pictures.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.frame import escaped
from bench.sweep import world

_RUNS = 60
_WIDE, _ROW, _LEAST = 1200, 17, 0.003
_COLOURS = {"Python": "#9e9e9e", "importlib": "#c9b27c", "tmpwarden": "#6aa5d8", "": "#a7c98b"}
_SAMPLED = """
import time
before = time.process_time()
import marshal, os, sys
from _signal import SIGPROF, setitimer, signal, ITIMER_PROF
stacks = {}
def note(_, frame):
    found = []
    while frame is not None:
        code = frame.f_code
        found.append(f"{code.co_filename}:{code.co_name}")
        frame = frame.f_back
    found = tuple(found[::-1])
    stacks[found] = stacks.get(found, 0) + 1
out = sys.argv.pop(1)
os._exit = sys.exit  # a command leaves without tearing the interpreter down
signal(SIGPROF, note)
setitimer(ITIMER_PROF, 0.001, 0.001)
try:
    from tmpwarden.cli.main import run
    run()
finally:
    setitimer(ITIMER_PROF, 0)
    with open(out, "wb") as file:
        file.write(marshal.dumps((before, time.process_time() - before, list(stacks.items()))))
"""


class Node:
    """One frame with all that it called."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.below: dict[str, Node] = {}

    def add(self, stack: list[str], cpu_s: float) -> None:
        self.cpu_s += cpu_s
        if stack:
            self.below.setdefault(stack[0], Node()).add(stack[1:], cpu_s)


def main(argv: list[str]) -> int:
    out = Path(argv[argv.index("-o") + 1]) if "-o" in argv else Path("flame.svg")
    words = [word for word in argv if word not in ("-o", str(out))] or ["scan", "--json"]
    root = measured(words)
    out.write_text(drawn(root, f"tmpwarden {' '.join(words)}: {root.cpu_s * 1000:.0f} ms CPU"))
    for name, node in sorted(root.below.items(), key=lambda each: -each[1].cpu_s)[:12]:
        print(f"{node.cpu_s * 1000:6.1f} ms  {name}")
    return 0


def measured(words: list[str]) -> Node:
    root = Node()
    with world() as (_, env), tempfile.NamedTemporaryFile() as told:
        for number in range(_RUNS + 2):
            argv = [sys.executable, "-I", "-c", _SAMPLED, told.name, *words]
            subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=False)
            before_s, ours_s, stacks = marshal.loads(Path(told.name).read_bytes())
            if number < 2:  # the first calls compile
                continue
            root.add(["Python itself"], before_s / _RUNS)
            samples = sum(count for _, count in stacks) or 1
            for stack, count in stacks:
                root.add(_shown(stack), ours_s * count / samples / _RUNS)
    return root


def _shown(stack: tuple[str, ...]) -> list[str]:
    """Without the frames of the import machinery: a module stands right above the one that imports it."""
    found = []
    for frame in stack:
        path, _, name = frame.rpartition(":")
        if path.startswith("<frozen importlib") or path == "<string>":
            continue
        place = path.partition("/tmpwarden/")[2] or Path(path).name
        found.append(f"import {place}" if name == "<module>" else f"{place} {name}")
    return found or ["finding and reading modules"]


def drawn(root: Node, title: str) -> str:
    boxes: list[str] = []
    depth = _draw(root, 0.0, 0, root.cpu_s, boxes)
    height = (depth + 2) * _ROW + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {height}" font-family="sans-serif" '
        f'font-size="11" role="img">\n<title>{escaped(title)}</title>\n<rect width="{_WIDE}" height="{height}" '
        f'fill="#ffffff"/>\n<text x="6" y="13">{escaped(title)}</text>\n' + "\n".join(boxes) + "\n</svg>\n"
    )


def _draw(node: Node, x: float, depth: int, whole_s: float, boxes: list[str]) -> int:
    deepest = depth
    for name, below in sorted(node.below.items(), key=lambda each: -each[1].cpu_s):
        share = below.cpu_s / whole_s
        if share < _LEAST:
            continue
        width, y = share * _WIDE, (depth + 1) * _ROW
        colour = next(colour for mark, colour in _COLOURS.items() if mark in name or not mark)
        colour = _COLOURS["tmpwarden"] if "/" in name or "cli" in name else colour
        words = name if width > 7 * len(name) else name[: max(0, int(width / 7))]
        boxes.append(
            f'<g><title>{escaped(name)}: {below.cpu_s * 1000:.1f} ms, {share:.1%}</title><rect x="{x:.1f}" y="{y}" '
            f'width="{max(width - 0.5, 0.5):.1f}" height="{_ROW - 1}" fill="{colour}"/>'
            f'<text x="{x + 3:.1f}" y="{y + 12}">{escaped(words)}</text></g>'
        )
        deepest = max(deepest, _draw(below, x, depth + 1, whole_s, boxes))
        x += width
    return deepest


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
