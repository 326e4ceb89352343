"""Does one path fall under a rule: outside its roots, or one that its glob names?"""

from ...model.hot import ALLOW
from ...text import is_within
from ..nouns.analysis import APPEND, CREATE, DELETE, READ, WRITING, PathUse, Simple
from ..nouns.paths import is_sink, landing, real
from ..programs.table import has, program
from ..rules.patterns import MAYBE, YES, Globs, matches
from ..rules.rule import Rule
from .scope import Scope
from .untouchable import may_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .scope import Scope


def match_hit(rule: Rule, simple: Simple, uses: "list[PathUse]", scope: "Scope") -> str | None:
    """Globs over what the arguments say and over where the paths lead."""
    if not uses and rule.mode != "any":
        return None
    globs = scope.globs(rule.operands)
    outcomes = [
        globs.fit(use.raw) or globs.fit(use.path) or globs.fit(use.resolved)
        for use in uses
        if not use.is_glob or _takes_all(use)
    ]
    if rule.mode != "any":
        return YES if outcomes and (any if rule.test == "any_match" else all)(outcomes) else None
    outcomes += [
        globs.fit(word) for word in simple.argv[1:] if word is not None and not any(use.raw == word for use in uses)
    ]
    if rule.test == "all_match":
        return YES if outcomes and all(outcomes) and None not in simple.argv else None
    if any(outcomes):
        return YES
    return MAYBE if None in simple.argv else None


_OPEN_PORTS = ("/dev/tcp/localhost", "/dev/tcp/127.0.0.1", "/dev/udp/localhost", "/dev/udp/127.0.0.1")


def _takes_all(use: PathUse) -> bool:
    """`rm -rf .git/*` leaves nothing of the history. `rm -rf *` in a project leaves it: a star sees nothing hidden."""
    return use.mode == DELETE and use.raw.endswith("/*") and (use.path or "").endswith("/.git")


def is_named(operands: "tuple[str, ...]", use: PathUse, scope: "Scope") -> bool:
    """By the path as it is written: links are not followed, because the first look sees no disk; `!` spares.

    What cannot be told is called nothing. A pattern counts if it is the glob itself, or starts as a name that it means.
    """
    globs = scope.globs(tuple(glob for glob in operands if glob[0] != "!"))
    spared = scope.globs(tuple(glob[1:] for glob in operands if glob[0] == "!"))
    written = "/" + use.raw.strip("'\"")
    if spared.fit(use.path) or spared.fit(written):
        return False
    if globs.fit(use.path) or globs.fit(written):
        return True
    return use.is_glob and any(_may_mean(written[1:], glob) for glob in globs.spelled())


def _may_mean(pattern: str, glob: str) -> bool:
    """`.e*` may be .env, `id_*` id_rsa. One that starts with a star may be anything, and is passed."""
    name = pattern.rpartition("/")[2]
    head = name[: len(name) - len(name.lstrip("".join(set(name) - set("*?["))))]
    wanted = glob.rpartition("/")[2]
    return bool(head) and head != name and wanted.startswith(head)


def outside(rule: Rule, use: PathUse, scope: Scope) -> str | None:
    """Does this path fall under the rule: outside its roots, or one that its glob names?"""
    is_victim = use.mode in (DELETE, CREATE)  # removing /dev/null is no writing to it
    if not is_of_mode(rule.mode, use) or (use.path is not None and is_sink(use.path) and not is_victim):
        return None
    if rule.test == "named":
        return YES if is_named(rule.operands, use, scope) else None
    if rule.decision != ALLOW and (use.path or "").startswith(_OPEN_PORTS):
        return None  # (echo > /dev/tcp/localhost/3000): is anybody there?
    place = landing(use)
    if rule.test == "glob":
        globs = scope.globs(rule.operands)
        if globs.fit(use.raw) or globs.fit(use.path) or globs.fit(place):
            return YES
        if place is not None or scope.names.is_spared(use) or (use.is_glob and not _may_be_named(use, globs)):
            return None
        return MAYBE
    if place is not None and is_sink(place) and not is_victim:
        return None
    inside = place is not None and scope.is_in_roots_of(place, rule)
    if rule.test == "inside":
        return YES if inside else None
    if place is not None:
        return None if inside or scope.names.is_spared(use) else YES
    if scope.names.is_spared(use) or _matches_inside(use, rule, scope):
        return None
    # a pattern or a word nobody can expand yet: surely outside only if what is known of it already is
    known = use.resolved
    if known is not None and not any(
        is_within(known, root) or is_within(root, known) for root in scope.roots(rule.operands)
    ):
        return YES
    return MAYBE


