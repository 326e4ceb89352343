"""What users reported, planted as they describe it, and what becomes of it today. docs/demand.md has the sums."""

import contextlib
import os
import re
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from processes.leftovers import SESSION as LEFT_SESSION
from processes.leftovers import WAIT, Started, carrying, program, scratch_of_the_dead
from processes.test_brake import FILLS
from processes.test_orphans import MCP, SERVER
from processes.test_unheard import LATER_S, PLAIN, gateway, server
from support import makers
from support.command import LATER, answer, data, tmpwarden
from support.holding import ended_pid, process
from support.mounts import needs_root, tmpfs
from support.repos import commit, git
from support.terminal import on_a_terminal
from support.users import dead_process
from tmpwarden.catalogue import planting
from tmpwarden.catalogue.load import load
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.cli.commands import worktrees as worktrees_command
from tmpwarden.leases.scratch import open_scratch
from tmpwarden.lifecycle.braking import look_since_last_time
from tmpwarden.lifecycle.derived import take_derived
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.processes.census import Census
from tmpwarden.sweep.compose import clean
from tmpwarden.sweep.weigh import consent
from worktrees import shapes
from worktrees.test_harmless import is_taken, locked, with_copies

REPORTS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "reports.toml").read_text())
PAGE = (Path(__file__).parents[2] / "docs" / "demand.md").read_text()
DAYS_4 = 4 * 86400
SESSION = "5e551011-0000-4000-8000-0000000de3a1"
BIG = 1 << 19  # two such files are worth a question


