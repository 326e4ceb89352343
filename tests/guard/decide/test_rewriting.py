"""Literal /tmp words go to the scratch; every other byte stays."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.jail import Jail
from tmpwarden.guard.decide.rewriting import rewrite, rewrite_path

DATA = Path(__file__).parents[1] / "cases"
CASES = [json.loads(line) for line in (DATA / "redirect.jsonl").read_text().splitlines()]
SCRATCH = "/tmp/agent-s1"


def rewritten(
    command: str, exists: tuple[str, ...] = (), roots: tuple[str, ...] = ("/tmp",), scratch: str = SCRATCH
) -> str | None:
    def look(path: str) -> tuple[str, bool]:
        return path.rpartition("/")[0] or "/", path in exists

    given = {"cwd": "/home/u/proj", "home": "/home/u", "variables": {}, "look": look}
    return rewrite(command, scratch=scratch, tmp_roots=roots, uid=1000, keep=("own",), **given)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["command"]))
def test_the_cases(case: dict[str, str]) -> None:
    precondition = case.get("precondition", "")
    exists = (precondition.split()[0],) if precondition.endswith("exists") else ()
    roots = ("/tmp", "/private/tmp") if case.get("platform") == "darwin" else ("/tmp",)
    result = rewritten(case["command"], exists, roots)
    if case["action"] in ("rewrite", "leave"):
        assert result == case.get("rewritten")
    else:  # the verdict is the rules' matter; of all these only make's directory may be led elsewhere
        assert result is None or case["command"].startswith("make -C")


S = SCRATCH
GOES = {
    "ls /tmp": f"ls {S}",
    "ls /tmp/": f"ls {S}/",
    "cat </tmp/a": f"cat <{S}/a",
    "c &>/tmp/a": f"c &>{S}/a",
    "c >&/tmp/a": f"c >&{S}/a",
    "c <>/tmp/a {fd}>/tmp/b": f"c <>{S}/a {{fd}}>{S}/b",
    'c > "/tmp/a b"': f'c > "{S}/a b"',
    "c > /tmp/a\\ b": f"c > {S}/a\\ b",
    "c > /tmp/$$": f"c > {S}/$$",
    'c > "/tmp/$x.log"': f'c > "{S}/$x.log"',
    "for i in 1 2; do c > /tmp/o$i; done": f"for i in 1 2; do c > {S}/o$i; done",
    "rm -rf /./tmp//a": f"rm -rf {S}//a",
    "rm -rf /tmp/a/../b": f"rm -rf {S}/a/../b",
    "touch /tmp/{a,b}": f"touch {S}/{{a,b}}",
    "cd /tmp && touch x": f"cd {S} && touch x",
    "(cd /tmp; c)": f"(cd {S}; c)",
    "A=/tmp/a c": f"A={S}/a c",
    "export A=/tmp/a": f"export A={S}/a",
    "env A=/tmp/a c": f"env A={S}/a c",
    "PATH=$PATH:/tmp/bin:/usr/bin c": f"PATH=$PATH:{S}/bin:/usr/bin c",
    "c $(d > /tmp/a)": f"c $(d > {S}/a)",
    "c `d > /tmp/a`": f"c `d > {S}/a`",
    "c ${x:-$(d > /tmp/a)}": f"c ${{x:-$(d > {S}/a)}}",
    "c <<E\n$(d > /tmp/a) /tmp/b\nE": f"c <<E\n$(d > {S}/a) /tmp/b\nE",
    "bash -c 'rm -rf /tmp/a'": f"bash -c 'rm -rf {S}/a'",
    'bash -c "rm -rf /tmp/a"': f'bash -c "rm -rf {S}/a"',
    "sudo rm /tmp/a": f"sudo rm {S}/a",
    "if c; then d > /tmp/a; fi": f"if c; then d > {S}/a; fi",
    "f() { c > /tmp/a; }; f": f"f() {{ c > {S}/a; }}; f",
    "dd if=/dev/zero of=/tmp/a": f"dd if=/dev/zero of={S}/a",
    "curl -o /tmp/a http://h/tmp/a": f"curl -o {S}/a http://h/tmp/a",
    "tar xf a.tgz -C /tmp/d": f"tar xf a.tgz -C {S}/d",
    "git clone http://h/r /tmp/r": f"git clone http://h/r {S}/r",
    "git -C /tmp/r log": f"git -C {S}/r log",
    "docker cp c:/tmp/a /tmp/b": f"docker cp c:/tmp/a {S}/b",
    "sort -o /tmp/a b": f"sort -o {S}/a b",
    "mktemp -p /tmp": f"mktemp -p {S}",
    "mktemp /tmp/a.XXXX": f"mktemp {S}/a.XXXX",
    "grep x /tmp/a": f"grep x {S}/a",
    "sed -i s/a/b/ /tmp/a": f"sed -i s/a/b/ {S}/a",
    "find /tmp -delete": f"find {S} -delete",
    "python3 /tmp/s.py": f"python3 {S}/s.py",
    "c 'a b' # /tmp/x\nd > /tmp/é": f"c 'a b' # /tmp/x\nd > {S}/é",
}
STAYS = (
    "ls /var/tmp/x", "ls /tmpfile", "ls /tmp.bak", "ls /tmp-old/x", "ls /tmp*", "rm /tmp$x", "rm /tm?/x",
    "rm /tmp/../etc/x", "rm /tmp/a/../../etc", "echo /tmp/x", "printf /tmp/x", "grep /tmp/x f", "sed s:/tmp/x:y: f",
    "awk '/tmp/' f", "git commit -m /tmp/x", "python3 -c /tmp/x", "[ a = /tmp/x ]", "[[ $a == /tmp/x ]]",
    "case $a in /tmp/x) c;; esac", "pkill -f /tmp/x", "ssh h cat /tmp/x", "scp h:/tmp/x .", "rsync h:/tmp/x .",
    "docker run -v /tmp:/tmp i", "docker exec c ls /tmp/x", "kubectl exec p -- ls /tmp/x", "curl file:///tmp/x",
    "c http://h/tmp/x", "ls /tmp/claude-1000/x", "ls /tmp/own/x", "ls /tmp/.X11-unix/X0", "ls /tmp/tmux-1000",
    "ls /tmp/agent-s1", "ls /tmp/agent-s1/x", "c --exclude=/tmp/x", "gcc -I/tmp/x a.c",
    "c <<'E'\n/tmp/x\nE", "c <<E\n/tmp/x\nE", "c # /tmp/x", "cd / && rm tmp/x", "rm ../../../tmp/x", "rm '/tmp/x",
    "df /tmp", "mount /tmp", "lsof /tmp/x", "jq .tmp f", "c x/tmp/y", "eval \"c > /tmp/$x\"",
    "tmpwarden scan --root /tmp", "psql -h /tmp", "PGHOST=/tmp psql", "rm /{tmp,etc}/x", "rm ~/tmp/x",
    "rm /tmp/{a,../../etc}",
)  # fmt: skip


@pytest.mark.parametrize("command", GOES)
def test_these_words_go(command: str) -> None:
    assert rewritten(command) == GOES[command]


@pytest.mark.parametrize("command", STAYS)
def test_these_words_stay(command: str) -> None:
    assert rewritten(command) is None


def test_a_file_that_is_only_read_and_only_in_tmp_stays() -> None:
    assert rewritten("cat /tmp/a", ("/tmp/a",)) is None
    assert rewritten("cat /tmp/a") == f"cat {S}/a"
    assert rewritten("cat /tmp/a", ("/tmp/a", f"{S}/a")) == f"cat {S}/a"
    assert rewritten("cd /tmp/a && make", ("/tmp/a",)) is None
    assert rewritten("tool /tmp/a /tmp/b", ("/tmp/a",)) == f"tool /tmp/a {S}/b"
    assert rewritten("rm /tmp/a", ("/tmp/a",)) == f"rm {S}/a"
    assert rewritten("cp /tmp/a /tmp/b", ("/tmp/a", "/tmp/b")) == f"cp /tmp/a {S}/b"


def test_what_the_line_itself_makes_is_read_where_it_was_made() -> None:
    assert rewritten("c > /tmp/a; cat /tmp/a", ("/tmp/a",)) == f"c > {S}/a; cat {S}/a"
    assert rewritten("mkdir -p /tmp/d && cd /tmp/d", ("/tmp/d",)) == f"mkdir -p {S}/d && cd {S}/d"


def test_a_variable_is_judged_by_what_is_done_with_it() -> None:
    assert rewritten("D=/tmp/a; cat $D", ("/tmp/a",)) is None
    assert rewritten("D=/tmp/a; c > $D", ("/tmp/a",)) == f"D={S}/a; c > $D"


def test_scratches_of_other_sessions_stay() -> None:
    scratch = "/tmp/tmpwarden-0/aaaa"
    assert rewritten("ls /tmp/tmpwarden-0/bbbb", scratch=scratch) is None
    assert rewritten("ls /tmp/tmpwarden-0x", scratch=scratch) == f"ls {scratch}/tmpwarden-0x"


def test_a_scratch_with_blanks_is_quoted_or_nothing_happens() -> None:
    assert rewritten("c > /tmp/a", scratch="/tmp/a b") == "c > '/tmp/a b'/a"
    assert rewritten('c > "/tmp/a"', scratch="/tmp/a b") == 'c > "/tmp/a b/a"'
    assert rewritten("bash -c 'c > /tmp/a'", scratch="/tmp/a b") is None


def test_paths_of_file_tools() -> None:
    def look(path: str) -> tuple[str, bool]:
        return path.rpartition("/")[0] or "/", path == "/tmp/here"

    def moved(path: str, mode: str = "write") -> str | None:
        return rewrite_path(path, scratch=SCRATCH, cwd="/p", look=look, mode=mode, uid=1000)

    assert moved("/tmp/a b") == f"{S}/a b"
    assert moved("/tmp") == S
    assert moved("/tmp/here") == f"{S}/here"
    assert moved("/tmp/here", "read") is None
    for path in ("/tmp/../etc/x", "/tmpfile", f"{S}/x", "x", "tmp/x", "/tmp/claude-1000/x", "/var/tmp/x", "/tmp/a\0b"):
        assert moved(path) is None


FORMS = (
    "/tmp/{}", "'/tmp/{}'", '"/tmp/{}"', "/tmp/'{}'", "/t'm'p/{}", '"/tmp"/{}', "//tmp/{}", "/tmp/{}*", "\\/tmp/{}",
    "$'/tmp/{}'", "/tmp/{}$$",
)  # fmt: skip
PLACES = (
    "rm {}", "c --out={}", "c > {}", "A={} c", "cd {} && c", "cp a {}", "( rm {} )", "x=$(c > {})",
    "f() {{ rm {}; }}; f", "bash -c \"rm x\" > {}",
)  # fmt: skip
TEXTS = st.lists(
    st.builds(
        lambda place, form, name: place.format(form.format(name)),
        st.sampled_from(PLACES),
        st.sampled_from(FORMS),
        st.sampled_from("abx"),
    ),
    min_size=1,
    max_size=4,
).flatmap(lambda parts: st.sampled_from(("; ", "\n", " && ", " | ")).map(lambda joint: joint.join(parts)))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_a_rewrite_leaves_nothing_to_rewrite(command: str) -> None:
    once = rewritten(command)
    assert once is not None
    assert rewritten(once) is None
    assert once.count("\n") == command.count("\n")


def test_bash_gets_the_same_words_but_for_the_root(tmp_path: Path) -> None:
    lines = [
        f"c1 {form.format(name)} 'q  s' --o={form.format(name)}; c2 \"a\" {form.format('z')}"
        for form in FORMS
        for name in ("x", "a-b")
    ]
    after = [rewritten(line) for line in lines]
    assert None not in after
    jail = Jail(tmp_path / "jail")
    ran = jail.run([*lines, *[line or "" for line in after]])
    for before, now in zip(ran[: len(lines)], ran[len(lines) :], strict=True):
        led = [[_led(word) for word in argv] for argv in before.argv]
        assert [[_masked(word) for word in argv] for argv in now.argv] == [
            [_masked(word) for word in argv] for argv in led
        ]


def _led(word: str) -> str:
    return word.replace("//tmp", "/tmp").replace("/tmp", SCRATCH, 1) if "tmp/" in word else word


def _masked(word: str) -> str:
    return word.rstrip("0123456789")  # the number of the shell
