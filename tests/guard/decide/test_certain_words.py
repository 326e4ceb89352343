"""A proven allow rests on words that bash, zsh and dash read alike: text, $NAME of a known value, and no more."""

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall

RULES = load((), preset="sandbox").rules
SCRATCH = "/tmp/agent-s1"

CERTAIN = [
    "rm -rf /tmp/agent-s1/x",
    "rm -rf '/tmp/agent-s1/a b'",
    'rm -rf "/tmp/agent-s1/a b"',
    "rm -rf $TMPDIR/x",
    "rm -rf ${TMPDIR}/x",
    'rm -rf "$TMPDIR"/x',
    'rm -rf "${TMPDIR}/x"',
    'D="$TMPDIR/d"; rm -rf "$D"/x',
    "rm -f $TMPDIR/*",
    "D=$TMPDIR/d && mkdir -p $D && rm -rf $D/x",
    r"rm -rf /tmp/agent-s1/a\ b",
    "rm -f $TMPDIR/*.o",
    "rm -f $TMPDIR/?.[ch]",
    "rm -rf $TMPDIR/'$V'",
    r"rm -rf $TMPDIR/\$V",
    "touch $TMPDIR/a=b",
    "touch $TMPDIR/a,b $TMPDIR/a:b $TMPDIR/a@b $TMPDIR/a+b $TMPDIR/a%b $TMPDIR/a-b",
    'touch "$TMPDIR/a~b^c#d"',
    "mkdir -p $TMPDIR/a && cd $TMPDIR/a && touch b",
]
UNCERTAIN = [
    # a dollar sign that starts nothing in bash
    "rm -rf $TMPDIR/$~V",
    "rm -rf $TMPDIR/$=V",
    "rm -rf $TMPDIR/$^V",
    "rm -rf $TMPDIR/$+V",
    "rm -rf $TMPDIR/$",
    "rm -rf $TMPDIR/a$",
    'rm -rf "$TMPDIR/$~V"',
    'rm -rf "$TMPDIR/$=V"',
    'rm -rf "$TMPDIR/$^V"',
    'rm -rf "$TMPDIR/a$"',
    "V=../../home; rm -rf $TMPDIR/$~V",
    "V='x /home/u'; rm -rf $TMPDIR/$=V",
    "V='x /home/u'; rm -rf $=V",
    "V='/home/*'; rm -rf $~V",
    "V=a; rm -rf $^V/x",
    "rm -rf $~TMPDIR/x",
    "rm -rf $=TMPDIR/x",
    "rm -rf $^TMPDIR/x",
    "rm -rf $^^TMPDIR",
    "rm -rf $~~TMPDIR/x",
    "rm -rf $==TMPDIR",
    # flags, modifiers, defaults, offsets
    "rm -rf ${TMPDIR:-/tmp}/x",
    "rm -rf ${TMPDIR%/}/x",
    "rm -rf ${TMPDIR:0:9}/x",
    "rm -rf ${TMPDIR/x/y}/x",
    "rm -rf ${TMPDIR:?}/x",
    "rm -rf $TMPDIR[1]/x",
    "rm -rf $TMPDIR:h/x",
    'rm -rf "$TMPDIR:h/x"',
    "rm -rf ${(e)TMPDIR}/x",
    "rm -rf ${~TMPDIR}/x",
    "rm -rf ${=TMPDIR}/x",
    "rm -rf ${^TMPDIR}/x",
    "rm -rf ${TMPDIR:h}/x",
    "rm -rf ${#TMPDIR}",
    "rm -rf ${!TMPDIR}",
    # what a shell splits or matches, and another takes as it is
    "D='/tmp/agent-s1/*'; rm -rf $D",
    "D='/tmp/agent-s1/[a]'; rm -rf $D",
    "D='/tmp/agent-s1/a b'; rm -rf $D",
    r"D='/tmp/agent-s1/\a'; rm -f $D",
    # marks of extended patterns, recursive ones, braces
    "rm -rf $TMPDIR/^x",
    "rm -rf $TMPDIR/x~y",
    "rm -rf $TMPDIR/x#",
    "rm -rf $TMPDIR/**/x",
    "rm -rf $TMPDIR/***/x",
    "rm -rf $TMPDIR/a**",
    "rm -rf $TMPDIR/{a,b}",
    "rm -rf {$TMPDIR/a,$TMPDIR/b}",
    "rm -rf $TMPDIR/{1..3}",
    "rm -f $TMPDIR/*~",
    "rm -rf $TMPDIR/*~a",
    # other substitutions, positions, numbers
    "rm -rf $TMPDIR/$1",
    "set -- a; rm -rf $TMPDIR/$1",
    "rm -rf $TMPDIR/$$",
    "rm -rf $TMPDIR/$RANDOM",
    "rm -rf $TMPDIR/$((1 + 1))",
    "rm -rf $TMPDIR/$(echo a)",
    "rm -rf $TMPDIR/`echo a`",
    "cd $TMPDIR && rm -rf $(pwd)/x",
    "rm -rf $TMPDIR/$(date +%s)",
    "rm -rf ~+/x",
    "cd $TMPDIR && rm -rf ~+/x",
    "rm -rf $TMPDIR/$?",
    "rm -rf $TMPDIR/$#",
    "rm -rf $TMPDIR/$!",
    "rm -rf $TMPDIR/$-",
    "rm -rf $'/tmp/agent-s1/x'",
    "IFS=/; rm -rf $TMPDIR/x",
    'rm -rf $"TMPDIR"/x',
    "rm -rf =x",
    "touch $TMPDIR/a =ls",
]


def verdict(command: str) -> str:
    context = context_with(
        scratch=SCRATCH, project="/home/u/proj", cwd="/home/u/proj", home="/home/u", uid=1000, look=look,
        variables={"TMPDIR": SCRATCH}, is_plain=lambda path, deep: True,
    )  # fmt: skip
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"), RULES, context).verdict


@pytest.mark.parametrize("command", CERTAIN)
def test_words_that_every_shell_reads_alike_earn_the_allow(command: str) -> None:
    assert verdict(command) == "allow"


@pytest.mark.parametrize("command", UNCERTAIN)
def test_any_other_word_costs_it(command: str) -> None:
    assert verdict(command) != "allow"
