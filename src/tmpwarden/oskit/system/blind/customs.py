"""What is customary on this system: names, programs, habits. No question to the kernel."""

TMP_NAMES: tuple[str, ...] = ("/tmp",)  # by which people and programs call the shared temp directory
HAS_LAUNCHD = False
SHELL = "bash"  # of who has said nothing else
OPENER: str | None = None  # the program that shows a page; None: whatever browser is found
NOTIFIER = ("notify-send", "--app-name=tmpwarden", "tmpwarden", "{message}")  # a notice on the desktop
CATALOGUE = ""  # the word for this system in the catalogue's `os`
PSEUDO_FILES = ("/proc/",)  # a link there is not a file of anybody's
REMOUNT = "mount -o remount,rw"  # how a file system becomes writable again
SED_IN_PLACE = "sed -i"
MOVE_ASIDE = "mv"  # to a name that is free, or becomes so


def user_temp() -> str:
    """Where macOS keeps what programs of this user call temporary, whatever TMPDIR says; "" elsewhere."""
    return ""
