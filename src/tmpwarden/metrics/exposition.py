"""Samples as the Prometheus text format, 0.0.4. Pure: the same samples are the same bytes, each series once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .families import FAMILIES, PREFIX, Family, Sample


def text(samples: Iterable[Sample]) -> str:
    """Of a series that comes twice the first one counts: a collector that hears both refuses the whole file."""
    by_family: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in samples:
        by_family.setdefault(sample.family, {}).setdefault(sample.labels, sample.value)
    lines = [line for name, family in FAMILIES.items() if name in by_family for line in _told(family, by_family[name])]
    return "".join(f"{line}\n" for line in lines)


def _told(family: Family, series: dict[tuple[str, ...], float]) -> Iterator[str]:
    name = PREFIX + family.name
    yield f"# HELP {name} {family.help}"
    yield f"# TYPE {name} {family.kind}"
    for values, number in sorted(series.items()):
        pairs = ",".join(f'{label}="{escaped(value)}"' for label, value in zip(family.labels, values, strict=True))
        yield f"{name}{{{pairs}}} {_number(number)}" if pairs else f"{name} {_number(number)}"


def escaped(value: str) -> str:
    """A label's value. What is no Unicode, a surrogate of a strange name, becomes a question mark."""
    plain = value.encode("utf-8", "replace").decode()
    return plain.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
