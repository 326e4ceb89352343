"""Lead fresh /tmp names of a line into the scratch: a name with every one of its mentions, or not at all.

A name goes only if nothing of it exists in the temp root, if each mention stands where a word can be replaced, and if
no program that we cannot read could want it: one that starts after the name is made, or that gets it as an argument.
"""

from __future__ import annotations

from ..nouns.analysis import APPEND, CREATE, WRITE, Simple
from ..nouns.names import names
from ..programs.table import has
from .rewriting import HIDDEN, Edit, TempRoot, apply_edits, edit_of, edit_tree, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from ..nouns.state import Site
    from ..shell.syntax import Sequence, Word
    from ..simulate.study import Study

MAKING = frozenset((WRITE, APPEND, CREATE))
# programs that do with a path what their table says, and start nothing
READABLE = names(
    "cat tac head tail wc sort uniq cut paste tr nl fold column rev grep egrep fgrep rg sed awk gawk mawk jq yq echo "
    "printf true false : test [ tee cp mv rm rmdir mkdir touch ls stat file du diff cmp comm md5sum sha1sum sha256sum "
    "sha512sum base64 xxd od hexdump strings basename dirname seq date sleep pwd cd read unset exit return set id "
    "whoami hostname uname which type curl wget gzip gunzip zcat bzip2 bunzip2 xz unxz zstd tar zip unzip dd truncate "
    "chmod expr let wait ps df free shuf factor cksum b2sum sum iconv tsort join expand unexpand fmt pr look yes"
)
_OPEN = names("time timeout command nice builtin")  # wrappers that change nothing about paths
_STARTING = ("system(", "| getline", "|getline", '| "', '|"', "-exec", "--to-command", "--use-compress-program", "-I")
MOST_TOLD = 8
_LOOKS = 20  # a text may be long; few names are enough to tell
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@%~#^")


class Led:
    """The text that runs instead, its tree, and where each name really is."""

    __slots__ = ("places", "text", "tree")

    def __init__(self, text: str, tree: Sequence | None, places: dict[str, str]) -> None:
        self.text = text
        self.tree = tree  # None: it has to be read
        self.places = places  # /tmp/NAME -> what it is now


def may_name(command: str, roots: tuple[str, ...]) -> bool:
    """Without reading it: could any word be in a temp root? What hides letters is not led."""
    return "$'" not in command and any(f"{root}/" in _unquoted(command) for root in roots)


def lead_line(command: str, studied: Study, root: TempRoot, *, cwd: str, environ: Container[bytes]) -> Led | None:
    """None: the line stays as it is. Whether the result means the same is for its own study to say (`holds`).

    The tree of `studied` becomes that of the new text.
    """
    simples = studied.analysis.commands
    if studied.analysis.opaque is not None or studied.is_beside or root.end_of_root(cwd) >= 0:
        return None
    if any(simple.remote or not set(simple.wrappers) <= _OPEN for simple in simples):
        return None
    text = _unquoted(command)
    if _means_all_of_it(text, root) or len(studied.sites) > 1000:
        return None
    changed: list[tuple[Word, Edit]] = []
    places: dict[str, str] = {}
    exports = any(_exports(simple) for simple in simples)
    for name, sites in _by_name(studied.sites, root).items():
        made = _edits_for(sites, command, root, None if exports else environ)
        is_left = _mentions(_unquoted(apply_edits(command, made) or command), name, root)
        if made and not is_left and _may_go(name, sites, studied, root):
            changed += [(site.word, edit) for site, edit in zip(sites, made, strict=True)]
            places[f"{root.roots[0]}/{name}"] = f"{root.scratch}/{name}"
    after = apply_edits(command, [edit for _, edit in changed]) if changed else None
    if after is None or studied.tree is None:
        return None
    return Led(after, edit_tree(studied.tree, command, changed), places)


def holds(led: Led, will_run: Study) -> bool:
    """Nothing in the text that will run means a name at the place that it was led away from."""
    if will_run.tree is None or will_run.analysis.opaque is not None:
        return False
    for simple in will_run.analysis.commands:
        for use in (*simple.paths, *simple.redirects):
            path = use.path or ""
            if any(path == place or path.startswith(place + "/") for place in led.places):
                return False
    return True


def led_before(command: str, root: TempRoot) -> dict[str, str]:
    """Of the names in a text those that only the scratch has: an earlier call was led, this one means them by /tmp."""
    text, scratch_paths, looks = _unquoted(command), {}, _LOOKS
    for base in root.roots:
        at = _next(text, f"{base}/", 0)
        while at >= 0 and looks:
            end = start = at + len(base) + 1
            while end < len(text) and text[end] in _NAME:
                end += 1
            name = text[start:end].rstrip(".")
            if name and root.look(f"{root.scratch}/{name}")[1] and not root.look(f"{base}/{name}")[1]:
                scratch_paths[f"{base}/{name}"] = f"{root.scratch}/{name}"
            at, looks = _next(text, f"{base}/", end), looks - 1
    return scratch_paths


def led_by_all(command: str, root: TempRoot, entries: tuple[str, ...]) -> dict[str, str]:
    """For a line that looks into a temp root itself: where the names are that only the scratch has."""
    base, text = root.roots[0], _unquoted(command)
    if not entries or not any(_looks_into(text, one) for one in root.roots):
        return {}
    return {
        f"{base}/{name}": f"{root.scratch}/{name}" for name in entries[:MOST_TOLD] if not root.look(f"{base}/{name}")[1]
    }