def told_on_the_page(cluster: str) -> tuple[int, ...]:
    found = re.search(rf"^\| {cluster} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE, re.M)
    assert found, f"docs/demand.md has no line for {cluster}"
    return tuple(map(int, found.groups()))


def check(cluster: str, done: dict[str, str]) -> None:
    """solved, partly, not: the page says what came of it, and a report that got worse is named here."""
    sums = Counter(done.values())
    counted = (len(done), sums["solved"], sums["partly"], sums["not"])
    assert counted == told_on_the_page(cluster), {name: how for name, how in done.items() if how != "solved"}


def verdict(left: Iterable[object], planted: Iterable[object]) -> str:
    left, planted = list(left), list(planted)
    return "solved" if not left else "partly" if len(left) < len(planted) else "not"


def plant_names(root: Path, names: list[str]) -> list[Path]:
    for name in names:
        path = root / name
        if name.startswith("."):
            path.mkdir()  # an empty mount target
        elif name.endswith("/"):
            path.mkdir()
            (path / "content").write_bytes(b"x" * 2 * BIG)
        else:
            path.write_bytes(b"x" * 2 * BIG)
    return [root / name for name in names]


def plant_row(key: str, root: Path, pid: int) -> list[Path]:
    row = load(dirs=()).row(key)
    assert row is not None, key
    found = planting.plant(row, str(root), os.environ["HOME"], pid=pid, session=SESSION)
    return [Path(each.path) for each in found if each.is_match]


def test_temp_files_that_users_reported(own_world: Path) -> None:
    """Four days later: one `clean --all`, its question about what is not recognised, and a path that is named."""
    root, (pid, _) = own_world / "tmp", dead_process()
    planted = {report: plant_row(key, root, pid) for report, key in REPORTS["temp"]["rows"]}
    planted |= {report: plant_names(root, names) for report, *names in REPORTS["temp"]["names"]}
    env = {**os.environ, "LATER_S": str(DAYS_4)}
    argv = [sys.executable, str(LATER), "clean"]
    everything = Request(roots=(str(root),), home=os.environ["HOME"], thresholds=Thresholds(take_ask=True))
    clean(everything, now_ns=lambda: time.time_ns() + DAYS_4 * 10**9)  # as `clean --all --yes`, home rows too
    for _ in range(12):
        status, shown = on_a_terminal(argv, answer="y", env=env, prompt="[y/N", timeout_s=120)
        assert status == 0, shown
        if "too?" not in shown:
            break
    hidden = [str(root / name) for name in (".git", ".codex", ".agents")]
    tmpwarden("clean", "--yes", *hidden, later_s=DAYS_4)
    left = {report: [path for path in paths if os.path.lexists(path)] for report, paths in planted.items()}
    check("temp", {report: verdict(left[report], paths) for report, paths in planted.items()})


MAKE: dict[str, Callable[[Path], Path]] = {
    "locked by a dead agent": lambda place: locked(place, f"claude agent a1 (pid {ended_pid()} start 4711)"),
    "published": shapes.plain,
    "squash merged": shapes.squash_merged,
    "with derived files": shapes.with_derived_files,
    "with copies of .env and settings": lambda place: with_copies(place)[1],
    "with changes: must stay": shapes.modified,
    "with commits: must not lose them": shapes.detached_with_commits,
}
HOUR_S, DAYS_15 = 3600, 15 * 86400
Verdict = Callable[["Place"], str]


class Place:
    """Where one kind of worktree is planted: a home and a temp root of its own in the world, and a project."""

    def __init__(self, directory: Path, home: Path, root: Path) -> None:
        self.home, self.root = home, root
        self.main = shapes.project(directory)
        commit(self.main, ".gitignore", "target/\n.turbo/\nnode_modules/\n")
        shapes.publish(self.main)

    def tree(self, path: str, *, source: str = "") -> Path:
        """A worktree at `path`, below {home}, {root} or {main}."""
        made = Path(path.format(home=self.home, root=self.root, main=self.main))
        made.parent.mkdir(parents=True, exist_ok=True)
        git(self.main, "worktree", "add", "-q", "-b", f"{made.parent.name.strip('.')}-{made.name}", str(made))
        if source:
            (made / "file").write_text(source)
        return made


def cleaned(*words: str, later_s: float = 2 * HOUR_S) -> dict[str, dict[str, object]]:
    """What `worktrees clean` said that it took."""
    return {each["path"]: each for each in data("worktrees", "clean", "-y", *words, later_s=later_s)["removed"]}


def tick(later_s: float) -> str:
    """The timer's part that is about worktrees."""
    consent.give()
    wanted = replace(load_settings(), worktrees_derived_only_s=14 * 86400)
    return take_derived(wanted, now_ns=lambda: time.time_ns() + int(later_s) * 10**9)


def judged(*wishes: bool) -> str:
    """Each thing that the report wants, and whether it came."""
    return "solved" if all(wishes) else "partly" if any(wishes) else "not"


def build_output_by_timer(place: Place) -> str:
    """The worktree holds unfinished work; what cargo built in it goes and the work stays."""
    tree = place.tree("{home}/.codex/worktrees/1a2b/project", source="work in progress")
    target = makers.cargo(tree)
    tick(DAYS_15)
    assert (tree / "file").read_text() == "work in progress"
    return judged(not target.exists())


def changed_and_heavy(place: Place) -> str:
    """It wants the heavy directories to go first, and the changed tree once its pull request is merged."""
    tree = place.tree("{home}/.codex/worktrees/3c4d/project", source="left over")
    target = makers.cargo(tree)
    tick(DAYS_15)
    return judged(not target.exists(), not tree.exists())


def pooled(place: Place) -> str:
    """It wants what was built, and then the tree itself, to expire."""
    tree = place.tree("{home}/.codex/worktrees/5e6f/project")
    target = makers.cargo(tree)
    tick(DAYS_15)
    return judged(not target.exists(), not tree.exists())


def named_caches(place: Place) -> str:
    tree = place.tree("{main}/.worktrees/turbo")
    (tree / ".turbo").mkdir()
    (tree / ".turbo" / "cache.tar.zst").write_bytes(b"x" * BIG)
    cleaned("--derived-only", "--also", ".turbo", str(tree))
    return judged(not (tree / ".turbo").exists() and tree.exists())


def build_output_of_the_main_checkout(place: Place) -> str:
    target = makers.cargo(place.main)
    os.chdir(place.home)  # who stands in it uses it
    cleaned("--derived-only", str(place.main))
    return judged(not target.exists() and (place.main / "file").exists())


def retention(place: Place) -> str:
    """`tmpwarden worktrees clean --yes --min-age 4h`, as cron calls it each hour."""
    tree = place.tree("{root}/vibe-kanban/worktrees/kept")
    cleaned("--min-age", "4h", later_s=3 * HOUR_S)
    is_kept = tree.exists()
    cleaned("--min-age", "4h", later_s=5 * HOUR_S)
    return judged(is_kept and not tree.exists())


def merged_in_a_temp_root(place: Place) -> str:
    tree = place.tree("{root}/vibe-kanban/worktrees/merged")
    commit(tree, "one")
    git(place.main, "merge", "-q", "--no-edit", "worktrees-merged")
    cleaned("--merged")
    return judged(not tree.exists())


def when_the_disk_is_low(place: Place) -> str:
    """`tmpwarden status --min-free 10% || tmpwarden worktrees clean --yes`, with more than any disk has."""
    tree = place.tree("{home}/.claude-worktrees/project/low")
    if answer("status", "--min-free", "100%")[0] == 2:
        cleaned()
    return judged(not tree.exists())


def of_several_agents(place: Place) -> str:
    paths = (
        "{main}/.claude/worktrees/a",
        "{main}/.gemini/worktrees/b",
        "{home}/.grok/worktrees/c",
        "{main}.worktrees/d",
    )
    trees = [place.tree(path) for path in paths]
    cleaned()
    return judged(*(not tree.exists() for tree in trees))


def after_a_merge(place: Place) -> str:
    """What a post-merge hook of git calls: `tmpwarden worktrees clean --yes --merged --min-age 1s`."""
    merged, other = place.tree("{main}/.worktrees/merged"), place.tree("{main}/.worktrees/other")
    commit(merged, "one")
    commit(other, "two")
    git(place.main, "merge", "-q", "--no-edit", "worktrees-merged")
    cleaned("--merged", "--min-age", "1s", later_s=2)
    return judged(not merged.exists() and other.exists())


def by_its_pull_request(place: Place) -> str:
    """What is published goes; what its pull request became is asked of nobody."""
    tree = place.tree("{home}/.codex/worktrees/7a8b/project")
    (told,) = [each for each in data("worktrees")["worktrees"] if each["path"] == str(tree)]
    cleaned()
    return judged("pull_request" in told, not tree.exists())


def no_more_than(place: Place) -> str:
    """It wants to see them all, and a limit of how many there may be."""
    trees = [place.tree(f"{{main}}/.worktrees/t{number}") for number in range(3)]
    seen = {each["path"] for each in data("worktrees")["worktrees"]}
    has_limit = any("keep" in str(option.name) for option in worktrees_command.clean.params)
    return judged({str(tree) for tree in trees} <= seen, has_limit)


def some_changed(place: Place) -> str:
    """It wants those that a remote has to go, and the changed ones to be set aside."""
    published, changed = place.tree("{main}/.worktrees/p"), place.tree("{main}/.worktrees/c", source="x")
    cleaned()
    return judged(not published.exists(), not changed.exists())


WAYS: dict[str, Verdict] = {
    "build output, on the timer": build_output_by_timer,
    "changed and heavy, on the timer": changed_and_heavy,
    "pooled, on the timer": pooled,
    "caches that its user names": named_caches,
    "build output of the main checkout, named": build_output_of_the_main_checkout,
    "retention in hours, by cron": retention,
    "merged, in a temp root": merged_in_a_temp_root,
    "when the disk is low, by cron": when_the_disk_is_low,
    "of several agents": of_several_agents,
    "right after a merge": after_a_merge,
    "by its pull request": by_its_pull_request,
    "no more than fifteen": no_more_than,
    "some published, some changed": some_changed,
}


def under_run(root: Path) -> bool:
    assert tmpwarden("run", "--", "sh", "-c", "mktemp && mktemp -d").returncode == 0
    return not list(root.glob("tmp.*"))


def leased(root: Path) -> bool:
    with process("") as orchestrator:
        path = Path(data("lease", "open", "--session", "job-7", "--pid", str(orchestrator.pid))["path"])
        (path / "content").write_bytes(b"x" * BIG)
        data("lease", "close", "--session", "job-7", "--pid", str(orchestrator.pid))
    return not path.exists()


def in_a_private_tmp(root: Path) -> bool:
    name = f"worktree-of-a-test-{os.getpid()}"
    ran = tmpwarden("run", "--private-tmp", "--", "sh", "-c", f"mkdir /tmp/{name} && echo made")
    assert ran.stdout == "made\n", ran.stderr
    return not os.path.exists(f"/tmp/{name}")


PREVENTED = {
    "under tmpwarden run": under_run,
    "leased by an orchestrator": leased,
    "a name of its own in /tmp, under run --private-tmp": in_a_private_tmp,
}


def test_what_a_report_wants_kept_out_of_tmp_stays_out(own_world: Path) -> None:
    done = {kind: way(own_world / "tmp") for kind, way in PREVENTED.items()}
    check("kept out", {report: "solved" if done[kind] else "not" for report, kind in REPORTS["temp"]["kinds"]})


def capped(root: Path, directory: Path) -> bool:
    line = 'yes > "$TMPDIR/out"; stat -c %s "$TMPDIR/out"'
    ran = tmpwarden("run", "--max-file", "1M", "--", "sh", "-c", line)
    return ran.stdout.strip() == str(1 << 20)


def cut(root: Path, directory: Path) -> bool:
    """`brake --punch FILE`: room comes back, and who appends goes on."""
    path = root / "agent.log"
    with program(directory, ["node", "fill.py", str(path), "120"], carrying(), FILLS) as writer:
        while path.stat().st_size < 110 << 20:
            assert writer.is_alive(for_s=0.01)
        freed = data("brake", "--yes", "--punch", str(path))["freed_bytes"]
        return int(freed) >= 40 << 20 and writer.is_alive()


def cut_though_deleted(root: Path, directory: Path) -> bool:
    path = root / "gone.log"
    with program(directory, ["node", "fill.py", str(path), "100"], carrying(), FILLS) as writer:
        while path.stat().st_size < 90 << 20:
            assert writer.is_alive(for_s=0.01)
        path.unlink()
        (fd,) = [
            name for name in os.listdir(f"/proc/{writer.pid}/fd")
            if "gone.log" in os.readlink(f"/proc/{writer.pid}/fd/{name}")
        ]  # fmt: skip
        return int(data("brake", "--yes", "--punch", f"{writer.pid}:{fd}")["freed_bytes"]) >= 10 << 20


def ended_by_a_limit(root: Path, directory: Path) -> bool:
    """`[brake] max_file = "20M"` and `action = "end"`, at the first look of a timer or a hook."""
    open_scratch(str(root), "claude", LEFT_SESSION, pid=os.getpid())
    limits = replace(load_settings(), brake_max_file_bytes=20 << 20, brake_action="end")
    words = ["node", "fill.py", str(root / "out.log"), "40"]
    with program(directory, words, carrying(), FILLS) as writer:
        while not (root / "out.log").exists() or (root / "out.log").stat().st_size < 30 << 20:
            assert writer.is_alive(for_s=0.01)
        look_since_last_time(limits, may_act=True)
        return not writer.is_alive(for_s=30)


HELD: dict[str, Callable[[Path, Path], bool]] = {
    "a command that prints for ever, under run --max-file": capped,
    "a log that is cut while its writer goes on": cut,
    "a deleted file that its writer still fills": cut_though_deleted,
    "a command that a limit of [brake] ends": ended_by_a_limit,
}


@needs_root
def test_files_that_run_away_are_held_or_cut(own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for kind, way in HELD.items():
        directory = tmp_path / kind.replace(" ", "-").replace(",", "")
        directory.mkdir()
        with tmpfs(directory / "tmp", "256m") as root, monkeypatch.context() as patch:
            patch.setenv("TMPWARDEN_ROOTS", str(root))
            patch.setenv("TMPDIR", str(root))
            told[kind] = "solved" if way(root, directory) else "not"
    check("runaway", {report: told[kind] for report, kind in REPORTS["runaway"]["kinds"]})
    check("runaway, from macOS", {report: told[kind] for report, kind in REPORTS["from_macos"]["runaway"]})


def test_worktrees_that_users_reported(own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind is made once; a kind that must stay is solved where it stays."""
    kinds: dict[str, str] = {}
    wanted = {kind for _, kind in REPORTS["worktrees"]["kinds"]}
    for number, kind in enumerate(sorted(wanted & MAKE.keys())):
        place = tmp_path / str(number)
        tree = MAKE[kind](place)
        head = git(tree, "rev-parse", "HEAD").strip()
        is_right = is_taken(tree) != kind.endswith("must stay")
        keeps_commits = bool(git(place / "project", "for-each-ref", "--contains", head).strip())
        kinds[kind] = "solved" if is_right and keeps_commits else "not"
    monkeypatch.delenv("TMPWARDEN_ROOTS")  # places in the home count
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    for kind in sorted(wanted - kinds.keys()):
        directory = tmp_path / kind.replace(" ", "-")
        home, root = directory / "home", directory / "tmp"
        for each in (home, root):
            each.mkdir(parents=True)
        place_of_kind = Place(directory, home, root)
        with monkeypatch.context() as patch:
            patch.setenv("HOME", str(home))
            patch.setenv("TMPDIR", str(root))
            patch.setenv("XDG_STATE_HOME", str(directory / "state"))
            patch.chdir(place_of_kind.main)
            kinds[kind] = WAYS[kind](place_of_kind)
    check("worktrees", {report: kinds[kind] for report, kind in REPORTS["worktrees"]["kinds"]})


@contextlib.contextmanager
def torn_down(directory: Path) -> Iterator[Started]:
    """A server that a task of an orchestrator started, after `teardown` with `[orphans] at_end = true`."""
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("[orphans]\nat_end = true\n")
    with process("") as orchestrator:
        words = ("--session", "task-7", "--pid", str(orchestrator.pid))
        lease = data("lease", "open", "--agent", "claude", *words)
        with program(directory, SERVER, PLAIN | lease["env"]) as server:
            data("lease", "close", *words)
            data("teardown", "--session", "task-7")
            yield server


@contextlib.contextmanager
def below_a_client(directory: Path) -> Iterator[Started]:
    """One of several of the same kind, whose agent runs on."""
    with gateway(directory, 2) as agent:
        with first_child(agent) as one:
            yield one


@contextlib.contextmanager
def forgotten_by_a_gateway(directory: Path) -> Iterator[Started]:
    with gateway(directory, 41) as parent:
        with first_child(parent) as one:
            yield one


@contextlib.contextmanager
def closed_by_a_gateway(directory: Path) -> Iterator[Started]:
    """`client.close()` closed the pipes; the daemon runs on."""
    with gateway(directory, 1, then="servers[0].stdin.close(); servers[0].stdout.close()") as parent:
        with first_child(parent) as one:
            yield one


@contextlib.contextmanager
def first_child(parent: Started) -> Iterator[Started]:
    pid = min(Census.take().children[parent.pid])
    grip = os.pidfd_open(pid)
    yield Started(pid, grip)
    os.close(grip)


@contextlib.contextmanager
def helper_without_output(directory: Path) -> Iterator[Started]:
    """chrome-devtools-mcp's watchdog: the other end of its input is gone, and its output goes to /dev/null."""
    words = ["node", "node_modules/chrome-devtools-mcp/watchdog/main.js", "--parent-pid=1"]
    silent = "import os\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)\n"
    with server(directory, words, WAIT.replace("signal.pause()", silent + "signal.pause()")) as it:
        yield it


@contextlib.contextmanager
def at_no_terminal(directory: Path) -> Iterator[Started]:
    terminal, its_slave = os.openpty()
    with program(directory, ["claude", "y.py", "--resume"], PLAIN, stdin=its_slave) as agent:
        os.close(its_slave)
        os.close(terminal)
        yield agent


HEADLESS = ["chrome", "c.py", "--headless", "--remote-debugging-pipe"]
DOLT = ["dolt", "sql-server", "--config", "/tmp/TestRepo/config.yaml"]
PROCESSES: dict[str, Callable[[Path], contextlib.AbstractContextManager[Started]]] = {
    "a tool server that nobody can speak to": server,
    "a tool server of a dead session": lambda place: program(place, MCP, carrying()),
    "a tool server whose parent lives": below_a_client,
    "a tool server whose pipe a running parent closed": closed_by_a_gateway,
    "many tool servers of a parent that runs": forgotten_by_a_gateway,
    "a helper that writes to nobody": helper_without_output,
    "a daemon of a tool server": lambda place: program(place, ["bun", "worker-service.cjs", "--daemon"], PLAIN),
    "a browser of a dead session": lambda place: program(place, HEADLESS, carrying()),
    "a browser without a session": lambda place: program(place, HEADLESS, PLAIN),
    "a dev server without a session": lambda place: server(place, SERVER),
    "a dev server, when its task is torn down": torn_down,
    "a database in a temp directory": lambda place: program(place, DOLT, PLAIN),
    "an idle agent that lives": lambda place: program(place, ["claude", "x.py"], PLAIN),
    "an agent that lost its terminal": at_no_terminal,
    "an agent that nobody can speak to": lambda place: server(place, ["claude", "z.py"]),
    "an agent that serves tools to nobody": lambda place: server(place, ["claude", "mcp", "serve"]),
}


@pytest.fixture
def fate_of(own_world: Path, tmp_path: Path) -> dict[str, str]:
    """What becomes of a process of each kind when a person says `orphans end`, at the second look."""
    scratch_of_the_dead(own_world / "tmp")
    with contextlib.ExitStack() as stack:
        started = {
            kind: stack.enter_context(start(tmp_path / str(number)))
            for number, (kind, start) in enumerate(PROCESSES.items())
        }
        data("orphans")
        listed = {each["pid"] for each in data("orphans", later_s=LATER_S)["processes"]}
        ended = answer("orphans", "end", "--yes", later_s=LATER_S)[1]["data"]["ended"]
        doomed = {each["pid"] for each in ended}
        return {
            kind: "solved" if not one.is_alive(for_s=5 if one.pid in doomed else 0)
            else "partly" if one.pid in listed else "not"
            for kind, one in started.items()
        }  # fmt: skip


def of_all(fates: list[str]) -> str:
    return fates[0] if len(set(fates)) == 1 else "partly"


def test_processes_that_users_reported(fate_of: dict[str, str]) -> None:
    """Listed with what is known, and left to the user, is partly."""
    for cluster, reports in (
        ("processes", REPORTS["processes"]["kinds"]),
        ("processes, from macOS", REPORTS["from_macos"]["processes"]),
    ):
        check(cluster, {report: of_all([fate_of[kind] for kind in kinds]) for report, *kinds in reports})


def test_no_report_is_planted_twice() -> None:
    names = [row[0] for part in REPORTS.values() for kind in part.values() for row in kind]
    assert len(names) == len(set(names)) and len(names) >= 100
