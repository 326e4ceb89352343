"""Code on the command line: of bash (sh -c, eval, trap), and of other languages, harmless where that can be seen."""

from __future__ import annotations

from ..nouns.analysis import CODE, READ, WRITE, PathUse
from ..nouns.fields import Field, Invocation
from ..nouns.names import names
from ..nouns.paths import normal_form
from ..nouns.paths import path_from as joined_path
from ..nouns.state import State, join, same
from ..programs.arguments import arguments
from ..programs.options import Argument, parse
from ..programs.table import Program, has, is_known, language_of, program
from ..shell.syntax import COMMAND, LITERAL, PARAMETER
from .expand import expand_single
from .plain import as_one_field, child_state, plain, simulate_code, tell, value_of
from .shell import Shell, Ways
from .wrappers import is_name, simulate_wrapped, unwrap
from .written import text_written_to

SHOWING = ("-v", "-V", "-h", "-i", "--version", "--help")
_RUNS_FILES = ("--test", "-S")  # node: those that it finds; php: a server of scripts
LOOKED_AT = "code of another language was only looked at"


def simulate_interpreter(shell: Shell, call: Invocation, state: State) -> Ways:
    name = language_of(call.name)
    if len(call.fields) > 1 and has(f"{name}:{call.fields[1].text}", "runs"):
        return simulate_wrapped(shell, call, state)  # bun x
    known = program(name)
    if any((field.text or "").removeprefix("--import=").startswith("data:") for field in call.fields):
        shell.refuse(f"{name} is given code")  # node --import data:text/javascript,...
    module = _module(name, call)
    if module is not None:
        return _run_module(shell, *module, call, state)
    code = _code(call, known)
    if code is None:
        return _run_script(shell, name, call, state)
    if code.text is None and call.body is None and code.word is None and (piped := _piped_script(shell)) is not None:
        code = Field(piped, None)
        if not piped:
            return tell(shell, call, state)
    paths = None
    if code.text is not None and not _is_opened_oddly(name, call.fields):
        paths = uses_of_code(name, code.text, shell, state)
    if paths is None:
        shell.refuse(f"{name} is given code")
    return _tell_looked_at(shell, call, paths or [], state)


def _run_script(shell: Shell, name: str, call: Invocation, state: State) -> Ways:
    """A file, which runs unread, but for what the line itself wrote into it."""
    for field in call.fields[1:]:
        if (field.text or "").startswith(("http://", "https://")):
            from .shell import FETCHED

            shell.refuse(FETCHED)  # deno run https://...
        if field.text == "run":
            continue
        if field.text is None or not field.text.startswith("-"):
            path = joined_path(state.cwds[0], field.text) if field.text is not None and len(state.cwds) == 1 else None
            written = text_written_to(shell, None if path is None else normal_form(path))
            if written is not None:
                paths = uses_of_code(name, written, shell, state)
                if paths is None:
                    shell.refuse(f"{name} is given code")
                return _tell_looked_at(shell, call, paths or [], state)
            break
    return tell(shell, call, state)


def _piped_script(shell: Shell) -> str | None:
    """What `cat FILE |` hands on is as good as FILE, which runs unread: "", or what the line wrote into it."""
    before = shell.before or []
    if len(before) != 1 or before[0].name != "cat" or before[0].input or before[0].remote or before[0].redirects:
        return None
    uses = before[0].paths
    if not uses or len(uses) != len(before[0].argv) - 1 or any(_is_unread(use) for use in uses):
        return None
    return "\n".join([text_written_to(shell, use.path) or "" for use in uses]).strip()


def _is_unread(use: PathUse) -> bool:
    return use.path is None or use.is_glob or use.path.startswith(("/dev/", "/proc/"))


def _tell_looked_at(shell: Shell, call: Invocation, path_arguments: list[Argument], state: State) -> Ways:
    """The command with the files that its code writes and the programs that it runs. It never earns an allow."""
    doubting = state.doubting(LOOKED_AT)
    paths: list[PathUse] = []
    for argument in path_arguments:
        if argument.mode == CODE:
            simulate_code(shell, argument.field, child_state(shell, doubting, []), *call.wrappers, call.name)
        else:
            paths += shell.touch(argument, state, call.name)
    plain(shell, call, doubting, call.name, paths)
    return state, state


def _module(name: str, call: Invocation) -> tuple[str, list[Field]] | None:
    """python -m NAME with a row of its own, and the words from its name on."""
    for at, field in enumerate(call.fields[1:-1], 1):
        if field.text == "-m":
            row = f"{name}:{call.fields[at + 1].text}"
            return (row, call.fields[at + 1 :]) if is_known(row) else None
        if not (field.text or "").startswith("-"):
            return None
    return None


