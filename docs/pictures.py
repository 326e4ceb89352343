"""Draw the pictures of the documentation: the terminals with `make docs`, the report too with `make pictures`. Real
commands in a world of their own; needs root, the report also Chromium.

The world is a mount namespace with a small /tmp, a home, a user `you` on a host `devbox`, left-overs of agents, two
sessions that live, and eight days of history. Terminals become SVG by rich, the report PNG by Chromium. A second run
draws the same terminals byte for byte; the report shows dates, so it is drawn anew only when somebody asks for it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
AHEAD_S = 10 * 86400  # the clock of the pictures: ctime cannot be set back, so they are taken later
HOME = Path("/home/you")
TMP = Path("/tmp")
UID = 1000
MB = 1 << 20
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

TERMINALS = {"status": "tmpwarden", "scan": "tmpwarden scan"}
SHOTS = (  # name, width, height, scheme, what has to be on top
    ("report", 1100, 1080, "light", "body"),
    ("report-dark", 1100, 900, "dark", "#usage"),
    ("report-phone", 390, 844, "light", "body"),
)
_SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#1b1e23" width="{width}" height="{height}" rx="8"/>
<g transform="translate(24, 24)"><g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""  # rich's own asks a web site for its letters


def main() -> int:
    if os.geteuid() != 0:
        print("pictures are left as they are: they need root, for a /tmp of their own", file=sys.stderr)
        return 0
    if os.environ.get("PICTURES") != "inside":
        command = ["unshare", "--mount", "--uts", "--propagation", "private", sys.executable, __file__, *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, "PICTURES": "inside"}, check=False).returncode
    PICTURES.mkdir(exist_ok=True)
    page = Path("/srv/report.html")
    with _world() as pids:
        for name, command in TERMINALS.items():
            text = _as_you(_seen_by_a_person, command)
            for shown_pid, pid in enumerate(pids, 4711):  # the kernel gives other numbers each time
                text = text.replace(f"pid {pid}", f"pid {shown_pid}").replace(f", {pid})", f", {shown_pid})")
            (PICTURES / f"{name}.svg").write_text(_drawn(text))
        if "--report" in sys.argv:
            page.write_bytes(_as_you(_report, "").encode())
            _photograph(page)
    return 0


@contextmanager
def _world() -> Iterator[list[int]]:
    """The pids of two sessions. Everything below belongs to this namespace and ends with it."""
    socket.sethostname("devbox")
    for place, size in ((TMP, "1g"), (HOME.parent, "64m"), (Path("/srv"), "64m")):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=1777,size={size}", "none", place], check=True)
    passwd = Path("/srv/passwd")
    passwd.write_text(f"root:x:0:0::/root:/bin/sh\nyou:x:{UID}:{UID}::{HOME}:/bin/bash\n")
    passwd.chmod(0o644)
    subprocess.run(["mount", "--bind", passwd, "/etc/passwd"], check=True)
    HOME.mkdir(mode=0o700)
    os.chown(HOME, UID, UID)
    with ExitStack() as ended:
        child = os.fork()
        if child == 0:
            _become_you()
            _plant()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, "the world could not be made"
        workers: list[subprocess.Popen[bytes]] = []
        for session, program in (("9b2d7e10-44c8-4f0a-8d53-61f2a0c7be94", "node"), ("s-live", "vite")):
            workers.append(_worker(session, program))
            ended.callback(workers[-1].kill)
        yield [worker.pid for worker in workers]


def _become_you() -> None:
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    for name in [name for name in os.environ if name.startswith(("XDG_", "CLAUDE", "TMPWARDEN_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(HOME), "TMPWARDEN_ROOTS": str(TMP), "TMPDIR": str(TMP), "LATER_S": str(AHEAD_S)}
    os.chdir(HOME)
    assert pwd.getpwuid(os.getuid()).pw_name == "you"


def _as_you(work: object, *args: str) -> str:
    """What `work(*args)` returns, done by the user in a child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _become_you()
        with os.fdopen(write, "w") as out:
            out.write(work(*args))  # type: ignore[operator]
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    assert os.waitpid(child, 0)[1] == 0, f"{work} {args} failed"
    return said


def _plant() -> None:
    from support.litter import claude_session, cwd_markers
    from tmpwarden.cli.main import main as tmpwarden

    random = Random(11)
    for number in range(26):
        unit = claude_session(TMP, slug=f"-home-you-{random.choice(('shop', 'api', 'docs'))}", session=_uuid(random))
        _fill(unit / "tasks" / f"b{number:08x}.output", int(random.paretovariate(0.8) * 3 * MB) % (90 * MB))
        _date(unit / "tasks", random.choice((2, 5, 31, 80, 100, 140, 200, 220)) * 3600)
    taken = claude_session(TMP, slug="-home-you-shop", session="3f0e2c5a-7b1d-4c5e-9a61-0d6f7b2c8e11")
    _fill(taken / "tasks" / "b7c1d2e3f.output", 48 * MB)
    with open(os.devnull, "w") as quiet, redirect_stdout(quiet):
        tmpwarden(["clean", str(taken), "--yes"], now_ns=lambda: time.time_ns() + (AHEAD_S - 7200) * 10**9)
    claude_session(TMP, slug="-home-you-shop", session="9b2d7e10-44c8-4f0a-8d53-61f2a0c7be94", recorded=False)
    _fill(TMP / f"claude-{UID}/-home-you-shop/9b2d7e10-44c8-4f0a-8d53-61f2a0c7be94/tasks/b1.output", 61 * MB)
    cwd_markers(TMP, 1204)
    for name, size in (("playwright-artifacts-aB3dE9", 37), ("orch-17", 44), ("orch-18", 12), ("bench-data", 31)):
        (TMP / name).mkdir(mode=0o700)
        _fill(TMP / name / "file", size * MB)
    _fill(TMP / "codex-clipboard-aB3dE9.png", 9 * MB)
    _fill(TMP / f"1794821935123-copilot-tool-output-4000001-{_uuid(random)}.txt", 26 * MB)
    _history(random)


