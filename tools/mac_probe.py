"""What no machine of ours can prove: run on a Mac, compare what libproc tells us with lsof and with what we did.

`python tools/mac_probe.py [PAGE.md]` writes one page, changes nothing, and names no file, process or variable of yours.
Exit status 0: everything agreed. CI on macOS runs it and keeps the page; docs/macos.md says what it decides.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from tmpwarden.oskit.system.darwin import (
    ending,
    entries,
    everybody,
    identities,
    libproc,
    looking,
    machine,
    mounting,
    processes,
    proof,
    vnodes,
)
from tmpwarden.oskit.system.darwin import layouts as at

_VARIABLE = "TMPWARDEN_PROBE"
_HOLDER = """
import os, sys
held = [os.open(sys.argv[1] + "/file", os.O_RDWR | os.O_APPEND) for _ in range(600)] if sys.argv[2] == "many" else []
held.append(os.open(sys.argv[1] + "/file", os.O_RDWR | os.O_APPEND))
held.append(os.open(sys.argv[1], os.O_RDONLY))
os.chdir(sys.argv[1] + "/d")
print("ready", flush=True)
sys.stdin.read()
"""
# Programs whose variables macOS may keep to itself, and one that it cannot: the interpreter that runs this.
_PROGRAMS = (
    ["/bin/sleep", "600"], ["/bin/zsh", "-c", "read x"], ["/bin/bash", "-c", "read x"], ["/bin/sh", "-c", "read x"],
    ["/usr/bin/tail", "-f", "/dev/null"], ["/usr/bin/python3", "-c", "import sys; sys.stdin.read()"],
    [sys.executable, "-c", "import sys; sys.stdin.read()"],
)  # fmt: skip

Row = tuple[str, str, str]  # what, "agrees" or "DIFFERS" or "told", how


def main() -> int:
    rows: list[Row] = []
    for about in (_machine, _self_test, _against_lsof, _many, _hidden, _identity, _look, _calls):
        try:
            rows += about()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            rows.append((about.__name__.strip("_"), "DIFFERS", f"{type(error).__name__}: {error}"))
    page = "| question | answer | how |\n|---|---|---|\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page)
    sys.stdout.write(page)
    return int(any(row[1] == "DIFFERS" for row in rows))


def _row(what: str, agrees: bool, how: str = "") -> Row:
    return what, "agrees" if agrees else "DIFFERS", how


def _machine() -> Iterator[Row]:
    build, release, arch = (
        libproc.kernel_text("kern.osversion"),
        libproc.kernel_text("kern.osproductversion"),
        os.uname().machine,
    )
    yield "system", "told", f"{release}, build {build}, {arch}, Python {sys.version.split()[0]}"
    yield _row("boot and machine are told", bool(machine.boot_id() and machine.machine_id()))
    costs = []
    for source in ("pass", "import ctypes"):
        before = os.times()
        for _ in range(10):
            subprocess.run([sys.executable, "-I", "-S", "-c", source], check=True)
        after = os.times()
        costs.append(after.children_user + after.children_system - before.children_user - before.children_system)
    yield "import of ctypes", "told", f"{(costs[1] - costs[0]) * 100:.1f} ms of CPU"
    kinds = sorted({mount.filesystem for mount in mounting.mounts()})
    yield "file systems mounted", "told", f"{', '.join(kinds)}; may hang: {mounting.somebody_may_hang()}"


def _self_test() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as state:
        why = proof.test(os.path.realpath(state))
    yield _row("the self-test passes", why == "", why)


class _Held:
    """A process of ours that has a file, a directory and a working directory."""

    def __init__(self, how: str = "few") -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(os.path.realpath(self.folder.name))
        (self.place / "d").mkdir()
        (self.place / "file").write_text("x" * 5000)
        self.child = subprocess.Popen(
            [sys.executable, "-I", "-c", _HOLDER, str(self.place), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "_Held":
        assert self.child.stdout
        if self.child.stdout.readline() != "ready\n":
            raise OSError("a process of ours did not begin")
        return self

    def __exit__(self, *_: object) -> None:
        assert self.child.stdin
        assert self.child.stdout
        self.child.stdin.close()
        self.child.stdout.close()
        self.child.wait()
        self.folder.cleanup()


def _lsof(pid: int) -> dict[str, tuple[int, int, str]]:
    """Descriptor ("cwd", "7") -> (device, inode, name), by another program's reading of the same kernel."""
    done = subprocess.run(
        ["lsof", "-n", "-P", "-a", "-p", str(pid), "-F", "fDin"], capture_output=True, text=True, check=False
    )
    found: dict[str, tuple[int, int, str]] = {}
    fields: dict[str, str] = {}
    for line in [*done.stdout.splitlines(), "f"]:
        if line[:1] == "f":
            if fields.get("D") and fields.get("i", "").isdigit():
                found[fields["f"]] = int(fields["D"], 16), int(fields["i"]), fields.get("n", "")
            fields = {}
        fields[line[:1]] = line[1:]
    return found


