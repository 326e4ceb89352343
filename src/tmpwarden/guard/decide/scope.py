"""What one decision is judged against: the roots behind `@scratch` and its friends, and what the disk shows."""

from ...model.hot import ALLOW
from ...text import is_within
from ..nouns.analysis import DELETE, READ, WRITE, Budget, PathUse, Simple
from ..nouns.paths import expand, landing, real
from ..programs.table import has
from ..rules.patterns import MAYBE, YES, Globs
from .owning import Names
from .proof import is_known_in_full, stays_inside
from .untouchable import Untouchable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context
    from ..rules.rule import Rule, Rules
    from .never import Never


_MOVING = ("mv", "gmv")


def _landings(simple: Simple, mode: str) -> "list[str]":
    return [place for use in simple.paths if use.mode == mode and (place := landing(use))]


class Judged:
    """The word on one simple command, the rule that spoke, and what an allow rests on."""

    __slots__ = ("basis", "reason", "rule", "verdict")

    def __init__(self, verdict: str, rule: str = "", reason: str = "", basis: str = "") -> None:
        self.verdict = verdict
        self.rule = rule
        self.reason = reason
        self.basis = basis


class Scope:
    """Lives for one decision. Roots and regexes are worked out once."""

    __slots__ = (
        "_context", "_globs", "_mounted", "_never", "_paths_of_never", "_roots", "_scratch", "_text", "_untouchable",
        "budget", "commands", "holds_mount", "is_plain", "look", "names", "protected", "pushes", "redirect_allows",
        "temp", "tokens", "trusted",
    )  # fmt: skip

    def __init__(
        self, rules: "Rules", context: "Context", budget: Budget, commands: "tuple[Simple, ...]" = (), text: str = ""
    ) -> None:
        self._context = context
        self._scratch = rules.scratch(context.place.scratch)
        self._untouchable: Untouchable | None = None
        self._paths_of_never = rules.never
        self._never: Never | None = None
        if rules.never:
            from . import never  # only who has such paths pays for it

            self._never = never.Never(rules.never, context)
        self.budget = budget
        self._text = text  # what a file tool writes
        self.look = context.probes.look
        self.is_plain = context.probes.is_plain
        self.holds_mount = context.probes.holds_mount
        self._mounted: dict[str, bool] = {}
        self.tokens = context.tokens(rules)
        self.temp = context.place.temp()  # "$TMPDIR" where the agent's commands have it
        self.commands = commands  # the whole line: one command may lay a trap for the next
        self.names = Names(context, self._scratch)  # in temp roots: what is the session's, and what will be
        if rules.owns:
            self.names.read(commands)
        self.redirect_allows: list[Rule] = rules.of("redirects", "allow")
        self.trusted = rules.trusted
        self.protected = rules.protected
        self.pushes = context.probes.pushes
        self._roots: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._globs: dict[tuple[str, ...], Globs] = {}

    @property
    def untouchable(self) -> Untouchable:
        """Only what removes or writes needs to know of these places."""
        if self._untouchable is None:
            self._untouchable = Untouchable(self._context, self._scratch, self._paths_of_never)
        return self._untouchable

    def is_of_session(self, use: PathUse) -> bool:
        """In the scratch, or in what the session made."""
        place = landing(use)
        return place is not None and any(is_within(place, root) for root in self.roots(("@scratch",)))

    def is_above_home(self) -> bool:
        """A project that holds the home holds everything that its user has."""
        return self._context.place.project is None or is_within(self._context.place.home, self._context.place.project)

    def why_never(self, simple: Simple) -> str:
        """Which path of `never` it names or reads."""
        return "" if self._never is None else self._never.why(simple)

    def takes(self, simple: Simple) -> "tuple[str, bool]":
        """What it takes away that no rule can allow to be taken away, "" for nothing; and whether `rm *` does it."""
        if simple.remote or all(use.mode == READ for use in simple.paths):
            return "", False
        what, is_by_star = self.untouchable.why(simple)
        if not what and simple.name not in _MOVING and self._was_moved(simple):
            return "what this line moves out of the project", False
        return what, is_by_star

    def _was_moved(self, simple: Simple) -> bool:
        """`mv src /tmp/x && rm -rf /tmp/x`: the name is fresh, what lies there is the project's work."""
        taken = [place for use in simple.paths if use.mode == DELETE and (place := landing(use))]
        project = self.tokens["@project"]
        for other in self.commands if taken and project else ():
            if other is simple:
                break
            if other.name in _MOVING and any(is_within(place, project[0]) for place in _landings(other, DELETE)):
                for target in _landings(other, WRITE):
                    is_out = not is_within(target, project[0])
                    if is_out and any(is_within(target, place) or is_within(place, target) for place in taken):
                        return True
        return False

    def mentions(self, rule: "Rule") -> bool:
        """Does the call say one of the words that the rule is about: in an argument, a here-document, a new text?"""
        if not rule.mentions:
            return True
        if not self._text:
            words = [word for simple in self.commands for word in (*simple.argv, simple.input) if word]
            self._text = "\n".join(words)
        return any(word in self._text for word in rule.mentions)

    def roots(self, operands: "tuple[str, ...]") -> "tuple[str, ...]":
        """What an allow may rest on: a name in a temp root only while its inode is the one noted."""
        if operands not in self._roots:
            paths = expand(operands, self.tokens, self.look)
            self._roots[operands] = (*paths, *self.names.owned) if "@scratch" in operands else paths
        return self._roots[operands]

    def pushed_branch(self, cwd: str) -> str:
        """The branch that a push without a name changes; "" where nobody can tell."""
        return "" if self.pushes is None else self.pushes(cwd) or ""

    def is_in_roots_of(self, place: str, rule: "Rule") -> bool:
        """Within the roots of a rule. To one that holds back, a name that nobody has yet is not outside."""
        if any(is_within(place, root) for root in self.roots(rule.operands)):
            return True
        return rule.decision != ALLOW and "@scratch" in rule.operands and self.names.is_fresh(place)

    def globs(self, operands: "tuple[str, ...]") -> Globs:
        """Patterns, `@scratch`, `@project`, `.` and `~` at their head meant as here."""
        if operands not in self._globs:
            self._globs[operands] = Globs(operands, self.tokens)
        return self._globs[operands]

    def check(self, rule: "Rule", simple: Simple) -> str | None:
        """The regex against the whole command, words joined by blanks: YES, MAYBE (not proven, or too long) or None."""
        from ..rules.patterns import is_match

        text = " ".join("$?" if word is None else word for word in simple.argv)
        self.budget.spend(len(text) // 10)
        matched = is_match(rule, text)
        if matched is None:
            return MAYBE
        return None if not matched else MAYBE if None in simple.argv else YES

    def may_allow(self, simple: Simple, tolerated: "frozenset[str]" = frozenset()) -> bool:
        """Most wrappers may write files of their own (`time -o`), raise rights or read start-up files."""
        if (
            not tolerated.issuperset(simple.doubts)
            or simple.remote
            or not all(has(name, "transparent") for name in simple.wrappers)
        ):
            return False
        return not any(use.mode == DELETE and use.path is None for use in simple.paths)

    def is_known_in_full(self, simple: Simple) -> bool:
        return is_known_in_full(simple, self._context.place.environ)

    def entries(self, directory: str) -> "tuple[str, ...]":
        return self._context.probes.entries(directory)

    def leads_nowhere_else(self, path: str) -> bool:
        """It is no link, as far as the disk shows."""
        return real(path, self.look) == path

    def is_mounted_in(self, roots: "tuple[str, ...]") -> bool:
        """Something lies in there that belongs elsewhere: what walks over the tree would walk into it."""
        for root in roots if self.holds_mount is not None else ():
            if root not in self._mounted:
                self._mounted[root] = self.holds_mount(root)  # type: ignore[misc]
        return any(self._mounted.get(root, False) for root in roots)

    def stays_inside(self, simple: Simple, roots: "tuple[str, ...]") -> bool:
        if self.is_mounted_in(roots):
            return False
        self.budget.spend(len(self.commands))
        return stays_inside(simple, self.commands, roots, self.look, self.is_plain)