def _uuid(random: Random) -> str:
    import uuid

    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _fill(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(size, 4096))


def _date(path: Path, age_s: int) -> None:
    """As old as that when the pictures are taken."""
    at = time.time() + AHEAD_S - age_s
    os.utime(path, (at, at))


def _history(random: Random) -> None:
    """Eight days in which agents filled it and cleans emptied it; and the last hours, in which nobody cleaned."""
    from tmpwarden.oskit.files import places, space
    from tmpwarden.sweep.store import books, history
    from tmpwarden.sweep.weigh import consent

    now = space.space_of(str(TMP))
    whole, hours = now.bytes_used + now.bytes_free, 6 * 31 + 8  # the last clean 8 hours ago
    Path(places.state_dir(), history.NAME).unlink(missing_ok=True)
    levels = [0.3]
    for hour in range(1, hours):
        is_cleaned = hour % 31 == 0
        if is_cleaned:
            books.add_saved(places.state_dir(), int(levels[-1] * 0.55 * whole), random.randrange(4000, 12000))
        levels.append(levels[-1] * 0.45 if is_cleaned else min(0.8, levels[-1] + random.random() * 0.022))
    end = now.bytes_used / whole
    levels[-8:] = [end - 0.043 * (8 - at) for at in range(8)]
    for at, level in enumerate(levels):
        moment_ns = time.time_ns() + (AHEAD_S - (hours - at) * 3600) * 10**9
        used = int(level * whole)
        seen = history.Usage(history.Level(used, whole - used), history.Level(now.inodes_used, now.inodes_free))
        done = sum(int(levels[each - 1] * 0.55 * whole) for each in range(31, at + 1, 31))
        history.note(places.state_dir(), history.Moment(moment_ns, "tick", {str(TMP): seen}, done, at))
    consent.note_clean(places.state_dir())
    _date(Path(places.state_dir(), "last-clean"), AHEAD_S + 8 * 3600)  # `status` reads the machine's own clock there


def _worker(session: str, program: str) -> subprocess.Popen[bytes]:
    """Somebody who lives: `node` at work in a session, `vite` with a session in its environment."""
    copy = Path("/srv") / program
    shutil.copy(shutil.which("sleep") or "/bin/sleep", copy)
    copy.chmod(0o755)
    place = TMP / f"claude-{UID}/-home-you-shop/{session}/tasks"
    env = {"PATH": "/bin", "CLAUDE_CODE_SESSION_ID": session}
    where = place if place.exists() else HOME
    return subprocess.Popen([copy, "600"], cwd=where, env=env, user=UID, group=UID, extra_groups=[])


def _seen_by_a_person(command: str) -> str:
    from support.terminal import on_a_terminal

    words = command.split()[1:]
    env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": f"{ROOT}/src"}
    _, said = on_a_terminal(
        [sys.executable, str(ROOT / "tests/support/later.py"), *words], env=env, columns=108, timeout_s=120
    )
    return f"$ {command}\n" + "\n".join(line.rpartition("\r")[2] for line in said.rstrip().split("\n"))


def _report(_: str) -> str:
    from support.later import now_ns
    from tmpwarden.cli.main import main as tmpwarden

    with open(os.devnull, "w") as quiet, redirect_stdout(quiet):
        assert tmpwarden(["report", "-o", "report.html"], now_ns=now_ns) == 0
    return Path("report.html").read_text()


def _drawn(said: str) -> str:
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=108, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(said), soft_wrap=True)
        return console.export_svg(title="", theme=MONOKAI, code_format=_SVG, unique_id="t")


def _photograph(page: Path) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("the report is not drawn anew: pip install playwright, apt install chromium", file=sys.stderr)
        return
    from support.browser import launched

    with sync_playwright() as playwright, launched(playwright) as browser:
        for name, width, height, scheme, top in SHOTS:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            shown = context.new_page()
            shown.goto(f"file://{page}")
            if top != "body":
                shown.evaluate("(top) => document.querySelector(top).scrollIntoView({behavior: 'instant'})", top)
            shown.screenshot(path=PICTURES / f"{name}.png")
            context.close()


if __name__ == "__main__":
    raise SystemExit(main())
