"""The decoder: every complaint names file, line, row and key, and nothing makes it raise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from tmpwarden.catalogue.decode import decode
from tmpwarden.catalogue.names import complaint_about_name
from tmpwarden.catalogue.patterns import split_place

GOOD = """\
schema = 1
[agent]
id = "acme"
name = "Acme"
session_env = ["ACME_SESSION"]
registry = "acme-locks"
[[litter]]
id = "run"
in = "{tmp}"
name = "acme-run-(?P<pid>[0-9]+)"
kind = "dir"
tier = "auto"
worth = "some"
owner = "pid-in-name"
grace = "2m"
min_age = "2h"
max_age = "5d"
resume = true
checks = ["pid-in-name"]
beats = ["other", "claude.flat"]
fixed = "1.3"
verified = "1.2"
why = "one run"
seen = ["acme#1"]
matches = ["acme-run-12"]
spares = ["acme-run-"]
"""


def complaints(text: str, *, builtin: bool = False) -> tuple[str, ...]:
    agent, found = decode(text, "acme.toml", builtin=builtin)
    assert (agent is None) == bool(found)
    return found


def test_a_whole_row_is_read() -> None:
    agent, found = decode(GOOD, "acme.toml")
    assert found == () and agent is not None
    (row,) = agent.rows
    assert (agent.id, agent.session_env, agent.registry) == ("acme", ("ACME_SESSION",), "acme-locks")
    assert (row.key, row.grace_s, row.min_age_s, row.max_age_s) == ("acme.run", 120, 7200, 5 * 86400)
    assert (row.resume, row.beats, row.fixed) == (True, ("acme.other", "claude.flat"), "1.3")


def test_what_an_optional_key_does_not_say_is_none() -> None:
    agent, _ = decode(GOOD.replace('fixed = "1.3"\n', "").replace('registry = "acme-locks"\n', ""), "acme.toml")
    assert agent is not None
    assert agent.registry is None and agent.rows[0].fixed is None


BROKEN = [
    ("schema = 1", "schema = 2", "acme.toml:1: key schema: must be 1"),
    ('id = "acme"', 'id = "Acme!"', "acme.toml:3: key id: is made of small letters"),
    ('name = "Acme"', 'nom = "Acme"', "acme.toml:4: key nom: is not known in [agent]"),
    ('kind = "dir"', 'kind = "folder"', "acme.toml:11: row run, key kind: must be one of file, dir, socket, any"),
    ('kind = "dir"', "kind = 7", "acme.toml:11: row run, key kind: must be one of"),
    ('tier = "auto"', 'teir = "auto"', "acme.toml:12: row run, key teir: is not known in a row"),
    ('in = "{tmp}"', 'in = "/tmp"', "acme.toml:9: row run, key in: must start with one of {tmp}"),
    ('in = "{tmp}"', 'in = "{tmp}/../x"', "acme.toml:9: row run, key in: is a path of plain names"),
    ('in = "{tmp}"', 'in = "{tmp}/{home}"', "acme.toml:9: row run, key in: knows only {uid}"),
    ('grace = "2m"', 'grace = "soon"', "acme.toml:15: row run, key grace: soon is not a duration"),
    ('grace = "2m"', "grace = 120", "acme.toml:15: row run, key grace: a duration needs a number and a unit"),
    ('grace = "2m"', 'grace = "5s"', "acme.toml:15: row run, key grace: a drop-in cannot be lower than 1m"),
    ('max_age = "5d"', 'max_age = "1h"', "acme.toml:17: row run, key max_age: a drop-in cannot be lower than 3d"),
    ("resume = true", 'resume = "yes"', "acme.toml:18: row run, key resume: must be true or false"),
    ('checks = ["pid-in-name"]', 'checks = ["magic"]', "row run, key checks: 'magic' is not one of"),
    ('verified = "1.2"\n', "", "row run, key verified: a row of tier auto needs it"),
    ('fixed = "1.3"', 'git = "precious"', 'row run, key git: can only be "disposable"'),
    ('fixed = "1.3"', 'git = "disposable"', "row run, key git: only built-in rows"),
    ('fixed = "1.3"', "max_bytes = 10", "row run, key max_bytes: is for rows of kind file"),
    ('fixed = "1.3"', "max_bytes = -1", "row run, key max_bytes: "),
    ('seen = ["acme#1"]', "seen = []", "row run, key seen: needs at least one"),
    ('matches = ["acme-run-12"]', 'matches = ["acme-walk"]', "key matches: 'acme-walk' is not matched by name"),
    ('spares = ["acme-run-"]', 'spares = ["acme-run-7"]', "key spares: 'acme-run-7' is matched by name"),
    ("(?P<pid>[0-9]+)", "[0-9]+", "row run, key owner: pid-in-name needs a group (?P<pid>...)"),
    ("(?P<pid>[0-9]+)", "(?P<who>[0-9]+)", "row run, key name: has a group called 'who'"),
    ("acme-run-(?P<pid>[0-9]+)", "(?P<pid>.+)", "row run, key name: is too wide for a directory that everybody"),
    ("(?P<pid>[0-9]+)", "(?P<pid>[0-9]+", "row run, key name: is not a regular expression"),
]


@pytest.mark.parametrize(("before", "after", "said"), BROKEN)
def test_a_complaint_names_file_line_row_and_key(before: str, after: str, said: str) -> None:
    found = complaints(GOOD.replace(before, after, 1))
    assert any(said in sentence for sentence in found), found


def test_toml_that_does_not_parse_is_named_by_line() -> None:
    assert complaints("schema = 1\n[agent\n")[0].startswith("acme.toml:2: not TOML: ")


def test_two_rows_of_one_name_are_refused() -> None:
    row = GOOD[GOOD.index("[[litter]]") :]
    assert any("'run' is taken" in sentence for sentence in complaints(GOOD + row))


def test_an_empty_file_is_no_agent_and_no_complaint() -> None:
    assert decode("# nothing\n", "acme.toml") == (None, ())


def test_a_built_in_row_goes_below_the_defaults_only_when_it_is_worth_nothing() -> None:
    young = GOOD.replace('max_age = "5d"', 'max_age = "60s"')
    assert any("worth something" in sentence for sentence in complaints(young, builtin=True))
    assert complaints(young.replace('worth = "some"', 'worth = "none"'), builtin=True) == ()
    assert complaints(young.replace('worth = "some"', 'worth = "none"')) != ()


@pytest.mark.parametrize(
    "pattern",
    [
        "x(a+)+",
        "x(a*)*b",
        "x(?:a|b+){2,}",
        "x(.*)+y",
        "(a)x\\1",
        "x" * 1001,
        "xa*b*c*d*",
        "x(?:a|a)*b",
        "x(?:ab|a)*c",
        "x(?:a|)*b",
    ],
)
def test_a_pattern_that_can_take_forever_is_refused(pattern: str) -> None:
    assert complaint_about_name(pattern, shared=False) is not None


@pytest.mark.parametrize(
    "pattern", ["claude-[0-9a-f]{4}-cwd", "a(?:b|c+)d", "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}", "a+b+c+"]
)
def test_a_plain_pattern_is_accepted(pattern: str) -> None:
    assert complaint_about_name(pattern, shared=True) is None


@pytest.mark.parametrize("pattern", ["^claude", "\\Aclaude", "", "a?"])
def test_anchors_and_the_empty_name_are_refused(pattern: str) -> None:
    assert complaint_about_name(pattern, shared=False) is not None


@given(st.text(alphabet="abc01.\\[](){}|?*+^$-<>P:=!,", max_size=20))
def test_no_pattern_makes_the_checker_raise(pattern: str) -> None:
    complaint_about_name(pattern, shared=True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["id", "in", "name", "kind", "tier", "worth", "owner", "grace", "max_age", "resume", "checks", "max_bytes"]
KEYS += ["beats", "git", "fixed", "verified", "why", "seen", "matches", "spares"]


@examples(150)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8), VALUES, VALUES)
def test_the_decoder_never_raises(row: dict[str, object], agent: object, schema: object) -> None:
    text = f"schema = {toml(schema)}\nagent = {toml(agent)}\nlitter = [{toml(row)}]\n"
    decode(text, "x.toml")
    decode(text, "x.toml", builtin=True)


@examples(100)
@given(st.text(max_size=200))
def test_text_that_is_no_toml_is_a_complaint(text: str) -> None:
    agent, found = decode(text, "x.toml")
    assert agent is None and (found or not text.strip() or text.lstrip().startswith("#"))


@given(st.text(max_size=30))
def test_a_place_is_split_or_refused_with_a_sentence(place: str) -> None:
    try:
        base, parts = split_place(place)
    except ValueError as refused:
        assert str(refused)
    else:
        assert "/".join((f"{{{base}}}", *parts)) == place


def toml(value: object) -> str:
    """Any value as TOML, nearly: None is an empty string."""
    if value is None:
        return '""'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)
