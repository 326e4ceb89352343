"""Quotas and limits of memory: not told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...files.space import Limit, MemoryLimit
from ...proc.namespaces import Mount


def limits(path: str, source: str = "", mount_point: str = "") -> Iterator[Limit]:
    """None: what cannot be asked is left out."""
    return iter(())


def project_of(fd: int) -> int:
    """0: none."""
    return 0


def memory_limit(mounts: Iterable[Mount]) -> MemoryLimit | None:
    """None: not told."""
    return None
