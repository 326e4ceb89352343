"""Lead literal /tmp paths of a command into the scratch, word by word, and leave everything else byte for byte."""

from __future__ import annotations

from ..follow.study import study
from ..nouns.analysis import ANY, APPEND, CREATE, READ, RUN, WRITE
from ..nouns.budget import Budget
from ..nouns.state import Site
from ..programs.table import has
from ..shell.syntax import LITERAL, Part
from .temproot import HIDDEN, TempRoot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..nouns.paths import Look

TMP_ROOTS = ("/tmp",)
MAX_COMPARED = 100_000  # words with names that the line makes
MAKING = (WRITE, APPEND, CREATE)
READING = frozenset((READ, ANY))
SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@%:=,-")

Edit = tuple[int, int, str]


def rewrite(
    command: str,
    *,
    scratch: str,
    cwd: str,
    home: str,
    variables: Mapping[str, str],
    look: Look,
    tmp_roots: tuple[str, ...] = TMP_ROOTS,
    uid: int = -1,
    keep: tuple[str, ...] = (),
) -> str | None:
    """The command that uses the scratch instead, or None where nothing changes. `keep`: names in /tmp to leave."""
    if not may_name(command, tmp_roots):
        return None
    sites = study(command, cwd=cwd, home=home, variables=variables, look=look, budget=Budget()).sites
    return rewritten(command, sites, TempRoot(scratch, tmp_roots, uid, keep, look))


def rewritten(command: str, sites: tuple[Site, ...], root: TempRoot) -> str | None:
    """The same for a text that was studied already. Whether the result can be read is for its own study to say."""
    for site in sites:
        if not site.modes.isdisjoint(MAKING):
            root.made += [rest for _, rest in _paths(site, root) if rest]
    root.made = list(dict.fromkeys(root.made))
    if len(sites) * len(root.made) > MAX_COMPARED:
        return None
    edits = [edit for site in sites for edit in _edits(site, root, command)]
    return _edited(command, edits) if edits else None


def may_name(command: str, tmp_roots: tuple[str, ...]) -> bool:
    """Without reading it: could any word be in a temp root?"""
    if "$'" in command:
        return True
    bare = command.replace("'", "").replace('"', "").replace("\\", "").replace("\n", "")
    return any(root.rpartition("/")[2] in bare for root in tmp_roots)


def _edited(command: str, edits: list[Edit]) -> str | None:
    """Apply them; two that overlap are none."""
    pieces, at = [], 0
    for start, end, text in sorted(set(edits)):
        if start < at:
            return None
        pieces += [command[at:start], text]
        at = end
    return "".join(pieces) + command[at:]


def _shown(site: Site) -> str:
    """The unquoted word; what is not literal in it is hidden."""
    return "".join([part.text if part.kind == LITERAL else HIDDEN for part in site.word.parts])


def _paths(site: Site, root: TempRoot) -> list[tuple[int, str]]:
    """Each path in the word that may go: where it starts in the unquoted word, and what it is below the root."""
    shown = _shown(site)
    starts = [site.offset]
    if site.is_list:
        starts += [at + 1 for at, c in enumerate(shown) if c == ":" and at >= site.offset]
    elif _holds_more(shown[site.offset :], root):
        return []
    found = []
    for start in starts:
        path = shown[start:].partition(":")[0] if site.is_list else shown[start:]
        rest = root.rest_of(path)
        if rest is not None:
            found.append((start, rest))
    return found


def _holds_more(text: str, root: TempRoot) -> bool:
    """Several paths in one word that nobody calls a list: half of them must not go."""
    for separator in " \t\n,;":
        text = text.replace(separator, ":")
    return any(root.end_of_root(path) >= 0 for path in text.split(":")[1:])


def _edits(site: Site, root: TempRoot, command: str) -> list[Edit]:
    if has(site.program, "real") or _leaves(site, root):
        return []
    edits = []
    for start, rest in _paths(site, root):
        if RUN in site.modes and not root.is_there(rest):
            continue
        only_reads = site.modes <= READING
        if only_reads and not site.word.magic and root.is_only_here(rest):
            continue
        edit = _edit(site, start, root, command)
        if edit is not None:
            edits.append(edit)
    return edits


def _leaves(site: Site, root: TempRoot) -> bool:
    """Some value that the word was seen to have is not below a temp root."""
    if site.is_list:
        return False
    return any(path is not None and root.end_of_root(path) < 0 for path in site.paths)


def _edit(site: Site, start: int, root: TempRoot, command: str) -> Edit | None:
    """Replace the root where it stands in one piece, else the whole word if all of it is literal."""
    shown = _shown(site)
    end = start + root.end_of_root(shown[start:])
    at = 0
    for part in site.word.parts:
        size = len(part.text) if part.kind == LITERAL else 1
        if at <= start and end <= at + size:
            place = _place(part, command)
            text = _fitting(root.scratch, part.quote, site.is_nested)
            if place is not None and text is not None:
                return place + start - at, place + end - at, text
        at += size
    if HIDDEN in shown or site.word.magic:
        return None
    text = _fitting(shown[:start] + root.scratch + shown[end:], "", site.is_nested)
    return None if text is None else (site.word.start, site.word.end, text)


def _place(part: Part, command: str) -> int | None:
    """Where the text of the part starts in the command, if it stands there as it is."""
    place = part.start + (part.quote == "'")
    is_same = part.kind == LITERAL and part.start >= 0 and command.startswith(part.text, place)
    return place if is_same and part.quote in ("", "'", '"') else None


def _fitting(text: str, quote: str, is_nested: bool) -> str | None:
    """The text so that it means itself between these quotes; None if it cannot."""
    if SAFE.issuperset(text):
        return text
    if is_nested or "'" in text:
        return None
    if quote == "":
        return f"'{text}'"
    return text if quote == "'" or not any(c in '"\\$`' for c in text) else None


def rewrite_path(
    path: str,
    *,
    scratch: str,
    cwd: str,
    look: Look,
    mode: str = ANY,
    tmp_roots: tuple[str, ...] = TMP_ROOTS,
    uid: int = -1,
    keep: tuple[str, ...] = (),
) -> str | None:
    """The same for one path of a file tool. Relative ones stay: they are no literal /tmp."""
    if "\0" in path:
        return None
    root = TempRoot(scratch, tmp_roots, uid, keep, look)
    rest = root.rest_of(path)
    if rest is None or (mode in READING and root.is_only_here(rest)):
        return None
    return scratch + path[root.end_of_root(path) :]
