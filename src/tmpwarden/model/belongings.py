"""What belongs to a session: its lease, its scratch, what else it made. Plain classes, because hooks make them."""


class Lease:
    """Who a scratch belongs to: pid + start ticks + boot id, within one pid namespace of one machine."""

    __slots__ = (
        "agent", "boot", "cgroup", "config_home", "created", "machine", "others", "path", "pid", "pidns", "session",
        "start",
    )  # fmt: skip

    def __init__(
        self,
        path: str,
        agent: str,
        session: str,
        *,
        pid: int,
        start: int | None,
        boot: str | None,
        machine: str | None,
        pidns: str | None,
        config_home: str | None = None,
        created: float = 0.0,
        others: tuple[tuple[int, int | None], ...] = (),
        cgroup: str | None = None,
    ) -> None:
        self.path = path  # the scratch directory
        self.agent = agent
        self.session = session
        self.pid = pid
        self.start = start  # field 22 of /proc/PID/stat
        self.boot = boot  # /proc/sys/kernel/random/boot_id
        self.machine = machine  # /etc/machine-id
        self.pidns = pidns  # readlink /proc/PID/ns/pid
        self.config_home = config_home  # where the agent keeps its registry, e.g. CLAUDE_CONFIG_DIR
        self.created = created  # seconds since the epoch
        self.cgroup = cgroup  # of the agent: what else runs there was started by it
        self.others = others  # (pid, start) of further processes it belongs to, in the same boot and namespace


class ScratchDirectory:
    """A private directory of one session, and the environment that leads its commands there."""

    __slots__ = ("env", "lease", "path")

    def __init__(self, path: str, lease: Lease, env: dict[str, str]) -> None:
        self.path = path
        self.lease = lease
        self.env = env  # TMPDIR, TMP, TEMP


class Birth:
    """One entry right below a temp root, and the call during which it appeared."""

    __slots__ = ("agent", "born_ns", "command", "demoted", "device", "inode", "owned", "path", "session")

    def __init__(
        self,
        path: str,
        device: int,
        inode: int,
        born_ns: int,
        agent: str,
        session: str,
        command: str,
        owned: bool,
        demoted: str = "",
    ) -> None:
        self.path = path
        self.device, self.inode = device, inode
        self.born_ns = born_ns  # what the file system wrote down when it was made
        self.agent, self.session = agent, session
        self.command = command  # its first words
        self.owned = owned  # the command, its output or a statement before it names the entry
        self.demoted = demoted  # why it counts as its session's no longer (leases/claims.py), if that was asked

    @property
    def identity(self) -> tuple[int, int, int]:
        """An inode number alone is none: ext4 hands it out again at once."""
        return self.device, self.inode, self.born_ns

    @property
    def is_claimed(self) -> bool:
        return self.owned and not self.demoted
