"""New commands, judged by real bash in a jail without programs."""

from pathlib import Path

import pytest

from guard.studying import analyse
from support.empty_disk import look
from support.jail import Jail, Ran, is_covered
from support.shell_lines import Lines

CHUNK = 150


def mistakes(command: str, ran: Ran, place: str) -> list[str]:
    """What bash did and we do not say."""
    analysis = analyse(command, cwd=place, home="/home/u", variables={}, look=look)
    if ran.is_syntax_error or (analysis.opaque is not None and "name of a command" not in analysis.opaque):
        return []
    said = [simple.argv for simple in analysis.commands]
    missed = [f"ran {argv}" for argv in ran.argv if not any(is_covered(argv, words) for words in said)]
    uses = [use for simple in analysis.commands for use in simple.redirects if use.mode != "read"]
    written = [path for path in ran.files if not any(use.path is None or use.path == path for use in uses)]
    return missed + [f"wrote {path}" for path in written]


def judged(jail: Jail, seed: int) -> tuple[list[tuple[str, list[str]]], int]:
    lines = Lines(seed)
    commands = [lines.line() for _ in range(CHUNK)]
    found, opaque = [], 0
    for at, (command, ran) in enumerate(zip(commands, jail.run(commands, timeout_s=600), strict=True)):
        wrong = mistakes(command, ran, f"/w/{at}")
        if wrong:
            found.append((command, wrong))
        opaque += analyse(command, cwd="/w", home="/h", variables={}, look=look).opaque is not None
    return found, opaque


@pytest.mark.parametrize("seed", [11, 12])
def test_bash_runs_nothing_that_we_do_not_say(tmp_path: Path, seed: int) -> None:
    found, opaque = judged(Jail(tmp_path / "jail"), seed)
    assert found == []
    assert opaque < CHUNK * 0.25  # else the test says nothing


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_bash_runs_nothing_that_we_do_not_say_100_000_times(tmp_path: Path, part: int) -> None:
    jail = Jail(tmp_path / "jail")
    for seed in range(100 + part * 34, 100 + (part + 1) * 34):
        assert judged(jail, seed)[0] == []


BETWEEN_PARENTHESES = (
    "case a in a) c1;; esac", "case a in (a) c1;; esac", "c1 $(case a in a) c2;; esac)", "c1 ${x:-)}",
    "c1 # )", "c1 # (",
    "c1 # it's", "c1 ')'", 'c1 "("', 'c1 "$(c2 ")")"', "c1 $'it\\'s'", "c1 'a\\\nb'", "c1 \\)", "c1 a b", "c1 # plain",
)  # fmt: skip
ARITHMETIC = (
    "echo $(( c9 + $(%\n) ))", 'echo "$(( c9 * $(%\n) ))"', ": <<E\n$(( c9 + $(%\n) ))\nE", "x=$(( c9 `%\n` + 1 ))",
    "echo ${v:-$(( c9 $(%\n) ))}", "(( c9 + $(%\n) ))", "echo $(( x[$(%\n)] ))", "echo $(( c9 ${x:-)} + ${y:-(} ))",
    'echo $(( c9 "(" + ${y:-)} ))',
)  # fmt: skip


def test_arithmetic_that_bash_takes_for_commands_is_never_taken_for_arithmetic(tmp_path: Path) -> None:
    lines = [around.replace("%", inside) for around in ARITHMETIC for inside in BETWEEN_PARENTHESES]
    ran = Jail(tmp_path / "jail").run(lines)
    assert sum(["c9" in argv[:1] for one in ran for argv in one.argv]) > 10  # bash does run it
    found = [(line, mistakes(line, one, f"/w/{at}")) for at, (line, one) in enumerate(zip(lines, ran, strict=True))]
    assert [row for row in found if row[1]] == []


ODD_CHARACTERS = (
    "x=$'a\\u00a0b'; c1 $x", "x=$'a\\x0cb\\x0b c'; c1 $x", "x=$'a\\u3000b  c'; c1 q$x",
    "c1 {1_0..1_2}", "c1 {\u03b1..\u03b3}",
    "c1 {\u0661..\u0663}", "c1 {+1..3} {-01..2} {a..e..-2} {1..a}", "c1 >&\u0663", "c1 \u0663>out1",
    "c1 >&3--", "c1 $\u0661",
)  # fmt: skip


def test_digits_and_blanks_of_other_scripts_are_none_to_bash_and_to_us(tmp_path: Path) -> None:
    ran = Jail(tmp_path / "jail").run(ODD_CHARACTERS)
    rows = zip(ODD_CHARACTERS, ran, strict=True)
    assert [(line, mistakes(line, one, f"/w/{at}")) for at, (line, one) in enumerate(rows)] == [
        (line, []) for line in ODD_CHARACTERS
    ]


def test_the_jail_has_no_programs_and_tells_what_was_asked_for(tmp_path: Path) -> None:
    text = "rm -rf / --no-preserve-root; /bin/ls; c1 > f; echo $(c2 'a b')"
    (ran,) = Jail(tmp_path / "jail").run([text])
    assert ran.argv == [["rm", "-rf", "/", "--no-preserve-root"], ["c1"], ["c2", "a b"]]
    assert ran.files == {"/w/0/f"}


def test_a_miss_would_be_seen(tmp_path: Path) -> None:
    assert mistakes("c1", Ran([["c1"], ["c2"]], {"/w/0/f"}, 0, ""), "/w/0") == ["ran ['c2']", "wrote /w/0/f"]