def _run_module(shell: Shell, row: str, fields: list[Field], call: Invocation, state: State) -> Ways:
    paths = [use for argument in arguments(row, fields) for use in shell.touch(argument, state, row)]
    shell.emit(call, paths, state)
    return state, state


def _code(call: Invocation, known: Program) -> Field | None:
    spelled = known.values("code")
    letters, longs = [name for name in spelled if len(name) == 1], [name for name in spelled if len(name) > 1]
    valued = known.values("valued")
    fields, at = call.fields, 0
    while at + 1 < len(fields):
        at += 1
        text = fields[at].text
        if text is None:
            return fields[at]
        if text in known.values("checks"):
            return None  # php -l, node --check: they read the file
        if text == "-":
            break
        if not text.startswith("-"):
            is_eval = text == "eval" and call.name in ("deno", "crystal")
            return (fields[-1] if at + 1 < len(fields) else Field(None, None)) if is_eval else None
        if (
            text == "-m"
            or text in _RUNS_FILES
            or text[:2] in known.values("runs_files")
            or (text in SHOWING and at == len(fields) - 1)
        ):
            return None
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if name in longs and equals:
                return Field(value, None)
        is_code = text in longs or (text[1:2] != "-" and _has_code_letter(text[1:], letters, known))
        if is_code:
            is_next = text in longs or text[-1] in letters
            return fields[at + 1] if at + 1 < len(fields) and is_next else Field(None, None)
        if text in valued or (
            text[1:2] != "-" and len(text) == 2 and known.shorts.get(text[1], "bare") not in ("bare", "glued")
        ):
            at += 1  # python3 -W ignore -c CODE
    body = call.body
    parts = body.parts if body is not None else None
    if parts is not None:  # <<E without quotes: known if nothing in it is expanded
        return Field(
            "".join([part.text for part in parts]) if all(part.kind == LITERAL for part in parts) else None, None
        )
    return Field(body.body if body is not None else None, None)


def _has_code_letter(letters_given: str, letters: list[str], known: Program) -> bool:
    """-lane is, -rset is not: what stands behind -r is its value."""
    for c in letters_given:
        if c in letters:
            return True
        if known.shorts.get(c, "bare") != "bare":
            return False
    return False


def simulate_awk(shell: Shell, call: Invocation, state: State) -> Ways:
    from ..programs.inline import told_by_awk  # rare, and every hook pays for each module

    paths: list[Argument] | None = []
    for at in range(1, len(call.fields)):
        text = call.fields[at].text
        before = call.fields[at - 1].text or ""
        if text is not None and text.startswith("-") and text != "-":
            if text.startswith(("-f", "-E", "--file", "--exec")):
                break  # a script, as any other
            if text.startswith(("-e", "--source")):
                shell.refuse("awk is given a program that is not known")
            continue
        if len(before) == 2 and before[0] == "-" and before[1] in "Fvi" and at > 1:
            continue
        paths = None if text is None else told_by_awk(text)
        if paths is None:
            shell.refuse("awk may write files or run programs")
        break
    return _tell_looked_at(shell, call, paths, state) if paths else tell(shell, call, state)


def simulate_sed(shell: Shell, call: Invocation, state: State) -> Ways:
    from ..programs.inline import sed_writes

    scripts: list[str | None] = []
    plain: list[str | None] = []
    fields = iter(call.fields[1:])
    for field in fields:
        text = field.text
        if text in ("-e", "--expression"):
            scripts.append(getattr(next(fields, None), "text", None))
        elif text is not None and text.startswith("--expression="):
            scripts.append(text[13:])
        elif text is not None and text.startswith("-") and text != "-":
            if text.endswith("e") and not text.startswith(("--", "-i")):
                scripts.append(getattr(next(fields, None), "text", None))
            elif text.startswith(("-f", "--file")):
                scripts.append(None)
        else:
            plain.append(text)
    scripts = scripts or [text for text in plain if text != ""][:1]
    shown = {id(field.word): _with_marks(field) for field in call.fields if field.text is None and field.word}
    scripts = [next(iter(shown.values()), None) if script is None else script for script in scripts]
    if any(script is None or sed_writes(script) for script in scripts):
        shell.refuse("sed may write files or run programs")
    return tell(shell, call, state)


