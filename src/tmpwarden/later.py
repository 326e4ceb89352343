"""Parts of the standard library that a command may end without: imported when something of them is first used.

`from ..later import json, re` instead of `import json, re`; mypy sees the modules themselves. `re`, `json` and `signal`
bring `enum` with them: 6 ms, a tenth of a small command, for a root that holds nothing to match and a lock to wait for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes as ctypes
    import fnmatch as fnmatch
    import json as json
    import re as re
    import signal as signal
    import struct as struct
    import zlib as zlib
    from typing import AnyStr


class _Module:
    """Stands for a module; what was asked for once is at hand from then on."""

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, name: str) -> object:
        if name[:2] == "__":  # copy, pickle and inspect ask for much that no module has
            raise AttributeError(name)
        found = getattr(__import__(self.__dict__["__name__"]), name)
        self.__dict__[name] = found
        return found


class _Pattern:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, text: str | bytes) -> None:
        self.__dict__["pattern"] = text

    def __getattr__(self, name: str) -> object:
        if name[:2] == "__":
            raise AttributeError(name)
        found = getattr(__import__("re").compile(self.__dict__["pattern"]), name)
        self.__dict__[name] = found
        return found


if TYPE_CHECKING:

    def regex(text: AnyStr) -> re.Pattern[AnyStr]: ...

else:
    globals().update((name, _Module(name)) for name in ("ctypes", "fnmatch", "json", "re", "signal", "struct", "zlib"))
    regex = _Pattern
