"""config.toml as a file: the sample, the schema, one key set and no other byte changed, edited and checked first."""

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import answer, data, tmpwarden
from support.terminal import on_a_terminal
from tmpwarden.catalogue.keys import KEYS, TABLES
from tmpwarden.catalogue.sample import CannotEdit, sample, schema, toml_text, with_key, without_key
from tmpwarden.catalogue.settings import Settings, load_settings

_WRONG = {"flag": '"yes"', "age": '"5 days"', "share": '"high"', "size": '"big"', "word": '"never"',
          "words": '["never"]', "paths": '["not/absolute"]', "patterns": '["a/b"]', "argv": "[]"}  # fmt: skip


@pytest.fixture
def config(own_world: Path) -> Path:
    return own_world / "config" / "tmpwarden" / "config.toml"


def uncommented() -> str:
    return re.sub(r"(?m)^# (\w+ = )", r"\1", sample(Settings()).partition("# [guard]")[0])


def test_every_key_has_a_table_and_every_table_a_key() -> None:
    assert list(TABLES) == list(dict.fromkeys(name.partition(".")[0] for name in KEYS))


def test_the_sample_is_toml_that_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(sample(Settings()))
    loaded = load_settings(str(tmp_path / "config.toml"))
    assert (loaded.warnings, loaded.origins) == ((), {})


def test_the_sample_shows_every_key_with_its_default(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(uncommented())
    loaded, default = load_settings(str(tmp_path / "config.toml")), Settings()
    assert loaded.origins.keys() == KEYS.keys()
    for key in KEYS.values():
        if not key.example:
            assert getattr(loaded, key.field) == getattr(default, key.field), key.field


def _fits(rule: dict[str, Any], value: object) -> bool:
    """As much of JSON schema as ours uses."""
    if "anyOf" in rule:
        return any(_fits(each, value) for each in rule["anyOf"])
    if "const" in rule:
        return bool(value == rule["const"])
    kinds = {"boolean": bool, "string": str, "array": list, None: object}
    if not isinstance(value, kinds[rule.get("type")]):
        return False
    if isinstance(value, list):
        return len(value) >= rule.get("minItems", 0) and all(_fits(rule["items"], each) for each in value)
    if "enum" in rule:
        return value in rule["enum"]
    return not isinstance(value, str) or (
        len(value) >= rule.get("minLength", 0) and re.search(str(rule.get("pattern", "")), value) is not None
    )


@pytest.mark.parametrize("name", KEYS)
def test_the_schema_takes_what_the_reader_takes_and_refuses_what_it_refuses(name: str) -> None:
    table, _, word = name.partition(".")
    key, rule = KEYS[name], json.loads(schema())["properties"][table]["properties"][word]
    good = tomllib.loads(uncommented())[table][word]
    bad = tomllib.loads(f"value = {_WRONG[key.shape]}")["value"]
    key.decode(good)
    assert _fits(rule, good)
    with pytest.raises(ValueError, match=r"must be|is not"):
        key.decode(bad)
    assert not _fits(rule, bad)


def test_init_writes_the_sample_and_the_schema_once(config: Path) -> None:
    assert data("config", "init")["path"] == str(config)
    assert config.read_text() == sample(Settings())
    assert (config.stat().st_mode & 0o777, json.loads((config.parent / "config.schema.json").read_text())["type"]) == (
        0o600,
        "object",
    )
    status, said = answer("config", "init")
    assert (status, said["error"]["code"]) == (6, "already-there")


def test_set_changes_its_line_and_no_other_byte(config: Path) -> None:
    data("config", "init")
    before = config.read_text()
    data("config", "set", "pressure.high", "90%")
    assert config.read_text() == before.replace('# high = "80%"\n', '# high = "80%"\nhigh = "90%"\n')
    assert load_settings().pressure_high_percent == 90
    data("config", "set", "pressure.high", "--unset")
    assert config.read_text() == before


def test_comments_line_ends_links_and_modes_survive_a_set(config: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    head, tail = (
        b"# mine\r\n[periodic]\r\n  every",
        b'   # as the admin said # so\r\n\r\n[guard]\r\ndeny = ["x"]\r\n',
    )
    real.write_bytes(head + b'   = "1h"' + tail)
    real.chmod(0o640)
    config.parent.mkdir()
    config.symlink_to(real)
    data("config", "set", "periodic.every", "2h")
    assert real.read_bytes() == head + b' = "2h"' + tail
    assert (config.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)


@pytest.mark.parametrize(
    "args",
    [("pressure.hgh", "90%"), ("pressure.high", "900%"), ("pressure.high",), ("pressure.high", "1%", "2%"),
     ("periodic.enabled", "maybe"), ("guard.deny", "rm"), ("periodic.every", "5s")],
)  # fmt: skip
def test_a_value_that_cannot_be_meant_is_refused_and_nothing_written(args: tuple[str, ...], config: Path) -> None:
    assert answer("config", "set", *args)[0] == 3
    assert not config.exists()


@pytest.mark.parametrize("text", ["keep = { paths = [] }\n", 'keep.paths = ["/x"]\n', "[keep\n"])
def test_what_only_a_person_should_change_is_left_with_the_line_to_write(text: str, config: Path) -> None:
    config.parent.mkdir()
    config.write_text(text)
    status, said = answer("config", "set", "keep.paths", "/a")
    assert (status, config.read_text()) == (3, text)
    assert "config edit" in said["error"]["suggestion"]


_VALUES = st.one_of(st.booleans(), st.text(max_size=8), st.lists(st.text(max_size=4), max_size=3))


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), _VALUES, max_size=3)), _VALUES)
def test_any_document_with_one_key_set_is_that_document_with_that_key(
    document: dict[str, dict[str, object]], value: object
) -> None:
    key = KEYS["rescue.patterns"]
    lines = [f"[{table}]\n" + "".join(f"{k} = {toml_text(key, v)}\n" for k, v in content.items())
             for table, content in document.items()]  # fmt: skip
    text = "# a\n".join(lines)
    new = with_key(text, "b", "x", toml_text(key, value))
    assert tomllib.loads(new) == {**document, "b": {**document.get("b", {}), "x": value}}
    gone = without_key(new, "b", "x")
    assert "x" not in tomllib.loads(gone)["b"]


