"""Follow a command line the way bash would, and tell every command and path that it could touch."""

from __future__ import annotations

from ..nouns.analysis import Analysis
from ..nouns.budget import Budget
from ..nouns.state import Site, State
from ..shell.reader import read
from ..shell.syntax import Unreadable
from .functions import simulate_uncalled
from .shell import Shell
from .table import MEANING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context
    from ..shell.syntax import Sequence


class Study:
    """What was found out about one text."""

    __slots__ = ("analysis", "in_order", "is_beside", "sites", "tree")

    def __init__(
        self,
        analysis: Analysis,
        sites: tuple[Site, ...],
        tree: Sequence | None,
        *,
        in_order: bool = False,
        is_beside: bool = True,
    ) -> None:
        self.analysis = analysis
        self.sites = sites  # the words of the text that a rewrite may lead elsewhere; none if it was not followed
        self.tree = tree  # None: it could not be read; what the tree does may still be unknown
        self.in_order = in_order  # its commands run in the order in which they were found, each once
        self.is_beside = is_beside  # some of it runs in the background


def study(command: str, context: Context, budget: Budget, tree: Sequence | None = None) -> Study:
    """Read the text, unless its tree is known, and follow it. Never raises; what it cannot read makes all opaque."""
    shell = Shell(command, context.home, context.known(), context.look, MEANING, budget)
    try:
        tree = tree or read(command)
        state = State((context.cwd,))
        ok, failed = shell.simulate(tree, state)
        simulate_uncalled(shell, ok or failed or state)
        shell.after_calculating(tree, state)
    except Unreadable as why:
        return Study(Analysis(tuple(shell.commands), str(why)), (), tree)
    except RecursionError:
        return Study(Analysis(tuple(shell.commands), "nested too deep"), (), tree)
    analysis = Analysis(tuple(shell.commands), shell.opaque)
    return Study(analysis, tuple(shell.sites.values()), tree, in_order=shell.in_order, is_beside=shell.is_beside)
