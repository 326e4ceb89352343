"""The Prometheus text format, read back strictly: every line is a comment or one series, and no series comes twice."""

import re

_SERIES = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (?P<value>\S+)')
_LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\n"])*)"')
_ESCAPED = re.compile(r"\\(.)")
Series = dict[tuple[str, ...], float]  # ("litter_bytes", "user=root", ...) -> value


def read(text: str) -> Series:
    found: Series = {}
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        match = _SERIES.fullmatch(line)
        assert match, line
        labels = [f"{name}={_plain(value)}" for name, value in _LABEL.findall(match["labels"] or "")]
        key = (match["name"].removeprefix("tmpwarden_"), *labels)
        assert key not in found, f"told twice: {line}"
        found[key] = float(match["value"])
    return found


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], value)


def named(series: Series, name: str) -> Series:
    """Those of one family, by their labels."""
    return {key[1:]: value for key, value in series.items() if key[0] == name}
