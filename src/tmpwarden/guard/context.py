"""Where a call happens, what its agent can take as an answer, and what may be asked of the system."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model.facts import Facts
    from ..oskit.files.disk import Disk
    from .rules.rule import Rules

    Look = Callable[[str], tuple[str | None, bool]]
    Loaded = str | dict[str, str]  # the text of a start-up file, or what is kept of it


class CallPlace:
    """Where the call happens, and what its shell has."""

    __slots__ = (
        "cwd", "environ", "home", "project", "scratch", "shell_home", "temp_roots", "tmp_roots", "uid", "variables",
    )  # fmt: skip

    def __init__(
        self,
        *,
        scratch: str | None,
        project: str | None,
        cwd: str,
        home: str,
        uid: int,
        shell_home: str = "",
        is_tmpdir: bool = False,
        variables: "Mapping[str, str] | None" = None,
        environ: "Mapping[bytes, bytes] | None" = None,
        tmp_roots: "tuple[str, ...]" = ("/tmp",),
        temp_roots: "tuple[str, ...] | None" = None,
    ) -> None:
        self.scratch = scratch  # None: no scratch, so nothing is redirected and nothing is inside it
        self.project = project
        self.cwd = cwd
        self.home = home  # what `~` means in rules
        self.shell_home = shell_home or home  # and in the line: a project may set HOME for its commands
        self.uid = uid
        # what the agent's shell is known to have; `is_tmpdir`: its TMPDIR is the scratch
        self.variables = {"TMPDIR": scratch} if is_tmpdir and scratch is not None else variables or {}
        self.environ = environ or {}  # what the agent's shell inherits
        self.tmp_roots = tmp_roots  # whose literal words may be led into the scratch
        self.temp_roots = tmp_roots if temp_roots is None else temp_roots  # where fresh names become the session's

    def known(self) -> "Mapping[str, str]":
        """Variables of the agent's shell with a value that counts. CDPATH says where cd goes."""
        cdpath = self.environ.get(b"CDPATH")
        return self.variables if not cdpath else {**self.variables, "CDPATH": cdpath.decode("utf-8", "replace")}

    def temp(self) -> str:
        """How to name the scratch to an agent; "" without one: nobody is sent where nothing is."""
        return "$TMPDIR" if self.scratch and "TMPDIR" in self.variables else self.scratch or ""


class AgentFacts:
    """What the agent takes as an answer, and which directories are its own."""

    __slots__ = ("applies_rewrite_without_allow", "has_ask", "keeps_rewrite", "own")

    def __init__(
        self,
        *,
        keeps_rewrite: bool = True,
        has_ask: bool = True,
        applies_rewrite_without_allow: bool = True,
        own: "tuple[str, ...]" = (),
    ) -> None:
        self.keeps_rewrite = keeps_rewrite  # this version was measured to run the rewritten input
        self.has_ask = has_ask
        self.applies_rewrite_without_allow = applies_rewrite_without_allow
        self.own = own  # `@agent` in rules


class Probes:
    """Questions to the system that are asked only when an answer depends on them."""

    __slots__ = ("entries", "holds_mount", "inherited", "is_plain", "look", "owns", "pushes", "shell", "startup")

    def __init__(
        self,
        look: "Look",
        *,
        owns: "Callable[[str], bool] | None" = None,
        is_plain: "Callable[[str, bool], bool] | None" = None,
        holds_mount: "Callable[[str], bool] | None" = None,
        entries: "Callable[[str], tuple[str, ...]] | None" = None,
        inherited: "Callable[[], frozenset[str] | None] | None" = None,
        startup: "Callable[[], tuple[Loaded | None, ...]] | None" = None,
        pushes: "Callable[[str], str | None] | None" = None,
        shell: "Callable[[], str] | None" = None,
    ) -> None:
        self.look = look  # (path) -> where its parent really is, and whether it exists
        self.owns = owns or (lambda path: False)  # (entry right below a temp root) -> is it the session's still?
        self.is_plain = is_plain or (lambda path, deep: False)  # (directory, with all below) -> does it hold no link?
        self.holds_mount = holds_mount  # (directory) -> is anything mounted below it? None: nobody can tell
        self.entries = entries or (lambda directory: ())  # the names that lie in it
        self.inherited = inherited  # () -> names of variables that the hook may have lost; None: nobody can tell
        self.startup = startup  # () -> the texts that it loads before the command; one that cannot be read is None
        self.pushes = pushes  # (directory) -> the branch that `git push` there changes; None: nobody can tell
        self.shell = shell  # () -> the name of the shell that will run it; "" and None: one of bash, zsh and dash