def _matches_inside(use: PathUse, rule: Rule, scope: Scope) -> bool:
    """`chmod 644 src/*.py`: whatever a pattern matches lies in a directory inside that holds no link."""
    if rule.decision == ALLOW or not use.is_glob or use.path is None:
        return False
    directory = real(use.path, scope.look)
    if directory is None or not scope.is_in_roots_of(directory, rule):
        return False
    if any(_brings_links(simple, use.path, rule, scope) for simple in scope.commands):
        return False
    names = () if "/" in use.pattern[1] else scope.entries(directory)
    if names or not scope.look(use.path)[1]:
        pattern = use.pattern[1].replace("?", "*")  # a number has more digits than one
        met = [name for name in names if may_match(pattern, name)]
        return len(met) <= _MAX_MATCHES and all(scope.leads_nowhere_else(f"{directory}/{name}") for name in met)
    is_deep = use.raw[:1] not in ("$", "`") and any(c in use.raw.rpartition("/")[0] for c in "*?[")
    return scope.is_plain(directory, is_deep)


_MAX_MATCHES = 64
_COPYING = ("cp", "gcp", "mv", "gmv", "rsync")


def _brings_links(simple: Simple, directory: str, rule: Rule, scope: Scope) -> bool:
    """Could it lay a link there that was not there before? A copy of what lies inside leads nowhere else."""
    if not has(simple.name, "links"):
        return False
    letters = program(simple.name or "").text("links")
    options = [word or "-" for word in simple.argv[1:] if (word or "-")[:1] == "-"]
    if (simple.name or "").endswith("tar"):
        options += [word or "" for word in simple.argv[1:2]]
    if letters and not any(c in option for c in letters for option in options):
        return False
    if simple.name not in _COPYING:
        return True
    targets = [use.path or "/" for use in simple.paths if use.mode not in (READ, DELETE) and not use.is_glob]
    if any(is_within(directory, target) and not scope.look(target)[1] for target in targets):
        return True  # the directory itself may become one
    sources = [use for use in simple.paths if use.mode in (READ, DELETE)]
    return not all(place is not None and scope.is_in_roots_of(place, rule) for place in map(_source, sources))


def _source(use: PathUse) -> str | None:
    return use.path if use.is_glob else use.resolved


def _may_be_named(use: PathUse, globs: Globs) -> bool:
    """May a name that is known up to a pattern be one that the globs are about? `out/$i.txt` is no .claude/settings."""
    if use.path is None:
        return True
    directory = f"{use.path.rstrip('/')}/"
    head = use.pattern[1].partition("*")[0].partition("?")[0].partition("[")[0]
    if globs.fit(f"{directory}{head}x") or globs.fit(f"{directory}x"):
        return True
    return any(glob.rpartition("/")[0] not in ("", "*") and _lies_in(directory, glob) for glob in globs.spelled())


def _lies_in(directory: str, glob: str) -> bool:
    return matches(glob.rpartition("/")[0], directory.rstrip("/"))


def is_of_mode(mode: str, use: PathUse) -> bool:
    if mode == "any":
        return True
    if mode == "read":
        return use.mode in (READ, "any")
    if mode == "append":
        return use.mode == APPEND
    if mode == "delete":
        return use.mode == DELETE
    if mode == "overwrite":
        return use.mode in WRITING and use.mode != APPEND
    return use.mode in WRITING
