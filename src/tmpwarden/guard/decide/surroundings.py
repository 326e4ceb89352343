"""Does an allow hold in the shell that will run the line? What it inherits and what its start-up files define.

Asked only when everything else says allow. What cannot be told costs the allow, never more.
"""

from ...oskit.proc.inherited import means_something
from ..nouns.analysis import Simple
from ..nouns.names import INHERITED, is_special_inherited, names
from ..programs.table import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..context import Context
    from ..shell.syntax import Function

# options of shells with which cd goes elsewhere, or a word becomes something else: {.}{.} is .. by brace_ccl
_OPTIONS = ("alias -g", "alias -s", "set -o physical", "set -P")
_FLAT_OPTIONS = ("cdablevars", "chaselinks", "chasedots", "globassign", "braceccl")  # zsh reads Cd_able_VARS so
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
_ALL, _ODD = "", ("[", ":", "!")
_DEFINING = ("(", "alias", "function", "hash", "enable", "disable", "autoload", "]=")
_HASHING = ("hash", "enable", "disable", "autoload")
VARIABLES = (*INHERITED, "TMPDIR", "CDPATH", "cdpath", "IFS", "PATH", "LD_", "DYLD_")
_HARMLESS_FLAGS = names("-i -I -v -iv -vi -p -pv -vp --interactive=once --verbose --color=auto")
_FUNCTION = "BASH_FUNC_"
# functions that bash and zsh call by themselves
_CALLED_BY_SHELLS = names(
    "chpwd precmd preexec periodic zshaddhistory zshexit command_not_found_handle command_not_found_handler"
)
_SHELLS = ("", "bash", "zsh", "dash", "sh", "ash")  # an allow holds in each of them (tests/guard/decide/allow_fuzz.py)


def why_no_allow(commands: "tuple[Simple, ...]", context: "Context") -> str:
    """A sentence, or "" where nothing around the line changes what it means."""
    shell = context.probes.shell() if context.probes.shell is not None else ""
    if shell not in _SHELLS:
        return f"{shell} may read it in another way"
    run = {name for simple in commands for name in (simple.name, *simple.wrappers) if name}
    return _why_environment(run, context) or _why_startup(run, context)


def _why_environment(run: "set[str]", context: "Context") -> str:
    """By our own environment, and by that of the `sh` in front of this hook, which may have dropped or emptied some."""
    own = {key.decode("utf-8", "replace"): value for key, value in context.place.environ.items()}
    lost = frozenset() if context.probes.inherited is None else context.probes.inherited()
    if lost is None:
        return "what the shell inherits cannot be read"
    heads = tuple(head for name in run for head in program(name).values("env"))
    for name in (*own, *lost):
        if name.startswith(_FUNCTION):
            function = name[len(_FUNCTION) :].partition("%")[0].removesuffix("()")
            if function in run:
                return f"{function} is a function that the shell inherits"
        elif is_special_inherited(name) or (heads and name.startswith(heads)):
            if name in lost or means_something(name, own[name]):
                return f"{name} is set in the environment of the shell"
        elif name == "PATH" and any(not part.startswith(b"/") for part in own.get(name, b"/").split(b":")):
            return "PATH has a directory that is not absolute"
    return ""


def _why_startup(run: "set[str]", context: "Context") -> str:
    if context.probes.startup is None:
        return ""
    for loaded in context.probes.startup():
        if loaded is None:
            return "what the shell loads before the command cannot be read"
        reason = reason_about(run, facts_of(loaded) if isinstance(loaded, str) else loaded)
        if reason:
            return reason
    return ""


def reason_about(run: "set[str]", facts: "dict[str, str]") -> str:
    """What a start-up file or a snapshot says about these names, or about all: "" if nothing."""
    reasons = [facts[name] for name in (_ALL, *sorted(run)) if name in facts]
    odd = [name for name in run if name not in _ODD and not _NAME.issuperset(name)]
    return reasons[0] if reasons else f"{odd[0]} may be something else in the shell" if odd else ""


def facts_of(text: str) -> "dict[str, str]":
    """Each name that the text gives another meaning, with the reason; under "" what speaks about all commands."""
    text = "\n".join(_in_force(_unpack(text)))
    reasons = [_of_option(text, option) for option in _OPTIONS]
    flat = text.lower().replace("_", "")
    reasons += [_of_option(flat, option) for option in _FLAT_OPTIONS]
    reasons += [_of_variable(before, name, after) for name in VARIABLES for before, after in _places(text, name)]
    about_all = next((why for why in reasons if why), "")
    facts = {_ALL: about_all} if about_all else {}
    for line in text.split("\n"):
        if not line.lstrip().startswith("#") and any(mark in line for mark in _DEFINING):
            for name in {*_names_in(line), *_ODD}:
                for before, after in _places(line, name):
                    if why := _of_command(before, name, after):
                        facts.setdefault(name, why)
    return facts


def _names_in(line: str) -> "set[str]":
    return set("".join([c if c in _NAME else " " for c in line]).split())


