"""`[guard] never`: is one of these paths named, or read through a directory around it? A tripwire, not a jail.

What a program finds by itself nobody sees here. Names of files are no secret: `du -sh ~` and `find ~ -name x` pass.
"""

from __future__ import annotations

from ...text import is_within
from ..nouns.analysis import DELETE, PathUse, Simple
from ..nouns.paths import normal_form, path_from, real
from ..programs.table import has, language_of, program
from .untouchable import may_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context

_ALWAYS = ""
_GREPS = ("grep", "egrep", "fgrep", "zgrep", "ggrep")
_SEARCHERS = ("rg", "ag", "ack", "ugrep", "ug")
# what reads all that lies below a directory: with one of these letters or long options, or always
_RECURSIVE = {
    **dict.fromkeys(("cp", "gcp", "scp", "install"), "rRa --recursive --archive"),
    "rsync": "ra --recursive --archive",
    **dict.fromkeys(_GREPS, "rRd --recursive --dereference-recursive --directories"),
    "diff": "rN --recursive",
    **dict.fromkeys((*_SEARCHERS, "tar", "bsdtar", "gtar", "gnutar", "zip", "7z", "7za", "7zz"), _ALWAYS),
    **dict.fromkeys(("rar", "cpio", "pax", "dar", "ar", "mksquashfs", "genisoimage", "mkisofs", "xorriso"), _ALWAYS),
    **dict.fromkeys(("borg", "restic", "rclone", "duplicity", "tarsnap", "rdiff-backup", "kopia"), _ALWAYS),
    **dict.fromkeys(("docker", "podman", "nerdctl", "unison", "sftp"), _ALWAYS),
}  # fmt: skip
_SEARCHING = (*_GREPS, *_SEARCHERS)  # here, if told no place
_ENTERED = ("-C", "--directory", "--cd")  # in front of a directory that is entered, not read
_ONLY_NAMES = ("du", "find", "gdu", "ncdu", "stat", "tree", "ls", "test", "[", "echo", "printf", "basename", "dirname")
_APART = "=:@,;"
_HOMES = ("~", "$HOME", "${HOME}")
_ENDS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


class Never:
    """The paths, as they are written and where they really lie."""

    __slots__ = ("_home", "_look", "_places", "_spelled")

    def __init__(self, paths: tuple[str, ...], context: Context) -> None:
        self._home = context.place.home
        self._look = context.probes.look
        self._places: list[tuple[str, str]] = []
        self._spelled: list[tuple[str, str]] = []  # as they may stand in code
        for path in paths:
            whole = context.place.home + path[1:] if path[:2] == "~/" else path
            for place in {normal_form(whole), real(whole, context.probes.look) or whole}:
                self._places.append((place, path))
            self._spelled.append((whole, path))
            if is_within(whole, context.place.home):
                below = whole[len(context.place.home) + 1 :]
                self._spelled += [(f"{home}/{below}", path) for home in _HOMES]
                if below[:1] == ".":  # Path.home() / ".ssh", homedir() + "/.ssh"
                    self._spelled += [(quote + slash + below, path) for quote in "'\"`" for slash in ("", "/")]

    def why(self, simple: Simple) -> str:
        """Which of them this command names or reads, "" for none."""
        reason = next((met for use in (*simple.redirects, *simple.paths) if (met := self._met(use, simple))), "")
        if reason or self._is_elsewhere(simple):
            return reason
        if simple.cwd is not None and simple.argv and (reason := self._at_or_in(simple.cwd)):
            return reason
        words = [word for word in simple.argv[1:] if word]
        reason = next((met for word in words if (met := self._named(word, simple))), "")
        if not reason and simple.name in _SEARCHING and not simple.paths and _reads_below(simple):
            reason = self._around(simple.cwd)
        return reason or self._in_code(simple)

    def why_file(self, uses: list[PathUse], texts: tuple[str, ...], reads_below: bool) -> str:
        """Of a file tool: what it is given as a path; `reads_below`: it looks into all files below a directory."""
        for use in uses:
            for place in (use.path, use.resolved):
                reason = self._at_or_in(place) or (self._around(place) if reads_below else "")
                if reason:
                    return reason
        return next((met for text in texts if (met := self._matched(text))), "")

    def _is_elsewhere(self, simple: Simple) -> bool:
        """Another machine has other files; what it is handed of ours is a path that was looked at."""
        if not simple.remote:
            return False
        return not has(simple.name, "container") or any(has(name.split()[0], "remote") for name in simple.wrappers)

    def _at_or_in(self, path: str | None) -> str:
        if path is None:
            return ""
        return next((reason for place, reason in self._places if is_within(path, place)), "")

    def _around(self, path: str | None) -> str:
        if path is None:
            return ""
        return next((reason for place, reason in self._places if is_within(place, path)), "")

    def _met(self, use: PathUse, simple: Simple) -> str:
        """One path: it lies there, or it lies around and all below it is read."""
        if use.raw and _is_key(use.raw, simple):
            return ""
        is_taken = use.mode == DELETE or (_reads_below(simple) and not _is_entered(use, simple))
        for path in (use.path, use.resolved):
            reason = self._at_or_in(path)
            if not reason and (_is_found_file(use, simple) or (is_taken and not use.is_glob)):
                reason = self._around(path)
            if reason:
                return reason
        return self._matched("/".join(use.pattern), simple) if use.is_glob and use.pattern[0] else ""

    def _named(self, word: str, simple: Simple) -> str:
        """A word of the command, or a part of it: `-v/home/u/.ssh:/x`, `f=@/home/u/.ssh/id`."""
        if _is_key(word, simple):
            return ""
        for piece in _pieces(word):
            for directory in self._directories(simple):
                whole = path_from(directory, piece)
                reason = self._at_or_in(normal_form(whole)) if whole else ""
                if not reason and whole and any(c in piece for c in "*?["):
                    reason = self._matched(whole, simple)
                if not reason and directory != simple.cwd and piece[0] != "/" and _reads_below(simple):
                    reason = self._around(normal_form(whole or "/"))  # tar -C ~ .
                if reason:
                    return reason
        return ""

    def _directories(self, simple: Simple) -> list[str | None]:
        """Where a relative word may lie: here, or in a directory around one of the places that the command names."""
        if simple.name in _ONLY_NAMES:
            return [simple.cwd]
        words = [word for word in simple.argv[1:] if word and word[0] == "/" and self._around(normal_form(word))]
        around = [use.path for use in simple.paths if not use.is_glob and self._around(use.path)]
        return [simple.cwd, *words, *around]

    def _matched(self, pattern: str, simple: Simple | None = None) -> str:
        """A pattern that may stand for one of them, for what lies in it, or for a directory whose content is read."""
        whole = pattern if pattern[:1] != "~" else self._home + pattern[1:]
        if whole[:1] != "/" or not any(c in whole for c in "*?["):
            return self._at_or_in(normal_form(whole)) if whole[:1] == "/" else ""
        parts = [part for part in whole.split("/") if part and part != "."]
        is_only_name = simple is not None and simple.name in _ONLY_NAMES
        for place, reason in self._places:
            names = place.split("/")[1:]
            if not all(may_match(part, name) for part, name in zip(parts, names, strict=False)):
                continue
            is_there = len(parts) > len(names) or (len(parts) == len(names) and not is_only_name)
            if is_there or (simple is not None and len(parts) < len(names) and _reads_below(simple)):
                return reason
        return ""

    def _in_code(self, simple: Simple) -> str:
        """Written in a program of another language, or in what it is given on its input."""
        language = program(language_of(simple.name or ""))
        if "code" not in language.facets:
            return ""
        text = "\n".join([word or "" for word in simple.argv[1:]] + [simple.input])
        return next((reason for spelled, reason in self._spelled if _stands_in(spelled, text)), "")


