"""Follow a command line the way bash would: one handler for every command that is more than its paths."""

from __future__ import annotations

from ..nouns.analysis import RUN, Analysis, Budget, PathUse
from ..nouns.fields import Field, Invocation
from ..nouns.paths import normal_form, path_from
from ..nouns.state import Site, State, join
from ..programs.known import NAMES
from ..programs.table import has, language_of, program
from ..shell.reader import read
from ..shell.syntax import Unreadable
from .builtins import change_directory, pop_directory, push_directory
from .flow import (
    call_by_name,
    define_function,
    open_files,
    simulate_and_or,
    simulate_block,
    simulate_case,
    simulate_expression,
    simulate_for,
    simulate_if,
    simulate_loop,
    simulate_pipeline,
    simulate_sequence,
    simulate_simple,
    simulate_uncalled,
)
from .plain import note_links, plain
from .shell import FETCHED, Meaning, Shell, Ways

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context
    from ..shell.syntax import Sequence
    from .shell import Handler, NodeHandler

MAX_WRAPPERS = 12  # sudo env nice ...: each looks through all that is behind it


def simulate_call(shell: Shell, call: Invocation, state: State) -> Ways:
    if len(call.wrappers) > MAX_WRAPPERS:
        raise Unreadable("wrappers in wrappers, too deep")
    first = call.fields[0]
    if first.text is None and first.pattern_at < 0 and "/" in (first.stem or ""):  # "$D/bin/pip" behind D=$(mktemp -d)
        call.fields[0] = Field(first.stem, first.word, first.sites)
    text = call.fields[0].text
    if text is not None and text.startswith(("http://", "https://")):
        shell.refuse(FETCHED)  # npx https://...
    if text is None or (call.fields[0].pattern_at >= 0 and text != "["):  # alone it opens no pattern
        return _nameless(shell, call, state)
    if text in state.functions and not call.skips_functions:
        return call_by_name(shell, text, call, state)
    name = text.rpartition("/")[2]
    if text[0:1] == "/" and shell.in_text and call.fields[0].word is not None:
        shell.site(call.fields[0].word, 0, "").modes.add(RUN)
    if ("/" in text and text[0:1] != "/") or (text[0:1] == "/" and name not in NAMES):
        _run_written(shell, text, call, state)
    handler = None if name != text and name in BUILTINS else _handler(name)  # /usr/bin/cd moves nobody but itself
    if handler is not None:
        return handler(shell, call, state)
    paths = plain(shell, call, state, name)
    if has(name, "links"):
        note_links(shell, name, call, paths)
    elif program(name).plain in ("", "any") and "reads" not in program(name).facets:
        _guess(shell, name, call, state)
    return state, state


def _run_written(shell: Shell, text: str, call: Invocation, state: State) -> None:
    """./x.sh, which the line wrote before: as if a shell were given the text."""
    path = path_from(state.cwds[0], text) if len(state.cwds) == 1 else None
    if path is None or not shell.commands:
        return
    from .plain import child_state, simulate_code
    from .written import text_written_to

    written = text_written_to(shell, normal_form(path))
    first = (written or "").partition("\n")[0]
    if written is not None and (first[:2] != "#!" or first.endswith("sh")):
        simulate_code(shell, Field(written, None), child_state(shell, state, call.fields), *call.wrappers, "sh")


def later(module: str, name: str) -> Handler:
    """A handler of a room that most lines never enter: it is imported when it is first called."""

    def imported(shell: Shell, call: Invocation, state: State) -> Ways:
        handler: Handler = getattr(__import__(f"{__package__}.{module}", None, None, [name]), name)
        return handler(shell, call, state)

    return imported


def _handler(name: str) -> Handler | None:
    """By its own name, else by what its row says of it."""
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler
    facets = program(name).facets
    for facet in FACETS:
        if facet in facets:
            return FACETS[facet]
    return FACETS["code"] if has(language_of(name), "code") else None


def _guess(shell: Shell, name: str, call: Invocation, state: State) -> None:
    """A program of whose plain arguments nobody wrote down what they are may run them, if they start with a name that
    changes files."""
    for at in range(1, len(call.fields) - 1):
        inner = (call.fields[at].text or "").rpartition("/")[2]
        facets = program(inner).facets
        if "changes" not in facets and "shell" not in facets:
            continue
        opaque = shell.opaque
        shell.call(call.inside(name, call.fields[at:]).quiet(), state)
        if "changes" in facets or not (call.fields[at + 1].text or "-c").startswith("-"):
            shell.opaque = opaque  # only words: what cannot be read in them proves nothing
        return


def _nameless(shell: Shell, call: Invocation, state: State) -> Ways:
    """It may be cd as well as rm."""
    shell.refuse("the name of a command is not known")
    raw = shell.source[call.node.start : call.node.end]
    shell.emit(call, [PathUse(raw, None, "any")], state)
    after = state.at((None,)).forgetting()
    return after, after


