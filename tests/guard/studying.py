"""A study of one line, with a budget of its own."""

from collections.abc import Callable, Mapping

from tmpwarden.guard.nouns.analysis import Analysis
from tmpwarden.guard.nouns.budget import Budget
from tmpwarden.guard.simulate.study import study


def analyse(
    command: str,
    *,
    cwd: str,
    home: str,
    variables: Mapping[str, str],
    look: Callable[[str], tuple[str | None, bool]],
) -> Analysis:
    return study(command, cwd=cwd, home=home, variables=variables, look=look, budget=Budget()).analysis
