"""config.toml: each value with its origin, each mistake with its line."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from support.examples import examples
from tmpwarden.catalogue import policy
from tmpwarden.catalogue.settings import Settings, load_settings
from tmpwarden.errors import BadConfig


@pytest.fixture
def config(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(policy, "SYSTEM", str(own_world / "etc.toml"))
    directory = own_world / "config" / "tmpwarden"
    directory.mkdir()
    return directory / "config.toml"


def test_without_a_file_all_is_default(config: Path) -> None:
    found = load_settings()
    assert found == Settings()
    assert {origin for _, _, origin in found.effective()} == {"default"}


def test_every_key_is_read_and_tells_its_line(config: Path) -> None:
    config.write_text(
        '[keep]\npaths = ["/data", "~/x"]\n[periodic]\nenabled = false\nevery = "2h"\nmax_age = "5d"\n'
        '[teardown]\nenabled = false\n[automatic]\nmax = "10%"\n[pressure]\nhigh = "90%"\nlow = "70%"\n'
        '[quarantine]\nkeep = "7d"\n[rows."claude.cwd-marker"]\nmax_age = "2h"\n'
    )
    found = load_settings()
    assert found.warnings == ()
    assert found.keep_paths == ("/data", str(Path("~/x").expanduser()))
    assert (found.periodic_enabled, found.periodic_every_s, found.periodic_max_age_s) == (False, 7200, 5 * 86400)
    assert (found.teardown_enabled, found.automatic_max_percent) == (False, 10)
    assert (found.pressure_high_percent, found.pressure_low_percent, found.quarantine_s) == (90, 70, 7 * 86400)
    assert found.rows["claude.cwd-marker"].ages_s == (("max_age", 7200),)
    assert found.origin("periodic.every") == f"{config}:5"
    assert found.rows["claude.cwd-marker"].origin == f"{config}:16"


def test_the_users_file_wins_and_lists_are_joined(config: Path, own_world: Path) -> None:
    (own_world / "etc.toml").write_text('[keep]\npaths = ["/a"]\n[periodic]\nevery = "3h"\nenabled = false\n')
    config.write_text('[keep]\npaths = ["/b"]\n[periodic]\nevery = "4h"\n')
    found = load_settings()
    assert (found.keep_paths, found.periodic_every_s, found.periodic_enabled) == (("/a", "/b"), 4 * 3600, False)
    assert found.files == (str(own_world / "etc.toml"), str(config))


def test_unknown_keys_and_tables_are_told_with_their_line(config: Path) -> None:
    config.write_text('[periodic]\nevrey = "2h"\n[perodic]\nevery = "2h"\n')
    warnings = load_settings().warnings
    assert warnings[0].startswith(f"{config}:2: periodic.evrey is not known")
    assert warnings[1].startswith(f"{config}:3: perodic is not a known table")


@pytest.mark.parametrize(
    "text",
    ["keep = 3", '[keep]\npath = ["/a"]', '[[keep]]\npaths = ["/a"]', '[Keep]\npaths = ["/a"]',
     '[kept]\npaths = ["/a"]', '[rows."claude.session"]\nmaxage = "30d"', '[row."claude.session"]\nmax_age = "30d"'],
)  # fmt: skip
def test_a_misspelt_word_that_was_meant_to_keep_something_keeps_all(config: Path, text: str) -> None:
    config.write_text(text)
    assert load_settings().unread


@pytest.mark.parametrize("text", ["", '[perodic]\nevery = "2h"', '[pressure]\nhihg = "90%"'])
def test_other_misspelt_words_keep_nothing(config: Path, text: str) -> None:
    config.write_text(text)
    assert load_settings().unread == ()


@pytest.mark.parametrize("name", ["config.toml", "keep"])
@pytest.mark.parametrize("is_above", [False, True])
def test_a_link_to_dotfiles_that_are_not_there_is_no_empty_keep_list(config: Path, name: str, is_above: bool) -> None:
    """On a disk that is not mounted, say. Silence is no answer."""
    nowhere = "/nonexistent/dotfiles"
    if is_above:
        config.parent.rmdir()
        config.parent.symlink_to(nowhere)
    else:
        (config.parent / name).symlink_to(f"{nowhere}/{name}")
    found = load_settings()
    assert str(config.parent / name) in found.unread
    assert any("leads nowhere" in warning for warning in found.warnings)


def test_the_guards_part_is_not_ours(config: Path) -> None:
    config.write_text("[guard]\nwhatever = 1\n[redirect]\ntmp = true\n[[guard.arguments]]\nx = 1\n")
    assert load_settings().warnings == ()


BAD = [
    ('[periodic]\nevery = "often"\n', ":2: periodic.every: often is not a duration"),
    ('[periodic]\nevery = "5s"\n', ":2: periodic.every: must be at least 60s"),
    ('[periodic]\nmax_age = "5m"\n', ":2: periodic.max_age: must be at least 1h"),
    ("[periodic]\nenabled = 1\n", ":2: periodic.enabled: must be true or false"),
    ("[automatic]\nmax = 50\n", ":2: automatic.max: must be a percentage in quotes"),
    ('[automatic]\nmax = "0%"\n', ":2: automatic.max: must be a percentage in quotes"),
    ('[keep]\npaths = ["relative"]\n', ":2: keep.paths: must be absolute paths"),
    ('[keep]\npaths = "/a"\n', ":2: keep.paths: must be a list of paths"),
    ('[pressure]\nhigh = "50%"\nlow = "60%"\n', ":3: pressure.low (60%) must be below pressure.high (50%)"),
    ('[rows."claude.x"]\ntier = "auto"\n', ":1: rows.claude.x: tier can only be made stricter"),
    ('[rows."claude.x"]\nmax_age = 7\n', ":1: rows.claude.x: must be a duration in quotes"),
    ("[rows.claude]\nenabled = false\n", ":1: rows: write "),
    ("[periodic\n", ":1: not TOML"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_value_is_ignored_with_a_warning_when_nobody_named_the_file(config: Path, text: str, said: str) -> None:
    config.write_text(text)
    found = load_settings()
    assert any(f"{config}{said}" in warning for warning in found.warnings), found.warnings
    assert (found.periodic_every_s, found.automatic_max_percent, found.pressure_high_percent) == (3600, 50, 80)


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_value_in_a_file_that_was_named_is_an_error(config: Path, text: str, said: str) -> None:
    config.write_text(text)
    with pytest.raises(BadConfig) as caught:
        load_settings(str(config))
    assert f"{config}{said}" in str(caught.value)


def test_a_named_file_that_is_missing_is_an_error(own_world: Path) -> None:
    with pytest.raises(BadConfig, match="there is no such file"):
        load_settings(str(own_world / "nothing.toml"))


def test_the_keep_list_is_one_json_string_a_line(config: Path) -> None:
    keep = config.with_name("keep")
    keep.write_text("\n".join([json.dumps("/a\nb"), "", "not json", json.dumps(7), json.dumps("relative"), '"/c"']))
    found = load_settings()
    assert found.keep_paths == ("/a\nb", "/c")
    assert [warning.split(": ")[0] for warning in found.warnings] == [f"{keep}:{line}" for line in (3, 4, 5)]


@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=120))
def test_no_file_makes_the_automatic_reader_raise(config: Path, text: str) -> None:
    config.write_bytes(text.encode("utf-8", "surrogatepass"))
    config.with_name("keep").write_bytes(text.encode("utf-8", "surrogatepass"))
    load_settings()
