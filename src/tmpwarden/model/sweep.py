"""The nouns of a sweep, in the order in which data flows: Litter, Finding, Evidence, Verdict, Receipt."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NoReturn

from .answers import Users


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


class Claim(Enum):
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
    """Why a unit is kept or may go; the words users read in JSON and, spelled out, in tables."""

    # kept: somebody uses it (one for each WitnessKind, same value)
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
    EXPIRED = "quarantine-expired"
    PRESSURE = "pressure"


class Outcome(Enum):
    REMOVED = "removed"
    QUARANTINED = "quarantined"
    KEPT = "kept"
    VANISHED = "vanished"  # somebody else was faster: that is success
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Litter:
    """One row of the catalogue: a shape of file that one agent leaves in one kind of place."""

    agent: str
    id: str
    place: str  # the row's `in`: "{tmp}/claude-{uid}/*"
    name: str  # regular expression for one path component, matched in full; groups `session` and `pid` name the owner
    kind: Kind
    tier: Tier
    worth: Worth
    owner: Claim
    grace_s: int = 60
    min_age_s: int = 3600
    max_age_s: int = 72 * 3600
    resume: bool = False
    checks: tuple[str, ...] = ()
    max_bytes: int | None = None
    beats: tuple[str, ...] = ()
    git_disposable: bool = False
    fixed: str | None = None
    verified: str | None = None
    why: str = ""
    seen: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    source: str = ""  # the file the row came from

    @property
    def key(self) -> str:
        return f"{self.agent}.{self.id}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A unit that a row matched: one entry, or a swarm of single worthless files of one row in one directory."""

    litter: Litter
    root: str  # the temp root (or home) it lies below, resolved
    parent: str  # the directory that holds it, resolved; names are str with surrogateescape
    name: str
    kind: Kind
    device: int
    inode: int
    session: str | None = None  # captured from the name
    pid: int | None = None  # captured from the name
    members: tuple[str, ...] = ()  # a swarm's names in `parent`; empty for a single unit

    @property
    def path(self) -> str:
        if self.members:
            return self.parent
        return f"{self.parent}/{self.name}" if self.parent != "/" else f"/{self.name}"


@dataclass(frozen=True, slots=True)
class Measure:
    """What one walk over a unit saw. Nobody else measures."""

    newest_ns: int  # newest mtime, ctime (and atime where it counts) of any member
    oldest_ns: int  # the oldest member's newest date: before 2015 means that a clock was wrong
    bytes: int  # allocated, each inode once
    entries: int
    directories: int = 0
    at_least: bool = False  # part could not be read, or the walk was stopped early
    unreadable: int = 0
    foreign: int = 0  # members of another uid
    sticky: int = 0
    devices: int = 0
    crosses_device: bool = False
    is_deep: bool = False  # it holds paths so long that /proc may not be able to tell who uses them
    locked: tuple[str, ...] = ()  # members (relative) whose (device, inode) is in the set of locked ones handed in
    sockets: tuple[str, ...] = ()  # relative to the unit, "" is the unit itself
    git: tuple[str, ...] = ()  # directories (relative) that hold a .git or look like a bare repository
    marked: tuple[str, ...] = ()  # members that a `never` row protects (relative)
    linked: int = 0  # members with more than one name: removing one of these may free nothing


@dataclass(frozen=True, slots=True)
class Witness:
    kind: WitnessKind
    detail: str  # the path, variable, lock or mount, as seen
    pid: int | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    state: OwnerState
    pid: int | None = None
    session: str | None = None
    detail: str = ""  # what was looked at: "lease", "~/.claude/sessions/123.json", ...


