"""What is customary on this system: names, programs, habits. No question to the kernel."""

TMP_NAMES: tuple[str, ...] = ("/tmp", "/private/tmp")  # by which people and programs call the shared temp directory
HAS_LAUNCHD = True
SHELL = "zsh"  # of who has said nothing else
OPENER: str | None = "/usr/bin/open"  # the program that shows a page
_NOTICE = 'display notification (item 1 of words) with title "tmpwarden"'
NOTIFIER = ("/usr/bin/osascript", "-e", "on run words", "-e", _NOTICE, "-e", "end run", "{message}")  # on the desktop
CATALOGUE = "macos"  # the word for this system in the catalogue's `os`
PSEUDO_FILES = ("/dev/fd/",)  # a link there is not a file of anybody's
REMOUNT = "mount -uw"  # how a file system becomes writable again
SED_IN_PLACE = "sed -i ''"
MOVE_ASIDE = "mv"  # to a name that is free, or becomes so
_USER_TEMP_DIR = 65537  # _CS_DARWIN_USER_TEMP_DIR of <unistd.h>


def user_temp() -> str:
    """Where macOS keeps what programs of this user call temporary, whatever TMPDIR says; "" elsewhere."""
    import os

    try:
        return (os.confstr(_USER_TEMP_DIR) or "").rstrip("/")
    except (OSError, ValueError):
        return ""
