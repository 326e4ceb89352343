"""Every row of the table of programs, with every option of it, in every way to write it."""

import re
from pathlib import Path

import pytest

from programs import FACETS, OPTIONS, PLAIN, rows
from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.programs import table
from tmpwarden.guard.programs.known import NAMES
from tmpwarden.guard.programs.table import Program, program
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall

RULES = load((), preset="sandbox").rules
VALUED = ("text", "path_read", "path_written", "path_entered")
WRITTEN = ("deleted", "created", "written", "copied", "moved", "linked")
WRAPPERS = [name for name in NAMES if "runs" in program(name).facets]
OTHERS = [name for name in NAMES if program(name).plain and name not in WRAPPERS]


def said(command: str) -> str:
    context = context_with(scratch="/s", project="/p", cwd="/p", home="/h", uid=1000, look=look)
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), RULES, context).verdict


def forms(known: Program) -> list[str]:
    """The options of a row that take a value, one at a time: apart, glued, with = and cut short."""
    found = [""]
    for letter, kind in known.shorts.items():
        found += [f"-{letter} 1", f"-{letter}1"] if kind in VALUED else []
    for name, kind in known.longs.items():
        found += [f"--{name} 1", f"--{name}=1", f"--{name[:-1]}=1"] if kind in VALUED else []
    return found


def in_front(known: Program) -> str:
    return " ".join("1" for _ in known.values("before"))


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_a_wrapper_runs_is_judged_behind_all_its_options(name: str) -> None:
    known = program(name)
    run = "'rm -rf /etc/x'" if known.text("runs") == "each" else "rm -rf /etc/x"
    lines = [" ".join(filter(None, (name.replace(":", " "), form, in_front(known), run))) for form in forms(known)]
    assert [line for line in lines if said(line) != "ask"] == []


@pytest.mark.parametrize("name", [name for name in WRAPPERS if name != "runuser"])  # that needs a user
def test_a_wrapper_by_itself_is_no_reason_to_ask(name: str) -> None:
    assert said(" ".join(filter(None, (name.replace(":", " "), in_front(program(name)), "ls")))) == "pass"


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ('names = ["a", "a"]', "a.toml: a has a row already"),
        ('names = ["a"]\nplain = "eaten"', "a.toml: a: plain = 'eaten' is not one of deleted, "),
        ('names = ["a"]\noptions.paths = ["o"]', "a.toml: a: options.paths is not one of path_written, "),
        ('names = ["a"]\noptions.path = ["o"]\noptions.text = ["o"]', "a.toml: a: option o is named twice"),
        ('names = ["a"]\nchange = true', "a.toml: a: change is no key of a program"),
        ('names = ["a"]\nvalued = [1]', "a.toml: a: valued is true, a text or a list of texts"),
    ],
)
def test_a_mistake_in_a_row_is_told_with_its_file_and_name(tmp_path: Path, row: str, complaint: str) -> None:
    (tmp_path / "a.toml").write_text(f"[[program]]\n{row}\n")
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}"):
        rows(tmp_path)


def test_every_key_of_a_row_is_explained() -> None:
    assert table.__doc__ is not None
    assert {*PLAIN, *OPTIONS, *FACETS} <= {word.strip(",;:`") for word in table.__doc__.split()}
    assert table.OPTION_KINDS == OPTIONS


def test_a_subcommand_has_a_program_that_looks_for_it() -> None:
    owners = {name.partition(":")[0] for name in NAMES if ":" in name[1:]} - {"git", "gh", "tmux"}  # by their own code
    assert [name for name in owners if not {"runner", "code", "remote"} & program(name).facets.keys()] == []


def written(known: Program) -> list[str]:
    """The options of a row whose value is written."""
    found = []
    for letter, kind in known.shorts.items():
        found += [f"-{letter} /etc/x", f"-{letter}/etc/x"] if kind in ("path_written", "path_into") else []
    for name, kind in known.longs.items():
        if kind not in ("path_written", "path_into"):
            continue
        dashes = "" if name.startswith("-") else "--"
        found += [f"{dashes}{name} /etc/x", f"{dashes}{name}=/etc/x"]
        is_unique = sum(other.startswith(name[:-1]) for other in known.longs) == 1
        found += [f"{dashes}{name[:-1]}=/etc/x"] if is_unique else []
    return found


@pytest.mark.parametrize("name", [name for name in OTHERS if written(program(name))])
def test_an_option_that_is_written_is_asked_about_in_every_spelling(name: str) -> None:
    first = {"tar": "-x", "gtar": "-x", "bsdtar": "-x"}.get(name, "")
    lines = [" ".join(filter(None, (name, first, form, "a"))) for form in written(program(name))]
    assert [line for line in lines if said(line) != "ask"] == []


@pytest.mark.parametrize("name", [name for name in OTHERS if program(name).plain in WRITTEN])
def test_a_plain_argument_that_is_written_is_asked_about(name: str) -> None:
    assert said(f"{name} a /etc/x") == "ask"
    assert said(f"{name} a b") in ("pass", "allow")
