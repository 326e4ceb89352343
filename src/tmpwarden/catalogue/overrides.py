"""The user's word on one row, `[rows."claude.cwd-marker"]` in config.toml: be slower, ask, leave it alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..lazy_dataclass import dataclass, replace
from ..model.request import LEAST_RESUMABLE_S
from ..model.sweep import Agent, Litter
from ..model.terms import Tier
from ..text import duration, nearest
from .fields import DEFAULT_AGES


@dataclass(frozen=True, slots=True)
class Override:
    origin: str  # file and line, for complaints
    enabled: bool = True
    ask: bool = False  # tier = "ask": only when told
    ages_s: tuple[tuple[str, int], ...] = ()  # ("max_age", seconds)


def misspelt(rows: Iterable[str], overrides: Mapping[str, Override]) -> Iterator[str]:
    """Where a user speaks of a row that there is not, and perhaps of one that there is: it was meant to keep it."""
    known = tuple(rows)
    return (override.origin for key, override in overrides.items() if key not in known and nearest(key, known))


def apply(agents: tuple[Agent, ...], overrides: Mapping[str, Override]) -> tuple[tuple[Agent, ...], tuple[str, ...]]:
    """The agents as the user wants them, and complaints about words that would make a row more dangerous."""
    complaints = [
        f"{override.origin}: no row is called {key}"
        for key, override in overrides.items()
        if not any(row.key == key for agent in agents for row in agent.rows)
    ]

    def wanted(row: Litter) -> Litter | None:
        if row.key not in overrides:
            return row
        changed, wrong = _overridden(row, overrides[row.key])
        complaints.extend(wrong)
        return changed

    rows = (tuple(filter(None, map(wanted, agent.rows))) for agent in agents)
    return tuple(replace(agent, rows=left) for agent, left in zip(agents, rows, strict=True)), tuple(complaints)


def _overridden(row: Litter, override: Override) -> tuple[Litter | None, list[str]]:
    if row.tier is Tier.NEVER:
        return row, [f"{override.origin}: {row.key} protects files that agents still need; it cannot be changed"]
    if not override.enabled:
        return None, []
    complaints = []
    ages = {"grace": row.grace_s, "min_age": row.min_age_s, "max_age": row.max_age_s}
    for key, seconds in override.ages_s:
        lowest = min(ages[key], LEAST_RESUMABLE_S if key == "max_age" and row.resume else DEFAULT_AGES[key])
        if seconds < lowest:
            least = duration(lowest)
            complaints.append(f"{override.origin}: {row.key}: {key} cannot be lower than {least}; {least} is used")
        ages[key] = max(seconds, lowest)
    tier = Tier.ASK if override.ask else row.tier
    return replace(
        row,
        tier=tier,
        grace_s=ages["grace"],
        min_age_s=ages["min_age"],
        max_age_s=ages["max_age"],
        is_users_age=row.is_users_age or "max_age" in dict(override.ages_s),
    ), complaints
