"""Which names right below a temp root a line states: fresh ones become its session's, others are its own already.

A command that is left as it is cannot be broken. What it makes by a name that nobody has belongs to the session that
said so; a name that exists is the session's only if it is what was noted, and nobody else has touched it since.
"""

from ...agent_facts import NAMES_IN_TEMP
from ...text import is_within
from ..nouns.analysis import DELETE, READ, PathUse, Simple
from ..nouns.paths import landing, real
from .untouchable import may_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context

_COPIES = ("cp", "gcp", "ln", "gln", "install")
_FETCHES = ("wget", "curl")
# options with which the names are still those of the sources
_PLAIN_OPTIONS = (
    *("--recursive", "--archive", "--force", "--verbose", "--symbolic", "--mode", "--target-directory", "--depth"),
    *("--branch", "--single-branch", "--quiet", "--no-verbose", "--continue", "--directory-prefix", "--silent"),
    *("--location", "--fail", "--remote-name", "--show-error", "--no-clobber", "--update", "--preserve", "--shallow"),
)
_ODD_LETTERS = {"cp": "T", "gcp": "T", "ln": "T", "gln": "T", "install": "TDd", "wget": "rmpxi", "curl": "JKT"}
# names of sockets and directories that other programs keep in /tmp; a last * stands for any ending
KEPT = ".X11-unix .ICE-unix .XIM-unix .font-unix .Test-unix tmux-* ssh-* .s.PGSQL.* .X0-lock .X1-lock dbus-* pulse-*"
KEPT += " systemd-private-* snap-private-tmp gpg-* com.apple.* mysql.sock mysqld.sock docker.sock agent.*"
_OF_AGENTS = tuple([name.partition("{")[0] for name in NAMES_IN_TEMP])


class Names:
    """What one call says about names in temp roots. `owned` count as @scratch, `fresh` only never as outside."""

    __slots__ = ("_context", "_made", "_roots", "_scratch", "_spared", "_stated", "_states", "owned")

    def __init__(self, context: "Context", scratch: str | None) -> None:
        self._context = context
        self._scratch = scratch or ""
        self._roots = tuple(
            [real_root for root in context.place.temp_roots if (real_root := real(root, context.probes.look))]
        )
        self._states: dict[str, str] = {}
        self._spared: set[int] = set()
        self._stated: dict[str, bool] = {}
        self.owned: list[str] = []
        self._made: set[str] = set()  # patterns of names that the line makes

    @property
    def fresh(self) -> "tuple[str, ...]":
        """To be stated: names that nobody has, and the session's own, which may be made anew."""
        return tuple(self._stated)

    def read(self, commands: "tuple[Simple, ...]") -> None:
        for simple in commands:
            if simple.remote:
                continue
            for use in (*simple.paths, *simple.redirects):
                self._take(use, simple)

    def take_path(self, path: str | None) -> None:
        """Of a file tool."""
        entry = self.entry_of(path)
        if entry:
            self._note(entry)

    @property
    def others(self) -> "tuple[str, ...]":
        """Names of the call that somebody else has, or that it only reads: it will not have made them."""
        return tuple([entry for entry, state in self._states.items() if not state or entry not in self._stated])

    def is_spared(self, use: PathUse) -> bool:
        """It writes into a temp root itself, by names that are all fresh or the session's."""
        return id(use) in self._spared

    def entry_of(self, path: str | None) -> str:
        """The entry right below a temp root that a path lies at or in; "" elsewhere, and for what belongs to others."""
        for root in self._roots if path else ():
            if path.startswith(root + "/"):  # type: ignore[union-attr]
                first = path[len(root) + 1 :].partition("/")[0]  # type: ignore[index]
                is_ours = first.startswith("tmpwarden-") and first[10:].isdigit()  # where the scratches are
                kept = is_ours or is_kept(first, self._context.names_to_keep())
                entry = f"{root}/{first}"
                return "" if kept or not first or is_within(self._scratch, entry) else entry
        return ""

    def _take(self, use: PathUse, simple: Simple) -> None:
        place = landing(use)
        if use.is_glob and use.path in self._roots and self._is_of_this_line(use):
            self._spared.add(id(use))
            return
        if place in self._roots and use.mode not in (READ, DELETE):
            names = names_into(simple)
            states = [self._note(f"{place}/{name}") for name in names]
            if names and "" not in states:
                self._spared.add(id(use))
            return
        entry = self.entry_of(place)
        is_read = use.mode == READ  # what a line only waits for, or looks at, somebody else makes
        if entry and not is_read and not (simple.name in ("mv", "gmv") and _brings_in(simple, self)):
            self._note(entry)
        elif entry:
            self._look_at(entry)

    def _is_of_this_line(self, use: PathUse) -> bool:
        """/tmp/log-$$, /tmp/run-$NAME.log: a name that nobody has, as far as the letters around it tell."""
        _, pattern = use.pattern
        if any(c in use.raw for c in "*?[{") or use.mode == READ:
            return False
        wide = pattern.replace("?", "*")
        there = self._context.probes.entries(use.path or "")
        if there and "/" not in pattern and pattern.strip("*?."):
            is_free = not any(may_match(wide, name) for name in there)
        else:
            is_free = "*" not in pattern and "?" in pattern and use.mode != DELETE  # a number of this moment
        if is_free and use.mode != DELETE:
            self._made.add(pattern)
        return is_free or pattern in self._made

    def _note(self, entry: str) -> str:
        """Remember it as fresh or owned; "" where it is neither."""
        state = self._look_at(entry)
        if state:
            self._stated[entry] = True
        return state

    def _look_at(self, entry: str) -> str:
        if entry not in self._states:
            parent, exists = self._context.probes.look(entry)
            state = (
                "" if parent is None else "fresh" if not exists else "owned" if self._context.probes.owns(entry) else ""
            )
            self._states[entry] = state
            if state == "owned":
                self.owned.append(entry)
        return self._states[entry]

    def is_fresh(self, place: str) -> bool:
        """It lies at or in an entry that nobody has, or that is the session's."""
        return bool(self._states.get(self.entry_of(place)))


