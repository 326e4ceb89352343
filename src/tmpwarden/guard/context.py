"""Where a call happens, and what its agent can take as an answer. Filled in by the caller of the guard."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model.facts import Facts
    from ..oskit.files.disk import Disk
    from .rules.rule import Rules

    Look = Callable[[str], tuple[str | None, bool]]
    Loaded = str | dict[str, str]  # the text of a start-up file, or what is kept of it


class Context:
    """Where the call happens and what its agent can take as an answer."""

    __slots__ = (
        "agent", "applies_rewrite_without_allow", "cwd", "entries", "environ", "has_ask", "holds_mount", "home",
        "inherited", "is_plain", "keeps_rewrite", "look", "own", "owns", "project", "pushes", "scratch", "shell",
        "shell_home", "startup", "temp_roots", "tmp_roots", "uid", "variables",
    )  # fmt: skip

    def __init__(
        self,
        *,
        scratch: str | None,
        project: str | None,
        cwd: str,
        home: str,
        uid: int,
        look: "Look",
        agent: str = "",
        keeps_rewrite: bool = True,
        has_ask: bool = True,
        applies_rewrite_without_allow: bool = True,
        own: "tuple[str, ...]" = (),
        variables: "Mapping[str, str] | None" = None,
        tmp_roots: "tuple[str, ...]" = ("/tmp",),
        temp_roots: "tuple[str, ...] | None" = None,
        owns: "Callable[[str], bool] | None" = None,
        is_plain: "Callable[[str, bool], bool] | None" = None,
        holds_mount: "Callable[[str], bool] | None" = None,
        entries: "Callable[[str], tuple[str, ...]] | None" = None,
        environ: "Mapping[bytes, bytes] | None" = None,
        inherited: "Callable[[], frozenset[str] | None] | None" = None,
        startup: "Callable[[], tuple[Loaded | None, ...]] | None" = None,
        pushes: "Callable[[str], str | None] | None" = None,
        shell: "Callable[[], str] | None" = None,
        shell_home: str = "",
    ) -> None:
        self.scratch = scratch  # None: no scratch, so nothing is redirected and nothing is inside it
        self.project = project
        self.cwd = cwd
        self.home = home  # what `~` means in rules
        self.shell_home = shell_home or home  # and in the line: a project may set HOME for its commands
        self.uid = uid
        self.look = look
        self.agent = agent
        self.keeps_rewrite = keeps_rewrite  # this version was measured to run the rewritten input
        self.has_ask = has_ask
        self.applies_rewrite_without_allow = applies_rewrite_without_allow
        self.own = own  # directories of the agent itself: `@agent` in rules
        self.variables = variables or {}  # what the agent's shell is known to have, such as TMPDIR
        self.tmp_roots = tmp_roots  # whose literal words may be led into the scratch
        self.temp_roots = tmp_roots if temp_roots is None else temp_roots  # where fresh names become the session's
        self.owns = owns or (lambda path: False)  # (entry right below one of them) -> is it the session's still?
        self.environ = environ or {}  # what the agent's shell inherits
        self.inherited = inherited  # () -> names of variables that the hook may have lost; None: nobody can tell
        self.pushes = pushes  # (directory) -> the branch that `git push` there changes; None: nobody can tell
        self.shell = shell  # () -> the name of the shell that will run it; "" and None: one of bash, zsh and dash
        self.startup = startup  # () -> the texts that it loads before the command; one that cannot be read is None
        self.entries = entries or (lambda directory: ())  # the names that lie in it
        self.holds_mount = holds_mount  # (directory) -> is anything mounted below it? None: nobody can tell
        self.is_plain = is_plain or (lambda path, deep: False)  # (directory, with all below) -> does it hold no link?

    def known(self) -> "Mapping[str, str]":
        """Variables of the agent's shell with a value that counts. CDPATH says where cd goes."""
        cdpath = self.environ.get(b"CDPATH")
        return self.variables if not cdpath else {**self.variables, "CDPATH": cdpath.decode("utf-8", "replace")}

    def temp(self) -> str:
        """How to name the scratch to an agent; "" without one: nobody is sent where nothing is."""
        return "$TMPDIR" if self.scratch and "TMPDIR" in self.variables else self.scratch or ""

    def tokens(self, rules: "Rules") -> "dict[str, tuple[str, ...]]":
        """What the words of a rule stand for here."""
        scratch = rules.scratch(self.scratch)
        return {
            "@scratch": (scratch,) if scratch else (),
            "@project": (self.project,) if self.project else (),
            "@agent": self.own,
            "@tmp": (*self.temp_roots, *self.tmp_roots),
            ".": (self.cwd,),
            "~": (self.home,),
        }

    def names_to_keep(self) -> "tuple[str, ...]":
        """Names right below a temp root that belong to the agent itself."""
        return tuple(
            path[len(root) + 1 :].partition("/")[0]
            for path in self.own
            for root in self.tmp_roots
            if path.startswith(root + "/")
        )


def context_of(
    facts: "Facts | None",
    answers: "tuple[str, ...]",
    version: "tuple[int, ...]",
    *,
    scratch: str | None,
    is_tmpdir: bool,
    project: str,
    cwd: str,
    home: str,
    uid: int,
    disk: "Disk",
    environ: "Mapping[bytes, bytes] | None" = None,
    inherited: "Callable[[], frozenset[str] | None] | None" = None,
    kept: str = "",
    tmp_roots: "tuple[str, ...]" = ("/tmp",),
    temp_roots: "tuple[str, ...] | None" = None,
    owns: "Callable[[str], bool] | None" = None,
    shell_home: str = "",
) -> Context:
    """The one place where an agent's facts become what the guard goes by: for a hook and for `guard check` alike.

    `answers` are those that the agent understands here. `version` is empty where nobody could tell it: unknown is not
    new. `kept` is the file that remembers what start-up files say. Without `facts` it is somebody who keeps every
    rewrite.
    """
    since, lines_home = facts["keeps_rewrite"] if facts else (), shell_home or home
    return Context(
        scratch=scratch,
        project=project,
        cwd=cwd,
        home=home,
        shell_home=lines_home,
        uid=uid,
        look=disk.look,
        is_plain=disk.is_plain,
        holds_mount=disk.holds_mount,
        entries=disk.entries,
        pushes=lambda cwd: _pushed(cwd, lines_home),
        tmp_roots=tmp_roots,
        temp_roots=temp_roots,
        owns=owns,
        environ=environ,
        inherited=inherited,
        startup=None if environ is None else (lambda: _startup(facts, lines_home, environ, kept)),
        shell=None if environ is None or facts is None else (lambda: _shell(facts["shell"], uid, environ)),
        variables={"TMPDIR": scratch} if scratch is not None and is_tmpdir else {},
        agent=facts["id"] if facts else "",
        keeps_rewrite=facts is None or (bool(since) and version >= since),
        has_ask="ask" in answers,
        applies_rewrite_without_allow="rewrite" in answers,
        own=tuple([_named(path, home, uid) for path in facts["own"]]) if facts else (),
    )


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
    told = environ.get(facts["variable"].encode(), b"") if facts["variable"] else b""
    directory = told.decode("utf-8", "surrogateescape") or facts["directory"].replace("{home}", home)
    return f"{directory}/{facts['snapshots']}"
