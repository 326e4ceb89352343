"""A shell that runs nothing: what it has seen so far, and the deeds that every handler shares."""

from __future__ import annotations

from ...text import is_within
from ..nouns.analysis import CREATE, DELETE, Budget, PathUse, Simple
from ..nouns.fields import Field, Invocation
from ..nouns.paths import uses
from ..nouns.state import UNKNOWN, Site, State, Value
from ..programs.table import TRUSTED_DIRECTORIES
from ..shell.syntax import Node, Sequence, SimpleCommand, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..nouns.paths import Look
    from ..programs.options import Argument
    from ..shell.syntax import Function

SHELLS_OWN = frozenset(("-", "_", "OLDPWD", "BASH", "REPLY", "IFS", "FUNCNAME", "BASH_SOURCE", "PIPESTATUS"))

FETCHED = "it runs what it fetches"
EXTENDED = "zsh may take a mark in it for a pattern"  # `setopt extendedglob`: HEAD~1, a#b

Ways = tuple["State | None", "State | None"]  # after success, after failure; None: it does not go on there
if TYPE_CHECKING:
    Handler = Callable[["Shell", Invocation, State], Ways]
    NodeHandler = Callable[["Shell", Any, State], Ways]


class Meaning:
    """What nodes and names mean, handed down to the shell: handlers run other handlers, imports must not."""

    __slots__ = ("call", "nodes", "open_files")

    def __init__(
        self, nodes: Mapping[str, NodeHandler], call: Handler, open_files: Callable[[Shell, Node, State], State]
    ) -> None:
        self.nodes = nodes
        self.call = call
        self.open_files = open_files


