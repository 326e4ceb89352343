"""Simple commands: their words, files and variables, and the Simple that the rules judge."""

from __future__ import annotations

from ..nouns.analysis import APPEND, CODE, CREATE, DELETE, READ, WRITE, PathUse, Simple
from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.paths import is_within, uses
from ..nouns.places import is_descriptor
from ..nouns.state import UNKNOWN, Site, State, Value, merged
from ..programs.arguments import arguments
from ..programs.options import Argument
from ..programs.table import TRUSTED_DIRECTORIES
from ..shell.syntax import LITERAL, Assignment, Node, Redirect, SimpleCommand, Word
from .loops import Loops
from .walk import Ways, as_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..nouns.paths import Look

REDIRECT_MODES = {
    ">": WRITE,
    ">|": WRITE,
    "&>": WRITE,
    ">&": WRITE,
    ">>": APPEND,
    "&>>": APPEND,
    "<": READ,
    "<>": WRITE,
}
LISTS = ("PATH", "path", "DIRS", "dirs")  # variables that end so hold several paths with colons between them
SOCKETS = ("PGHOST", "SSH_AUTH_SOCK", "TMUX_TMPDIR", "MYSQL_UNIX_PORT")  # variables that lead to other programs


class Calls(Loops):
    """Adds simple commands; what single programs mean is left to Meaning."""

    def __init__(self, source: str, home: str, environment: dict[str, str], look: Look) -> None:
        super().__init__(source, home, environment, look)
        self.sites: dict[tuple[int, int], Site] = {}
        self.links: list[tuple[str, int]] = []  # (path, depth): what lies deeper may be a link that this line made
        self.opaque: str | None = None
        self.around: tuple[str, ...] = ()  # the shells whose code is being followed
        self.is_remote = False

    def refuse(self, why: str) -> None:
        self.opaque = self.opaque or why

    def call(self, call: Call, state: State) -> Ways:
        raise NotImplementedError

    def simple(self, node: SimpleCommand, state: State) -> Ways:
        redirects = self.files(node.redirects, state) if node.redirects else []
        fields: list[Field] = []
        self.processes = 0
        for word in node.words:
            if isinstance(word, Word):
                fields += self.fields(word, state)
            else:
                fields.append(self.declared(word, state))
        before = changed = self.take_assigned(state)
        for assignment in node.assignments:  # bash, too, expands the words first
            changed = self.assign(assignment, changed)
        if node.assignments and fields:
            changed = changed.exporting([assignment.name for assignment in node.assignments])
        if not fields:
            if redirects or node.words or changed.doubts is not state.doubts:
                self.emit(Call(node, [], redirects, None), [], changed)
            return changed, changed
        body = next((r for r in reversed(node.redirects) if r.op.startswith("<<")), None)
        ok, failed = self.call(Call(node, fields, redirects, body), changed)
        if not node.assignments:
            return ok, failed
        return _without(ok, node.assignments, before), _without(failed, node.assignments, before)

    def value(self, assignment: Assignment, state: State) -> Value:
        """The value, with its place in the text so that a rewrite can find it."""
        if assignment.index is not None:
            self.discard(assignment.index, state)
            start = assignment.value.start if assignment.value is not None else assignment.end
            self.calculate(assignment.start + len(assignment.name), start, state)
        if assignment.items is not None:
            for item in assignment.items:
                for field in self.fields(item, state):
                    self.noted(field, state)
            return UNKNOWN
        word = assignment.value
        if word is None or assignment.index is not None:
            return UNKNOWN
        field = self.single(word.parts, word, state) if word.parts else Field("", word)
        if word.parts and self.in_text and assignment.name not in SOCKETS:
            site = self.site(word, 0, "", is_list=assignment.name.endswith(LISTS))
            field.sites = merged((site,), field.sites)
        if assignment.is_append:
            before = self.variable(assignment.name, state)
            both = before.text + field.text if before.text is not None and field.text is not None else None
            return Value(both, merged(field.sites, before.sites))
        return as_value(field)

    def assign(self, assignment: Assignment, state: State) -> State:
        value = self.value(assignment, state)
        return self.take_assigned(state).assigning({assignment.name: value})

    def declared(self, assignment: Assignment, state: State) -> Field:
        """NAME=value behind export: one argument to the program, remembered until it says what to do with it."""
        value = self.value(assignment, state)
        text = None if value.text is None else f"{assignment.name}={value.text}"
        field = Field(text, None, value.sites)
        field.declares = (assignment.name, value)
        return field

    def noted(self, field: Field, state: State) -> Field:
        if field.word is not None and self.in_text and field.word.parts and field.word.parts[0].kind == LITERAL:
            field.sites = merged((self.site(field.word, 0, ""),), field.sites)
        return field

    def site(self, word: Word, offset: int, program: str, is_list: bool = False) -> Site:
        key = (word.start, offset)
        if key not in self.sites:
            self.sites[key] = Site(word, offset, program, is_list, bool(self.around))
        return self.sites[key]

    def open_files(self, node: Node, state: State) -> None:
        redirects = self.files(node.redirects, state)
        if redirects:
            self.emit(Call(node, [], redirects, None), [], state)

    def tell_doubt(self, node: Node, state: State) -> None:
        self.emit(Call(node, [], [], None), [], state)

    def look_at(self, files: list[Word], state: State) -> None:
        for word in files:
            self.touch(Argument(self.single(word.parts, word, state), 0, READ), state, "[[")

    def files(self, redirects: list[Redirect], state: State) -> list[PathUse]:
        found: list[PathUse] = []
        for redirect in redirects:
            op, target = redirect.op, redirect.target
            if redirect.fd.startswith("{"):
                self.assigned[redirect.fd[1:-1]] = UNKNOWN  # the number of the descriptor
            if op.startswith("<<"):
                if redirect.parts:
                    self.discard(redirect.parts, state)
                elif op == "<<<":
                    self.discard(target.parts, state)
                continue
            fields = self.fields(target, state)
            field = fields[0] if len(fields) == 1 else Field(None, target)
            if op in (">&", "<&") and _is_number(field.text):
                continue
            mode = READ if op == "<&" else REDIRECT_MODES[op]
            if not is_descriptor(field.text or ""):
                found += self.touch(Argument(field, 0, mode), state, "")
        return found

    def touch(self, argument: Argument, state: State, program: str) -> list[PathUse]:
        """Note one path, for the rules and for the rewrite."""
        field, mode = argument.field, argument.mode
        found = uses(field, argument.offset, mode, state.cwds, self.look, self.source if self.in_text else "")
        for use in found:
            self._unless_linked(use)
        for site in field.sites:
            site.modes.add(mode)
        if self.in_text and field.word is not None and not argument.is_glued:
            site = self.site(field.word, argument.offset, program)
            site.modes.add(mode)
            for use in found:
                site.paths.add(use.path)
        return found

    def _unless_linked(self, use: PathUse) -> None:
        """A link that this very line makes cannot be seen by looking."""
        # acts on the link itself; the path of a pattern is the directory that is walked over
        is_kept = use.mode in (DELETE, CREATE) and not use.is_glob and not use.raw.rstrip("\"'").endswith("/")
        for made, depth in self.links:
            for path in (use.path, use.resolved):
                if path is not None and is_within(path, made) and path.count("/") - made.count("/") > depth + is_kept:
                    use.resolved = None

    def emit(self, call: Call, paths: list[PathUse], state: State) -> None:
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
            )
        )

    def plain(self, call: Call, state: State, name: str) -> list[PathUse]:
        """An ordinary program: tell it and its paths."""
        paths: list[PathUse] = []
        code: list[Argument] = []
        if not (call.is_remote or self.is_remote):
            for argument in arguments(name, call.fields):
                if argument.mode == CODE:
                    code.append(argument)
                else:
                    paths += self.touch(argument, state, name)
        self.emit(call, paths, state)
        for argument in code:
            self.run_code(argument, name, state)
        return paths

    def run_code(self, argument: Argument, program: str, state: State) -> None:
        """An argument that the program hands to a shell."""
        raise NotImplementedError


def _is_number(text: str | None) -> bool:
    """Of a descriptor, with a dash behind it if that one is closed."""
    return text is not None and (text == "-" or (text.removesuffix("-").isdigit() and text.isascii()))


def _without(after: State | None, assignments: list[Assignment], before: State) -> State | None:
    """Assignments in front of a command end with it."""
    if after is None:
        return None
    result = after.copy()
    result.variables = dict(after.variables)
    for assignment in assignments:
        name = assignment.name
        if name in before.variables:
            result.variables[name] = before.variables[name]
        else:
            result.variables.pop(name, None)
        doubt = f"{name} is changed"
        if doubt not in before.doubts:
            result.doubts = tuple([known for known in result.doubts if known != doubt])
    return result
