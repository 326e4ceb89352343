"""Names that a program lists for the next one: `git ls-files | xargs ...`, `gofmt -w $(find . -name '*.go')`.

What is listed lies below where the listing starts. That is enough to say that a command stays in the project, and never
enough for an allow: a name may hold a blank or a dash.
"""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..nouns.fields import Field
from ..nouns.names import names
from .shell import EXTENDED

# they take lines away, or put them in another order
FILTERS = names("grep egrep fgrep rg sort uniq head tail tac tee shuf")
_TOLERATED = frozenset((EXTENDED,))  # HEAD~1
_OF_GIT = names("ls-files diff grep status")
_LISTING_OPTIONS = {
    "grep": ("l", "L", "files-with-matches", "files-without-match"),
    "rg": ("l", "files", "files-with-matches", "files-without-match"),
    "git": ("name-only", "l", "files-with-matches"),
    "gofmt": ("l",), "gofumpt": ("l",), "goimports": ("l",), "prettier": ("l", "list-different"),
    "diff": (), "fd": (), "fdfind": (), "find": (), "gfind": (), "ls": (),
}  # fmt: skip


# without any of these find comes to everything, the start itself among it
NARROWING = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -empty -size -mtime -mmin -atime "
    "-amin -ctime -cmin -newer -newermt -newerct -user -group -perm -links -inum -samefile -false"
)


def is_narrowed(expression: list[Field]) -> bool:
    values = [*expression[1:], Field(None, None)]
    before = [Field(None, None), *expression]
    return any(
        test.text in NARROWING and value.text != "*" and denied.text not in ("!", "-not")
        for denied, test, value in zip(before, expression, values, strict=False)
    )


def list_names(commands: list[Simple]) -> list[Field] | None:
    """What the words may be that these commands print, one after the other in a pipeline; None: anything."""
    if not commands or not all(simple.name in FILTERS and not simple.remote for simple in commands[1:]):
        return None
    first = commands[0]
    if None in first.argv or first.remote or not _TOLERATED.issuperset(first.doubts) or not _lists(first):
        return None
    starts = [use.raw.strip("'\"") if use.path is None else use.path for use in first.paths if use.mode == "read"]
    if first.name == "git":
        starts = [first.cwd] if first.cwd is not None else [""]
    if not starts and first.cwd is not None:
        starts = [first.cwd]
    if not starts or "" in starts:
        return None
    below = [_below(start) for start in starts]
    if first.name == "git" and [word for word in first.argv[1:] if word and word[:1] != "-"] == ["ls-files"]:
        return [Field(start, None) for start in starts] + below
    if first.name == "ls" and not any(word and ("*" in word or "." in word) for word in first.argv[1:]):
        return [Field(start, None) for start in starts] + below  # as good as all that is there
    is_find = first.name in ("find", "gfind")
    if is_find and not is_narrowed([Field(word, None) for word in first.argv[1:]]):
        return [Field(start, None) for start in starts] + below
    return below


def _lists(simple: Simple) -> bool:
    name = simple.name or ""
    wanted = _LISTING_OPTIONS.get(name)
    words = [word or "" for word in simple.argv[1:]]
    if wanted is None or (name in ("find", "gfind") and any(word in ("-exec", "-printf", "-L") for word in words)):
        return False
    if name == "git":
        plain = [word for word in words if word[:1] != "-"]
        if any(word in ("-C", "-c", "--git-dir", "--work-tree") for word in words) or plain[:1] == []:
            return False
        if plain[0] == "ls-files":
            return True
        return plain[0] in _OF_GIT and _has(words, wanted)
    return not wanted or _has(words, wanted)


def _has(words: list[str], options: tuple[str, ...]) -> bool:
    for word in words:
        if word[:2] == "--" and word[2:] in options:
            return True
        if word[:1] == "-" and word[1:2] != "-" and any(len(one) == 1 and one in word for one in options):
            return True
    return False


def _below(start: str) -> Field:
    field = Field(None, None)
    field.stem = start.rstrip("/") + "/?"
    field.pattern_at = len(field.stem) - 1
    return field
