"""What a timer starts: `python3 -I -S .../tick.py [--all-users]`. One unattended clean; standard library only."""

import os
import sys

if __package__ in (None, ""):
    sys.path.insert(0, __file__.rsplit("/", 3)[0])


def main(arguments: list[str]) -> int:
    """0, or 1 if it did not work out for somebody."""
    if "--all-users" not in arguments:
        return _clear()
    from tmpwarden.lifecycle.users import users_of
    from tmpwarden.oskit.files.places import temp_roots

    return max([_as(user) for user in users_of(temp_roots())], default=0)


def _clear() -> int:
    from tmpwarden.errors import TmpwardenError
    from tmpwarden.lifecycle.background import clear_the_dead

    try:
        clear_the_dead()
    except (TmpwardenError, OSError) as problem:
        print(f"tmpwarden: {problem}", file=sys.stderr)
        return 1
    return 0


def _as(user: "User") -> int:
    """The same in a child that has become `user`: root itself never sweeps what belongs to another uid."""
    from tmpwarden.lifecycle.users import become

    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        become(user)
        status = _clear()
    finally:
        os._exit(status)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from tmpwarden.lifecycle.users import User

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