def test_a_multi_line_list_is_replaced_whole() -> None:
    text = '[keep]\npaths = [\n  "/a", # why\n  "/b",\n]\n# end\n[periodic]\nenabled = true\n'
    assert with_key(text, "keep", "paths", '["/c"]') == '[keep]\npaths = ["/c"]\n# end\n[periodic]\nenabled = true\n'
    with pytest.raises(CannotEdit):
        with_key('a = """\n[keep]\n"""\n', "keep", "paths", '["/c"]')


def _edited(answer: str, script: str, config: Path) -> tuple[int, str]:
    env = {**os.environ, "EDITOR": shlex.join([sys.executable, "-c", script])}
    return on_a_terminal([sys.executable, "-m", "tmpwarden", "config", "edit"], answer=answer, env=env, columns=200)


def test_an_edit_with_a_mistake_changes_nothing_unless_it_is_mended(config: Path) -> None:
    data("config", "set", "periodic.every", "2h")
    before = config.read_text()
    status, said = _edited("n", 'import sys; open(sys.argv[1], "a").write("[periodic2]\\n")', config)
    assert (status, config.read_text()) == (3, before)
    assert "is not a known table" in said
    assert os.listdir(config.parent) == ["config.toml"]
    status, said = _edited("", 'import sys; open(sys.argv[1], "a").write("[pressure]\\n")', config)
    assert (status, config.read_text()) == (0, before + "[pressure]\n")


def test_edit_without_a_terminal_says_what_to_do_instead() -> None:
    result = tmpwarden("config", "edit")
    assert result.returncode == 4
    assert "config set" in result.stderr
