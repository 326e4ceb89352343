"""What limits how much may be written, below the size of a file system: nothing that is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...files.space import Limit, MemoryLimit
from ...proc.namespaces import Mount


def limits(path: str, source: str = "", mount_point: str = "") -> Iterator[Limit]:
    """APFS has no quotas of users."""
    return iter(())


def project_of(fd: int) -> int:
    """0: none."""
    return 0


def memory_limit(mounts: Iterable[Mount]) -> MemoryLimit | None:
    """None: there are no cgroups."""
    return None
