"""Follow a command line the way bash would, and tell every command and path that it could touch."""

from __future__ import annotations

from ..nouns.analysis import Analysis
from ..nouns.state import Site, State
from ..shell.reader import read
from ..shell.syntax import Unreadable
from .functions import run_uncalled
from .shell import Shell
from .table import MEANING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..nouns.paths import Look


def analyse(command: str, *, cwd: str, home: str, variables: Mapping[str, str], look: Look) -> Analysis:
    """Never raises; what it cannot read makes the whole analysis opaque."""
    return study(command, cwd=cwd, home=home, variables=variables, look=look)[0]


def study(
    command: str, *, cwd: str, home: str, variables: Mapping[str, str], look: Look
) -> tuple[Analysis, tuple[Site, ...]]:
    """The same, with the words of the text that a rewrite may lead elsewhere; none if it was not followed."""
    shell = Shell(command, home, variables, look, MEANING)
    try:
        tree = read(command)
        state = State((cwd,))
        ok, failed = shell.run(tree, state)
        run_uncalled(shell, ok or failed or state)
        shell.after_calculating(tree, state)
    except Unreadable as why:
        return Analysis(tuple(shell.commands), str(why)), ()
    except RecursionError:
        return Analysis(tuple(shell.commands), "nested too deep"), ()
    return Analysis(tuple(shell.commands), shell.opaque), tuple(shell.sites.values())
