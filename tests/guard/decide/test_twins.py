"""A led line does what the line as it was sent would have done: both are run, in twin worlds, and compared."""

import itertools
import json
import os
import random
from pathlib import Path

import pytest

from guard.decide.test_more_cases import rows
from guard.decide.test_no_unsafe_allow import JAIL, in_jail

TWINS = Path(__file__).parents[2] / "support" / "twins.py"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a mount namespace")

# plain writes to fresh names, as agents write them
PLAIN = (
    "echo x > /tmp/{0}", "cat a.txt > /tmp/{0}", "sort a.txt > /tmp/{0}; head -2 /tmp/{0}", "ls -1 > /tmp/{0} 2>&1",
    "./tool > /tmp/{0} 2>&1; tail -3 /tmp/{0}", "./tool 2>&1 | tee /tmp/{0}", "cp a.txt /tmp/{0}", "touch /tmp/{0}",
    "mkdir -p /tmp/{0}/sub", "mkdir -p /tmp/{0} && cp a.txt /tmp/{0}/", "tar cf /tmp/{0} src",
    "gzip -c a.txt > /tmp/{0}",
    "cat > /tmp/{0} <<'E'\nbody of it\nE", "cat > /tmp/{0} <<E\n$HOME\nE", "printf '%s\\n' a b >> /tmp/{0}",
    "F=/tmp/{0}; echo x > $F; cat $F", "diff a.txt b.txt > /tmp/{0}; cat /tmp/{0}",
    "grep -n a a.txt > /tmp/{0} || true",
    "seq 5 > /tmp/{0} && wc -l < /tmp/{0}", "sed s/a/z/ a.txt > /tmp/{0}; cat /tmp/{0}",
    "awk '{{print $1}}' a.txt > /tmp/{0}",
    "for i in 1 2 3; do echo $i >> /tmp/{0}; done; cat /tmp/{0}", "cut -c1 a.txt | sort -u > '/tmp/{0}'",
    "if ./tool > /tmp/{0}; then echo ok; else cat /tmp/{0}; fi", "date > /dev/null && echo x >/tmp/{0}",
    "dd if=/dev/zero of=/tmp/{0} bs=1k count=1 2>/dev/null; stat -c %s /tmp/{0}",
    "echo x | tee -a /tmp/{0} > /dev/null",
    "( cd src; cat x.c ) > /tmp/{0}", "{{ echo a; echo b; }} > /tmp/{0}; paste /tmp/{0} a.txt", "echo x > \"/tmp/{0}\"",
    "python3 -c 'print(1)' > /tmp/{0}", "./tool --out x > /tmp/{0} && rm /tmp/{0}",
    "cp /tmp/old.txt /tmp/{0}; cat /tmp/{0}",
    "./tool > /tmp/{0} & wait", "python3 use.py a.txt > /tmp/{0}; python3 use.py /tmp/{0}", "cd /tmp && echo x > {0}",
    "echo x > /tmp/{0}; ./tool see", "echo '/tmp/{0}' > /tmp/{0}", "python3 use.py /tmp/old.txt > /tmp/{0}; ls /tmp",
    "nohup ./tool > /tmp/{0} 2>&1", "bash -c 'echo x > /tmp/{0}'",
)  # fmt: skip
# what else is said of the same name, in the same line or by the next call
MORE = (
    "cat /tmp/{0}", "wc -c /tmp/{0}", "ls -d /tmp/{0}", "[ -e /tmp/{0} ] && echo there", "rm -rf /tmp/{0}",
    "./tool see /tmp/{0}",
    "python3 use.py /tmp/{0}", "cp -r /tmp/{0} copied", "mv /tmp/{0} /tmp/{1}", "echo more >> /tmp/{0}",
    "head -1 /tmp/{0}",
    "test -f /tmp/{0} || echo no file", "ls /tmp", "sort /tmp/{0} -o /tmp/{1}; cat /tmp/{1}", "find /tmp -name '{0}'",
    "cat /tmp/{0} | tr a-z A-Z > /tmp/{1}", "diff /tmp/{0} a.txt", "export F=/tmp/{0}; ./tool see", "true",
    "./tool see", "chmod 700 /tmp/{0}; stat -c %A /tmp/{0}", "echo done: /tmp/{0}", "grep -c /tmp/{0} a.txt",
    "bash -c 'wc -c < /tmp/{0}'", "python3 -c 'print(len(open(\"/tmp/{0}\").read()))'",
    "python3 - <<'E'\nprint(len(open('/tmp/{0}').read()))\nE",
    "F=/tmp/{0} python3 -c 'import os; print(os.stat(os.environ[\"F\"]).st_size)'",
)  # fmt: skip
# a call of its own whose program looks into /tmp by itself: nobody can see that in the line (docs/guard.md, Leading)
BY_ITSELF = ("./tool see", "ls /tmp", "find /tmp -name")


