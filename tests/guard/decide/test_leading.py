"""`tmp = true`: a fresh /tmp name is led into the scratch with every one of its mentions, or not at all."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.guarding import context_with
from support.jail import Jail
from tmpwarden.guard.decide import evaluate as evaluating
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.shell.reader import read
from tmpwarden.guard.shell.syntax import Sequence
from tmpwarden.guard.simulate import study
from tmpwarden.model.hot import Decision, ToolCall

RULES = load((), preset="claude").rules
S = "/tmp/agent-s1"


def said(command: str, *exists: str, **changed: object) -> Decision:
    def look(path: str) -> tuple[str, bool]:
        return path.rpartition("/")[0] or "/", path in exists

    values: dict[str, object] = {
        "scratch": S, "project": "/home/u/proj", "cwd": "/home/u/proj", "home": "/home/u", "uid": 1000, "look": look,
        "own": ("/tmp/own",),
    }  # fmt: skip
    context = context_with(**(values | changed))  # type: ignore[arg-type]
    return evaluate(ToolCall("claude", "shell", command=command, cwd=context.place.cwd), RULES, context)


GOES = {
    "echo x > /tmp/a": f"echo x > {S}/a",
    "npm test > /tmp/t.log 2>&1; tail -5 /tmp/t.log": f"npm test > {S}/t.log 2>&1; tail -5 {S}/t.log",
    "npm test 2>&1 | tee /tmp/t.log": f"npm test 2>&1 | tee {S}/t.log",
    'F=/tmp/f; date > "$F"; cat $F': f'F={S}/f; date > "$F"; cat $F',
    "mkdir -p /tmp/d/e && cd /tmp/d && touch e/f": f"mkdir -p {S}/d/e && cd {S}/d && touch e/f",
    "date > '/tmp/a b'; cat \"/tmp/a b\"": f"date > '{S}/a b'; cat \"{S}/a b\"",
    "date > /t'm'p/a": f"date > {S}/a",
    "date > //tmp/./a": f"date > {S}/./a",
    "x=$(date > /tmp/a; cat /tmp/a)": f"x=$(date > {S}/a; cat {S}/a)",
    "echo 'see log' > /tmp/a # nothing here": f"echo 'see log' > {S}/a # nothing here",
    "cat > /tmp/a <<'E'\nplain text\nE\nwc -l /tmp/a": f"cat > {S}/a <<'E'\nplain text\nE\nwc -l {S}/a",
    "for i in 1 2; do echo $i >> /tmp/n; done": f"for i in 1 2; do echo $i >> {S}/n; done",
    "timeout 5 make > /tmp/m.log": f"timeout 5 make > {S}/m.log",
    "echo start > /tmp/l; make >> /tmp/l 2>&1": f"echo start > {S}/l; make >> {S}/l 2>&1",
    "cp /tmp/old /tmp/new": f"cp /tmp/old {S}/new",
}


@pytest.mark.parametrize("command", GOES)
def test_a_fresh_name_goes_with_all_its_mentions(command: str) -> None:
    decision = said(command, "/tmp/old")
    assert decision.rewritten == GOES[command]
    assert all(place.startswith(S) for place in decision.places.values())
    assert decision.places


READ_ONCE = (
    *GOES, "cat `echo a` \"$(date > /tmp/a)\" && cat /tmp/a", "echo `date > /tmp/a; id`; cat \"/tmp/a\"",
    "F=/tmp/a G=1; ( date > $F ); if [ -e /tmp/b ]; then echo >> /tmp/b; fi",
    "date > /tmp/a; cat <<E\n$HOME $(date)\nE",
    "date > /tmp/a; cat <<'E'; wc /tmp/a\n$x\nE\necho y > /tmp/b",
    "for i in 1 2; do date > '/tmp/a'; done; case x in y) ls;; esac",
    "x=`echo \\`date\\``; date > /tmp/a; y=$((1 + $(wc -l < /tmp/a)))", "dd if=/dev/zero of=/tmp/a; stat /tmp/a",
)  # fmt: skip


@pytest.mark.parametrize("command", READ_ONCE)
def test_a_line_that_is_led_is_read_once(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counted(text: str) -> Sequence:
        texts.append(text)
        return read(text)

    monkeypatch.setattr(study, "read", counted)
    monkeypatch.setattr(evaluating, "study", kept := Kept())
    decision = said(command, "/tmp/old")
    assert texts == [command]
    assert decision.rewritten is not None
    assert shape(kept.last) == shape(read(decision.rewritten)), "as if the new text had been read"


class Kept:
    """Studies, and keeps the last one's tree."""

    def __init__(self) -> None:
        self.last: object = None

    def __call__(self, *args: Any, **named: Any) -> study.Study:
        found = study.study(*args, **named)
        self.last = found.tree
        return found


