"""Before a tool call the guard's modules come out of one file: a third of what finding them one by one costs."""

import posix
import sys

from ..oskit import pack

_SLOW = "tmpwarden.guard.compiling"  # a call that had to read TOML has loaded far more than the next one needs


class Swiftly:
    """`use` before the guard is imported, `keep` after the answer is known."""

    __slots__ = ("is_packed", "known", "path")

    def __init__(self, state: str, dialect: str) -> None:
        here = __file__.rpartition("/")[0].replace("/", "-")[-120:]
        name = dialect if dialect.isalpha() else "other"
        self.path = f"{state}/guard/code-{name}{here}"  # one for each dialect: they import different modules
        self.known = frozenset(sys.modules)
        self.is_packed = pack.use(self.path, uid=posix.geteuid())

    def keep(self) -> None:
        """Pack what was imported, for the next call."""
        if self.is_packed or _SLOW in sys.modules:
            return
        try:
            pack.make(self.path, self.known)
        except Exception:  # a full disk, a module without a source: the next call tries again
            pass
