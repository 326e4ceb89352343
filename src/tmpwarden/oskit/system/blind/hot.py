"""What every tool call may ask: nothing is told."""

TELLS_PROCESSES = False  # what these say of a process is an answer
TELLS_MOUNTS = False  # a directory cannot be mounted elsewhere, as far as we know


def program(pid: int) -> str:
    """The file that it runs: not told."""
    return ""


def parent(pid: int) -> int:
    """0: not told."""
    return 0


def start(pid: int) -> "int | None":
    """What tells it from another with its number: not told."""
    return None


def arguments(pid: "int | str", most_bytes: int) -> "list[str]":
    """Its words: not told."""
    return []


def environment(pid: int, most_bytes: int) -> "bytes | None":
    """What it was started with: not told."""
    return None


def mounts() -> "bytes | None":
    """The text of Linux' mountinfo: None, not measured."""
    return None