def shape(one: object) -> object:
    """Everything in a tree, as values that can be compared."""
    if isinstance(one, (list, tuple)):
        return [shape(part) for part in one]
    names = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
    return (type(one).__name__, {name: shape(getattr(one, name)) for name in names}) if names else one


STAYS = (
    # (a) it is there: a real entry always beats the scratch's copy
    "echo x > /tmp/old", "echo x >> /tmp/old; cat /tmp/old",
    # (b) a mention that is no word to be replaced
    "date > /tmp/a; cat <<E\n/tmp/a\nE", "echo 'wrote /tmp/a' > /tmp/a", "date > /tmp/a; grep /tmp/a f",
    "date > /tmp/a; sed 's:/tmp/a:x:' f", 'date > /tmp/a; [ "$x" = /tmp/a ] && ls', "date > /tmp/a; curl file:///tmp/a",
    "date > /tmp/a; case $x in /tmp/a) ls;; esac", "export F=/tmp/a; date > $F", "F=/tmp/a; export F; date > $F",
    "date > /tmp/a; F=/tmp/a ls", "declare -x F=/tmp/a; date > $F", "PATH=/tmp/a:$PATH; mkdir /tmp/a",
    "set -a; F=/tmp/a; date > $F",
    "date > /tmp/a; awk -v f=/tmp/a 'BEGIN{print f}'", "date > /tmp/a; trap 'rm /tmp/a' EXIT",
    "date > /tmp/a # then look at /tmp/a", "date > /tmp/a; bash -c 'cat /tmp/a'", "date > $'/tm\\x70/a'",
    # (c) a program that we cannot read starts after it is made, or gets it
    "date > /tmp/a; npm test", "date > /tmp/a && ./use", "date > /tmp/a; cat /tmp/a | python3 -c 'x'",
    "python3 gen.py --out /tmp/a", "python3 gen.py > /tmp/a; python3 use.py", "date > /tmp/a; python3 use.py /tmp/a",
    "make O=/tmp/a", "gcc -o /tmp/a a.c && /tmp/a", "while ./next; do date > /tmp/a; done",
    "f() { ./use; }; date > /tmp/a; f", "date > /tmp/a; awk 'BEGIN{system(\"x\")}'", "date > /tmp/a; source ./env",
    # half of a pair
    "python3 -m venv /tmp/v && /tmp/v/bin/pip install x", "crontab /tmp/c", "date > /tmp/c; crontab /tmp/c",
    "python3 -m zipfile -c /tmp/z.zip a", "docker run -v /tmp/d:/d i", "sqlite3 x.db \"ATTACH '/tmp/a' AS a\"",
    "git worktree add /tmp/wt", "git clone https://h/r /tmp/r && cd /tmp/r && make", "tar cf /tmp/a.tar -C /tmp x",
    # never under these
    "sudo tee /tmp/a < f", "su -c 'date > /tmp/a'", "date > /tmp/a &", "nohup make > /tmp/a",
    "date > /tmp/a; sleep 9 &",
    "ssh h date > /tmp/a", "setsid make > /tmp/a", "env -i date > /tmp/a", "sudo -u x date > /tmp/a",
    "coproc cat > /tmp/a",
    # the real /tmp
    "ls /tmp", "find /tmp -name a", "cat /tmp/*.log", "cd /tmp && date > a", "date > /tmp/a; ls /tmp", "rm -rf /tmp/*",
    "date > /tmp/a; ls /tmp/", "date > /tmp/$x", "date > /tmp/a$x", "mktemp -p /tmp", "mktemp /tmp/a.XXXX",
    "du -sh /tmp",
    "date > /tmp/a; ls $HOME/../tmp/a; cat /tmp/b*", "mkdir /tmp/a; cd /tmp/a/..", "date > /tmp/{a,b}",
    # neither place has it
    "cat /tmp/a", "rm -rf /tmp/a", "python3 /tmp/a.py", "[ -f /tmp/a ] && cat /tmp/a",
    # other people's names
    "date > /tmp/claude-1000/x", "date > /tmp/own/x", "date > /tmp/.X11-unix/X0", f"date > {S}/x", "date > /tmp/tmux-1",
    "date > /tmp/../etc/x", "date > /var/tmp/x", "date > /tmpfile", "date > /tmp.bak", "rm '/tmp/x", "date > '/tmp/a",
)  # fmt: skip


@pytest.mark.parametrize("command", STAYS)
def test_these_lines_stay_as_they_are(command: str) -> None:
    assert said(command, "/tmp/old").rewritten is None