class Shell:
    """Walks the tree the way bash would run it. What is known between two commands is a State, not in here."""

    __slots__ = (
        "around", "assigned", "before", "budget", "called", "commands", "defined", "doubted", "environment",
        "escapes", "home", "in_order", "in_text", "is_beside", "is_remote", "links", "locals", "look", "meaning",
        "nested", "opaque", "processes", "returns", "sites", "source", "traps",
    )  # fmt: skip

    def __init__(
        self, source: str, home: str, environment: Mapping[str, str], look: Look, meaning: Meaning, budget: Budget
    ) -> None:
        self.source = source
        self.home = home
        self.environment = environment
        self.look = look
        self.meaning = meaning
        self.commands: list[Simple] = []  # all that could run, in order
        self.sites: dict[tuple[int, int], Site] = {}
        self.links: list[tuple[str, int]] = []  # (path, depth): what lies deeper may be a link that this line made
        self.opaque: str | None = None  # what was not understood
        self.in_order = True  # each command once, in the order of `commands`: no loop, no function
        self.is_beside = False  # something runs beside the line, and may go on after it
        self.budget = budget
        # where we are
        self.in_text = True  # places in the tree are places in the text that was given
        self.around: tuple[str, ...] = ()  # the shells whose code is being followed
        self.nested = 0  # how many they are
        self.is_remote = False
        self.before: list[Simple] | None = None  # what ran in front of this in its pipeline
        self.escapes: list[list[State]] = []  # what was known at each break and continue, per loop around
        self.returns: list[list[State]] = []  # the same per function around
        self.locals: list[set[str]] = []  # names that each function around has made its own
        self.called: set[Function] = set()
        self.defined: list[Function] = []
        self.traps: list[Field] = []  # code that runs when the line ends
        # of the command that is being expanded
        self.assigned: dict[str, Value] = {}  # by ${x:=y} and arithmetic, until the command takes them over
        self.doubted = ""  # why no allow can be given any more, likewise
        self.processes = 0  # <(...) and >(...) so far

    def simulate(self, node: Node, state: State) -> Ways:
        self.budget.spend(20)
        if node.redirects and not isinstance(node, SimpleCommand):
            state = self.meaning.open_files(self, node, state)
        return self.meaning.nodes[type(node).__name__](self, node, state)

    def call(self, call: Invocation, state: State) -> Ways:
        return self.meaning.call(self, call, state)

    def simulate_inner(self, body: Sequence, source: str, state: State) -> None:
        """A substitution: a shell of its own. `source` is set where its text is not the one around it."""
        if source:
            self.simulate_text(body, source, state)
        else:
            self.simulate(body, state)

    def simulate_text(self, body: Sequence, source: str, state: State) -> Ways:
        """A tree that was read from another text."""
        outer, self.source = self.source, source
        in_text, self.in_text = self.in_text, False
        ways = self.simulate(body, state)
        self.source, self.in_text = outer, in_text
        return ways

    def refuse(self, why: str) -> None:
        self.opaque = self.opaque or why

    def doubt(self, why: str) -> None:
        """The command that is being expanded earns no allow."""
        self.doubted = why if self.doubted in ("", EXTENDED) else self.doubted  # the lesser one hides no other

    def variable(self, name: str, state: State) -> Value:
        """UNKNOWN where the line does not set it and the environment does not hold it: a start-up file may."""
        value = self.assigned.get(name) or state.variables.get(name)
        if value is not None:
            return value
        if name == "PWD" and len(state.cwds) == 1:
            return Value(state.cwds[0])
        if state.forgets or name in SHELLS_OWN or name == "PWD":
            return UNKNOWN
        if name == "HOME":
            return Value(self.home)
        if name.isdigit():
            at, known = int(name) - 1, state.positional
            if known is None or at < 0:
                return UNKNOWN
            return Value(known[at]) if at < len(known) else Value("")
        text = self.environment.get(name)
        return UNKNOWN if text is None else Value(text)

    def take_assigned(self, state: State) -> State:
        """What expansions assigned on the way, and what they left in doubt."""
        if self.doubted:
            state, self.doubted = state.doubting(self.doubted), ""
        if not self.assigned:
            return state
        values, self.assigned = self.assigned, {}
        return state.assigning(values)

    def after_calculating(self, node: Node, state: State) -> State:
        after = self.take_assigned(state)
        if after.doubts is not state.doubts:  # nothing ran that has a name, and yet the line is no longer sure
            self.emit(Invocation(node, [], [], None), [], after)
        return after

    def site(self, word: Word, offset: int, program: str, is_list: bool = False) -> Site:
        key = (word.start, offset)
        if key not in self.sites:
            self.sites[key] = Site(word, offset, program, is_list, bool(self.around))
        return self.sites[key]

    def touch(self, argument: Argument, state: State, program: str) -> list[PathUse]:
        """Note one path, for the rules and for the rewrite."""
        self.budget.spend(4 + len(self.links))
        field, mode = argument.field, argument.mode
        path_uses = uses(field, argument.offset, mode, state.cwds, self.look, self.source if self.in_text else "")
        for use in path_uses:
            self._unless_linked(use)
        for site in field.sites:
            site.modes.add(mode)
        if self.in_text and field.word is not None and not argument.is_glued:
            site = self.site(field.word, argument.offset, program)
            site.modes.add(mode)
            for use in path_uses:
                site.paths.add(use.path)
        return path_uses

    def _unless_linked(self, use: PathUse) -> None:
        """A link that this very line makes cannot be seen by looking."""
        # acts on the link itself; the path of a pattern is the directory that is walked over
        is_kept = use.mode in (DELETE, CREATE) and not use.is_glob and not use.raw.rstrip("\"'").endswith("/")
        for made, depth in self.links:
            for path in (use.path, use.resolved):
                if path is not None and is_within(path, made) and path.count("/") - made.count("/") > depth + is_kept:
                    use.resolved = None

    def emit(self, call: Invocation, paths: list[PathUse], state: State) -> None:
        """One simple command for the rules."""
        node = call.node
        first = call.fields[0].text if call.fields else None
        doubts = state.doubts + call.doubts
        if first is not None and "/" in first and first.rpartition("/")[0] not in TRUSTED_DIRECTORIES:
            doubts += (f"{first} is not the system's",)
        self.commands.append(
            Simple(
                tuple([field.text for field in call.fields]),
                name=None if first is None else first.rpartition("/")[2],
                cwd=state.cwds[0] if len(state.cwds) == 1 else None,
                paths=tuple(paths),
                redirects=tuple(call.redirects),
                wrappers=self.around + call.wrappers,
                remote=self.is_remote or call.is_remote,
                doubts=doubts,
                span=(node.start, node.end) if self.in_text else (-1, -1),
                text=self.source[node.start : node.end],
                exported=state.exported,
                input_text="" if call.body is None else call.body.body or call.body.target.text or "",
            )
        )