@dataclass(frozen=True, slots=True)
class Unclear:
    """A repository that could not be inspected."""

    why: str  # the key of its configuration, or what git said


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts about one Finding. None means "could not measure" and never reads as "no"."""

    owner: Owner
    users: Users
    measure: Measure | None
    has_shape: bool | None = True  # the row's checks
    git_losses: tuple[str, ...] | Unclear = ()  # what would be lost
    git_entries: tuple[str, ...] = ()  # repositories elsewhere that will still list a worktree that goes with it


@dataclass(frozen=True, slots=True)
class Remove:
    finding: Finding
    evidence: Evidence
    reason: Reason
    doubt: str = ""  # why somebody may use it unseen: it goes only if the kernel says that nobody has it open


@dataclass(frozen=True, slots=True)
class Keep:
    finding: Finding
    evidence: Evidence
    reason: Reason
    detail: str = ""


Verdict = Remove | Keep


@dataclass(frozen=True, slots=True)
class Receipt:
    """What really happened to one Finding."""

    finding: Finding
    outcome: Outcome
    reason: Reason
    id: str = ""  # the quarantine token; what `undo` takes
    bytes: int = 0
    entries: int = 0
    freed_bytes: int = 0  # went back to the file system
    detail: str = ""  # the error, or what was kept
    undoable: bool = False
    git_entries: tuple[str, ...] = ()  # repositories elsewhere that still list a worktree that was in it
    rescued: str = ""  # the rescue that holds what existed only in it


@dataclass(frozen=True, slots=True)
class Space:
    """How full one file system is."""

    path: str
    filesystem: str  # "tmpfs", "ext4", ...
    bytes_total: int
    bytes_free: int  # for us, not for root
    inodes_total: int  # 0: the file system does not count them
    inodes_free: int
    memory_backed: bool
    quota_bytes: int | None = None  # this user's limit, None if there is none or it cannot be asked
    quota_used: int | None = None
    quota_inodes: int | None = None
    quota_inodes_used: int | None = None
    bytes_reserved: int = 0  # free, but for root alone
    inodes_reserved: int = 0

    @property
    def bytes_used(self) -> int:
        return self.bytes_total - self.bytes_free - self.bytes_reserved

    @property
    def inodes_used(self) -> int:
        return self.inodes_total - self.inodes_free - self.inodes_reserved


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Entries of ours in a temp root that no row knows, by the shape of their names."""

    root: str
    shape: str  # a glob, relative to the root: `orch-*`; a single entry's name, escaped
    count: int
    bytes: int
    newest_ns: int
    examples: tuple[str, ...]  # relative to the root
    entries: int = 0  # with all that lies in them
    at_least: bool = False  # not all of it was measured

    @property
    def glob(self) -> str:
        return f"{self.root.rstrip('/')}/{self.shape}"


@dataclass(frozen=True, slots=True)
class Account:
    """What lies in one temp root, by whose it is. What was not measured in full makes it `at_least`."""

    root: str
    matched_bytes: int
    unmatched_bytes: int
    others_bytes: int  # other users', as far as it can be seen without entering their directories
    quarantined_bytes: int
    other_bytes: int | None  # used, and none of these: deleted but open, or not readable; None: not this root's alone
    unmatched_count: int = 0
    others_count: int = 0
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    check: str
    status: str  # "ok" | "warn" | "fail" | "unknown"
    summary: str
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The user's word on ages, over the rows'. None: the row's own."""

    min_age_s: int | None = None  # a floor for every state
    max_age_s: int | None = None  # replaces 72 h, never below min_age
    hurried: bool = False  # pressure: dead and absent 60 s
    take_ask: bool = False  # --tier ask
    named: frozenset[str] = field(
        default_factory=frozenset
    )  # paths torn down, or named by a person: that replaces their age limit, and nothing else
    named_reason: Reason = Reason.TORN_DOWN


@dataclass(frozen=True, slots=True)
class Request:
    """What one run of scan or clean was asked to do."""

    roots: tuple[str, ...] = ()  # empty: TMPWARDEN_ROOTS, else the machine's
    home: str | None = None  # beside named roots, which else confine a run: look at home rows below this (rehearsals)
    agents: tuple[str, ...] = ()  # agent ids; empty: all
    rows: tuple[str, ...] = ()  # row keys such as "claude.cwd-marker"; empty: all
    thresholds: Thresholds = field(default_factory=Thresholds)
    config_file: str | None = None
    unattended: bool = False  # hook, timer, server: law 11 applies
    include_backlog: bool = False
    quarantine: bool = True
    budget_bytes: int | None = None  # --budget: pressure until what we may remove holds at most this much
    budget_percent: int | None = None
    empty_quarantine: bool = False  # --purge
    time_limit_s: float | None = None
    only_paths: frozenset[str] = frozenset()  # look at these units only (teardown)
    words: tuple[str, ...] = ()  # files, directories and globs that a person named: look at these alone
