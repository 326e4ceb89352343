"""Every example of every row as a real entry: found as its row, taken if it may go, kept if it may not."""

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.holding import ended_pid
from tmpwarden.catalogue.load import load, rows_of_every_system
from tmpwarden.catalogue.matcher import Place
from tmpwarden.catalogue.planting import Planted, plant, root_for
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.model.sweep import Litter
from tmpwarden.model.terms import Kind, OwnerRule, Tier
from tmpwarden.sweep import compose

CATALOGUE = load(dirs=())
YEAR_NS = 365 * 86400 * 10**9


def later_ns() -> int:
    return time.time_ns() + YEAR_NS


@dataclass(frozen=True)
class Garden:
    """One temp root for each row, so that no row's entry hides another's; one home for all."""

    roots: tuple[str, ...]
    home: str
    planted: tuple[Planted, ...]

    def request(self, *, ask: bool = False) -> Request:
        return Request(roots=self.roots, projects=self.roots, home=self.home, thresholds=Thresholds(take_ask=ask))

    def of_tier(self, tier: Tier) -> list[Planted]:
        return [each for each in self.planted if each.is_match and each.row.tier is tier]

    def rows_of(self, wanted: list[Planted]) -> dict[str, str | None]:
        """path -> the key of the row that the matcher gives this entry, walking from its root."""
        starts = (*CATALOGUE.of_projects(self.roots), *CATALOGUE.places(self.roots, self.home))
        places = {place.path: place for place in starts}
        return {each.path: _row_of(each, places) for each in wanted}


def _row_of(planted: Planted, places: dict[str, Place]) -> str | None:
    for depth in range(1, planted.path.count("/") + 1):
        parts = planted.path.split("/")
        here: Place | None = places.get("/".join(parts[:-depth]))
        for step in parts[len(parts) - depth : -1]:
            here = here.child(step) if here else None
        match = here.classify(parts[-1], planted.kind) if here else None
        if match:
            return match.litter.key
    return None


@pytest.fixture(autouse=True)
def every_system() -> Iterator[None]:
    with rows_of_every_system():
        yield


def make_garden(world: Path, pid: int, session: str = "") -> Garden:
    home, roots, planted = str(world / "home"), [], []
    session = session or str(uuid.uuid4())  # no other test's process carries it
    for row in CATALOGUE.rows:
        root = root_for(row, str(world / "tmp" / row.key))
        roots.append(root)
        planted += plant(row, root, home, pid=pid, session=session)
    return Garden(tuple(roots), home, tuple(planted))


