"""Limits below that of the file system: quotas of user, group and project, and the memory of a cgroup."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import interpreters, quota_kernel
from support.bases import base_for_all
from support.mounts import needs_root, tmpfs

GROUP, MB = "the quota of group 4710", 1 << 20
# Limits, each as setquota(8) takes it; whose files are written where, and how big.
CASES: dict[str, tuple[list[str], dict[str, dict[str, int]]]] = {
    "user": (["-u 4712 2048 2048 0 40"], {"his": {"plain": MB}}),
    "user's inodes": (["-u 4712 0 0 0 2"], {"his": {"plain": MB}}),
    "group": (["-g 4710 2048 4096 0 0"], {"his": {"plain": MB}}),
    "the tighter of two": (["-u 4712 0 65536 0 0", "-g 4710 0 4096 0 0"], {"his": {"plain": MB}}),
    "none": ([], {"his": {"plain": MB}}),
    "two groups": (["-g 4710 0 2048 0 0", "-g 4711 0 2048 0 0"], {}),
    "project": (["-P 42 0 4096 0 60"], {"root's": {"project": MB, "plain": 9 * MB}}),
}
PLACES = """
chmod 1777 .
mkdir led plain project; chmod 777 led plain project
chgrp 4711 led; chmod g+s led
chattr -p 42 project; chattr +P project
"""
TELL = """
import json, os, subprocess
from tmpwarden.oskit.files.space import percent_of_quota, space_of

def told(s):
    return [s.quota_of, s.quota_bytes, s.quota_used, s.quota_inodes, s.quota_inodes_used, percent_of_quota(s)]

def limit(words):
    subprocess.run(["setquota", *words, "."], check=True)

def write(sizes):
    for place, size in sizes.items():
        with open(f"{place}/f", "wb") as file:
            file.write(bytes(size))

def as_him(work):
    if os.fork() == 0:
        os.setgroups([]); os.setgid(4710); os.setuid(4712)
        work()
        os._exit(0)
    assert os.wait()[1] == 0

for name, (limits, files) in json.load(open("/mnt/share/cases.json")).items():
    for words in limits:
        limit(words.split())
    write(files.get("root's", {}))
    as_him(lambda: write(files.get("his", {})))
    os.sync()
    looks = lambda: {place: told(space_of(place)) for place in ("led", "plain", "project")}
    as_him(lambda: print(json.dumps([name, looks()]), flush=True))
    for words in limits:
        limit([*words.split()[:2], "0", "0", "0", "0"])
    for sizes in files.values():
        for place in sizes:
            os.remove(f"{place}/f")
"""


@needs_root
def test_the_tightest_quota_that_a_new_file_would_count_for(readable_library: Path) -> None:
    """What `space_of` tells a user 4712 of group 4710 about directories of a disk with quotas, case by case: all by one
    program in one kernel, for there a program takes a tenth of a second to start."""
    with base_for_all() as base:
        (base / "tell.py").write_text(TELL)
        (base / "cases.json").write_text(json.dumps(CASES))
        look = f"PYTHONPATH={readable_library} {interpreters.for_everybody()} -B /mnt/share/tell.py\n"
        told = dict(json.loads(line) for line in quota_kernel.said(base, PLACES + look).splitlines())
    assert told["user"]["plain"] == ["your quota", 2 * MB, MB, 40, 1, 50]
    assert told["user's inodes"]["plain"] == ["your quota", None, None, 2, 1, 50]
    assert told["group"]["plain"] == [GROUP, 4 * MB, MB, None, None, 25]
    assert told["the tighter of two"]["plain"] == [GROUP, 4 * MB, MB, None, None, 25]
    assert told["none"]["plain"] == ["", None, None, None, None, None]
    # The user is no member, so the kernel tells no figure; and the group that he has is not the one that counts.
    assert [told["two groups"][place][0] for place in ("led", "plain")] == ["", GROUP]
    # A project's quota is known to a user who may not ask for it.
    whose, limit, used, inodes, inodes_used, percent = told["project"]["project"]
    assert (whose, limit, inodes, inodes_used, percent) == ("the quota of project 42", 4 * MB, 60, 2, 26)
    assert used >= MB and told["project"]["plain"][0] == ""


def own_memory_group() -> Path:
    """Of this process, in whichever hierarchy has the memory controller."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        head, _, tail = line.partition(" - ")
        filesystem, options = tail.split(" ")[0], tail.split(" ")[-1].split(",")
        mark = {"cgroup2": "0::", "cgroup": ":memory:"}.get(filesystem, "none")
        if filesystem == "cgroup" and "memory" not in options:
            continue
        for group in Path("/proc/self/cgroup").read_text().splitlines():
            path = Path(head.split(" ")[4] + group.partition(mark)[2])
            if mark in group and any((path / name).exists() for name in ("memory.max", "memory.limit_in_bytes")):
                return path
    pytest.skip("this machine has no memory cgroup")


