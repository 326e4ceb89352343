"""The words of a sweep: what a thing is, whose it is, why it stays or goes. Each is what JSON says."""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class Kind(Enum):
    """What an entry is. ANY is a wish of a row, never what was found."""

    FILE = "file"
    DIR = "dir"
    SOCKET = "socket"
    OTHER = "other"
    ANY = "any"


class Tier(Enum):
    AUTO = "auto"
    ASK = "ask"
    NEVER = "never"


class Worth(Enum):
    NONE = "none"  # purged at once
    SOME = "some"  # quarantined; undo brings it back
    SECRET = "secret"  # purged at once, first of all


class OwnerRule(Enum):
    """How a row says who owns its units."""

    NONE = "none"
    SESSION = "session-in-name"
    PID = "pid-in-name"
    AGENT = "agent"
    LEASE = "lease"


class OwnerState(Enum):
    ALIVE = "alive"
    DEAD = "dead"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    NONE = "none"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"an owner that is {self.value} is neither true nor false")


LEASE_IN_FORCE = "the directory it speaks for"  # detail of a lease file whose directory is still there


class WitnessKind(Enum):
    """The ways in which a process or a mount uses a unit. Any one of them keeps it whole."""

    OPEN_FILE = "open-file"
    WORKING_DIRECTORY = "working-directory"
    ROOT_DIRECTORY = "root-directory"
    EXECUTABLE = "executable"
    MAPPED_FILE = "mapped-file"
    TMPDIR = "tmpdir-in-environment"
    SESSION = "session-in-environment"
    LOCK = "lock"
    SOCKET = "listening-socket"
    LEASE = "lease"
    REGISTRY = "agent-registry"
    MOUNT = "mount-point"
    MOUNT_SOURCE = "mount-source"
    SWAP = "swap-file"


class Reason(Enum):
    """Why an item is kept or may be removed. `value` is the word in JSON; docs/reasons.md has a sentence for each.

    Example:

        import tmpwarden

        assert tmpwarden.Reason("lock") is tmpwarden.Reason.LOCK
    """

    # kept: it is in use (one for each WitnessKind, same value)
    OPEN_FILE = "open-file"
    WORKING_DIRECTORY = "working-directory"
    ROOT_DIRECTORY = "root-directory"
    EXECUTABLE = "executable"
    MAPPED_FILE = "mapped-file"
    TMPDIR = "tmpdir-in-environment"
    SESSION = "session-in-environment"
    LOCK = "lock"
    SOCKET = "listening-socket"
    LEASE = "lease"
    REGISTRY = "agent-registry"
    MOUNT = "mount-point"
    MOUNT_SOURCE = "mount-source"
    SWAP = "swap-file"
    OWNER_ALIVE = "owner-alive"
    # kept: a law
    TOO_YOUNG = "too-young"
    RESUMABLE = "may-be-resumed"
    FOREIGN = "another-user"
    STICKY = "sticky-bit"
    DEVICE = "device-node"
    NEVER = "never"
    PROTECTED = "protected-path"
    KEEP_LIST = "keep-list"
    GIT_WORK = "git-work"
    GIT_UNCLEAR = "git-uninspectable"
    NOT_MEASURED = "not-measured"
    OTHER_SHAPE = "other-shape"
    ASK_ONLY = "only-when-asked"
    BACKLOG = "backlog-needs-consent"
    RUN_LIMIT = "automatic-limit"
    CHANGED = "changed-since-judged"
    NO_JOURNAL = "journal-cannot-be-written"
    NO_QUARANTINE = "quarantine-is-unsafe"
    # may go
    OWNER_DEAD = "owner-dead"
    OWNER_ABSENT = "owner-absent"
    OUTLIVED = "older-than-max-age"
    UNOWNED = "nobody-owns-it"
    TORN_DOWN = "torn-down"
    NAMED = "named-by-you"
    PRESSURE = "pressure"


class Outcome(Enum):
    """What became of an item: removed, quarantined, kept, vanished (somebody else was faster) or failed.

    Example:

        import tmpwarden

        assert tmpwarden.Outcome.QUARANTINED.value == "quarantined"
    """

    REMOVED = "removed"
    QUARANTINED = "quarantined"
    KEPT = "kept"
    VANISHED = "vanished"  # somebody else was faster: that is success
    FAILED = "failed"