@pytest.fixture
def garden(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Garden:
    for kind in ("CACHE", "CONFIG", "DATA", "STATE"):  # as most users have it: below the home
        monkeypatch.delenv(f"XDG_{kind}_HOME")
    return make_garden(own_world, ended_pid())


def gone(planted: list[Planted]) -> set[str]:
    return {f"{each.row.key} {each.path}" for each in planted if not os.path.lexists(each.path)}


def all_of(planted: list[Planted]) -> set[str]:
    return {f"{each.row.key} {each.path}" for each in planted}


def test_every_example_is_found_as_its_row(garden: Garden) -> None:
    verdicts = list(compose.scan(garden.request(), now_ns=later_ns))
    found = {
        f"{verdict.finding.litter.key} {os.path.join(verdict.finding.parent, name)}"
        for verdict in verdicts
        for name in verdict.finding.members or (verdict.finding.name,)
    }
    assert all_of(garden.of_tier(Tier.AUTO) + garden.of_tier(Tier.ASK)) - found == set()


def test_every_example_of_a_never_row_belongs_to_it(garden: Garden) -> None:
    never = garden.of_tier(Tier.NEVER)
    rows = garden.rows_of(never)
    assert [each.path for each in never if rows[each.path] != each.row.key] == []


def test_a_clean_takes_every_auto_row_and_nothing_else(garden: Garden) -> None:
    result = compose.clean(garden.request(), now_ns=later_ns)
    assert result.failed == []
    auto = garden.of_tier(Tier.AUTO)
    assert gone(auto) == all_of(auto)
    assert gone(garden.of_tier(Tier.ASK)) == set() == gone(garden.of_tier(Tier.NEVER))


def test_what_is_spared_stays_even_when_everything_may_be_asked(garden: Garden) -> None:
    compose.clean(garden.request(ask=True), now_ns=later_ns)
    ask = garden.of_tier(Tier.ASK)
    assert gone(ask) == all_of(ask)
    assert gone(garden.of_tier(Tier.NEVER)) == set()
    spared = [each for each in garden.planted if not each.is_match]
    owned = garden.rows_of(spared)
    assert [each.path for each in spared if owned[each.path] == each.row.key] == []
    assert gone([each for each in spared if owned[each.path] is None]) == set()


def test_a_young_example_stays(garden: Garden) -> None:
    compose.clean(garden.request(ask=True))
    timed = [each for each in garden.planted if each.is_match and "expired" not in each.row.checks]  # a name tells when
    assert gone(timed) == set()


def test_the_wrong_kind_is_not_the_rows(garden: Garden) -> None:
    """A directory where a row says file, a file where it says directory or socket."""
    turned = {Kind.FILE: Kind.DIR, Kind.DIR: Kind.FILE, Kind.SOCKET: Kind.FILE}
    wrong = [
        Planted(each.row, each.path, turned[each.row.kind], True)
        for each in garden.planted
        if each.is_match and each.row.kind in turned
    ]
    found = garden.rows_of(wrong)
    assert [each.path for each in wrong if found[each.path] == each.row.key] == []


def content_that_breaks(check: str, planted: Planted) -> None:
    path = planted.path
    if check == "transform-dump" or check == "empty-dir":
        Path(path, "precious").write_text("x")
    elif check == "cachedir-tag":
        Path(path, "CACHEDIR.TAG").write_text("not a signature")
    elif check == "cargo-home":
        Path(path, "credentials.toml").write_text("token")
    elif check == "orphaned":
        Path(path, ".orphaned_at").unlink()
    elif check == "read-only":
        os.chmod(path, 0o644)
    elif check == "untracked":
        git = ["git", "-C", os.path.dirname(path)]
        subprocess.run([*git, "init", "--quiet"], check=True)
        subprocess.run([*git, "add", "--force", os.path.basename(path)], check=True)
    elif check == "expired":
        os.utime(path, (4e9, 4e9))
    else:
        Path(path).write_bytes(b"two\nlines")


def own_directory(row: Litter, world: Path) -> str:
    """A project is no temp root."""
    return str(world / "tmp" / "project" if row.place.startswith("{project}") else world / "tmp")


CHECKED = sorted({(row.key, check) for row in CATALOGUE.rows for check in row.checks if check != "not-mapped"})


@pytest.mark.parametrize(("key", "check"), CHECKED)
def test_an_entry_without_the_shape_stays(own_world: Path, key: str, check: str) -> None:
    row = CATALOGUE.row(key)
    assert row is not None
    planted = matches_of(row, own_world)
    for each in planted:
        content_that_breaks(check, each)
    clean_row(row, own_world)
    assert gone(planted) == set()


def matches_of(row: Litter, own_world: Path) -> list[Planted]:
    """What the row takes, planted where it looks, of owners that are gone."""
    root, home = root_for(row, own_directory(row, own_world)), str(own_world / "home")
    return [each for each in plant(row, root, home, pid=ended_pid(), session=str(uuid.uuid4())) if each.is_match]


def clean_row(row: Litter, own_world: Path) -> None:
    request = Request(
        home=str(own_world / "home"),
        projects=(own_directory(row, own_world),) if "{project}" in row.place else (),
        rows=(row.key,),
        thresholds=Thresholds(take_ask=True),
    )
    compose.clean(request, now_ns=later_ns)


LIMITED = sorted(row.key for row in CATALOGUE.rows if row.max_bytes is not None)


@pytest.mark.parametrize("key", LIMITED)
def test_a_file_larger_than_its_row_says_stays(own_world: Path, key: str) -> None:
    row = CATALOGUE.row(key)
    assert row is not None and row.max_bytes is not None
    planted = matches_of(row, own_world)
    for each in planted:
        mode = os.stat(each.path).st_mode
        os.chmod(each.path, 0o600)  # a read-only stub lets nobody but root write
        os.truncate(each.path, row.max_bytes + 1)
        os.chmod(each.path, mode)
    clean_row(row, own_world)
    assert gone(planted) == set()


def test_a_pid_in_the_name_that_lives_keeps_the_unit(own_world: Path) -> None:
    """Every row with a pid, with the pid of a process that was there before the entry."""
    with subprocess.Popen(["sleep", "600"]) as owner:
        try:
            garden = make_garden(own_world, owner.pid)
            compose.clean(garden.request(ask=True), now_ns=later_ns)
            with_pid = [each for each in garden.planted if each.is_match and each.row.owner is OwnerRule.PID]
            assert with_pid
            assert gone(with_pid) == set()
        finally:
            owner.kill()


def test_a_session_that_somebody_carries_keeps_its_units(own_world: Path) -> None:
    """Every row with a session, while one process has that id in its environment."""
    carried_id = str(uuid.uuid4())
    garden = make_garden(own_world, ended_pid(), carried_id)
    sessions = [each for each in garden.planted if each.is_match and each.row.owner is OwnerRule.SESSION]
    variables = {name for agent in CATALOGUE.agents for name in agent.session_env}
    carried = dict.fromkeys(variables, carried_id)
    with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **carried}) as carrier:
        try:
            compose.clean(garden.request(ask=True), now_ns=later_ns)
            assert sessions
            assert gone(sessions) == set()
        finally:
            carrier.kill()


def test_a_link_to_a_transcript_goes_and_the_transcript_stays(own_world: Path) -> None:
    """Claude Code's tasks/a*.output are links into ~/.claude/projects; the emptied parent goes too."""
    project = own_world / "home" / ".claude" / "projects" / "-home-me"
    project.mkdir(parents=True)
    transcript = project / "agent-a1.jsonl"
    transcript.write_text("{}")
    slug = own_world / "tmp" / f"claude-{os.geteuid()}" / "-home-me"
    tasks = slug / str(uuid.uuid4()) / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "a0123456789abcdef.output").symlink_to(transcript)
    for _ in range(2):
        compose.clean(Request(home=str(own_world / "home")), now_ns=later_ns)
    assert not slug.exists()
    assert transcript.read_text() == "{}" and slug.parent.exists()


def test_flat_files_stay_three_days_while_an_older_session_lives(own_world: Path) -> None:
    """They name no session: whose they are is unknown as long as one lives that is older than they are."""
    base = own_world / "tmp" / f"claude-{os.geteuid()}"
    base.mkdir()
    day_ns = 86400 * 10**9
    environ = {"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": str(uuid.uuid4())}
    with subprocess.Popen(["sleep", "600"], env=environ) as session:
        try:
            flat = base / "tmp.s41nKzCasd"
            flat.write_text("x")
            os.utime(flat, (time.time() + 60, time.time() + 60))  # younger than the session without a doubt
            compose.clean(Request(), now_ns=lambda: time.time_ns() + 2 * day_ns)
            assert flat.exists()
            compose.clean(Request(), now_ns=lambda: time.time_ns() + 4 * day_ns)
            assert not flat.exists()
        finally:
            session.kill()
