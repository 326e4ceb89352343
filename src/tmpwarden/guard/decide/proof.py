"""Is a command that names only places inside really bound to stay there? Options, links in the way, and earlier traps.

Writing goes through symlinks. Those on the disk can be seen; those that an earlier command of the same line moves or
copies into the way cannot. What is not proven here is not denied, it only gets no allow.
"""

from ...text import is_within
from ..nouns.analysis import DELETE, READ, PathUse, Simple
from ..nouns.paths import normal_form, path_from, real
from ..programs.table import has, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Look = Callable[[str], tuple[str | None, bool]]
    IsPlain = Callable[[str, bool], bool]


def stays_inside(
    simple: Simple, line: "tuple[Simple, ...]", roots: "tuple[str, ...]", look: "Look", is_plain: "IsPlain"
) -> bool:
    """All paths of `simple` are inside `roots`, says the rule; does that hold when it runs?"""
    if has(simple.name, "safe") and not _options_are_safe(simple):
        return False
    if simple.name == "cp" and not _copy_lands_inside(simple, roots, look, is_plain):
        return False
    return not any(_lays_trap(other, simple, look) for other in line if other is not simple)


def _options_are_safe(simple: Simple) -> bool:
    known = program(simple.name or "")
    plain, valued, long = known.text("safe"), known.text("safe_valued"), known.values("safe_long")
    skip = False
    for word in simple.argv[1:]:
        if word is None or word == "-":
            return False  # - is whatever its output is, to touch
        if skip or not word.startswith("-"):
            if word[:1] in ("*", "?", "[") and simple.name != "rm":
                return False  # may match a file that has the name of an option
            skip = False
        elif word == "--":
            return True
        elif word.startswith("--"):
            if word[2:].partition("=")[0] not in long:
                return False
            skip = "=" not in word and word[2:] in ("mode", "date", "time", "reference", "target-directory")
        else:
            rest = word[1:].lstrip(plain)
            if rest and rest[0] not in valued:
                return False
            skip = len(rest) == 1
    return True


_MORE_THAN_PATHS = (
    *("reads", "runs", "runner", "shell", "user_shell", "code", "told_by", "remote", "quiet"),
    *("writes_here", "writes_here_unless", "writes_here_only_with"),
)
_RUN_RECIPES = ("make", "gmake", "ninja")


def is_known_in_full(simple: Simple, environ: "Mapping[bytes, bytes]") -> bool:
    """Does its row name every option that it is given, and is it told nothing by variables?"""
    known = program(simple.name or "")
    if not known.plain or simple.name in _RUN_RECIPES or any(facet in known.facets for facet in _MORE_THAN_PATHS):
        return False
    prefix = (simple.name or "").upper().replace("-", "_")
    if simple.exported or any(name.decode("utf-8", "replace").startswith(prefix) for name in environ):
        return False
    letters = {*known.shorts, *known.text("safe"), *known.text("safe_valued")}
    names = {*known.longs, *known.values("safe_long")}
    return all(
        word is not None and _is_known(word, letters, names) and ("/" not in word or _is_a_path(word, simple))
        for word in simple.argv[1:]
    )


def _is_a_path(word: str, simple: Simple) -> bool:
    """One that was looked at, not a suffix with a slash in it."""
    whole = normal_form(path_from(simple.cwd, word) or "/")
    return word[:1] == "-" or any(use.is_glob or use.path == whole for use in simple.paths)


def _is_known(word: str, letters: "set[str]", names: "set[str]") -> bool:
    if word[:1] != "-" or word == "--":
        return ":" not in word.partition("/")[0] and not word.startswith("@")  # file:..., host:..., @list
    if word[:2] == "--":
        return word[2:].partition("=")[0] in names
    return word != "-" and letters.issuperset(word[1:])


def _copy_lands_inside(simple: Simple, roots: "tuple[str, ...]", look: "Look", is_plain: "IsPlain") -> bool:
    """cp writes through a symlink that already has the target's name, at any depth of a recursive copy."""
    targets = [use for use in simple.paths if use.mode != READ]
    if len(targets) != 1 or targets[0].resolved is None:
        return False
    target, is_deep = targets[0].resolved, _keeps_links(simple)
    if (
        any(is_within(target, root) for root in roots)
        and is_plain(target, is_deep)
        and not (is_deep and _may_lay_own_trap(simple, is_plain))
    ):
        return True  # whatever the copies are called, there is no link that they could go through
    # `cp -r d/. e` copies what is in d, under names that we do not know
    words = [f"/{word}".rstrip("/") if word is not None else "/." for word in simple.argv]
    if any(word.endswith(("/.", "/..")) for word in words):  # `d/../` too
        return False
    for use in simple.paths:
        if use.mode == READ and not _lands_inside(_name_of_copy(use, target, look), is_deep, roots, look):
            return False
    return True


def _may_lay_own_trap(simple: Simple, is_plain: "IsPlain") -> bool:
    """Of several sources the first may bring a link that the second is written through."""
    sources = [use for use in simple.paths if use.mode == READ]
    if len(sources) == 1 and not sources[0].is_glob:
        return False
    return not all(use.resolved is not None and is_plain(use.resolved, True) for use in sources)


def _name_of_copy(source: PathUse, target: str, look: "Look") -> str | None:
    if source.path is None or source.is_glob:
        return None
    _, is_dir = look(target + "/.")
    return f"{target}/{source.path.rpartition('/')[2]}" if is_dir else target


def _lands_inside(copy: str | None, is_deep: bool, roots: "tuple[str, ...]", look: "Look") -> bool:
    if copy is None:
        return False
    _, exists = look(copy)
    if exists and is_deep:
        return False  # what lies below may hold links
    place = real(copy, look)
    return place is not None and any(is_within(place, root) for root in roots)


def _keeps_links(simple: Simple) -> bool:
    """May this copy carry a link over?"""
    letters = program(simple.name or "").text("links").replace("l", "")  # hard ones show in their count
    return any(
        word is None
        or word in ("--recursive", "--archive", "--no-dereference", "--preserve=links", "--preserve=all")
        or (word[:1] == "-" and word[:2] != "--" and any(letter in word for letter in letters))
        for word in simple.argv[1:]
    )


def _lays_trap(other: Simple, simple: Simple, look: "Look") -> bool:
    """Could `other` put a symlink where `simple` walks? Order does not count: there are loops and `&`."""
    if not other.argv or has(other.name, "linkless") or (other.name == "cp" and not _keeps_links(other)):
        return False
    if other.name not in ("cp", "mv"):
        return True
    laid = [use.resolved for use in other.paths if use.mode not in (READ, DELETE)]
    if not laid or None in laid or simple.cwd is None:
        return True
    return any(_walks_over(place or "", simple) for place in laid)


def _walks_over(place: str, simple: Simple) -> bool:
    uses = (*simple.paths, *simple.redirects)
    if is_within(simple.cwd or "", place) or any(
        word is None or ".." in word or word[-1:] == "/" for word in simple.argv
    ):
        return True
    return any(_touches(place, use) for use in uses)


def _touches(place: str, use: PathUse) -> bool:
    """Removing or renaming the very name is safe: that acts on the link itself."""
    if use.resolved is None:
        return True
    if use.resolved == place:
        return use.mode != DELETE or use.is_glob
    return is_within(use.resolved, place)
