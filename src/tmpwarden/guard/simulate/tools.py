"""Programs with a language of commands of their own: git, tmux, sqlite3, cmake -E, make, the settings of ssh."""

from __future__ import annotations

from ..nouns.analysis import ANY, READ, WRITE, PathUse
from ..nouns.fields import Field, Invocation
from ..nouns.names import LISTS, names
from ..nouns.paths import normal_form
from ..nouns.paths import path_from as joined_path
from ..nouns.state import State
from ..programs.options import Argument, parse
from ..programs.table import Program, is_known, program
from .builtins import move_shell
from .plain import as_one_field, child_state, note_links, plain, simulate_code, tell, value_of
from .shell import Shell, Ways
from .wrappers import is_name
from .written import text_written_to

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
    tell(shell, call, state)
    parsed = parse(program(call.name), call.fields)
    inside = state
    for argument in parsed.paths:
        if argument.mode == ANY:  # -C DIRECTORY
            inside = move_shell(shell, [value_of(argument)], inside)
    makefiles = [argument.field.text for argument in parsed.paths if argument.mode == READ]
    for makefile in makefiles or MAKEFILES:
        path = joined_path(inside.cwds[0], makefile or "") if len(inside.cwds) == 1 else None
        written = text_written_to(shell, normal_form(path)) if path is not None else None
        if written is not None:
            simulate_code(shell, Field(recipes(written), None), child_state(shell, inside, []), call.name)
    return state, state


MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


def recipes(text: str) -> str:
    """The lines of a makefile that a shell runs: indented by a tab, or behind the semicolon of a rule."""
    lines, target = ["MAKE=make; RM='rm -f'; CC=cc; CXX=c++"], ""
    for line in text.replace("\\\n", " ").split("\n"):
        name, is_set, value = line.partition("=")
        name = name.rstrip(" :?+")
        if line[:1] == "\t":
            lines.append(_for_shell(line.lstrip("\t @-+"), target))
        elif is_set and is_name(name) and not any(c in value for c in '"`\\'):
            lines.append(f'{name}="{_for_shell(value.strip(), "")}"')
        elif ":" in line and "=" not in line.partition(":")[0]:
            target = line.partition(":")[0].strip()
            lines.append(_for_shell(line.partition(";")[2].lstrip(" \t@-+"), target))
    return "\n".join([line for line in lines if line])


def _for_shell(line: str, target: str) -> str:
    """$(NAME) and $(shell CODE) as a shell writes them; it gets one dollar sign of two."""
    line = line.replace("$(shell ", "$$(").replace("$@", target)
    for automatic in ("$<", "$^", "$*", "$?", "$+", "$(@D)", "$(<D)"):
        line = line.replace(automatic, "$UNKNOWN")
    pieces = []
    for piece in line.split("$$"):
        while "$(" in piece and ")" in piece[piece.index("$(") :]:
            before, _, rest = piece.partition("$(")
            name, _, rest = rest.partition(")")
            piece = f"{before}${{{name}}}{rest}" if is_name(name) else f"{before}$UNKNOWN{rest}"
        pieces.append(piece)
    return "$".join(pieces)


def simulate_mktemp(shell: Shell, call: Invocation, state: State) -> Ways:
    """A TMPDIR of the line says where the name is made, unless a template or an option does."""
    variable, parsed = state.variables.get("TMPDIR"), parse(program("mktemp"), call.fields)
    if variable is not None and not parsed.paths and (not parsed.plain or parsed.has("t", "tmpdir")):
        place = Field(variable.text, None)
        place.stem, place.pattern_at = variable.stem, variable.pattern_at
        paths = shell.touch(Argument(place, 0, WRITE), state, "mktemp")
        shell.emit(Invocation(call.node, [], paths, None), [], state)
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


def simulate_git(shell: Shell, call: Invocation, state: State) -> Ways:
    from ..programs.git import SOFT, VARIABLES, GitInvocation  # as above

    git = GitInvocation(call.fields)
    where = state
    for field in git.moves:
        shell.touch(Argument(field, 0, READ), where, "git")
        where = move_shell(shell, [field], where)
    paths = []
    for argument in git.arguments:
        if argument.field.word is None and argument.field.text == ".":
            paths += _tree(shell, git.command in SOFT, where)
        else:
            paths += shell.touch(argument, where, "git")
    if git.is_global:
        paths.append(PathUse("~/.gitconfig", f"{shell.home}/.gitconfig", WRITE, resolved=f"{shell.home}/.gitconfig"))
    shell.emit(call, paths, state)
    if any(name.startswith("GIT_CONFIG") or name == "GIT_EXEC_PATH" for name in state.variables):
        shell.refuse("git is given settings by variables")
    if git.command == "clone":
        note_links(shell, "git", call, paths)
    code = git.code + [Field(state.variables[name].text, None) for name in VARIABLES if name in state.variables]
    for field in code:
        simulate_code(shell, field, child_state(shell, where, []), "git")
    return state, state


def _tree(shell: Shell, is_soft: bool, where: State) -> list[PathUse]:
    """The tree that git changes: where it stands, unless a variable says otherwise."""
    for name in ("GIT_WORK_TREE", "GIT_DIR"):
        value = where.variables.get(name)
        if value is not None or name in shell.environment:
            text = value.text if value is not None else shell.environment[name]
            return shell.touch(Argument(Field(text, None), 0, WRITE), where, "git")
    if is_soft and None in where.cwds:
        return []
    return shell.touch(Argument(Field(".", None), 0, WRITE), where, "git")


TMUX_TYPES = ("send", "send-keys")


def simulate_tmux(shell: Shell, call: Invocation, state: State) -> Ways:
    shell.emit(call, [], state)
    rest = parse(program("tmux"), call.fields)
    at = call.fields.index(rest.plain[0]) if rest.plain else len(call.fields)
    name = call.fields[at].text if at < len(call.fields) else ""
    row = f"tmux:{name}"
    if name in TMUX_TYPES:
        typed = parse(program(row), call.fields[at:]).plain
        _type_code(shell, [field for field in typed if " " in (field.text or " ")], call, state.at((None,)))
    elif is_known(row):  # it starts a shell
        words = _behind_options(program(row), call.fields[at:])
        if words:
            _type_code(shell, [as_one_field(words)], call, state)
    return state, state


def simulate_screen(shell: Shell, call: Invocation, state: State) -> Ways:
    paths = parse(program("screen"), call.fields).paths
    shell.emit(call, [use for one in paths for use in shell.touch(one, state, "screen")], state)
    words = _behind_options(program("screen"), call.fields)
    if any(field.text == "-X" for field in call.fields):
        typed = [field for field in words if " " in (field.text or " ")]
        _type_code(shell, typed, call, state.at((None,)))
    elif words:
        shell.call(call.inside("screen", words).quiet(), state)
    return state, state


def _type_code(shell: Shell, code: list[Field], call: Invocation, state: State) -> None:
    for field in code:
        text = field.text
        if text is not None and "\\" in text:  # \n is its Enter
            field = Field(text.replace("\\n", "\n").replace("\\r", "\n").replace("^M", "\n"), None)
        simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, call.fields[0].text or "")


def _behind_options(known: Program, fields: list[Field]) -> list[Field]:
    """All from the first plain argument on: what is started has options of its own."""
    plain = parse(known, fields).plain
    return fields[fields.index(plain[0]) :] if plain else []