def test_a_name_that_was_led_before_is_found_where_it_is_even_by_programs_we_cannot_read() -> None:
    for command in ("cat /tmp/a", "python3 use.py /tmp/a", "bash /tmp/a", "/tmp/a --fast", "rm /tmp/a"):
        assert said(command, f"{S}/a").rewritten == command.replace("/tmp/a", f"{S}/a")
        assert said(command, f"{S}/a", "/tmp/a").rewritten is None, "what is there beats the copy"
    assert said("python3 -c 'open(\"/tmp/a\")' /tmp/a", f"{S}/a").rewritten is None, "half of the mentions"


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(open(\"/tmp/a\").read())'", "python3 <<'E'\nopen('/tmp/a')\nE", "export F=/tmp/a; ./use",
        "sudo cat /tmp/a", "ls /tmp /tmp/a", "echo 'it is /tmp/a.'", "date > /tmp/b; ./use; bash -c 'cat /tmp/a'",
    ],
)  # fmt: skip
def test_a_line_that_stays_tells_where_the_names_are_that_were_led_before(command: str) -> None:
    decision = said(command, f"{S}/a")
    assert (decision.rewritten, decision.places) == (None, {"/tmp/a": f"{S}/a"})
    assert said(command, f"{S}/a", "/tmp/a").places == {}, "what is there is meant"
    assert said(command).places == {}


def test_a_line_that_is_led_tells_of_those_that_stay_too() -> None:
    decision = said("date > /tmp/b; echo 'as in /tmp/a'", f"{S}/a")
    assert decision.rewritten == f"date > {S}/b; echo 'as in /tmp/a'"
    assert decision.places == {"/tmp/a": f"{S}/a", "/tmp/b": f"{S}/b"}


def test_a_long_text_with_many_names_is_not_looked_up_without_end() -> None:
    looks: list[str] = []

    def look(path: str) -> tuple[str, bool]:
        looks.append(path)
        return path.rpartition("/")[0], False

    said("cat <<'E'\n" + "".join(f"/tmp/n{at}\n" for at in range(5000)) + "E", look=look)
    assert len(looks) < 100


def test_in_tmp_itself_nothing_is_led() -> None:
    assert said("date > a; cat /tmp/a", cwd="/tmp").rewritten is None
    assert said("date > /tmp/a", cwd="/tmp/old", project="/tmp/old").rewritten is None


def test_a_variable_that_the_shell_has_exported_is_one_that_programs_inherit() -> None:
    assert said("F=/tmp/a; date > $F", environ={b"F": b"x"}).rewritten is None
    assert said("F=/tmp/a; date > $F", environ={b"G": b"x"}).rewritten == f"F={S}/a; date > $F"


def test_a_scratch_with_blanks_is_quoted() -> None:
    assert said("c > /tmp/a", scratch="/tmp/s b").rewritten == "c > '/tmp/s b'/a"
    assert said('c > "/tmp/a"', scratch="/tmp/s b").rewritten == 'c > "/tmp/s b/a"'


def test_by_default_nothing_is_led() -> None:
    rules = load((), preset="sandbox").rules
    assert (rules.owns, rules.redirect_tmp) == (True, False)
    assert (RULES.owns, RULES.redirect_tmp) == (True, True)
    assert load(()).rules.redirect_tmp is False
    assert [rule.label for rule in RULES.rules] == [rule.label for rule in rules.rules]


FORMS = ("/tmp/{}", "'/tmp/{}'", '"/tmp/{}"', "/tmp/'{}'", "/t'm'p/{}", '"/tmp"/{}', "//tmp/{}", "\\/tmp/{}")
PLACES = ("c > {}", "date >> {}", "cp a {}", "( date > {} )", "x=$(c > {})", "touch {}", "tee {} < f", "mkdir -p {}/y")
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


@examples(150)
@given(TEXTS)
def test_a_led_line_has_nothing_left_to_lead(command: str) -> None:
    once = said(command).rewritten
    if once is not None:
        assert said(once).rewritten is None
        assert once.count("\n") == command.count("\n")


def test_bash_gets_the_same_words_but_for_the_root(tmp_path: Path) -> None:
    lines = [
        f"c1 'q  s' > {form.format(name)}; cat {form.format(name)} \"a\"; touch {form.format('z')}"
        for form in FORMS
        for name in ("x", "a-b")
    ]
    after = [said(line).rewritten for line in lines]
    assert None not in after
    jail = Jail(tmp_path / "jail")
    (jail.root / "tmp" / "agent-s1").mkdir()
    ran = jail.run([*lines, *[line or "" for line in after]])
    for before, now in zip(ran[: len(lines)], ran[len(lines) :], strict=True):
        assert now.argv == [[_led(word) for word in argv] for argv in before.argv]


def _led(word: str) -> str:
    return word.replace("//tmp", "/tmp").replace("/tmp", S, 1) if "tmp/" in word else word
