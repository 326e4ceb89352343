"""Follow a command line the way bash would, and tell every command and path that it could touch."""

from __future__ import annotations

from ..nouns.analysis import READ, RUN, WRITE, Analysis, PathUse
from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.state import Site, State, join
from ..programs.options import Argument
from ..programs.table import CHANGING, PROGRAMS, REMOTE
from ..shell.reader import read
from ..shell.syntax import Unreadable
from .interpreters import CODE_OPTIONS, CODE_READERS, interpreter_of
from .shell_builtins import BUILTINS
from .shells import SHELLS, USER_SHELLS
from .terminals import Terminals
from .walk import Ways
from .wrappers import RUNNERS, WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..nouns.paths import Look

MAX_WRAPPERS = 12  # sudo env nice ...: each looks through all that is behind it
LINKING = {"ln": "", "mv": "", "cp": "raRdPl", "rsync": "ral", "install": "-", "tar": "x", "unzip": ""}


class Meaning(Terminals):
    """Says for each name what it means."""

    def call(self, call: Call, state: State) -> Ways:
        if len(call.wrappers) > MAX_WRAPPERS:
            raise Unreadable("wrappers in wrappers, too deep")
        text = call.fields[0].text
        if text is None or (call.fields[0].pattern_at >= 0 and text != "["):  # alone it opens no pattern
            return self._nameless(call, state)
        if text in state.functions and not call.skips_functions:
            return self._function_call(text, call, state)
        name = text.rpartition("/")[2]
        if text[0:1] == "/" and self.in_text and call.fields[0].word is not None:
            self.site(call.fields[0].word, 0, "").modes.add(RUN)
        handler = HANDLERS.get(name)
        if name in BUILTINS and name != text:
            handler = None  # /usr/bin/cd moves nobody but itself
        if handler is None and interpreter_of(name) in CODE_OPTIONS:
            handler = Terminals.interpreter
        if handler is not None:
            return handler(self, call, state)
        paths = self.plain(call, state, name)
        if name in LINKING:
            self._note_links(name, call, paths)
        elif name not in PROGRAMS:
            self._guess(name, call, state)
        return state, state

    def _guess(self, name: str, call: Call, state: State) -> None:
        """A program that nobody knows may run the rest of its words, if that starts with a name that changes files."""
        for at in range(1, len(call.fields) - 1):
            inner = (call.fields[at].text or "").rpartition("/")[2]
            if inner not in CHANGING and inner not in SHELLS:
                continue
            opaque = self.opaque
            self.call(self.quiet(call.inside(name, call.fields[at:])), state)
            if inner in CHANGING or not (call.fields[at + 1].text or "-c").startswith("-"):
                self.opaque = opaque  # only words: what cannot be read in them proves nothing
            return

    def git(self, call: Call, state: State) -> Ways:
        from ..programs.git import SOFT, VARIABLES, Git  # as above

        told = Git(call.fields)
        where = state
        for field in told.moves:
            self.touch(Argument(field, 0, READ), where, "git")
            where = self.moved([field], where)
        paths = []
        for argument in told.arguments:
            if argument.field.word is None and argument.field.text == ".":
                paths += self._tree(told.command in SOFT, where)
            else:
                paths += self.touch(argument, where, "git")
        if told.is_global:
            paths.append(PathUse("~/.gitconfig", f"{self.home}/.gitconfig", WRITE, resolved=f"{self.home}/.gitconfig"))
        self.emit(call, paths, state)
        if told.command == "clone":
            self._note_links("git", call, paths)
        code = told.code + [Field(state.variables[name].text, None) for name in VARIABLES if name in state.variables]
        for field in code:
            self.follow_code(field, self.child(where, []), "git")
        return state, state

    def _tree(self, is_soft: bool, where: State) -> list[PathUse]:
        """The tree that git changes: where it stands, unless a variable says otherwise."""
        for name in ("GIT_WORK_TREE", "GIT_DIR"):
            value = where.variables.get(name)
            if value is not None or name in self.environment:
                text = value.text if value is not None else self.environment[name]
                return self.touch(Argument(Field(text, None), 0, WRITE), where, "git")
        if is_soft and None in where.cwds:
            return []
        return self.touch(Argument(Field(".", None), 0, WRITE), where, "git")

    def _function_call(self, name: str, call: Call, state: State) -> Ways:
        if call.redirects:
            self.emit(Call(call.node, [], call.redirects, None), [], state)
        ok, failed = self.call_function(name, call.fields[1:], state)
        if None not in state.functions[name]:
            return ok, failed
        call.skips_functions = True  # on some way here it was not defined
        other_ok, other_failed = self.call(call, state)
        return join(ok, other_ok), join(failed, other_failed)

    def _nameless(self, call: Call, state: State) -> Ways:
        """It may be cd as well as rm."""
        self.refuse("the name of a command is not known")
        raw = self.source[call.node.start : call.node.end]
        self.emit(call, [PathUse(raw, None, "any")], state)
        after = state.at((None,)).forgetting()
        return after, after

    def _note_links(self, name: str, call: Call, paths: list[PathUse]) -> None:
        """Where this program may leave symbolic links (or hard ones) that looking now does not show."""
        letters = LINKING.get(name, "")
        options = "".join([field.text or "" for field in call.fields[1:] if (field.text or "-").startswith("-")])
        if name == "tar":
            options += call.fields[1].text or "" if len(call.fields) > 1 else ""
        if letters and not any(c in options for c in letters):
            return
        depth = 0 if name in ("tar", "unzip", "git") else -1
        for use in paths:
            if use.mode != READ and use.path is not None:
                self.links.append((use.path, depth))
                if use.resolved is not None and use.resolved != use.path:
                    self.links.append((use.resolved, depth))


