"""Every row of the table of programs, with every option of it, in every way to write it."""

import pytest

from support.empty_disk import look
from tmpwarden.guard.context import Context
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.programs import rows, running, table
from tmpwarden.guard.programs.table import names_of_all, program
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall

RULES = load((), preset="sandbox").rules
VALUED = ":<>/"
WRAPPERS = [name for name in names_of_all() if "runs" in program(name).facets]
SPECS = {name: program(name).arguments for name in names_of_all() if program(name).arguments and name not in WRAPPERS}


def said(command: str) -> str:
    context = Context(scratch="/s", project="/p", cwd="/p", home="/h", uid=1000, look=look)
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), RULES, context).verdict


def forms(options: str) -> list[str]:
    """The options of a row, one at a time: apart, glued, with = and cut short."""
    words = options.split()
    shorts = words.pop(0) if words and words[0][1:2] in (*VALUED, "$", "?") else ""
    found = [""]
    for letter, kind in zip(shorts[0::2], shorts[1::2], strict=True):
        found += [f"-{letter} 1", f"-{letter}1"] if kind in VALUED else []
    for word in words:
        found += [f"--{word[:-1]} 1", f"--{word[:-1]}=1", f"--{word[:-2]}=1"] if word[-1] in VALUED else []
    return found


@pytest.mark.parametrize("name", WRAPPERS)
def test_what_a_wrapper_runs_is_judged_behind_all_its_options(name: str) -> None:
    plain, options = program(name).facets["runs"], program(name).arguments.partition(" ")[2]
    before = " ".join("1" for kind in plain if kind in ":>")
    run = "'rm -rf /etc/x'" if plain.endswith("&") else "rm -rf /etc/x"
    lines = [" ".join(filter(None, (name.replace(":", " "), form, before, run))) for form in forms(options)]
    assert [line for line in lines if said(line) != "ask"] == []


@pytest.mark.parametrize("name", [name for name in WRAPPERS if name != "runuser"])  # that needs a user
def test_a_wrapper_by_itself_is_no_reason_to_ask(name: str) -> None:
    plain = program(name).facets["runs"]
    before = " ".join("1" for kind in plain if kind in ":>")
    assert said(" ".join(filter(None, (name.replace(":", " "), before, "ls")))) == "pass"


def test_a_program_has_one_row() -> None:
    heads = [row.partition("|")[0].split() for row in (rows.ROWS + "\n" + running.ROWS).split("\n")]
    names = [name for head in heads for name in head]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_every_facet_is_one_that_the_table_explains() -> None:
    assert table.__doc__ is not None
    explained = set(table.__doc__.replace("=", " ").split())
    assert {facet for name in names_of_all() for facet in program(name).facets} <= explained
    owners = {name.partition(":")[0] for name in names_of_all() if ":" in name[1:]}
    assert [name for name in owners if not {"runner", "code"} & program(name).facets.keys()] == []


def written(spec: str) -> list[str]:
    """The options of a row whose value is written."""
    words = spec.split(" ")[1:]
    shorts = words.pop(0) if words and words[0][1:2] in (*VALUED, "=", "^", "!", "@", "$", "?") else ""
    found = []
    for letter, kind in zip(shorts[0::2], shorts[1::2], strict=True):
        found += [f"-{letter} /etc/x", f"-{letter}/etc/x"] if kind in ">^" else []
    for word in words:
        if word[-1] not in ">^":
            continue
        dashes = "" if word.startswith("-") else "--"
        found += [f"{dashes}{word[:-1]} /etc/x", f"{dashes}{word[:-1]}=/etc/x"]
        is_unique = sum(other.startswith(word[:-2]) for other in words) == 1
        found += [f"{dashes}{word[:-2]}=/etc/x"] if is_unique else []
    return found


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if written(spec)])
def test_an_option_that_is_written_is_asked_about_in_every_spelling(name: str) -> None:
    first = {"tar": "-x", "gtar": "-x", "bsdtar": "-x"}.get(name, "")
    lines = [" ".join(filter(None, (name, first, form, "a"))) for form in written(SPECS[name])]
    assert [line for line in lines if said(line) != "ask"] == []


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec[0] in "DCWPML"])
def test_a_plain_argument_that_is_written_is_asked_about(name: str) -> None:
    assert said(f"{name} a /etc/x") == "ask"
    assert said(f"{name} a b") in ("pass", "allow")