def _places(text: str, name: str) -> "Iterator[tuple[str, str]]":
    """What stands before and after it in its line, wherever it stands as a word of its own. Comments do not count."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if text[at - 1 : at] not in _NAME and (text[end : end + 1] not in _NAME or name[-1] == "_"):
            before = text[text.rfind("\n", 0, at) + 1 : at]
            stop = text.find("\n", end)
            if not before.lstrip().startswith("#"):
                yield before, text[end:] if stop < 0 else text[end:stop]
        at = text.find(name, end)


def _of_option(text: str, option: str) -> str:
    for before, _ in _places(text, option):
        if not before.startswith(("shopt -u", "unsetopt")):
            return "an option in the start-up files of the shell changes what words mean"
    return ""


def _of_command(before: str, name: str, after: str) -> str:
    words = _plain(before).split()
    if after.replace(" ", "").startswith("()") or words[-1:] == ["function"]:
        return f"{name} is a function of the shell"
    if "alias" in words and after.lstrip("'\"").startswith("="):
        is_alone = words in (["alias"], ["alias", "--"])
        is_harmless = is_alone and _is_harmless_alias(name, after[1:].strip().strip("'\""))
        return "" if is_harmless else f"{name} is an alias of the shell"
    if any(word in _HASHING for word in words) or (before.endswith("[") and after.startswith("]=")):
        return f"{name} may be something else in the shell"
    return ""


def _of_variable(before: str, name: str, after: str) -> str:
    """Set by a start-up file, it counts as if it were inherited."""
    words = _plain(before).split()
    if name == "TMPDIR" and words[-1:] and words[-1] in ("unset", "read"):
        return "TMPDIR is taken away in the start-up files of the shell"
    name, is_set, value = (name + after).partition("=")
    if not is_set or not _NAME.issuperset(name.removesuffix("+")):
        return ""
    if name == "PATH":
        return "PATH has a directory that is not absolute" if _has_relative(value) else ""
    if (name.upper() == "CDPATH" and value[:1] in ("", " ")) or (name == "IFS" and before not in ("", "export ")):
        return ""  # CDPATH= cd x: taken away for one command. Functions have an IFS of their own
    return f"{name} is set in the start-up files of the shell"


def _has_relative(value: str) -> bool:
    quote = value[:1] if value[:1] in ("'", '"') else ""
    text = value[1:].partition(quote)[0] if quote else value.replace(";", " ").partition(" ")[0]
    parts = text.split(":") if "${" not in text else ["/"]
    return any(part[:1] not in ("/", "$", "~", "`") or not part for part in parts)


def _plain(text: str) -> str:
    """Its words, without what keeps them apart."""
    for c in ";&|(){}'\"":
        text = text.replace(c, " ")
    return text


def _is_harmless_alias(name: str, value: str) -> bool:
    """rm='rm -i' is still rm."""
    words = value.split()
    return words[:1] == [name] and all(word in _HARMLESS_FLAGS for word in words[1:])


def _in_force(texts: "list[str]") -> "list[str]":
    """These texts without the bodies of functions that nobody calls: what those would set is not set.

    A snapshot of Claude Code brings a `find` and a `grep` of its own, which set ARGV0 for one program when they are
    called. Whatever names a function elsewhere counts as calling it: a line, a trap, a prompt, a list of hooks.
    """
    live: list[str] = []
    waiting: list[tuple[str, str]] = []
    for text in texts:
        rest, functions = _without_functions(text)
        live.append(rest)
        waiting += functions
    while called := [one for one in waiting if _is_called(one[0], live)]:
        live += [body for _, body in called]
        waiting = [one for one in waiting if one not in called]
    return live


def _without_functions(text: str) -> "tuple[str, list[tuple[str, str]]]":
    """The text with `{}` for the body of each function, and their names and bodies. What cannot be read stays whole."""
    if "()" not in text and "function" not in text:
        return text, []
    from ..shell.reader import read
    from ..shell.syntax import Unreadable

    try:
        tree = read(text)
    except (Unreadable, RecursionError):
        return text, []
    rest, bodies, at = "", [], 0
    for function in sorted(_functions(tree), key=lambda one: one.body.start):
        body = function.body
        rest += text[at : body.start] + "{}"
        bodies.append((function.name, text[body.start : body.end]))
        at = body.end
    return rest + text[at:], bodies


def _functions(node: object) -> "Iterator[Function]":
    """Those that are defined when the text is read, in its order; not those that another function would define."""
    from ..shell.syntax import Function, Node

    if isinstance(node, Function):
        yield node
    elif isinstance(node, Node):
        for kind in type(node).__mro__:
            for name in getattr(kind, "__slots__", ()):
                yield from _functions(getattr(node, name))
    elif isinstance(node, list | tuple):
        for one in node:
            yield from _functions(one)


def _is_called(name: str, live: "list[str]") -> bool:
    if name in _CALLED_BY_SHELLS or name.startswith("TRAP"):
        return True
    return any(not _is_no_call(before, after) for text in live for before, after in _places(text, name))


def _is_no_call(before: str, after: str) -> bool:
    """A definition, or a question whether there is something of that name."""
    words = _plain(before).split()
    if words[-1:] in ([], ["function"]) and after.replace(" ", "").startswith(("()", "{}")):
        return True
    return words[-1:] in (["unalias"], ["hash"], ["type"]) or words[-2:] in (["typeset", "-f"], ["command", "-v"])


def _unpack(text: str) -> "list[str]":
    """The text, and the functions that a snapshot holds as base64: eval "$(echo '...' | base64 -d)"."""
    if "base64 -d" not in text:
        return [text]
    from binascii import a2b_base64

    texts = [text]
    for line in text.split("\n"):
        if "base64 -d" in line and "echo '" in line:
            packed = line.partition("echo '")[2].partition("'")[0]
            try:
                texts.append(a2b_base64(packed, strict_mode=True).decode("utf-8", "replace"))
            except ValueError:
                texts.append("cdable_vars")  # not readable: as if it set an option
    return texts
