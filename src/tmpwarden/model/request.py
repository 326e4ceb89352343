"""What one run of scan or clean was asked to do, and the ages that apply."""

from __future__ import annotations

from ..lazy_dataclass import dataclass, field
from .terms import Reason

LEAST_RESUMABLE_S = 24 * 3600  # a session that ended yesterday may be resumed today: no setting goes below


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How old items must be. Whatever you do not give is as the settings and the catalogue say.

    Example:

        import tmpwarden

        ages = tmpwarden.Thresholds(max_age_s=24 * 3600)
        print(len(tmpwarden.clean(tmpwarden.Request(thresholds=ages), dry_run=True).planned))
    """

    min_age_s: int | None = None  # every item must be at least this old (--min-age)
    max_age_s: int | None = None  # age limit for items without a known owner (--older-than)
    general_s: int | None = None  # replaces the 72 h of items that have no limit of their own ([periodic] max_age)
    hurried: bool = False  # the disk is nearly full: what ended sessions left goes after 60 s
    take_ask: bool = False  # also what is removed only when asked for (--all)
    named: frozenset[str] = field(
        default_factory=frozenset
    )  # paths that have no age limit, because somebody named them
    named_reason: Reason = Reason.TORN_DOWN  # how they were named


@dataclass(frozen=True, slots=True)
class Request:
    """What `scan` and `clean` look at, and what they may do.

    Example:

        import tmpwarden

        request = tmpwarden.Request(roots=("/var/tmp",), agents=("claude",), quarantine=False)
        print(request.roots, request.unattended)
    """

    roots: tuple[str, ...] = ()  # temp roots; empty: TMPWARDEN_ROOTS, else the machine's
    home: str | None = None  # with `roots`: look at agents' files below this home directory too
    projects: tuple[str, ...] = ()  # project directories, for what agents leave in them
    agents: tuple[str, ...] = ()  # such as "claude"; empty: all
    rows: tuple[str, ...] = ()  # kinds of item, such as "claude.cwd-marker"; empty: all
    thresholds: Thresholds = field(default_factory=Thresholds)  # how old items must be
    config_file: str | None = None  # instead of ~/.config/tmpwarden/config.toml
    unattended: bool = False  # nobody watches: be as careful as a timer, and do not wait for another clean-up
    quarantine: bool = True  # False: remove for good
    budget_bytes: int | None = None  # the most that items may hold; above it, the age limits are short (--budget)
    budget_percent: int | None = None  # the same, of the file system's size
    empty_quarantine: bool = False  # remove for good what lies in quarantine (--purge)
    time_limit_s: float | None = None  # stop after so many seconds
    only_paths: frozenset[str] = frozenset()  # look at these items only
    words: tuple[str, ...] = ()  # look only at these files, directories and globs, whatever their kind
    only_unknown: bool = False  # of `words`, leave out what tmpwarden recognises

    @property
    def is_of_a_part(self) -> bool:
        """For tmpwarden itself: whether it leaves out something that a clean-up of everything would look at."""
        return bool(self.rows or self.agents or self.only_paths or self.words)
