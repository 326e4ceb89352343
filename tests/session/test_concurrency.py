"""Forks, threads, async code and sessions within sessions."""

from support.program import Programs


def _fine(programs: Programs, source: str) -> str:
    result = programs.run("import os, sys, tmpwarden\n" + source)
    assert (result.returncode, result.stderr) == (0, "")
    assert programs.sessions() == []
    return result.stdout


def test_a_forked_child_neither_removes_nor_shares_the_directory(programs: Programs) -> None:
    source = """
with tmpwarden.session("mycli") as s:
    work, promised = s.file("work"), os.path.dirname(s.hand_over("report"))
    ends = os.stat(promised).st_mtime_ns
    pid = os.fork()
    if pid == 0:
        for deed in (lambda: s.file("a"), lambda: s.dir("b"), lambda: s.hand_over("c"), lambda: s.run(["true"])):
            try: deed()
            except RuntimeError as error: assert "forked" in str(error)
            else: os._exit(1)
        with tmpwarden.session("mycli") as mine:
            assert mine.path != s.path
        sys.exit(0)  # leaves through the parent's `with` block
    assert os.waitpid(pid, 0)[1] == 0
    assert sorted(os.listdir(s.path)) == ["work"]
    assert os.stat(promised).st_mtime_ns == ends
    pid = os.fork()
    if pid == 0: 1 / 0
    os.waitpid(pid, 0)
    assert os.path.exists(work) and os.path.exists(s.path + ".lease")
"""
    result = programs.run("import os, sys, tmpwarden\n" + source)
    assert result.returncode == 0, result.stderr
    assert programs.sessions() == []


def test_a_forked_child_that_lives_on_does_not_keep_the_lock(programs: Programs) -> None:
    source = """
import signal, time
with tmpwarden.session("mycli") as s:
    read, write = os.pipe()
    if os.fork() == 0:
        os.chdir("/")
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        for fd in (0, 1, 2): os.close(fd)
        os.write(write, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(read, 1)
    print("ready", flush=True)
    sys.stdin.read()
"""
    with programs.started("import os, sys, tmpwarden\n" + source) as process:
        process.kill()
        process.wait()
        programs.run('import tmpwarden\nwith tmpwarden.session("mycli"): pass')
        assert programs.sessions() == []


def test_sessions_within_sessions_are_apart_and_go_one_by_one(programs: Programs) -> None:
    _fine(
        programs,
        """
with tmpwarden.session("mycli") as outer:
    with tmpwarden.session("mycli") as inner, tmpwarden.session("other") as other:
        assert len({outer.path, inner.path, other.path}) == 3
        inner.file("a"), outer.file("a"), other.file("a")
    assert not os.path.exists(inner.path) and not os.path.exists(other.path)
    assert os.listdir(outer.path) == ["a"]
""",
    )


def test_a_signal_unwinds_all_of_them(programs: Programs) -> None:
    source = """
import signal
with tmpwarden.session("mycli") as outer:
    try:
        with tmpwarden.session("mycli"):
            print("ready", flush=True)
            sys.stdin.read()
    except KeyboardInterrupt:
        print("between", os.path.exists(outer.path))
        raise
"""
    with programs.started("import os, sys, tmpwarden\n" + source) as process:
        process.send_signal(2)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (130, "between True\n", "")
        assert programs.sessions() == []


def test_threads_have_sessions_of_their_own_and_share_one(programs: Programs) -> None:
    out = _fine(
        programs,
        """
import threading
paths, files = [], []
with tmpwarden.session("mycli") as shared:
    def work(number):
        for turn in range(10):
            files.append(shared.file(f"{number}-{turn}"))
            with tmpwarden.session("mycli") as s:
                s.file("a"); paths.append(s.path)
                s.run(["true"], check=True)
                assert os.listdir(s.path) == ["a"]
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for one in threads: one.start()
    for one in threads: one.join()
    assert len(os.listdir(shared.path)) == 80
    assert threading.active_count() == 1
print(len(set(paths)))
""",
    )
    assert out == "80\n"


