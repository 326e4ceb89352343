"""The first look says "pass", and only where the full evaluation says nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.first_look import is_nothing
from tmpwarden.guard.programs.known import NAMES as KNOWN
from tmpwarden.guard.rules.compiling import first_table
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.guard.rules.verify import verify
from tmpwarden.model.hot import ToolCall

CASES = Path(__file__).parent / "cases"
RULES = load((), preset="sandbox").rules
TABLE = json.loads(json.dumps(first_table(RULES)))
ORDINARY = [
    "ls -la",
    "git status && npm test",
    "cat a | head",
    'grep -rn "def main" src | head -20',
    "git log --oneline -5; git diff --stat",
    "pwd\nls src\n",
    "wc -l *.py",
    "cargo test && cargo clippy",
    "go test ./...",
    "pytest -q tests/x -k 'a and b'",
    "echo done",
]


def is_silent(command: str, rules: Rules = RULES, cwd: str = "/home/u/proj") -> bool:
    """What the full evaluation says of it: pass, and nothing rewritten."""
    context = context_with(
        scratch="/tmp/agent-s1", project="/home/u/proj", cwd=cwd, home="/home/u", uid=1000, look=look
    )
    decision = evaluate(ToolCall("claude", "shell", command=command, cwd=cwd), rules, context)
    return decision.verdict == "pass" and decision.rewritten is None


@pytest.mark.parametrize("command", ORDINARY)
def test_most_calls_end_at_the_first_look(command: str) -> None:
    assert is_nothing(command, TABLE)


def corpus() -> list[str]:
    found = []
    for name in ("bash_oracle.jsonl", "redirect.jsonl"):
        rows = [json.loads(line) for line in (CASES / name).read_text().splitlines()]
        found += [row.get("command") or row["script"] for row in rows]
    for name in ("verdicts.tsv", "rewrites.tsv"):
        found += [line.partition("\t")[2] for line in (CASES / name).read_text().splitlines() if "\t" in line]
    return found + (CASES / "never_allowed.txt").read_text().splitlines()


def test_over_all_corpora_it_says_nothing_that_the_full_evaluation_does_not_say() -> None:
    commands = corpus()
    commands += [
        f"{left}{between}{right}" for left in ORDINARY for right in commands[::7] for between in (" && ", " | ")
    ]
    quick = [command for command in commands if is_nothing(command, TABLE)]
    assert len(quick) > 100
    assert [command for command in quick if not (is_silent(command) and is_silent(command, cwd="/"))] == []


NAMES = st.sampled_from(sorted(TABLE["programs"])) | st.sampled_from(sorted(KNOWN))
OPTIONS = (
    "-o -O -i -w -c -e -f -n -C -x --output --out --outp --fix --write --exec --file --config -oX -rf -la -- - --prefix"
)
PLAIN = "a src/x ../y /etc/x /srv/y status log diff test build push run rm sh 'a b' \"x y\" \"-o\" '-rf x' 1 *"
WORDS = st.sampled_from([*str.split(OPTIONS), *PLAIN.split(" ")])
LINES = st.lists(st.tuples(NAMES, st.lists(WORDS, max_size=4)), min_size=1, max_size=3)


@given(
    LINES,
    st.sampled_from([" && ", "; ", " | ", "\n", " || ", " & ", ";; ", " |& "]),
    st.sampled_from(["/", "/home/u/proj"]),
)
def test_generated_lines_end_there_only_if_nothing_is_said(
    lines: list[tuple[str, list[str]]], between: str, cwd: str
) -> None:
    command = between.join(" ".join([name, *words]) for name, words in lines)
    if is_nothing(command, TABLE):
        assert is_silent(command, cwd=cwd), command


@pytest.mark.parametrize(
    "command",
    [
        *("ls > x", "ls /tmp", "ls $HOME", "ls `x`", "ls ~", "ls & rm x", "ls; ; ls", "ls &&", "| ls", "ls | ", "ls;;"),
        *(
            "cat <<E\nE",
            "A=1 ls",
            "sort -o x y",
            "sort '-o' x",
            'sort "-o" x',
            "git push",
            "git -C /x status",
            "cd src",
        ),
        *("l's' x\\\n", "\\ls", "ls #", "./ls", "npm publish", "pytest rm", "ls 'a", 'ls "$(x)"', "git log --output x"),
        *("pytest --cache-dir x", "mypy --cache_dir x", "go test --log-file x"),
    ],
)
def test_what_is_not_plain_is_left_to_the_full_evaluation(command: str) -> None:
    assert not is_nothing(command, TABLE)


def rules(tmp_path: Path, text: str) -> Rules:
    config = tmp_path / "config.toml"
    config.write_text(text)
    return load((str(config),)).rules


@pytest.mark.parametrize(
    "text",
    [
        '[guard]\ndefault = "ask"\n',
        '[guard]\nchecks = ["(ls|cat) .*"]\n',
        '[guard]\ndeny = ["* push"]\n',
        '[[guard.arguments]]\ncommand = "*"\nany_match = ["*.env"]\ndecision = "deny"\n',
        '[[guard.arguments]]\ncommand = "*"\nmode = "read"\nany_outside = ["@project"]\ndecision = "ask"\n',
    ],
)
def test_a_rule_that_could_speak_about_anything_switches_it_off_and_verify_says_so(tmp_path: Path, text: str) -> None:
    assert first_table(rules(tmp_path, text)) is None
    told = [str(mistake) for mistake in verify((str(tmp_path / "config.toml"),)).mistakes]
    assert any("every call is evaluated in full" in line for line in told) or "default" in text


def test_a_program_or_a_word_that_a_rule_names_is_not_for_the_first_look(tmp_path: Path) -> None:
    text = '[guard]\ndeny = ["git stat*"]\nask = ["npm test", "cat"]\nallow = ["ls"]\n'
    table = first_table(rules(tmp_path, text))
    assert table is not None
    assert [command for command in ("git status", "npm test", "cat a", "ls") if is_nothing(command, table)] == []
    assert is_nothing("git log", table) is False  # a pattern may mean any of its words
    assert is_nothing("npm ls && head a", table)
