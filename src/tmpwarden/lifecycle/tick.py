"""What a timer starts: `python3 -I -S .../tick.py [--all-users]`. One unattended clean; standard library only."""

import sys

if __package__ in (None, ""):
    sys.path.insert(0, __file__.rsplit("/", 3)[0])


def main(arguments: list[str]) -> int:
    from tmpwarden.errors import LockHeld
    from tmpwarden.lifecycle.background import clear_the_dead

    try:
        clear_the_dead()
    except LockHeld:
        return 0  # somebody cleans right now
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