class Context:
    """The three together, as one decision needs them."""

    __slots__ = ("agent", "place", "probes")

    def __init__(self, place: CallPlace, probes: Probes, agent: AgentFacts) -> None:
        self.place = place
        self.probes = probes
        self.agent = agent

    def tokens(self, rules: "Rules") -> "dict[str, tuple[str, ...]]":
        """What the words of a rule stand for here."""
        place = self.place
        scratch = rules.scratch(place.scratch)
        return {
            "@scratch": (scratch,) if scratch else (),
            "@project": (place.project,) if place.project else (),
            "@agent": self.agent.own,
            "@tmp": (*place.temp_roots, *place.tmp_roots),
            ".": (place.cwd,),
            "~": (place.home,),
        }

    def names_to_keep(self) -> "tuple[str, ...]":
        """Names right below a temp root that belong to the agent itself."""
        return tuple(
            path[len(root) + 1 :].partition("/")[0]
            for path in self.agent.own
            for root in self.place.tmp_roots
            if path.startswith(root + "/")
        )


def context_of(
    place: CallPlace,
    facts: "Facts | None",
    answers: "tuple[str, ...]",
    version: "tuple[int, ...]",
    disk: "Disk",
    *,
    inherited: "Callable[[], frozenset[str] | None] | None" = None,
    owns: "Callable[[str], bool] | None" = None,
    kept: str = "",
) -> Context:
    """The one place where an agent's facts become what the guard goes by: for a hook and for `guard check` alike.

    `answers` are those that the agent understands here. `version` is empty where nobody could tell it: unknown is not
    new. `kept` is the file that remembers what start-up files say. Without `facts` it is somebody who keeps every
    rewrite.
    """
    home, uid, environ = place.shell_home, place.uid, place.environ
    since = facts["keeps_rewrite"] if facts else ()
    probes = Probes(
        disk.look,
        owns=owns,
        is_plain=disk.is_plain,
        holds_mount=disk.holds_mount,
        entries=disk.entries,
        inherited=inherited,
        startup=lambda: _startup(facts, home, environ, kept),
        pushes=lambda cwd: _pushed(cwd, home),
        shell=None if facts is None else (lambda: _shell(facts["shell"], uid, environ)),
    )
    agent = AgentFacts(
        keeps_rewrite=facts is None or (bool(since) and version >= since),
        has_ask="ask" in answers,
        applies_rewrite_without_allow="rewrite" in answers,
        own=tuple([_named(path, place.home, uid) for path in facts["own"]]) if facts else (),
    )
    return Context(place, probes, agent)


def _named(path: str, home: str, uid: int) -> str:
    return home + path[1:] if path[0] == "~" else path.replace("{uid}", str(uid))


def _pushed(cwd: str, home: str) -> str | None:
    """Only a push with a lease asks for it."""
    from ..oskit.files.disk import pushed_branch

    return pushed_branch(cwd, home)


def _shell(by: str, uid: int, environ: "Mapping[bytes, bytes]") -> str:
    """The name of the agent's shell. Only an allow asks for it."""
    if by == "environment":
        return environ.get(b"SHELL", b"").decode("utf-8", "replace").rpartition("/")[2]
    if by != "login":
        return ""
    from ..oskit.files.disk import login_shell

    return login_shell(uid).rpartition("/")[2]


def _startup(
    facts: "Facts | None", home: str, environ: "Mapping[bytes, bytes]", kept: str
) -> "tuple[Loaded | None, ...]":
    """What the agent's shell loads before the command. Only an allow asks for it."""
    from ..oskit.files.disk import startup_paths, startup_texts

    paths = startup_paths(home, _snapshots(facts, home, environ))
    if not kept:
        return startup_texts(paths)
    from .startup import facts_kept

    return facts_kept(paths, kept)


def _snapshots(facts: "Facts | None", home: str, environ: "Mapping[bytes, bytes]") -> str:
    """Where the agent keeps what its shell knew at the start of a session, "" for nowhere."""
    if facts is None or not facts["snapshots"]:
        return ""
    value = environ.get(facts["variable"].encode(), b"") if facts["variable"] else b""
    directory = value.decode("utf-8", "surrogateescape") or facts["directory"].replace("{home}", home)
    return f"{directory}/{facts['snapshots']}"