def _against_lsof() -> Iterator[Row]:
    with _Held() as held:
        theirs = _lsof(held.child.pid)
        ours = {str(one.number): one for one in vnodes.opened(held.child.pid)}
        both = [number for number in ours if number in theirs]
        same = [
            (ours[number].vnode.device, ours[number].vnode.file) == theirs[number][:2]
            and os.fsdecode(ours[number].vnode.path) == theirs[number][2]
            for number in both
        ]
        yield _row(
            "descriptors: device, file number and path are lsof's",
            len(both) >= 2 and all(same),
            f"{len(both)} compared",
        )
        working, root = vnodes.places(held.child.pid, has_thread_places=False)
        cwd = theirs.get("cwd", (0, 0, ""))
        yield _row("working directory is lsof's", (working[0].device, working[0].file) == cwd[:2] and root is None)
        file = next((one for one in ours.values() if one.vnode.path.endswith(b"/file")), None)
        how = at.OPEN_READ | at.OPEN_WRITE | at.OPEN_APPEND
        yield _row(
            "how a file was opened", file is not None and file.flags & 15 == how, hex(file.flags) if file else ""
        )
        held.place.joinpath("file").unlink()
        gone = next(
            (one for one in vnodes.opened(held.child.pid) if str(one.number) in ours and one.vnode.links == 0), None
        )
        yield _row("a deleted file has no links", gone is not None)
        yield "path of a deleted file", "told", "still told" if gone and gone.vnode.path else "not told"
        held.place.joinpath("d").rename(held.place / "e")
        working, _ = vnodes.places(held.child.pid, has_thread_places=False)
        yield "path of a renamed directory", "told", "the new one" if working[0].path.endswith(b"/e") else "another"
        (held.place / "e").rename(held.place / "d")


def _many() -> Iterator[Row]:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, most) if most > 0 else 1024, most))
    with _Held("many") as held:
        found = libproc.descriptors(held.child.pid)
        yield _row(
            "a list longer than the first buffer is whole",
            len(found) >= 602,
            f"{len(found)} of 602 and the standard three",
        )


def _hidden() -> Iterator[Row]:
    for argv in _PROGRAMS:
        if not os.path.exists(argv[0]):
            continue
        child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={_VARIABLE: "here", "PATH": "/usr/bin:/bin"}
        )
        try:
            words, told = _until_loaded(child.pid)
            mark = f"{_VARIABLE}=here".encode()
            how = "hidden" if told is None else "told" if mark in told.split(b"\0") else "told, without ours"
            name = "the interpreter of this run" if argv[0] == sys.executable else argv[0]
            if argv[0] == sys.executable:
                yield _row(f"environment of {name}", how == "told", how)
            else:
                yield f"environment of {name}", "told", how
            if argv[0] in ("/bin/sleep", sys.executable):
                yield _row(f"arguments of {name}", words[1:] == tuple(word.encode() for word in argv[1:]))
        finally:
            child.kill()
            child.wait()


