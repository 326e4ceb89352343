"""The nouns of the hot path: plain classes, because dataclasses, enum and typing cost more than the hook itself."""

ALLOW, ASK, DENY, PASS = "allow", "ask", "deny", "pass"


class ToolCall:
    """One thing an agent wants to do, in no agent's dialect."""

    __slots__ = ("agent", "command", "cwd", "name", "paths", "session", "tool", "tool_input")

    def __init__(
        self,
        agent: str,
        tool: str,
        *,
        command: str | None = None,
        paths: tuple[str, ...] = (),
        tool_input: dict[str, object] | None = None,
        session: str | None = None,
        cwd: str = "/",
        name: str = "",
    ) -> None:
        self.agent = agent
        self.tool = tool  # "shell", "read", "write", "edit", "notebook", "patch" or "other"
        self.command = command  # shell only
        self.paths = paths  # file tools only
        self.tool_input = tool_input or {}
        self.session = session
        self.cwd = cwd
        self.name = name or tool  # as the agent calls it


class Decision:
    """What the guard says about a ToolCall."""

    __slots__ = ("commands", "fresh", "others", "places", "reason", "rewritten", "rule", "verdict")

    def __init__(
        self,
        verdict: str,
        reason: str = "",
        *,
        rule: str = "",
        rewritten: str | None = None,
        commands: tuple[tuple[tuple[str, ...], str, str], ...] = (),
        fresh: tuple[str, ...] = (),
    ) -> None:
        self.verdict = verdict  # ALLOW, ASK, DENY or PASS
        self.reason = reason
        self.rule = rule
        self.rewritten = rewritten  # the command that will really run, or None if unchanged
        self.places: dict[str, str] = {}  # where names that were led really are
        self.commands = commands  # (argv, verdict, rule) of every simple command
        self.fresh = fresh  # names right below a temp root that the call states and that will be its session's
        self.others: tuple[str, ...] = ()  # names there that it mentions and that somebody else has


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


class Scratch:
    """A private directory of one session, and the environment that leads its commands there."""

    __slots__ = ("env", "lease", "path")

    def __init__(self, path: str, lease: Lease, env: dict[str, str]) -> None:
        self.path = path
        self.lease = lease
        self.env = env  # TMPDIR, TMP, TEMP


class Birth:
    """One entry right below a temp root, and the call during which it appeared."""

    __slots__ = ("agent", "born_ns", "command", "device", "inode", "owned", "path", "session", "stated")

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
        stated: bool = False,
    ) -> None:
        self.path = path
        self.device, self.inode = device, inode
        self.born_ns = born_ns  # what the file system wrote down when it was made
        self.agent, self.session = agent, session
        self.command = command  # its first words
        self.owned = owned  # the command, its output or a statement before it names the entry
        self.stated = stated  # the call stated the fresh name before it ran: it goes with its session as a scratch does
