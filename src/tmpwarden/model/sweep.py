"""The nouns of a sweep, in the order in which data flows: Litter, Finding, Evidence, Verdict, Receipt."""

from __future__ import annotations

from ..lazy_dataclass import dataclass
from .answers import Beginning, Users
from .terms import Kind, Outcome, OwnerRule, OwnerState, Reason, Tier, WitnessKind, Worth


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
    owner: OwnerRule
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
    os: tuple[str, ...] = ()  # systems on which it is looked for; none: on all
    credentials: tuple[str, ...] = ()  # a directory that holds other names too is none of mere credentials: it waits
    is_users_age: bool = False  # max_age_s is the user's own word on this row: no age for all rows replaces it

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
    has_no_openers: bool = False  # by the kernel's word on every file, asked on this walk
    held_back: tuple[str, ...] = ()  # members (relative) that macOS' flags guard, or that are not on this disk


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
    since: Beginning | None = None  # of the session's first process, and of the unit; None: not known


@dataclass(frozen=True, slots=True)
class GitUnclear:
    """A repository that could not be inspected."""

    why: str  # the key of its configuration, or what git said


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts about one Finding. None means "could not measure" and never reads as "no"."""

    owner: Owner
    users: Users
    measure: Measure | None
    has_shape: bool | None = True  # the row's checks
    is_only_credentials: bool = False  # nothing in it has a name that the row's `credentials` do not list
    git_losses: tuple[str, ...] | GitUnclear = ()  # what would be lost
    git_entries: tuple[str, ...] = ()  # repositories elsewhere that will still list a worktree that goes with it
    git_origins: tuple[str, ...] = ()  # repositories on this machine that hold commits which no other remote has


@dataclass(frozen=True, slots=True)
class Remove:
    """The verdict that an item may be removed.

    Example:

        import tmpwarden

        for verdict in tmpwarden.scan():
            if isinstance(verdict, tmpwarden.Remove):
                print(verdict.finding.path, verdict.reason.value, verdict.evidence.owner.state.value)
    """

    finding: Finding  # the item: `path`, `kind`, `session`, `pid`, `litter.agent`
    evidence: Evidence  # `owner`, `users`, and in `measure` size and age; None: it could not be measured
    reason: Reason
    doubt: str = ""  # why somebody may use it unseen: it goes only if the kernel says that nobody has it open


@dataclass(frozen=True, slots=True)
class Keep:
    """The verdict that an item stays.

    Example:

        import tmpwarden

        for verdict in tmpwarden.scan():
            if isinstance(verdict, tmpwarden.Keep):
                print(verdict.finding.path, verdict.reason.value, verdict.detail)
    """

    finding: Finding  # the item: `path`, `kind`, `session`, `pid`, `litter.agent`
    evidence: Evidence  # `owner`, `users`, and in `measure` size and age; None: it could not be measured
    reason: Reason
    detail: str = ""  # who uses it, or what would be lost


Verdict = Remove | Keep


@dataclass(frozen=True, slots=True)
class Receipt:
    """What really happened to one item.

    Example:

        import tmpwarden


        def show(receipt: tmpwarden.Receipt) -> None:
            print(receipt.finding.path, receipt.outcome.value, receipt.freed_bytes)


        tmpwarden.clean(tmpwarden.Request(agents=("claude",)), on_receipt=show)
    """

    finding: Finding  # the item: `path`, `kind`, `session`, `pid`, `litter.agent`
    outcome: Outcome
    reason: Reason
    id: str = ""  # what `tmpwarden undo` takes
    bytes: int = 0  # its size on disk
    entries: int = 0  # files and directories
    freed_bytes: int = 0  # what went back to the file system
    detail: str = ""  # the error, or why it was kept
    undoable: bool = False  # `tmpwarden undo` can bring it back
    git_entries: tuple[str, ...] = ()  # repositories elsewhere that still list a worktree that was in it
    git_origins: tuple[str, ...] = ()  # repositories on this machine that hold commits which no other remote has
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
    quota_bytes: int | None = None  # the tightest limit below the file system's; None: none is known
    quota_used: int | None = None
    quota_inodes: int | None = None
    quota_inodes_used: int | None = None
    bytes_reserved: int = 0  # free, but for root alone
    inodes_reserved: int = 0
    quota_of: str = ""  # whose limit that is, in words: "your quota"
    mount_point: str = ""  # where the file system is mounted; "": it cannot be told

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
    other_bytes: (
        int | None
    )  # used, and none of these: deleted but still open, or other users' private files; None: not this root's alone
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
class Agent:
    """A producer of litter: an agent, an orchestrator or a tool."""

    id: str
    name: str
    session_env: tuple[str, ...] = ()  # variables whose value names a live session
    registry: str | None = None  # a reader in leases/, by format
    rows: tuple[Litter, ...] = ()
    source: str = ""
    has_facts: bool = False  # its file says more than rows; only built-in files are heard (tools/facts.py)