def simulate_code_reader(shell: Shell, call: Invocation, state: State) -> Ways:
    """Editors, schedulers and debuggers: with a script they may do anything, else they are ordinary programs."""
    name = call.name
    known = program(name)
    tells, showing = known.values("told_by"), known.values("shows")
    texts = [_known_text(field) for field in call.fields[1:]]
    for harmless in known.values("told_only"):  # gdb -ex bt
        option, _, value = harmless.partition(" ")
        places = [at for at, text in enumerate(texts[:-1]) if text == option and texts[at + 1] == value]
        texts = [text for at, text in enumerate(texts) if at not in places]
    if not any(text in showing for text in texts) and (
        not tells or any(text is None or text in tells or _carries_code(text, tells) for text in texts)
    ):
        shell.refuse(f"{name} may run anything")
    return tell(shell, call, state)


def _known_text(field: Field) -> str | None:
    """What a word says; of "Bearer $TOKEN", which is one word whatever comes, its head: no option starts so."""
    if field.text is not None or (field.word is None and field.stem is None):
        return field.text
    if field.stem is not None and field.stem[:1] not in ("", "-", "+"):
        return field.stem  # $(mktemp), out/$X
    if field.word is None:
        return None
    head, *rest = field.word.parts
    if head.kind == PARAMETER and head.quote == '"' and not head.op and is_name(head.text):
        return "x"  # "$URL": an option in it would be an accident that nobody has
    if (
        head.kind != LITERAL
        or head.text[:1] in ("", "-", "+", "@", ":", "!")
        or any(part.quote != '"' for part in field.word.parts)
    ):
        return None
    # "$@" and what zsh splits in quotes have other names or an operator
    plain = [part.kind == LITERAL or (part.kind == PARAMETER and not part.op and is_name(part.text)) for part in rest]
    return head.text if all(plain) else None


def _with_marks(field: Field) -> str | None:
    """A script in double quotes with values in it, as a letter each: "s/^version = .*/version = $V/"."""
    parts = field.word.parts if field.word is not None else []
    if not parts or parts[0].kind != LITERAL or len(parts[0].text) < 2 or parts[0].text[0] == "-":
        return None
    return "".join([part.text if part.kind == LITERAL else "x" for part in parts])


def _carries_code(text: str, tells: tuple[str, ...]) -> bool:
    """--cmd=..., +cmd and EXEC:... carry their code with them."""
    return any(
        text.startswith(word + "=") or ((word[-1] in "+:" or word == "-K") and text.startswith(word)) for word in tells
    )


def uses_of_code(language: str, code: str, shell: Shell, state: State) -> list[Argument] | None:
    """What code of another language writes and runs; None where that cannot be said. Rare, as above."""
    from ..programs.inline import Places

    places = Places(shell.variable("HOME", state).text or shell.home, shell.variable("TMPDIR", state).text or "/tmp")
    if language == "python":
        from ..programs.python_code import uses_of_python

        return uses_of_python(code, places)
    from ..programs.other_code import uses_of_other_code

    return uses_of_other_code(language, code, places)


def _is_opened_oddly(language: str, fields: list[Field]) -> bool:
    """perl -n opens a file whose name ends in a bar by running it."""
    return language == "perl" and any(
        (field.text or field.stem or "|").strip(" \t")[:1] in ("|", ">", "+")
        or (field.text or field.stem or "|").strip(" \t")[-1:] == "|"
        for field in fields
    )


ENDINGS = ("EXIT", "0", "INT", "TERM", "HUP", "QUIT", "PIPE")  # traps that run when nothing follows, or from outside


def simulate_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    """sh -c code, sh script, sh with code on its input."""
    fields, at, takes_code = call.fields, 1, False
    while at < len(fields):
        text = fields[at].text
        if text is None:
            shell.refuse("a shell is given code that is not known")
            return tell(shell, call, state)
        if not text.startswith(("-", "+")) or text == "-":
            break
        at += 1
        if text.startswith("--"):
            at += text in ("--rcfile", "--init-file")
            if text == "--":
                break
            continue
        takes_code = takes_code or "c" in text[1:]
        at += "o" in text[1:] or "O" in text[1:]
        if "s" in text[1:] and not takes_code:
            at = len(fields)
    name = (fields[0].text or "").rpartition("/")[2]
    if takes_code and at < len(fields):
        _files_of(shell, call, state)
        simulate_code(shell, fields[at], child_state(shell, state, fields[at + 1 :]), *call.wrappers, name)
    elif at < len(fields) and fields[at].text != "-":
        _script(shell, call, at, state)
    else:
        _input(shell, call, state, name)
    return state, state


def _files_of(shell: Shell, call: Invocation, state: State) -> None:
    if call.redirects:
        shell.emit(Invocation(call.node, [], call.redirects, None), [], state)


