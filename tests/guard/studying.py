"""A study of one line, with a budget of its own."""

from collections.abc import Callable, Mapping

from support.guarding import context_with
from tmpwarden.guard.nouns.analysis import Analysis, Budget
from tmpwarden.guard.simulate.study import study


def analyse(
    command: str,
    *,
    cwd: str,
    home: str,
    variables: Mapping[str, str],
    look: Callable[[str], tuple[str | None, bool]],
) -> Analysis:
    context = context_with(scratch=None, project=None, cwd=cwd, home=home, uid=0, look=look, variables=variables)
    return study(command, context, Budget()).analysis
