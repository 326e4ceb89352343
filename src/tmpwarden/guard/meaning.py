"""Follow a command line the way bash would, and tell every command and path that it could touch."""

from __future__ import annotations

from .analysis import READ, Analysis, PathUse
from .calls import Call
from .elsewhere import Elsewhere
from .follow import Ways
from .interpreters import CODE_OPTIONS, CODE_READERS, interpreter_of
from .programs import REMOTE
from .reader import read
from .shell_builtins import BUILTINS
from .shells import SHELLS
from .state import Site, State, join
from .syntax import Unreadable
from .wrappers import RUNNERS, WRAPPERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .paths import Look

LINKING = {"ln": "", "mv": "", "cp": "raRdPl", "rsync": "ral", "install": "-", "tar": "x", "unzip": "", "git": ""}


class Meaning(Elsewhere):
    """Says for each name what it means."""

    def call(self, call: Call, state: State) -> Ways:
        text = call.fields[0].text
        if text is None or (call.fields[0].pattern_at >= 0 and text != "["):  # alone it opens no pattern
            return self._nameless(call, state)
        if text in state.functions and not call.skips_functions:
            return self._function_call(text, call, state)
        name = text.rpartition("/")[2]
        handler = HANDLERS.get(name)
        if handler is None and interpreter_of(name) in CODE_OPTIONS:
            handler = Elsewhere.interpreter
        if handler is not None:
            return handler(self, call, state)
        paths = self.plain(call, state, name)
        if name in LINKING:
            self._note_links(name, call, paths)
        return state, state

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
        letters = LINKING[name]
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
    **dict.fromkeys(WRAPPERS, Elsewhere.wrapped),
    **dict.fromkeys(RUNNERS, Elsewhere.runner),
    **dict.fromkeys(SHELLS, Elsewhere.shell),
    **dict.fromkeys(CODE_OPTIONS, Elsewhere.interpreter),
    **dict.fromkeys(CODE_READERS, Elsewhere.reads_code),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), Elsewhere.awk),
    **dict.fromkeys(("sed", "gsed"), Elsewhere.sed),
    **dict.fromkeys(("su", "runuser", "script"), Elsewhere.user_shell),
    **dict.fromkeys(REMOTE, Elsewhere.container),
    "xargs": Elsewhere.xargs,
    "find": Elsewhere.find,
    "gfind": Elsewhere.find,
    "eval": Elsewhere.eval,
    "trap": Elsewhere.trap,
    "ssh": Elsewhere.ssh,
    "mosh": Elsewhere.ssh,
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
    except Unreadable as why:
        return Analysis(tuple(meaning.commands), str(why)), ()
    except RecursionError:
        return Analysis(tuple(meaning.commands), "nested too deep"), ()
    return Analysis(tuple(meaning.commands), meaning.opaque), tuple(meaning.sites.values())