def twins(worlds: list[list[str]], tmp_path: Path) -> list[dict[str, object]]:
    given = tmp_path / "lines.json"
    given.write_text(json.dumps(worlds))
    read_in = f"exec 3< {given}; " + JAIL.replace('exec "$@"', 'cat <&3 > /run/lines.json; exec "$@"')
    return in_jail(read_in, str(TWINS), "/run/lines.json")  # type: ignore[no-any-return]


def differing(found: list[dict[str, object]]) -> list[dict[str, object]]:
    return [one for one in found if one["changed"] or one["said"]]


@needs_root
def test_most_plain_writes_to_fresh_names_are_led_and_all_of_them_do_the_same(tmp_path: Path) -> None:
    found = twins([[line.format("out.log")] for line in PLAIN], tmp_path)
    led = [one for one in found if one["led"] != [None]]
    assert len(led) / len(found) >= 0.6, [one["lines"] for one in found if one["led"] == [None]]
    assert differing(found) == []


@needs_root
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_lines_that_are_led_in_the_cases_do_the_same(tmp_path: Path, every: bool) -> None:
    lines = [row.partition(" => ")[0] for kind, row in rows("rewrites.tsv") if kind in ("all", "to")]
    unfit = ("while true", "select ", "curl", "wget", "npm", "cmd", "helm", "cat >", "dd if")  # endless, absent, timed
    wanted = [[line] for line in lines if not any(word in line for word in unfit)]
    assert len(wanted) > 35
    assert differing(twins(wanted[:: 1 if every else 3], tmp_path)) == []


def pairs(count: int, seed: int) -> list[list[str]]:
    """Two lines joined in one call, or two calls of one session."""
    choose = random.Random(seed)
    worlds = []
    for at in range(count):
        first = choose.choice(PLAIN).format(f"n{at % 7}", "other")
        second = choose.choice(MORE).format(f"n{at % 7}", "other")
        joint = choose.choice(("; ", " && ", "\n", None))
        worlds.append([first, second] if joint is None else [first + joint + second])
    return worlds


def check(worlds: list[list[str]], tmp_path: Path) -> None:
    found = twins(worlds, tmp_path)
    led = [one for one in found if any(one["led"])]  # type: ignore[call-overload]
    wrong = [one for one in differing(found) if not _is_a_later_call(one)]
    assert len(wrong) <= len(led) / 100, json.dumps(wrong[:5], indent=1)


def _is_a_later_call(one: dict[str, object]) -> bool:
    """It looked into /tmp by itself, or names what was led where nothing is replaced, and the model is told of it."""
    lines, texts, told = one["lines"], one["led"], one["told"]
    assert isinstance(lines, list) and isinstance(texts, list) and isinstance(told, list)
    if len(lines) < 2 or any(at == 0 for at, *_ in one["said"]):  # type: ignore[attr-defined]
        return False
    return any(word in lines[1] for word in BY_ITSELF) or (texts[1] is None and bool(told[1]))


@needs_root
def test_a_later_call_that_misses_what_was_led_is_told_where_it_is(tmp_path: Path) -> None:
    reads = (
        "python3 -c 'print(open(\"/tmp/n\").read())'",
        "bash -c 'cat /tmp/n'",
        "F=/tmp/n python3 -c 'import os; open(os.environ[\"F\"])'",
    )
    for one in twins([["echo x > /tmp/n", line] for line in reads], tmp_path):
        assert one["said"] != [] and one["told"][1] == {"/tmp/n": "/tmp/agent-s1/n"}  # type: ignore[index]


@needs_root
def test_at_most_one_in_a_hundred_pairs_differs(tmp_path: Path) -> None:
    check(pairs(20, seed=1), tmp_path)


@pytest.mark.long
@needs_root
@pytest.mark.parametrize("seed", range(2, 6))
def test_at_most_one_in_a_hundred_of_many_pairs_differs(tmp_path: Path, seed: int) -> None:
    every = [
        [first.format("n", "m") + "; " + second.format("n", "m")] for first, second in itertools.product(PLAIN, MORE)
    ]
    check([*pairs(500, seed), *every[seed::4]], tmp_path)
