"""Does an allow hold in the shell that will run the line? What it inherits and what its start-up files define.

Asked only when everything else says allow. What cannot be told costs the allow, never more.
"""

from ..nouns.analysis import Simple
from ..nouns.names import names
from ..nouns.special import is_special_inherited
from ..programs.table import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..context import Context

# options of shells with which cd goes elsewhere, or a word becomes something else
_OPTIONS = (
    *("cdable_vars", "cdablevars", "CDABLE_VARS", "alias -g", "alias -s", "globassign", "GLOB_ASSIGN"),
    *("chase_links", "chaselinks", "CHASE_LINKS", "chase_dots", "chasedots", "CHASE_DOTS", "set -o physical", "set -P"),
    *("brace_ccl", "braceccl", "BRACE_CCL"),  # {.}{.} is ..
)
_HARMLESS_FLAGS = names("-i -I -v -iv -vi -p -pv -vp --interactive=once --verbose --color=auto")
_FUNCTION = "BASH_FUNC_"
_SHELLS = ("", "bash", "zsh", "dash", "sh", "ash")  # an allow holds in each of them (tests/guard/decide/allow_fuzz.py)


def why_no_allow(commands: "tuple[Simple, ...]", context: "Context") -> str:
    """A sentence, or "" where nothing around the line changes what it means."""
    shell = context.shell() if context.shell is not None else ""
    if shell not in _SHELLS:
        return f"{shell} may read it in another way"
    run = {name for simple in commands for name in (simple.name, *simple.wrappers) if name}
    return (_inherited(run, context.environ) if context.environ else "") or _defined(run, context)


def _inherited(run: "set[str]", environ: "Mapping[bytes, bytes]") -> str:
    heads = tuple(head for name in run for head in program(name).values("env"))
    for key, value in environ.items():
        name = key.decode("utf-8", "replace")
        if name.startswith(_FUNCTION):
            function = name[len(_FUNCTION) :].partition("%")[0].removesuffix("()")
            if function in run:
                return f"{function} is a function that the shell inherits"
        elif is_special_inherited(name) or (heads and name.startswith(heads)):
            return f"{name} is set in the environment of the shell"
        elif name == "PATH" and any(not part.startswith(b"/") for part in value.split(b":")):
            return "PATH has a directory that is not absolute"
    return ""


def _defined(run: "set[str]", context: "Context") -> str:
    if context.startup is None:
        return ""
    for text in context.startup():
        if text is None:
            return "what the shell loads before the command cannot be read"
        found = redefined(run, text)
        if found:
            return found
    return ""


def redefined(run: "set[str]", text: str) -> str:
    """What a start-up file or a snapshot says about these names, or about all: "" if nothing."""
    for line in _unpacked(text).split("\n"):
        words = line.strip()
        if any(option in words for option in _OPTIONS) and not words.startswith(("shopt -u", "unsetopt", "#")):
            return "an option in the start-up files of the shell changes what words mean"
        if words.startswith("alias "):
            name, _, value = words[6:].strip().removeprefix("-- ").partition("=")
            if name in run and not _is_harmless_alias(name, value.strip("'\"")):
                return f"{name} is an alias of the shell"
            continue
        if words.startswith(("CDPATH=", "export CDPATH=", "cdpath=")):
            return "CDPATH is set in the start-up files of the shell"
        name = words.removeprefix("function ").lstrip()
        if name is not words and _first(name) in run:
            return f"{_first(name)} is a function of the shell"
        before, parentheses, _ = words.partition("()")
        if parentheses and before.strip() in run:
            return f"{before.strip()} is a function of the shell"
    return ""


def _first(text: str) -> str:
    return text.replace("(", " ").replace("{", " ").split(" ")[0]


def _is_harmless_alias(name: str, value: str) -> bool:
    """rm='rm -i' is still rm."""
    words = value.split()
    return words[:1] == [name] and all(word in _HARMLESS_FLAGS for word in words[1:])


def _unpacked(text: str) -> str:
    """Snapshots hold functions as base64: eval "$(echo '...' | base64 -d)"."""
    if "base64 -d" not in text:
        return text
    from binascii import a2b_base64

    found = [text]
    for line in text.split("\n"):
        if "base64 -d" in line and "echo '" in line:
            packed = line.partition("echo '")[2].partition("'")[0]
            try:
                found.append(a2b_base64(packed, strict_mode=True).decode("utf-8", "replace"))
            except ValueError:
                found.append("cdable_vars")  # not readable: as if it set an option
    return "\n".join(found)
