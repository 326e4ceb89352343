"""A user's `command = "*"` speaks for programs that have a row, whose options it names, told nothing by variables."""

from pathlib import Path

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.model.hot import ToolCall

SCRATCH = "/tmp/agent-s1"
CONFIG = '[[guard.arguments]]\ncommand = "*"\nall_inside = ["@scratch"]\ndecision = "allow"\n'

# each makes or runs something elsewhere, though every path that it names lies inside
HELD_BACK = [
    "zip -TT 'touch /srv/x' -T $TMPDIR/a.zip $TMPDIR/a",
    "zip -b /srv $TMPDIR/a.zip $TMPDIR/a",
    "zip -T $TMPDIR/a.zip $TMPDIR/a",
    "split --filter='touch /srv/x' $TMPDIR/a $TMPDIR/b",
    "split -b 1 $TMPDIR/a $TMPDIR/b",
    "node --import data:text/javascript,x $TMPDIR/a.js",
    "node $TMPDIR/a.js",
    "python3 -X pycache_prefix=/srv $TMPDIR/a.py",
    "python3 $TMPDIR/a.py",
    "sqlite3 file:/srv/x $TMPDIR/a",
    "sqlite3 $TMPDIR/a .quit",
    "LESSCLOSE='touch /srv/x' less $TMPDIR/a",
    "LESSOPEN='|touch /srv/x' less $TMPDIR/a",
    "GIT_TRACE=/srv/x git log $TMPDIR/a",
    "TAR_OPTIONS=--to-command=x tar xf $TMPDIR/a.tar",
    "TAR_OPTIONS=-C/srv tar xf $TMPDIR/a.tar",
    "export LESSCLOSE=x; less $TMPDIR/a",
    "tar xf $TMPDIR/a.tar -C $TMPDIR",
    "tar cf $TMPDIR/a.tar $TMPDIR/a",
    "sort --compress-program=x $TMPDIR/a",
    "sort -T /srv $TMPDIR/a",
    "sed -n '1w /srv/x' $TMPDIR/a",
    "awk 'BEGIN { system(\"x\") }' $TMPDIR/a",
    "perl $TMPDIR/a.pl",
    "ruby $TMPDIR/a.rb",
    "make -f $TMPDIR/Makefile",
    "find $TMPDIR -fprintf /srv/x a",
    "rsync -e 'sh -c x' $TMPDIR/a $TMPDIR/b",
    "rsync --rsync-path=x $TMPDIR/a $TMPDIR/b",
    "curl -o $TMPDIR/a file:///x",
    "wget -P $TMPDIR http://x",
    "ssh $TMPDIR/a",
    "vim $TMPDIR/a",
    "ed $TMPDIR/a",
    "patch $TMPDIR/a",
    "gcc -wrapper x $TMPDIR/a.c",
    "nosuch $TMPDIR/a",
    "./tool $TMPDIR/a",
    "gzip -S /../../x $TMPDIR/a",
    "GZIP=-S.x gzip $TMPDIR/a",
    "sh $TMPDIR/a",
    "bash $TMPDIR/a",
    "env sh $TMPDIR/a",
    "xargs -a $TMPDIR/a rm",
    "flock $TMPDIR/a x",
    "script $TMPDIR/a",
    "ln --suffix=/../../x -b $TMPDIR/a $TMPDIR/b",
    "cp --parents $TMPDIR/a $TMPDIR/b",
    "rmdir -p $TMPDIR/a",
    "mv -b $TMPDIR/a $TMPDIR/b",
    "PAGER=x less $TMPDIR/a",
    "npm --prefix $TMPDIR i",
    "cargo build --target-dir $TMPDIR/t",
    "java -jar $TMPDIR/a.jar",
]
ALLOWED = [
    "rm -rf $TMPDIR/a",
    "cp -r $TMPDIR/a $TMPDIR/b",
    "mv $TMPDIR/a $TMPDIR/b",
    "mkdir -p $TMPDIR/a",
    "truncate -s 0 $TMPDIR/a",
    "cat $TMPDIR/a",
    "shred -n 3 $TMPDIR/a",
    "head -n 3 $TMPDIR/a",
    "cat $TMPDIR/a > $TMPDIR/b",
    "unlink $TMPDIR/a",
]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Rules:
    path: Path = tmp_path_factory.mktemp("any") / "config.toml"
    path.write_text(CONFIG)
    return load((str(path),)).rules


def verdict(command: str, rules: Rules, environ: dict[bytes, bytes] | None = None) -> str:
    context = context_with(
        scratch=SCRATCH, project="/home/u/proj", cwd="/home/u/proj", home="/home/u", uid=1000, look=look,
        variables={"TMPDIR": SCRATCH}, is_plain=lambda path, deep: True, environ=environ,
    )  # fmt: skip
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"), rules, context).verdict


@pytest.mark.parametrize("command", HELD_BACK)
def test_more_than_a_path_costs_the_allow(command: str, rules: Rules) -> None:
    assert verdict(command, rules) != "allow"


@pytest.mark.parametrize("command", ALLOWED)
def test_a_program_whose_options_are_all_known_is_allowed(command: str, rules: Rules) -> None:
    assert verdict(command, rules) == "allow"


def test_a_variable_of_the_programs_name_in_the_environment_costs_it(rules: Rules) -> None:
    assert verdict("truncate -s 0 $TMPDIR/a", rules, {b"PATH": b"/bin", b"TRUNCATE_X": b"1"}) != "allow"
    assert verdict("truncate -s 0 $TMPDIR/a", rules, {b"PATH": b"/bin", b"LESS": b"1"}) == "allow"
