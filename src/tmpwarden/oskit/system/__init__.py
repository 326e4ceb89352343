"""The border to the operating system: what is asked of it stands in `linux` and in `darwin`, under the same names.

Nothing else knows which system this is. A module of either is loaded when it is first asked, for hooks are started
before every tool call; whoever asks writes `system.locks.listeners(...)`.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .linux import (
        connections as connections,
    )
    from .linux import (
        ending as ending,
    )
    from .linux import (
        locks as locks,
    )
    from .linux import (
        looking as looking,
    )
    from .linux import (
        machine as machine,
    )
    from .linux import (
        mounting as mounting,
    )
    from .linux import (
        open_files as open_files,
    )
    from .linux import (
        processes as processes,
    )
    from .linux import (
        room as room,
    )
    from .linux import (
        vitals as vitals,
    )

NAME = "darwin" if sys.platform == "darwin" else "linux"


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        found: object = __import__(f"{__name__}.{NAME}.{name}", None, None, ("*",))
    except ModuleNotFoundError:
        raise AttributeError(f"{NAME} has no {name}") from None
    globals()[name] = found
    return found
