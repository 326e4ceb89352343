"""Every series that we tell: its name, what it counts and its labels, in the order in which they are printed; and
samples as the Prometheus text format, 0.0.4. Pure: the same samples are the same bytes, each series once.

A label has a bounded set of values: no path, no session, no message. `user` stands in everything that is one user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..lazy_dataclass import dataclass

PREFIX = "tmpwarden_"


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    kind: str  # gauge, counter
    labels: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One series. Its family is named without the prefix; labels are in the family's order, `user` first."""

    family: str
    value: float
    labels: tuple[str, ...] = ()


_HOST, _ROOT, _USER = (), ("root",), ("user",)
_ROWS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("build_info", "gauge", ("version",), "Always 1; the version of tmpwarden is its label."),
    ("root_size_bytes", "gauge", _ROOT, "Size of the file system that holds a temp root."),
    ("root_used_bytes", "gauge", _ROOT, "Used there, as df tells it."),
    ("root_free_bytes", "gauge", _ROOT, "Free there for ordinary users."),
    ("root_inodes", "gauge", _ROOT, "Inodes of that file system; none where it does not count them."),
    ("root_used_inodes", "gauge", _ROOT, "Used inodes."),
    ("root_free_inodes", "gauge", _ROOT, "Free inodes."),
    ("root_growth_bytes_per_second", "gauge", _ROOT, "How fast it has been filling recently."),
    ("root_full_seconds", "gauge", _ROOT, "Time until it is full at that rate; missing where it does not grow."),
    (
        "quota_limit_bytes",
        "gauge",
        ("user", "root"),
        "The tightest limit there (a quota of user, group or project, a cgroup's memory); none where there is none.",
    ),
    ("quota_used_bytes", "gauge", ("user", "root"), "Used of that limit."),
    ("quota_limit_inodes", "gauge", ("user", "root"), "The same limit, of inodes."),
    ("quota_used_inodes", "gauge", ("user", "root"), "Used of that limit."),
    ("litter_units", "gauge", ("user", "agent", "verdict"), "Leftovers of agents, by what a clean would do now."),
    ("litter_bytes", "gauge", ("user", "agent", "verdict"), "Bytes in them."),
    ("litter_inodes", "gauge", ("user", "agent", "verdict"), "Inodes in them."),
    ("quarantine_units", "gauge", ("user", "root"), "Items in quarantine, which undo can bring back."),
    ("quarantine_bytes", "gauge", ("user", "root"), "Bytes in it."),
    ("removed_units_total", "counter", _USER, "Leftovers that were removed or moved to quarantine."),
    ("freed_bytes_total", "counter", _USER, "Bytes freed on the file system."),
    ("freed_inodes_total", "counter", _USER, "Inodes freed on the file system."),
    ("cleans_total", "counter", ("user", "result"), "Cleans of everything."),
    ("failures_total", "counter", ("user", "code"), "Failures of cleans by the code of the error."),
    ("last_clean_timestamp_seconds", "gauge", _USER, "When everything was cleaned last."),
    ("last_clean_success", "gauge", _USER, "1 if nothing failed in it."),
    ("last_clean_duration_seconds", "gauge", _USER, "How long it took."),
    ("live_sessions", "gauge", ("user", "agent"), "Running sessions of agents."),
    ("orphan_processes", "gauge", ("user", "verdict"), "Processes of ended sessions, by what can be done with them."),
    ("orphan_memory_bytes", "gauge", ("user", "verdict"), "Memory used by them."),
    ("worktrees", "gauge", ("user", "verdict"), "Worktrees and clones that agents made."),
    ("worktree_bytes", "gauge", ("user", "verdict"), "Bytes in them."),
    ("state_bytes", "gauge", ("user", "kind"), "What tmpwarden itself keeps for the user."),
    ("doctor_check_status", "gauge", ("user", "check"), "0 ok, 1 warning, 2 failure, -1 could not be checked."),
    ("collector_success", "gauge", ("user", "collector"), "1 if this part was measured in full."),
    ("collector_duration_seconds", "gauge", ("user", "collector"), "How long it took."),
    ("user_success", "gauge", _USER, "1 if this user could be checked."),
    ("timer_success", "gauge", _USER, "1 if the last run of the timer succeeded for this user."),
    ("timer_last_run_timestamp_seconds", "gauge", _HOST, "When the timer ran last."),
    ("users", "gauge", _HOST, "Users included here."),
    ("users_omitted", "gauge", _HOST, "Users left out, because there are too many or there was no time left."),
)
FAMILIES = {name: Family(name, kind, labels, text) for name, kind, labels, text in _ROWS}


def text(samples: Iterable[Sample]) -> str:
    """Of a series that comes twice the first one counts: a collector that hears both refuses the whole file."""
    by_family: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in samples:
        by_family.setdefault(sample.family, {}).setdefault(sample.labels, sample.value)
    lines = [line for name, family in FAMILIES.items() if name in by_family for line in _lines(family, by_family[name])]
    return "".join(f"{line}\n" for line in lines)


def _lines(family: Family, series: dict[tuple[str, ...], float]) -> Iterator[str]:
    name = PREFIX + family.name
    yield f"# HELP {name} {family.help}"
    yield f"# TYPE {name} {family.kind}"
    for values, number in sorted(series.items()):
        pairs = ",".join(f'{label}="{escaped(value)}"' for label, value in zip(family.labels, values, strict=True))
        yield f"{name}{{{pairs}}} {_number(number)}" if pairs else f"{name} {_number(number)}"


def escaped(value: str) -> str:
    """A label's value. What is no Unicode, a surrogate of a strange name, becomes a question mark."""
    plain = value.encode("utf-8", "replace").decode()
    return plain.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