def test_async_with_and_async_functions(programs: Programs) -> None:
    _fine(
        programs,
        """
import asyncio
@tmpwarden.in_session("mycli")
async def work(s, name, *, size):
    with open(s.file(name), "w") as file: file.write("x" * size)
    await asyncio.sleep(0.01)
    assert os.listdir(s.path) == [name]
    return s.path
async def main():
    paths = await asyncio.gather(*(work(f"n{n}", size=n) for n in range(20)))
    assert len(set(paths)) == 20 and not any(map(os.path.exists, paths))
    async with tmpwarden.session("mycli") as s: s.dir("d")
    try:
        async with tmpwarden.session("mycli") as s:
            async with asyncio.timeout(0.01): await asyncio.sleep(60)
    except TimeoutError: assert not os.path.exists(s.path)
asyncio.run(main())
assert work.__name__ == "work"
""",
    )


def test_a_signal_ends_async_code_too(programs: Programs) -> None:
    source = """
import asyncio
async def main():
    async with tmpwarden.session("mycli", on_cancel=print) as s:
        s.file("a")
        print("ready", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    for signum, status in ((15, (143,)), (2, (130, -2))):  # asyncio itself ends by SIGINT, which a shell shows as 130
        with programs.started("import os, sys, tmpwarden\n" + source) as process:
            process.send_signal(signum)
            out, _ = process.communicate(timeout=30)
            assert process.returncode in status
            assert out.count("CANCELLED") == 1
            assert programs.sessions() == []


def test_the_decorator_passes_the_session_first_and_the_rest_along(programs: Programs) -> None:
    out = _fine(
        programs,
        """
@tmpwarden.in_session("mycli", grace=1)
def main(s, a, *, b=2):
    "Says what it got."
    assert os.path.isdir(s.path)
    return a + b
print(main(1), main(1, b=5), main.__doc__)
try:
    @tmpwarden.in_session("mycli")
    def generator(s): yield s
except TypeError as error: print(error)
""",
    )
    assert out.splitlines()[0] == "3 6 Says what it got."
    assert out.splitlines()[1].startswith("a generator may never be finished")


def test_a_session_is_used_inside_its_block_and_once(programs: Programs) -> None:
    _fine(
        programs,
        """
s = tmpwarden.session("mycli")
def refused(deed):
    try: deed()
    except RuntimeError: return True
assert refused(lambda: s.path) and refused(lambda: s.file("a")) and refused(lambda: s.env)
with s:
    assert os.fspath(s) == s.path and refused(s.__enter__)
    s.file("a")
    try: s.file("a")
    except FileExistsError: pass
    else: raise AssertionError
assert refused(lambda: s.file("b")) and refused(s.__enter__)
""",
    )


def test_what_is_hard_to_remove_is_removed(programs: Programs) -> None:
    _fine(
        programs,
        """
with tmpwarden.session("mycli") as s:
    deep = s.dir("deep")
    for _ in range(40):
        deep += "/" + "d" * 100
        os.mkdir(deep) if len(deep) < 4000 else None
    locked = s.dir("locked"); open(locked + "/file", "w").close(); os.chmod(locked, 0)
    os.symlink("/etc", s.path + "/link"); os.mkfifo(s.path + "/fifo")
    os.chdir(s.path)
""",
    )


def test_run_is_like_subprocess_run(programs: Programs) -> None:
    _fine(
        programs,
        """
import subprocess
with tmpwarden.session("mycli", grace=0.2) as s:
    assert s.run(["sh", "-c", "echo $TMPDIR $TMP $TEMP"], capture_output=True, text=True).stdout.split() == [s.path] * 3
    assert s.run(["cat"], input="words", capture_output=True, text=True).stdout == "words"
    assert s.run(["cat"], input=b"x" * 300000, capture_output=True).stdout == b"x" * 300000
    assert s.run(["false"]).returncode == 1
    for deed in (dict(timeout=0.1), dict(timeout=0.1, capture_output=True)):
        try: s.run(["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], **deed)
        except subprocess.TimeoutExpired as late: assert late.timeout == 0.1
        else: raise AssertionError
    try: s.run(["false"], check=True)
    except subprocess.CalledProcessError: pass
    else: raise AssertionError
""",
    )