def _until_loaded(pid: int) -> tuple[tuple[bytes, ...], bytes | None]:
    until = time.monotonic() + 10
    while True:
        try:
            words, told = processes.words(pid)
            if _VARIABLE.encode() in (told or b"") or time.monotonic() > until - 8:
                return words, told
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def _identity() -> Iterator[Row]:
    source = "import os; os.read(0, 1); os.execv('/bin/cat', ['cat'])"
    child = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin
    assert child.stdout
    before, ours = processes.basics(child.pid), processes.basics(os.getpid())
    child.stdin.write("\nnow\n")
    child.stdin.flush()
    child.stdout.readline()
    after = processes.basics(child.pid)
    yield _row("the unique id survives an exec", bool(before and after and before.unique == after.unique))
    changed = bool(before and after and before.version != after.version)
    yield "an exec changes the version of the number", "told", "yes" if changed else "no"
    yield _row("the parent's unique id is ours", bool(after and ours and after.unique_parent == ours.unique))
    queue = ending.hold(child.pid)
    by_token = hasattr(libproc.library(), "proc_signal_with_audittoken")
    ending.send(queue, child.pid, 15)
    child.wait()
    import select

    yield _row("its end makes a kqueue readable", bool(select.select([queue], [], [], 5)[0]))
    yield "signals by token", "told", "yes" if by_token else "no: by number"
    os.close(queue)
    child.stdin.close()
    child.stdout.close()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b"):
            Path(folder, name).touch()
        fd = os.open(folder, os.O_RDONLY)
        yield _row("a rename never goes over a taken name", entries.rename_new(fd, "a", fd, "b") is False)
        yield _row("and goes to a free one", entries.rename_new(fd, "a", fd, "c") is True)
        os.close(fd)


def _look() -> Iterator[Row]:
    began, cpu = time.monotonic(), time.process_time()
    seen = everybody.Seen()
    everybody.Pass(seen, (), frozenset(), closely=True).look()
    took = f"{time.monotonic() - began:.2f} s, {time.process_time() - cpu:.2f} s of CPU"
    yield "a look at everybody", "told", f"{len(seen.processes)} processes, {len(seen.uses)} uses, {took}"
    yield "doubts", "told", f"{len(seen.doubts)} processes, {len(seen.lost)} devices"
    hidden = sum("hides the environment" in why for why in seen.doubts)
    yield "of those for a hidden environment", "told", str(hidden)
    seen_by_pid = {use[1] for use in seen.uses}
    yield _row("we see ourselves", os.getpid() in seen_by_pid)


def _calls() -> Iterator[Row]:
    """Which question takes how long, and which process answers none: a call that hangs shows here."""
    slowest: dict[str, float] = {}
    refused: dict[str, int] = {}
    questions: tuple[tuple[str, Callable[[int], object]], ...] = (
        ("descriptors", lambda pid: list(vnodes.opened(pid))),
        ("directories", lambda pid: vnodes.places(pid, has_thread_places=False)),
        ("mapped files", lambda pid: list(vnodes.mapped(pid))),
        ("every region", lambda pid: list(vnodes.mapped(pid, closely=True))),
        ("program", processes.program),
        ("arguments", processes.words),
    )
    for pid in libproc.pids():
        found = processes.basics(pid)
        if found is None or found.has_ended or found.uid != os.geteuid():
            continue
        for name, ask in questions:
            began = time.monotonic()
            try:
                ask(pid)
            except OSError as error:
                key = f"{name}: errno {error.errno}"
                refused[key] = refused.get(key, 0) + 1
            slowest[name] = max(slowest.get(name, 0.0), time.monotonic() - began)
    for name, seconds in slowest.items():
        yield _row(f"slowest answer about {name}", seconds < looking.STUCK_S, f"{seconds * 1000:.1f} ms")
    for key, count in sorted(refused.items()):
        yield f"not told of own processes, {key}", "told", str(count)
    yield _row(
        "a place is found by any spelling", identities.locate("/tmp/.") == identities.locate(os.path.realpath("/tmp"))
    )


if __name__ == "__main__":
    sys.exit(main())