def _script(shell: Shell, call: Invocation, at: int, state: State) -> None:
    paths = shell.touch(Argument(call.fields[at], 0, READ), state, "sh")
    if (call.fields[at].text or "").startswith("/dev/"):
        shell.refuse("a shell is given code that is not known")
    for field in call.fields[at + 1 :]:
        if not (field.text or "").startswith("-"):
            paths += shell.touch(Argument(field, 0, "any"), state, "sh")
    written = text_written_to(shell, paths[0].path if paths else None)
    shell.emit(call, paths, state)
    if written is not None:
        simulate_code(shell, Field(written, None), child_state(shell, state, call.fields[at:]), *call.wrappers, "sh")


def _input(shell: Shell, call: Invocation, state: State, name: str) -> None:
    """The code is on its input: a here-document or here-string, or something that nobody can read."""
    body = call.body
    if body is None and (piped := _piped_script(shell)) is not None:
        _files_of(shell, call, state)
        tell(shell, call, state)
        if piped:
            simulate_code(shell, Field(piped, None), child_state(shell, state, []), *call.wrappers, name)
        return
    if body is None:
        shell.refuse(f"{name} is given code on its input")
        tell(shell, call, state)
        return
    _files_of(shell, call, state)
    if body.op == "<<<":
        field = expand_single(shell, body.target.parts, body.target, state)
    elif body.parts is None:
        field = Field(body.body, None)
    else:
        field = expand_single(shell, body.parts, None, state)
    simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, name)


def simulate_eval(shell: Shell, call: Invocation, state: State) -> Ways:
    fields = call.fields[1:]
    _files_of(shell, call, state)
    if fields and all(field.text is None for field in fields) and _prints_settings(shell, fields[0]):
        after = state.forgetting().doubting("a program has set what it likes")
        return after, after
    return simulate_code(shell, as_one_field(fields), state, *call.wrappers, "eval")


# they print assignments for a shell
SETTING = names(
    "ssh-agent direnv opam pyenv rbenv nodenv goenv jenv fnm brew conda mamba micromamba mise asdf rtx starship zoxide "
    "dircolors luarocks docker-machine minikube gpg-agent keychain lesspipe register-python-argcomplete"
)


def _prints_settings(shell: Shell, field: Field) -> bool:
    """eval "$(ssh-agent -s)" """
    word = field.word
    if word is None or len(word.parts) != 1 or word.parts[0].kind != COMMAND or not shell.in_text:
        return False
    part = word.parts[0]
    code = shell.source[part.start : part.end].removeprefix("$(").removesuffix(")").strip("` ")
    return code.partition(" ")[0] in SETTING and not any(c in code for c in ";|&`$\n")


def set_trap(shell: Shell, call: Invocation, state: State) -> Ways:
    """What it runs runs some time: nothing is known about the shell then, but at the end of the line."""
    shell.emit(call, [], state)
    fields = [field for field in call.fields[1:] if field.text != "--"]
    if len(fields) > 1 and (fields[0].text is None or not fields[0].text.startswith("-")):
        before, start = state.at((None,)).forgetting(), len(shell.commands)
        after = join(*simulate_code(shell, fields[0], before, "trap"))
        is_changing = after is None or not same(after, before)
        is_last = all((field.text or "").removeprefix("SIG").upper() in ENDINGS for field in fields[1:])
        if is_last and shell.in_text and not shell.nested:
            del shell.commands[start:]
            shell.traps.append(fields[0])
        if is_changing:
            if not is_last:
                shell.refuse("a trap changes what is known at any time")
            state = state.doubting("a trap may change what is known")
    return state, state


def run_traps(shell: Shell, state: State) -> None:
    """Those that wait for the end. No allow rests on it: the line may end earlier."""
    for field in shell.traps:
        simulate_code(shell, field, state.at((None,)).doubting("a trap may run at another moment"), "trap")


def simulate_user_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    """su -c, runuser -c, script -c: the code is an option's value, wherever that stands."""
    name = call.name
    known = program(name)
    parsed = parse(known, call.fields)
    code = [value_of(argument) for argument in parsed.paths if argument.mode == CODE]
    if not code and name == "runuser" and parsed.has("u", "user") and parsed.plain:
        return unwrap(shell, "runuser", 1, call, state)
    if not code and known.text("user_shell") == "input":
        shell.refuse(f"what {name} runs is not known")
    files = [one for one in parsed.paths if one.mode != CODE]
    if name == "script":
        files += [Argument(field, 0, WRITE) for field in parsed.plain[:1] or [Field("typescript", None)]]
    shell.emit(call, [use for one in files for use in shell.touch(one, state, name)], state)
    for field in code:
        simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, name)
    return state, state
