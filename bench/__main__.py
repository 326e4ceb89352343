"""`python -m bench [--quick] [--save] [NAME...]`: run the modules beside this file and print one table.

`--save` writes bench/measured/table.json, from which `python -m bench.picture` makes docs/performance.md: with names,
what those modules measured, in the place of what they measured before."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.frame import Line


def main(argv: list[str]) -> int:
    if {"-h", "--help"} & set(argv):
        print(__doc__)
        return 0
    quick = "--quick" in argv
    wanted = [word for word in argv if not word.startswith("-")]
    names = wanted or sorted(path.stem for path in Path(__file__).parent.glob("*.py") if _is_benchmark(path))
    machine = f"{os.cpu_count()} cores, Linux {platform.release()}, Python {sys.version.split()[0]}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}\n", flush=True)
    print(f"{'what':<58} {'measured':>9}  {'gate':>6} {'goal':>6}  unit; peers", flush=True)
    missed = 0
    told: list[dict[str, object]] = []
    for name in names:
        for line in _lines(name, quick):
            missed += line.gate is not None and line.ratio is not None and line.ratio > line.gate
            print(_shown(line), flush=True)
            told.append({"of": name, "load": round(os.getloadavg()[0], 1), **_kept(line)})
    if "--save" in argv:
        _save(machine, names, told)
    print(f"\n{missed} over the gate" if missed else "\nevery gate is met")
    return 1 if missed else 0


def _kept(line: Line) -> dict[str, object]:
    return {name: getattr(line, name) for name in ("what", "ratio", "unit", "goal", "note")}


def _save(machine: str, names: list[str], told: list[dict[str, object]]) -> None:
    from bench.picture import TABLE

    before = json.loads(TABLE.read_text())["lines"] if TABLE.exists() else []
    kept = [line for line in before if line.get("of") not in (*names, None)]
    lines = sorted([*kept, *told], key=lambda line: str(line["of"]))
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(json.dumps({"machine": machine, "lines": lines}, indent=1) + "\n")


def _is_benchmark(path: Path) -> bool:
    return "\ndef lines(" in path.read_text()


def _lines(name: str, quick: bool) -> Iterator[Line]:
    module = importlib.import_module(f"bench.{name}")
    try:
        yield from module.lines(quick)
    except Exception as error:
        if os.environ.get("TMPWARDEN_DEBUG"):
            raise
        yield Line(name, None, f"did not run: {type(error).__name__}: {error}")


def _shown(line: Line) -> str:
    def figure(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    mark = "" if line.gate is None or line.ratio is None else "  MISSED" if line.ratio > line.gate else ""
    return (
        f"{line.what:<58} {figure(line.ratio):>9}  {figure(line.gate):>6} {figure(line.goal):>6}  {line.unit}"
        + (f"; {line.note}" if line.note else "")
        + mark
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
