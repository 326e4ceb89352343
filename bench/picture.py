"""`python -m bench.picture`: docs/performance.md and its pictures, from what `make bench-save` measured.

Plain SVG, written by hand. Nothing is typed that was not measured: without the files there is no page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bench.frame import escaped
from bench.scale import MEASURED as SCALE

TABLE = SCALE.with_name("table.json")
_DOCS = Path(__file__).parents[1] / "docs"
_ROW, _WIDE, _BARS = 22, 1000, 200
_INK, _OURS, _GOAL, _THEIRS = "#222222", "#1f6fb2", "#2e7d32", "#999999"
Row = dict[str, object]


def main() -> int:
    table, scale = json.loads(TABLE.read_text()), json.loads(SCALE.read_text())
    (_DOCS / "performance.svg").write_text(_table(table["lines"]))
    (_DOCS / "performance-scale.svg").write_text(_plots(scale["rows"]))
    page = _DOCS / "performance.md"
    head, _, rest = page.read_text().partition("<!-- measured -->\n")
    _, _, tail = rest.partition("<!-- end of measured -->\n")
    page.write_text(f"{head}<!-- measured -->\n{_markdown(table, scale)}<!-- end of measured -->\n{tail}")
    return 0


def _svg(width: int, height: int, title: str, body: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" role="img">\n<title>{title}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _text(x: float, y: float, words: str, anchor: str = "start", colour: str = _INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escaped(words)}</text>'


def _table(lines: Sequence[Row]) -> str:
    """What, the figure, its goal, a bar of figure over goal: short is good, and the mark is the goal."""
    judged = [line for line in lines if line["ratio"] is not None]
    body = [_text(12, 20, "what"), _text(470, 20, "measured", "end"), _text(520, 20, "goal", "end")]
    body.append(_text(536 + _BARS / 2, 20, "measured : goal", "middle"))
    body.append(_text(560 + _BARS, 20, "unit"))
    for number, line in enumerate(judged):
        body += _table_row(line, 20 + _ROW * (number + 1))
    return _svg(_WIDE, _ROW * (len(judged) + 2), "What tmpwarden costs, beside its peers", body)


def _table_row(line: Row, y: float) -> Iterator[str]:
    ratio, goal = float(str(line["ratio"])), line["goal"]
    yield f'<line x1="8" x2="{_WIDE - 8}" y1="{y + 7:.1f}" y2="{y + 7:.1f}" stroke="#eeeeee"/>'
    yield _text(12, y, str(line["what"]))
    yield _text(470, y, f"{ratio:,.2f}", "end")
    yield _text(560 + _BARS, y, str(line["unit"]))
    if goal is None:
        return
    share = ratio / float(str(goal))
    yield _text(520, y, f"{float(str(goal)):g}", "end", _GOAL)
    length, middle = min(share, 2.0) * _BARS / 2, 536 + _BARS / 2
    yield f'<rect x="536" y="{y - 10:.1f}" width="{length:.1f}" height="12" fill="{_OURS}"/>'
    yield f'<line x1="{middle}" x2="{middle}" y1="{y - 13:.1f}" y2="{y + 5:.1f}" stroke="{_GOAL}" stroke-width="2"/>'


def _plots(rows: Sequence[Row]) -> str:
    """Sessions above, files below; in each panel time over size, with the peak memory at its points."""
    panels = [("sessions", "scan"), ("sessions", "clean"), ("sessions", "undo")]
    panels += [("files", "scan"), ("files", "clean --no-quarantine")]
    body: list[str] = []
    for number, (kind, what) in enumerate(panels):
        chosen = [row for row in rows if (row["kind"], row["what"]) == (kind, what)]
        drawn = "\n".join(_panel(chosen, f"{what}: {kind}", 60 + number % 3 * 320))
        body.append(f'<g transform="translate(0 {number // 3 * 360})">\n{drawn}\n</g>')
    return _svg(_WIDE, 720, "Cost over size: CPU seconds and memory", body)


def _panel(rows: Sequence[Row], title: str, left: float) -> Iterator[str]:
    """Both axes in powers of ten: a line of slope one is linear. Memory stands as figures at the points."""
    width, top, bottom = 240.0, 40.0, 300.0
    sizes = [int(str(row["size"])) for row in rows]
    low, high = 0.001, 100.0

    def place(size: float, seconds: float) -> tuple[float, float]:
        across = (math.log10(size) - 3) / 3
        up = (math.log10(max(seconds, low)) - math.log10(low)) / (math.log10(high) - math.log10(low))
        return left + across * width, bottom - up * (bottom - top)

    yield _text(left + width / 2, 22, title, "middle")
    for power in range(-3, 3):
        _, y = place(1000, 10.0**power)
        yield f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eeeeee"/>'
        yield _text(left - 6, y + 4, f"{10.0**power:g} s", "end")
    for size in (1_000, 10_000, 100_000, 1_000_000):
        x, _ = place(size, 1)
        yield _text(x, bottom + 18, f"{size // 1000:,}k", "middle")
    for key, colour, dash in (("cpu_s", _OURS, ""), ("peer_cpu_s", _THEIRS, "5 3")):
        points = [place(size, float(str(row[key]))) for size, row in zip(sizes, rows, strict=True)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}" points="{drawn}"/>'
        for (x, y), row in zip(points, rows, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
            if key == "cpu_s":
                yield _text(x - 4, y - 8, f"{float(str(row['peak_mb'])):.0f} MB", "end", _OURS)
    if rows:
        yield _text(left, bottom + 42, f"tmpwarden (solid, with its peak memory), {rows[0]['peer']} (dashed); CPU")


def _markdown(table: dict[str, object], scale: dict[str, object]) -> str:
    lines: list[Row] = table["lines"]  # type: ignore[assignment]
    rows: list[Row] = scale["rows"]  # type: ignore[assignment]
    told = [
        f"Measured on {table['machine']}.",
        "",
        "| what | measured | goal | unit | load | beside it |",
        "|---|---|---|---|---|---|",
    ]
    for line in lines:
        figure = "-" if line["ratio"] is None else f"{float(str(line['ratio'])):,.2f}"
        goal = "" if line["goal"] is None else f"{float(str(line['goal'])):g}"
        load = line.get("load", "")
        told.append(f"| {str(line['what']).strip()} | {figure} | {goal} | {line['unit']} | {load} | {line['note']} |")
    told += [
        "",
        "![Cost over size](performance-scale.svg)",
        "",
        "| litter | what | CPU | wall | memory | beside it, CPU | the same calls in C, CPU |",
    ]
    told.append("|---|---|---|---|---|---|---|")
    for row in rows:
        size = f"{int(str(row['size'])):,} {row['kind']}"
        figures = f"{row['cpu_s']} s | {row['wall_s']} s | {float(str(row['peak_mb'])):.0f} MB"
        floor = f"{row['floor_cpu_s']} s" if row.get("floor_cpu_s") is not None else ""
        told.append(f"| {size} | {row['what']} | {figures} | {row['peer']} {row['peer_cpu_s']} s | {floor} |")
    return "\n".join(told) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