BUILTINS: dict[str, Handler] = {
    **dict.fromkeys(("cd", "chdir"), change_directory),
    "pushd": push_directory,
    "popd": pop_directory,
    **dict.fromkeys(("export", "declare", "local", "readonly", "typeset"), later("builtins", "declare")),
    **dict.fromkeys(("read", "mapfile", "readarray", "getopts", "let", "wait"), later("builtins", "read_names")),
    **dict.fromkeys(("compgen", "fc"), later("builtins", "may_run_code")),
    "printf": later("builtins", "print_formatted"),
    "unset": later("builtins", "unset_names"),
    "set": later("builtins", "set_options"),
    "shift": later("builtins", "shift_arguments"),
    **dict.fromkeys(("source", "."), later("builtins", "source_file")),
    **dict.fromkeys(("exit", "logout"), later("builtins", "leave_shell")),
    "return": later("builtins", "leave_function"),
    **dict.fromkeys(("break", "continue"), later("builtins", "leave_loop")),
    "alias": later("builtins", "make_alias"),
    "shopt": later("builtins", "set_shell_options"),
    **dict.fromkeys(("enable", "hash"), later("builtins", "change_names")),
}
HANDLERS: dict[str, Handler] = {
    **BUILTINS,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), later("interpreters", "simulate_awk")),
    **dict.fromkeys(("sed", "gsed"), later("interpreters", "simulate_sed")),
    **dict.fromkeys(("make", "gmake"), later("tools", "simulate_make")),
    **dict.fromkeys(("test", "["), later("builtins", "simulate_test")),
    **dict.fromkeys(("scp", "sftp"), later("tools", "simulate_copy_by_ssh")),
    "git": later("tools", "simulate_git"),
    "mktemp": later("tools", "simulate_mktemp"),
    "cmake": later("tools", "simulate_cmake"),
    "sqlite3": later("tools", "simulate_sqlite"),
    "xargs": later("wrappers", "simulate_xargs"),
    "parallel": later("wrappers", "simulate_parallel"),
    "tmux": later("tools", "simulate_tmux"),
    "screen": later("tools", "simulate_screen"),
    **dict.fromkeys(("find", "gfind"), later("wrappers", "simulate_find")),
    **dict.fromkeys(("fd", "fdfind"), later("wrappers", "simulate_fd")),
    "eval": later("interpreters", "simulate_eval"),
    "trap": later("interpreters", "set_trap"),
    **dict.fromkeys(("ssh", "mosh"), later("remote", "simulate_ssh")),
}
# the first one that a row has
FACETS: dict[str, Handler] = {
    "remote": later("remote", "simulate_container"),
    "user_shell": later("interpreters", "simulate_user_shell"),
    "told_by": later("interpreters", "simulate_code_reader"),
    "code": later("interpreters", "simulate_interpreter"),
    "shell": later("interpreters", "simulate_shell"),
    "runner": later("wrappers", "simulate_wrapped"),
    "runs": later("wrappers", "simulate_wrapped"),
}
NODES: dict[str, NodeHandler] = {  # by the name of the node's class: most lines never load those of compound commands
    "SimpleCommand": simulate_simple,
    "Sequence": simulate_sequence,
    "AndOr": simulate_and_or,
    "Pipeline": simulate_pipeline,
    "Block": simulate_block,
    "If": simulate_if,
    "Loop": simulate_loop,
    "For": simulate_for,
    "Case": simulate_case,
    "Expression": simulate_expression,
    "Function": define_function,
}
MEANING = Meaning(NODES, simulate_call, open_files)


class Study:
    """What was found out about one text."""

    __slots__ = ("analysis", "in_order", "is_beside", "sites", "tree")

    def __init__(
        self,
        analysis: Analysis,
        sites: tuple[Site, ...],
        tree: Sequence | None,
        *,
        in_order: bool = False,
        is_beside: bool = True,
    ) -> None:
        self.analysis = analysis
        self.sites = sites  # the words of the text that a rewrite may lead elsewhere; none if it was not followed
        self.tree = tree  # None: it could not be read; what the tree does may still be unknown
        self.in_order = in_order  # its commands run in the order in which they were found, each once
        self.is_beside = is_beside  # some of it runs in the background


def study(command: str, context: Context, budget: Budget, tree: Sequence | None = None) -> Study:
    """Read the text, unless its tree is known, and follow it. Never raises; what it cannot read makes all opaque."""
    shell = Shell(command, context.place.shell_home, context.place.known(), context.probes.look, MEANING, budget)
    try:
        tree = tree or read(command)
        state = State((context.place.cwd,))
        ok, failed = shell.simulate(tree, state)
        simulate_uncalled(shell, ok or failed or state)
        if shell.traps:
            from .interpreters import run_traps

            run_traps(shell, join(ok, failed) or state)
        shell.after_calculating(tree, state)
    except Unreadable as why:
        return Study(Analysis(tuple(shell.commands), str(why)), (), tree)
    except RecursionError:
        return Study(Analysis(tuple(shell.commands), "nested too deep"), (), tree)
    analysis = Analysis(tuple(shell.commands), shell.opaque)
    return Study(analysis, tuple(shell.sites.values()), tree, in_order=shell.in_order, is_beside=shell.is_beside)
