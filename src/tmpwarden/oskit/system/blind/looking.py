"""One look at all processes: nobody is seen."""

from __future__ import annotations

from .proof import BLIND as BLIND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...proc.holders import Holders

IS_ASKABLE = False  # nobody can be asked file by file


def look(
    holders: Holders, variables: tuple[str, ...], exclude: frozenset[int], *, outside: bool, closely: bool, uses: bool
) -> bool:
    """False: nothing can be seen."""
    return False
