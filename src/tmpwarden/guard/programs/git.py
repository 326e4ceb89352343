"""git: which tree a subcommand works on, whether it changes it, which arguments are paths and which are code."""

from __future__ import annotations

from ..nouns.analysis import ANY, CREATE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from .options import Argument, Parsed, is_on_a_host, option, parse, plain_arguments
from .table import Program, is_known, program

# the options in front of the subcommand
_IN_FRONT = Program(
    "any",
    (
        ("path_entered", ("C",)),
        ("path_into", ("git-dir", "work-tree")),
        ("text", ("c", "exec-path", "namespace", "config-env")),
    ),
)
_OTHERS = Program("any", (("text", ("m", "message")),))  # subcommands without a row
_READING = names(
    "status log diff show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list describe cat-file "
    "shortlog whatchanged for-each-ref name-rev merge-base check-ignore check-attr check-mailmap count-objects fsck "
    "var version help show-ref diff-tree diff-index diff-files range-diff cherry archive bundle format-patch "
    "request-pull verify-commit verify-tag fetch push send-email interpret-trailers column show-branch hash-object "
    "difftool --version --help"
)
# those that only tell when they are given no name, one of these options, or one of these words first
_TELLING = {
    "branch": ("l list contains no-contains merged no-merged points-at show-current", ""),
    "tag": ("l n v list contains points-at verify", ""),
    "config": ("l list get get-all get-regexp get-urlmatch show-origin", "get list"),
    "remote": ("", "show get-url"),
    "stash": ("", "list show"),
    "worktree": ("", "list"),
    "notes": ("", "list show"),
    "bisect": ("", "log view visualize"),
    "submodule": ("", "status summary"),
    "reflog": ("", "show exists list"),
    "sparse-checkout": ("", "list"),
    "lfs": ("", "ls-files env status version"),
}
_NAMELESS = ("branch", "tag", "remote", "notes", "submodule", "reflog", "worktree", "lfs")  # tell when they stand alone
# changes nothing that was there: an unknown directory is no reason to ask
SOFT = names("add stage commit tag branch config remote notes init clone")
# settings and variables whose value git hands to a shell
_RUN_KEYS = ("core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "sequence.editor")
_PLACES = ("core.worktree", "core.hookspath", "include.path", "core.attributesfile", "core.excludesfile")
_HERE = Argument(Field("./.git", None), 0, WRITE)
_RUN_ENDS = (".cmd", ".textconv", ".external", ".program", ".clean", ".smudge", ".process", ".driver", ".command")
VARIABLES = (
    *("GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS"),
    *("GIT_SSH", "GIT_PROXY_COMMAND", "EDITOR", "VISUAL", "PAGER"),
)


class GitInvocation:
    """One call of git, taken apart."""

    __slots__ = ("arguments", "at", "code", "command", "is_global", "moves", "tree")

    def __init__(self, fields: list[Field]) -> None:
        self.arguments: list[Argument] = []  # seen from the directory that -C leads to
        self.code: list[Field] = []
        self.moves: list[Field] = []
        self.tree: Field | None = None  # --work-tree or --git-dir
        self.is_global = False  # git config --global
        self.at = self._options(fields)
        self.command = fields[self.at].text if 0 <= self.at < len(fields) else ""
        if self.at < 0:  # an option that is not known stands before the command
            self.command = None
            self.arguments = [Argument(field, 0, ANY) for field in fields[1:]]
        elif self.command:
            self._command(self.command, fields[self.at :])

    def _options(self, fields: list[Field]) -> int:
        """Those in front of the command; where that stands, -1 if it cannot be told."""
        at = 1
        while at < len(fields):
            text = fields[at].text
            if text is None:
                return -1
            if not text.startswith("-"):
                break
            follower = fields[at + 1] if at + 1 < len(fields) else None
            parsed = Parsed(_IN_FRONT)
            takes = option(parsed, fields[at], text, follower)
            if parsed.moves is not None:
                self.moves.append(_rest(*parsed.moves))
            for argument in parsed.paths:
                self.tree = _rest(argument.field, argument.offset)
                self.arguments.append(Argument(argument.field, argument.offset, READ))
            if text.startswith("-c"):
                self._setting(follower if takes else Field(text[2:], None))
            at += 2 if takes else 1
        return at

    def _setting(self, field: Field | None) -> None:
        """-c KEY=VALUE: some values are run."""
        key, _, value = (field.text or "").partition("=") if field is not None else ("", "", "")
        if key.lower() in _PLACES:
            self.arguments.append(Argument(Field(value, None), 0, WRITE))
        self._set(key.lower(), value)

    def _set(self, key: str, value: str) -> None:
        if key.startswith("alias.") or key == "credential.helper" or key.endswith(".helper"):
            if value.startswith("!"):
                self.code.append(Field(value[1:], None))
        elif key in _RUN_KEYS or key.startswith("pager.") or key.endswith(_RUN_ENDS):
            self.code.append(Field(value, None))

    def _command(self, command: str, fields: list[Field]) -> None:
        known = program(f"git:{command}") if is_known(f"git:{command}") else _OTHERS
        parsed = parse(known, fields)
        for argument in parsed.paths:
            if argument.mode == "code":
                self.code.append(_rest(argument.field, argument.offset))
            else:
                self.arguments.append(argument)
        self._plain(command, known, parsed, fields)
        changes = self._changes(command, parsed)
        self.is_global = changes and command == "config" and parsed.has("global", "system")
        for argument in parsed.paths if changes and command == "config" else ():
            argument.mode = WRITE  # --file
        if changes and not self.is_global:
            self.arguments.append(Argument(self.tree or Field(".", None), 0, WRITE))

    def _plain(self, command: str, known: Program, parsed: Parsed, fields: list[Field]) -> None:
        plain = parsed.plain
        first = plain[0].text if plain else ""
        if command == "clone":
            self.arguments += [Argument(field, 0, READ) for field in plain[:1] if not is_on_a_host(field)]
            self.arguments += [Argument(field, 0, CREATE) for field in plain[1:]]
        elif command == "bundle":
            mode = WRITE if first == "create" else READ
            self.arguments += [Argument(field, 0, mode) for field in plain[1:2]]
        elif command == "worktree":
            # `add ../x` refuses a directory that holds something: only an allow needs to know that it makes one
            for field in plain[1:2] if first != "list" else ():
                text = field.text or ""
                is_beside = first == "add" and text[:3] == "../" and text.count("/") == 1
                self.arguments.append(Argument(field, 0, ANY if is_beside else WRITE))
        elif command == "init":
            self.arguments += [Argument(field, 0, CREATE) for field in plain] or [_HERE]
        elif command == "config":
            self._configured(plain)
        elif command == "grep" and (pager := _pager(fields)) is not None:
            self.code.append(pager)
        elif command == "bisect" and first == "run":
            self.code.append(_as_code(fields[2:]))
        elif command == "submodule" and first == "foreach":
            words = fields[fields.index(plain[0]) + 1 :]
            while words and words[0].text in ("--recursive", "--quiet", "-q"):
                words = words[1:]
            self.code.append(_as_code(words))
        else:
            self.arguments += plain_arguments(known.plain, parsed)

    def _configured(self, plain: list[Field]) -> None:
        """git config KEY VALUE, git config set KEY VALUE."""
        words = plain[1:] if plain and plain[0].text in ("set", "add") else plain
        if len(words) < 2:
            return
        key = (words[0].text or "").lower()
        if key in _PLACES:
            self.arguments.append(Argument(words[1], 0, WRITE))
        elif words[1].text is not None:
            self._set(key, words[1].text)

    def _changes(self, command: str, parsed: Parsed) -> bool:
        """Does it change the tree or its history?"""
        if command in _READING or command in ("init", "worktree") or (command == "clone" and len(parsed.plain) > 1):
            return False
        row = _TELLING.get(command)
        if row is None:
            return True
        options, words = row
        first = parsed.plain[0].text if parsed.plain else None
        if first is None:
            return bool(parsed.plain) or not (command in _NAMELESS or parsed.has(*options.split()))
        if command == "config" and len(parsed.plain) == 1 and not parsed.has("e", "unset", "edit", "remove-section"):
            return False
        return not (parsed.has(*options.split()) or first in words.split())


def _pager(fields: list[Field]) -> Field | None:
    """git grep -O[PAGER], --open-files-in-pager[=PAGER]."""
    for field in fields[1:]:
        text = field.text or ""
        if text.startswith(("-O", "--open")):
            return Field(text[2:] if text.startswith("-O") else text.partition("=")[2], None)
    return None


def _rest(field: Field, offset: int) -> Field:
    """The value that starts within a word."""
    if not offset:
        return field
    return Field(None if field.text is None else field.text[offset:], None, field.sites)


def _as_code(fields: list[Field]) -> Field:
    """As code for a shell: one word is code, several are the words of a command."""
    if len(fields) == 1:
        return fields[0]
    known = all(field.text is not None for field in fields)
    quoted = ["'" + (field.text or "").replace("'", "'\\''") + "'" for field in fields]
    return Field(" ".join(quoted) if known else None, None)