def _looks_into(text: str, base: str) -> bool:
    """`ls /tmp`, `/tmp/*.log`: not a name in it alone, and not /tmpfile."""
    at = _next(text, base, 0)
    while at >= 0:
        end = at + len(base)
        mark = text[end : end + 1]
        if not mark or (mark == "/" and not _is_name(text, end + 1)) or (mark != "/" and mark not in _NAME):
            return True
        at = _next(text, base, end)
    return False


def follow_name(value: str, root: TempRoot) -> str:
    """The path of a file tool, where only the scratch has what it names; "" elsewhere."""
    for place, moved in led_before(value, root).items():
        if value == place or value.startswith(f"{place}/"):
            return moved + value[len(place) :]
    return ""


def _by_name(sites: tuple[Site, ...], root: TempRoot) -> dict[str, list[Site]]:
    """The words of the line by the entry of the temp root that they lie at or in."""
    sites_of: dict[str, list[Site]] = {}
    for site in sites:
        rest = root.rest_of(visible_text(site)[site.offset :])
        name = (rest or "").partition("/")[0]
        if name and HIDDEN not in name and ".." not in (rest or "").split("/"):
            sites_of.setdefault(name, []).append(site)
    return sites_of


def _edits_for(sites: list[Site], command: str, root: TempRoot, inherited: Container[bytes] | None) -> list[Edit]:
    """One for each word; none at all if one of them cannot be replaced. `inherited`: variables, None: any may be."""
    edits = []
    for site in sites:
        edit, variable = edit_of(site, root, command), _variable(site, command)
        is_inherited = site.is_exported or (bool(variable) and (inherited is None or variable in inherited))
        if edit is None or is_inherited or site.is_list or site.is_nested or has(site.program, "real"):
            return []
        if not site.modes or any(path is not None and root.end_of_root(path) < 0 for path in site.paths):
            return []  # nobody uses it as a path, or it was seen to be something else
        edits.append(edit)
    return edits


def _exports(simple: Simple) -> bool:
    """Could it hand a variable of the line on to programs?"""
    if simple.name == "set":
        return any(word is None or "a" in word for word in simple.argv[1:])
    return simple.name in ("export", "declare", "typeset", "readonly", "local")


def _variable(site: Site, command: str) -> bytes:
    """The name of the variable that the word is assigned to, b"" if it is none."""
    before = command[: site.word.start]
    if site.program or not before.endswith("="):
        return b""
    at = len(before) - 1
    while at and (before[at - 1].isalnum() or before[at - 1] == "_"):
        at -= 1
    return before[at:-1].encode("utf-8", "surrogateescape")


def _may_go(name: str, sites: list[Site], studied: Study, root: TempRoot) -> bool:
    if any(root.look(f"{base}/{name}")[1] for base in root.roots):
        return False  # what is there always beats a copy in the scratch
    if root.look(f"{root.scratch}/{name}")[1]:
        return True  # led by an earlier call
    if all(site.modes.isdisjoint(MAKING) for site in sites):
        return False  # neither place has it
    return not _is_wanted_by_a_stranger(name, studied, root)


def _is_wanted_by_a_stranger(name: str, studied: Study, root: TempRoot) -> bool:
    """A program that we cannot read starts after the name is made, or gets it in its arguments."""
    is_made = not studied.in_order  # a second round comes after the first
    for simple in studied.analysis.commands:
        is_given = any(_is_in(use.path, name, root) for use in simple.paths)
        is_filled = any(_is_in(use.path, name, root) for use in simple.redirects)
        if not is_readable(simple) and (is_given or (is_made and not is_filled)):
            return True
        is_made = is_made or is_given or is_filled
    return False


def is_readable(simple: Simple) -> bool:
    """Does it do with its paths what we know, and start nothing of its own?"""
    if not simple.argv:
        return True
    if simple.name not in READABLE or None in simple.argv[:1]:
        return False
    return not any(word is not None and mark in word for word in simple.argv[1:] for mark in _STARTING)


def _is_in(path: str | None, name: str, root: TempRoot) -> bool:
    return path is not None and any(
        path == f"{base}/{name}" or path.startswith(f"{base}/{name}/") for base in root.roots
    )


def _means_all_of_it(text: str, root: TempRoot) -> bool:
    """`ls /tmp`, `cd /tmp`, `/tmp/*.log`, `/tmp/$x`: the real /tmp, with all that is in it."""
    for base in root.roots:
        at = _next(text, base, 0)
        while at >= 0:
            end = at + len(base)
            if text[end : end + 1] != "/" or not _is_name(text, end + 1):
                return True
            at = _next(text, base, end)
    return False


def _is_name(text: str, at: int) -> bool:
    """A literal component stands there, and ends where a component ends."""
    start = at
    while text[at : at + 1] in _NAME and at < len(text):
        at += 1
    return at > start and text[at : at + 1] not in ("*", "?", "[", "{", "$", "`")


def _mentions(text: str, name: str, root: TempRoot) -> bool:
    for base in root.roots:
        at = _next(text, f"{base}/{name}", 0)
        while at >= 0:
            end = at + len(base) + 1 + len(name)
            if text[end : end + 1] not in _NAME or end == len(text):
                return True
            at = _next(text, f"{base}/{name}", end)
    return False


def _next(text: str, wanted: str, at: int) -> int:
    """Where it stands next as the head of a path: not the /tmp of /var/tmp."""
    at = text.find(wanted, at)
    while at > 0 and (text[at - 1] in _NAME or text[at - 1] == "/"):
        at = text.find(wanted, at + 1)
    return at


def _unquoted(command: str) -> str:
    """Without what only keeps a word together, paths in their plain form."""
    text = command.replace("\\\n", "").replace("'", "").replace('"', "").replace("\\", "")
    while "//" in text or "/./" in text:
        text = text.replace("/./", "/").replace("//", "/")
    return text