def _brings_in(simple: Simple, names: Names) -> bool:
    """Something that was elsewhere before: its content is not what this session made."""
    sources = [landing(use) for use in simple.paths if use.mode == DELETE]
    return not sources or not all(names.entry_of(source) for source in sources)


def names_into(simple: Simple) -> "list[str]":
    """The names that a copy, a download or a clone makes in the directory that it writes into; [] if not known."""
    words = simple.argv
    if None in words or any(use.is_glob or use.path is None for use in simple.paths):
        return []
    if any(_makes_other_names(word or "", simple.name or "") for word in words[1:]):
        return []
    if simple.name in _COPIES:
        return _last_parts([use.path or "" for use in simple.paths if use.mode == READ])
    plain = [word or "" for word in words[1:] if word and not word.startswith("-")]
    if simple.name == "git" and plain[:1] == ["clone"] and len(plain) == 2:
        return _last_parts([plain[1].rstrip("/").removesuffix("/.git").removesuffix(".git")])
    if simple.name in _FETCHES:
        return _last_parts([word.partition("?")[0] for word in plain if "://" in word])
    return []


def _makes_other_names(word: str, program: str) -> bool:
    """`cp -r . /tmp` copies what is in there; with some options names are other ones, or nobody knows them."""
    if f"/{word}".rstrip("/").endswith(("/.", "/..")):
        return True
    if word[:2] == "--":
        return word.partition("=")[0] not in _PLAIN_OPTIONS
    return word[:1] == "-" and any(letter in word for letter in _ODD_LETTERS.get(program, ""))


def _last_parts(paths: "list[str]") -> "list[str]":
    names = [path.rpartition("/")[2] for path in paths]
    return names if all(name not in ("", ".", "..") for name in names) else []


def is_kept(name: str, keep: tuple[str, ...]) -> bool:
    """A name in a temp root that belongs to any agent or to another program."""
    if name in keep or any(name.startswith(prefix) and name[len(prefix) :].isdigit() for prefix in _OF_AGENTS):
        return True
    return any(name == kept or (kept[-1] == "*" and name.startswith(kept[:-1])) for kept in KEPT.split(" "))