IN_THE_GROUP = """
import os, sys, time
from tmpwarden.oskit.files.space import percent_used, space_of
group, root = sys.argv[1:]
print(space_of(root).quota_bytes)
open(group + "/cgroup.procs", "w").write(str(os.getpid()))
for number in range(3):
    until = time.monotonic() + 20  # the kernel adds its counts up every two seconds
    while (s := space_of(root)).quota_used is None or s.quota_used < number * (30 << 20):
        assert time.monotonic() < until, s
        time.sleep(0.1)
    print(s.quota_of, s.quota_bytes, s.quota_used, percent_used(s), sep="|")
    with open(f"{root}/{number}", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 30 << 20)
os.remove(f"{root}/0")
print(percent_used(space_of(root)))
"""


@needs_root
def test_the_memory_of_a_cgroup_is_a_limit_of_its_tmpfs(tmp_path: Path) -> None:
    """A container with 128 MB and a tmpfs of 1 GB: df says 6 %, and the next write has a process killed."""
    group = own_memory_group() / f"tmpwarden-test-{os.getpid()}"
    try:
        group.mkdir()
        name = "memory.max" if (group / "memory.max").exists() else "memory.limit_in_bytes"
        (group / name).write_text(str(128 << 20))
    except OSError as error:
        pytest.skip(f"this machine lets nobody limit memory: {error}")
    inner = group / "inner"
    try:
        inner.mkdir()
        if (inner / name).exists():  # a service in the container, with a wider limit of its own
            (inner / name).write_text(str(512 << 20))
        with tmpfs(tmp_path / "t", size="1g") as root:
            argv = [sys.executable, "-c", IN_THE_GROUP, str(inner), str(root)]
            done = subprocess.run(argv, capture_output=True, text=True, check=True)
        before, *inside, after = done.stdout.splitlines()
        seen = [line.split("|") for line in inside]
        assert before == "None" or int(before) > 128 << 20, "another limit of the whole machine at most"
        assert {words[0] for words in seen} == {"the memory limit of 128.0 MB for its processes"}
        assert [int(words[2]) >> 20 for words in seen] == [0, 30, 60]
        if "SwapFree:              0" in Path("/proc/meminfo").read_text():
            assert [60 < int(words[1]) >> 20 <= 128 for words in seen] == [True] * 3
            assert int(seen[0][3]) < 10 and 46 <= int(seen[2][3]) <= 80
        assert int(after) <= int(seen[2][3]) + 1, "what is removed is room again"
    finally:
        inner.rmdir()
        group.rmdir()


def test_what_a_newer_kernel_tells_of_a_group(tmp_path: Path) -> None:
    """The files of cgroup v2, which not every machine has: caches can be given back, memory of programs cannot."""
    from tmpwarden.oskit.files.space import MemoryLimit
    from tmpwarden.oskit.system.linux.room import _V2, _of_group

    def group(**files: str) -> Path:
        for name, text in files.items():
            (tmp_path / f"memory.{name.replace('_', '.')}").write_text(text)
        return tmp_path

    stat = "anon 400\nfile 500\nshmem 300\ninactive_file 100\nactive_file 50\nslab_reclaimable 10\n"
    assert _of_group(str(group(max="max\n", current="900\n", stat=stat)), *_V2) is None
    group(max="1000\n", swap_max="0\n", swap_current="0\n")
    assert _of_group(str(tmp_path), *_V2) == MemoryLimit(1000, 260, 300)
    group(current="nonsense\n")
    assert _of_group(str(tmp_path), *_V2) is None
