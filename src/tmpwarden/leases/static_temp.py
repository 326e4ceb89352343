"""The temp directories that agents without an env hook are sent to by their settings: one each, made again when gone.

A TMPDIR that does not exist breaks every mktemp, and a temp root may be empty after a reboot: the hooks of a session's
start, the timer and user-tmpfiles.d make it. Which there are stands in `<state>/temp-directories`. Hot path.

And those right below a temp root that sessions share as their TMPDIR: `[redirect] target = "/tmp/claude"`. Which there
were stands in `<state>/shared-temp`, so that a row sweeps them.
"""

import posix

from ..stamped import private_lines

_LONGEST = 1 << 16


def list_file(state: str) -> str:
    return f"{state}/temp-directories"


def directories(state: str) -> list[str]:
    """Absolute paths, one for each agent, as setup wrote them down."""
    return _listed(list_file(state))


def of_agent(state: str, agent: str) -> str:
    """The directory that this agent's settings name, or an empty text."""
    return next((path for path in directories(state) if path.endswith(f"/tmpwarden-{posix.geteuid()}/{agent}")), "")


def shared(state: str) -> list[str]:
    return _listed(f"{state}/shared-temp")


def _listed(file: str) -> list[str]:
    return [line for line in private_lines(file, _LONGEST) if line.startswith("/")]


def make_shared(state: str, path: str) -> None:
    """There, ours, 0700 and no link; else UnsafeScratch, or OSError where there is no room."""
    from ..oskit.files import atomic
    from ..oskit.files.own_dirs import make_private_dir

    make_private_dir(path)
    known = shared(state)
    if path not in known:
        make_private_dir(state)
        atomic.write(f"{state}/shared-temp", "".join(f"{each}\n" for each in (*known, path)))


def make(state: str) -> None:
    """Those that are gone. Raises UnsafeScratch where a name is squatted, OSError where there is no room."""
    for path in directories(state):
        make_one(path)


def make_one(path: str) -> None:
    """Its parent is looked at too: in somebody else's, ours could be moved away under a command's feet."""
    from ..oskit.files.own_dirs import make_private_dir

    make_private_dir(path.rpartition("/")[0])
    make_private_dir(path)