def _pieces(word: str) -> list[str]:
    pieces = [word]
    for mark in _APART:
        pieces += [piece for one in pieces if mark in one for piece in one.split(mark)]
    if word[:1] == "-" and "/" in word:
        pieces.append(word[word.index("/") :])
    return [piece for piece in dict.fromkeys(pieces) if piece and piece[0] != "-" and " " not in piece]


def _reads_below(simple: Simple) -> bool:
    wanted = _RECURSIVE.get(simple.name or "")
    if not wanted:
        return wanted is not None
    letters, *names = wanted.split(" ")
    for word in simple.argv[1:]:
        if word is None or any(word.startswith(name) for name in names):
            return True
        if word[:1] == "-" and word[:2] != "--" and any(letter in word for letter in letters):
            return True
    return False


def _is_found_file(use: PathUse, simple: Simple) -> bool:
    """What find hands to a program that reads it."""
    if use.mode == DELETE or simple.name in _ONLY_NAMES:
        return False
    return use.is_glob and use.raw == "" and "find" in simple.wrappers


def _is_entered(use: PathUse, simple: Simple) -> bool:
    words = simple.argv
    entered = [words[at + 1] or "" for at in range(len(words) - 1) if words[at] in _ENTERED]
    return any(word[:1] == "/" and use.path == normal_form(word) for word in entered)


def _is_key(word: str, simple: Simple) -> bool:
    """`ssh -i ~/.ssh/key`: programs that are there to use it, as the value of an option of theirs."""
    options = program(simple.name or "").values("uses_keys")
    if not options:
        return False
    plain = word.strip("'\"").lstrip("~")
    there = [at for at, argument in enumerate(simple.argv) if at and argument is not None and argument.endswith(plain)]
    return bool(there) and all(_is_value_of(options, simple.argv, at) for at in there)


def _is_value_of(options: tuple[str, ...], argv: tuple[str | None, ...], at: int) -> bool:
    value, before = argv[at] or "", argv[at - 1]
    return "any" in options or any(before == f"-{one}" or value.startswith(f"-{one}/") for one in options)


def _stands_in(path: str, text: str) -> bool:
    at = text.find(path)
    while at >= 0:
        end = at + len(path)
        if text[end : end + 1] not in _ENDS or end == len(text):
            return True
        at = text.find(path, end)
    return False
