"""Programs with a language of commands of their own: sqlite3 and its dots, cmake -E, make, the settings of ssh."""

from __future__ import annotations

from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.names import names
from ..nouns.special import LISTS
from ..nouns.state import State
from .code import child_state, simulate_code
from .plain import plain, tell
from .shell import Shell, Ways
from .wrappers import is_name

# of sqlite3: they only show, or change how it shows
SHOWING = names(
    ".bail .changes .databases .dbconfig .dbinfo .dump .echo .eqp .exit .explain .fullschema .headers .header .help "
    ".indexes .indices .lint .limit .mode .nullvalue .parameter .print .prompt .quit .schema .separator .show .stats "
    ".tables .timeout .timer .version .width"
)
WRITING = ("writefile(", "load_extension(", "edit(", "attach ", "vacuum into", "fts3_tokenizer(")
# of cmake -E, as the program that does the same
CMAKE = {
    "rm": ["rm"], "remove": ["rm", "-f"], "remove_directory": ["rm", "-rf"], "copy": ["cp"],
    "copy_if_different": ["cp"], "copy_directory": ["cp", "-r"], "copy_directory_if_different": ["cp", "-r"],
    "create_symlink": ["ln", "-s"], "create_hardlink": ["ln"], "make_directory": ["mkdir", "-p"], "rename": ["mv"],
    "touch": ["touch"], "touch_nocreate": ["touch", "-c"], "tar": ["tar"], "env": ["env"], "time": ["nice"],
}  # fmt: skip
SSH_RUNS = ("proxycommand", "localcommand", "knownhostscommand")


def simulate_sqlite(shell: Shell, call: Invocation, state: State) -> Ways:
    """Dots and functions that write files or run programs; SQL is judged by its file."""
    body = call.body
    texts: list[str | None] = [field.text for field in call.fields[1:]]
    if body is not None:
        texts.append(body.body if body.op != "<<<" else body.target.text)
    for text in texts:
        if text is None or any(_does_more(line) for line in text.split("\n")):
            shell.refuse("sqlite3 may write files or run programs")
    return tell(shell, call, state)


def _does_more(line: str) -> bool:
    bare = line.strip().lower()
    if bare.startswith(".") and "/" not in bare.split(" ")[0]:
        return bare.split(" ")[0] not in SHOWING
    return any(word in bare for word in WRITING)


def simulate_cmake(shell: Shell, call: Invocation, state: State) -> Ways:
    texts = [field.text for field in call.fields]
    if "-E" not in texts[1:2] or len(texts) < 3:
        return tell(shell, call, state)
    shell.emit(Invocation(call.node, call.fields, call.redirects, None), [], state)
    same = CMAKE.get(texts[2] or "")
    if same is not None:
        inner = [*[Field(word, None) for word in same], *call.fields[3:]]
        shell.call(call.inside("cmake", inner).quiet(), state)
    elif texts[2] == "chdir":
        shell.call(call.inside("cmake", call.fields[4:]).quiet(), state.at((None,))) if len(texts) > 4 else None
    elif texts[2] is None:
        shell.refuse("what cmake does is not known")
    return state, state


def simulate_make(shell: Shell, call: Invocation, state: State) -> Ways:
    """make -f -: the recipes are on its input. NAME=VALUE is an assignment, as in front of a command."""
    for field in call.fields[1:]:
        name, equals, _ = (field.stem or "").partition("=")
        if equals and is_name(name) and field.word is not None and shell.in_text:
            shell.site(field.word, len(name) + 1, "", name.endswith(LISTS)).modes.add("any")
    texts = [field.text for field in call.fields]
    if any(text in ("-f-", "--file=-", "--makefile=-") for text in texts) or ("-" in texts and "-f" in texts):
        shell.refuse("make is given recipes on its input")
    return tell(shell, call, state)


def simulate_copy_by_ssh(shell: Shell, call: Invocation, state: State) -> Ways:
    """scp and sftp."""
    plain(shell, call, state, call.name)
    simulate_settings(shell, call, state)
    return state, state


def simulate_settings(shell: Shell, call: Invocation, state: State) -> None:
    """ssh -o ProxyCommand=CODE: run on this machine."""
    fields = call.fields
    for at, field in enumerate(fields[1:], 1):
        text = field.text or ""
        before = fields[at - 1].text or ""
        setting = text if before == "-o" else text[2:] if text.startswith("-o") and len(text) > 2 else ""
        key, _, value = setting.replace(" ", "=", 1).partition("=") if "=" not in setting else setting.partition("=")
        if key.strip().lower() in SSH_RUNS and value.strip().lower() != "none":
            simulate_code(shell, Field(value.strip(), None), child_state(shell, state, []), *call.wrappers, call.name)
