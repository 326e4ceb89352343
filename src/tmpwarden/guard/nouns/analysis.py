"""What a command line would do, as far as it can be proven: the nouns that rules judge, and what work that may cost."""

from ..shell.syntax import Unreadable

READ, WRITE, APPEND, DELETE, CREATE, ANY = "read", "write", "append", "delete", "create", "any"
RUN = "run"  # the program itself
CODE = "code"  # an argument that a shell runs
LISTED = "its arguments are names that another program lists"
WRITING = (WRITE, APPEND, DELETE, CREATE, ANY)  # all that may change what lies at a path


class PathUse:
    """One path that a command touches. `path` is None where it is not proven: judge that as anywhere."""

    __slots__ = ("is_glob", "mode", "path", "pattern", "raw", "resolved", "span")

    def __init__(
        self,
        raw: str,
        path: str | None,
        mode: str,
        *,
        resolved: str | None = None,
        is_glob: bool = False,
        span: tuple[int, int] = (-1, -1),
    ) -> None:
        self.raw = raw  # as it stands in the command
        self.path = path  # absolute and normalised, symlinks as written
        self.mode = mode
        self.resolved = resolved  # with the symlinks of its parents followed; None: not proven
        self.is_glob = is_glob  # `path` ends before the first component with a pattern: whatever matches is below it
        self.pattern = ("", "")  # of a glob: the directory, also where `path` is None, and the pattern below it
        self.span = span  # (-1, -1): not in the text itself (a default, a decoded string)


class Simple:
    """One simple command. `argv` has None where a word is not proven; it may stand for no word or for many.

    Patterns stand in it as they are written; what they may match is in `paths`.
    """

    __slots__ = (
        "argv", "cwd", "doubts", "exported", "input", "name", "paths", "redirects", "remote", "span", "text",
        "wrappers",
    )  # fmt: skip

    def __init__(
        self,
        argv: tuple[str | None, ...],
        *,
        name: str | None = None,
        cwd: str | None = None,
        paths: tuple[PathUse, ...] = (),
        redirects: tuple[PathUse, ...] = (),
        wrappers: tuple[str, ...] = (),
        remote: bool = False,
        doubts: tuple[str, ...] = (),
        span: tuple[int, int] = (-1, -1),
        text: str = "",
        input_text: str = "",
        exported: frozenset[str] = frozenset(),
    ) -> None:
        self.argv = argv  # after unwrapping; empty: only assignments or redirects
        self.name = name  # last component of argv[0]; None: not proven, or no command at all (argv is empty)
        self.cwd = cwd  # None: not proven, or several are possible (`paths` then has one entry for each)
        self.paths = paths
        self.redirects = redirects
        self.wrappers = wrappers  # outermost first: ("sudo", "env")
        self.remote = remote  # runs on another machine or in a container: `paths` is empty, argv is theirs
        self.doubts = doubts  # why no allow can be given though the words are known: "PATH is changed"
        self.exported = exported  # variables that the line hands on to it
        self.span = span
        self.text = text
        self.input = input_text  # the here-document or here-string on its input, as it is written


class Analysis:
    """All simple commands that could run, in order; `opaque` says what was not understood, None: all of it was."""

    __slots__ = ("commands", "opaque")

    def __init__(self, commands: tuple[Simple, ...], opaque: str | None = None) -> None:
        self.commands = commands
        self.opaque = opaque


MAX_STEPS = 70_000  # some 0.2 s; a line that people write takes less than 2,000


class Budget:
    """Lives for one decision and goes through all of it."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Unreadable("too much to follow")