HANDLERS = {
    **BUILTINS,
    **dict.fromkeys(WRAPPERS, Terminals.wrapped),
    **dict.fromkeys(RUNNERS, Terminals.wrapped),
    **dict.fromkeys(SHELLS, Terminals.shell),
    **dict.fromkeys(CODE_OPTIONS, Terminals.interpreter),
    **dict.fromkeys(CODE_READERS, Terminals.reads_code),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), Terminals.awk),
    **dict.fromkeys(("sed", "gsed"), Terminals.sed),
    **dict.fromkeys(("make", "gmake"), Terminals.make),
    **dict.fromkeys(USER_SHELLS, Terminals.user_shell),
    **dict.fromkeys(REMOTE, Terminals.container),
    "git": Meaning.git,
    "xargs": Terminals.xargs,
    "parallel": Terminals.parallel,
    "tmux": Terminals.tmux,
    "screen": Terminals.screen,
    "find": Terminals.find,
    "gfind": Terminals.find,
    "eval": Terminals.eval,
    "trap": Terminals.trap,
    "ssh": Terminals.ssh,
    "mosh": Terminals.ssh,
}


def analyse(command: str, *, cwd: str, home: str, variables: Mapping[str, str], look: Look) -> Analysis:
    """Never raises; what it cannot read makes the whole analysis opaque."""
    return study(command, cwd=cwd, home=home, variables=variables, look=look)[0]


def study(
    command: str, *, cwd: str, home: str, variables: Mapping[str, str], look: Look
) -> tuple[Analysis, tuple[Site, ...]]:
    """The same, with the words of the text that a rewrite may lead elsewhere; none if it was not followed."""
    meaning = Meaning(command, home, variables, look)
    try:
        tree = read(command)
        state = State((cwd,))
        ok, failed = meaning.run(tree, state)
        meaning.run_uncalled(ok or failed or state)
        meaning.after_calculating(tree, state)
    except Unreadable as why:
        return Analysis(tuple(meaning.commands), str(why)), ()
    except RecursionError:
        return Analysis(tuple(meaning.commands), "nested too deep"), ()
    return Analysis(tuple(meaning.commands), meaning.opaque), tuple(meaning.sites.values())
