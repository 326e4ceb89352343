"""Drop-ins and overrides: what they may do, what they may not, and that one broken file harms nobody else."""

import os
from pathlib import Path

import pytest

from tmpwarden.catalogue.load import Catalogue, load
from tmpwarden.catalogue.overrides import Override
from tmpwarden.errors import UnknownAgent
from tmpwarden.model.terms import Kind, Tier
from tmpwarden.oskit import system

ROW = """
[[litter]]
id = "{id}"
in = "{{tmp}}"
name = "{name}"
kind = "file"
tier = "{tier}"
worth = "some"
owner = "none"
why = "a test"
seen = ["here"]
verified = "1"
matches = ["{name}"]
spares = ["other"]
"""


def file(agent: str, *rows: str) -> str:
    return f'schema = 1\n[agent]\nid = "{agent}"\nname = "{agent}"\n' + "".join(rows)


def row(name: str, *, tier: str = "ask", row_id: str = "") -> str:
    return ROW.format(id=row_id or name, name=name, tier=tier)


@pytest.fixture
def drop_ins(own_world: Path) -> Path:
    directory = own_world / "config" / "tmpwarden" / "agents.d"
    directory.mkdir(parents=True)
    return directory


def keys(catalogue: Catalogue, agent: str) -> list[str]:
    return [each.id for each in catalogue.agent(agent).rows]


def test_a_drop_in_adds_an_agent(drop_ins: Path) -> None:
    (drop_ins / "acme.toml").write_text(file("acme", row("acme-log")))
    catalogue = load()
    assert keys(catalogue, "acme") == ["acme-log"] and catalogue.warnings == ()
    match = catalogue.places(["/t"])[0].classify("acme-log", Kind.FILE)
    assert match is not None and match.litter.key == "acme.acme-log"


def test_a_broken_drop_in_is_skipped_and_named(drop_ins: Path) -> None:
    (drop_ins / "acme.toml").write_text("schema = 1\n[agent\n")
    (drop_ins / "other.toml").write_text(
        file("other", row("other-log").replace('spares = ["other"]', 'spares = ["x"]'))
    )
    (drop_ins / "bytes.toml").write_bytes(b"schema = 1\n# \xff\n")
    (drop_ins / "secret.toml").mkdir()
    os.mkfifo(drop_ins / "pipe.toml")
    (drop_ins / "big.toml").write_bytes(b"#" * ((1 << 20) + 1))
    catalogue = load()
    assert keys(catalogue, "other") == ["other-log"]
    assert len(catalogue.agents) == len(load(dirs=()).agents) + 1
    said = "\n".join(catalogue.warnings)
    assert f"{drop_ins}/acme.toml:2: not TOML" in said and "(this file is skipped)" in said
    assert f"{drop_ins}/bytes.toml:2: is not UTF-8" in said
    assert f"{drop_ins}/secret.toml:1: is not a file" in said
    assert f"{drop_ins}/pipe.toml:1: is not a file" in said
    assert f"{drop_ins}/big.toml:1: is larger than 1 MB" in said


def test_a_later_directory_masks_the_same_file_name(tmp_path: Path) -> None:
    for directory, name in (("etc", "acme-old"), ("user", "acme-new")):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "acme.toml").write_text(file("acme", row(name)))
    assert keys(load([str(tmp_path / "etc"), str(tmp_path / "user")]), "acme") == ["acme-new"]


def never_ids(catalogue: Catalogue, agent: str) -> list[str]:
    return [each.id for each in catalogue.agent(agent).rows if each.tier is Tier.NEVER]


@pytest.mark.parametrize("mask", ["empty", "/dev/null"])
def test_an_empty_file_switches_an_agent_off_but_not_what_protects_its_state(drop_ins: Path, mask: str) -> None:
    if mask == "empty":
        (drop_ins / "claude.toml").write_text("")
    else:
        (drop_ins / "claude.toml").symlink_to(mask)
    catalogue = load()
    assert keys(catalogue, "claude") == never_ids(load(dirs=()), "claude") != []


def test_a_file_that_takes_anothers_place_keeps_its_never_rows(drop_ins: Path) -> None:
    (drop_ins / "claude.toml").write_text(file("claude", row("mine")))
    assert keys(load(), "claude") == ["mine", *never_ids(load(dirs=()), "claude")]


def test_the_same_place_under_another_agents_name_keeps_them_too(drop_ins: Path) -> None:
    (drop_ins / "claude.toml").write_text(file("claudius", row("mine")))
    catalogue = load()
    state = next(place for place in catalogue.places([], "/h", environ={}) if place.path == "/h")
    below = state.child(".claude")
    assert below is not None
    match = below.classify("projects", Kind.DIR)
    assert match is not None and match.is_never


def test_a_never_row_cannot_be_weakened_by_its_own_name(drop_ins: Path) -> None:
    (drop_ins / "claude.toml").write_text(file("claude", row("mine", row_id="state", tier="auto")))
    catalogue = load()
    assert "row state, key tier: a never row cannot be weakened" in catalogue.warnings[0]
    assert catalogue.agent("claude") == load(dirs=()).agent("claude")


def test_a_row_that_beats_a_never_row_still_loses(drop_ins: Path) -> None:
    greedy = row("q", tier="auto").replace("{tmp}", "{tmp}/tmpwarden-{uid}") + 'beats = ["tmpwarden.quarantine"]\n'
    (drop_ins / "acme.toml").write_text(file("acme", greedy))
    place = load().places(["/t"], uid=7)[0].child("tmpwarden-7")
    match = place.classify("q", Kind.FILE) if place else None
    assert match is not None and match.litter.key == "tmpwarden.quarantine"


def test_a_drop_in_does_not_take_a_name_from_a_built_in_row_by_its_place_in_the_alphabet(drop_ins: Path) -> None:
    (drop_ins / "aaa.toml").write_text(file("aaa", row("claude-1a2b-cwd")))
    match = load().places(["/t"])[0].classify("claude-1a2b-cwd", Kind.FILE)
    assert match is not None and match.litter.key == "claude.cwd-marker"


def test_a_digit_is_a_digit_of_ours_and_no_other_scripts(drop_ins: Path) -> None:
    numbered = row("acme-1").replace('name = "acme-1"', "name = 'acme-\\d'")
    (drop_ins / "acme.toml").write_text(file("acme", numbered))
    place = load().places(["/t"])[0]
    assert place.classify("acme-7", Kind.FILE) is not None
    assert place.classify("acme-\u0667", Kind.FILE) is None


def test_one_agent_in_two_files_is_refused(drop_ins: Path) -> None:
    (drop_ins / "my-claude.toml").write_text(file("claude", row("mine")))
    catalogue = load()
    assert "agent 'claude' is in claude.toml" in catalogue.warnings[0]
    assert "mine" not in keys(catalogue, "claude")


def test_rows_that_beat_each_other_in_a_circle_beat_nobody(drop_ins: Path) -> None:
    (drop_ins / "acme.toml").write_text(
        file("acme", row("acme-a") + 'beats = ["acme-b"]\n', row("acme-b") + 'beats = ["acme-a"]\n')
    )
    catalogue = load()
    assert "key beats" in catalogue.warnings[-1]
    assert catalogue.places(["/t"])[0].classify("acme-a", Kind.FILE) is not None


def test_a_directory_that_is_missing_or_a_file_that_is_no_toml_is_passed_over(drop_ins: Path) -> None:
    (drop_ins / "README").write_text("hello")
    (drop_ins / ".hidden.toml").write_text("broken")
    assert load([str(drop_ins), "/nowhere"]).warnings == ()


def test_an_unknown_agent_is_an_error() -> None:
    with pytest.raises(UnknownAgent):
        load(dirs=()).agent("nobody")


def overridden(key: str, **words: object) -> Catalogue:
    return load(dirs=(), overrides={key: Override("config.toml:3", **words)})  # type: ignore[arg-type]


def test_one_row_can_be_switched_off() -> None:
    catalogue = overridden("claude.cwd-marker", enabled=False)
    assert catalogue.row("claude.cwd-marker") is None and catalogue.warnings == ()


def test_one_row_can_be_made_slower_or_ask() -> None:
    marker = overridden("claude.cwd-marker", ages_s=(("max_age", 7200),), ask=True).row("claude.cwd-marker")
    assert marker is not None and (marker.max_age_s, marker.tier) == (7200, Tier.ASK)


def test_no_row_can_be_made_hasty() -> None:
    catalogue = overridden("claude.session", ages_s=(("grace", 1), ("max_age", 60)))
    row_now = catalogue.row("claude.session")
    assert row_now is not None and (row_now.grace_s, row_now.max_age_s) == (60, 24 * 3600)
    assert len(catalogue.warnings) == 2 and "config.toml:3" in catalogue.warnings[0]


def test_what_may_be_resumed_waits_as_long_as_the_user_says_down_to_a_day() -> None:
    """Issue 34, 5: the user's own word on one row; less is answered with a sentence."""
    asked = overridden("claude.session", ages_s=(("max_age", 30 * 3600),))
    session = asked.row("claude.session")
    assert session is not None and (session.max_age_s, session.is_users_age) == (30 * 3600, True)
    assert asked.warnings == ()
    less = overridden("claude.session", ages_s=(("max_age", 23 * 3600),))
    assert less.warnings == ("config.toml:3: claude.session: max_age cannot be lower than 1d; 1d is used",)
    other = overridden("claude.session", ask=True).row("claude.session")
    assert other is not None and not other.is_users_age


def test_a_row_slower_than_the_default_can_be_brought_back_to_it() -> None:
    log = overridden("claude.debug-log", ages_s=(("max_age", 72 * 3600),)).row("claude.debug-log")
    assert log is not None and log.max_age_s == 72 * 3600


def test_a_never_row_cannot_be_overridden() -> None:
    catalogue = overridden("claude.state", enabled=False)
    assert catalogue.row("claude.state") is not None
    assert "cannot be changed" in catalogue.warnings[0]


def test_an_override_of_no_row_is_told() -> None:
    assert overridden("claude.nothing").warnings == ("config.toml:3: no row is called claude.nothing",)


MAC_ROW = row("acme-mac").replace("{tmp}", "{library}/Caches/acme") + 'os = ["macos"]\n'


def finds(catalogue: Catalogue, path: str, name: str) -> bool:
    """From a home /h with the temp root /var/folders/zz/xyz/T."""
    for place in catalogue.places(["/var/folders/zz/xyz/T", "/t"], "/h", environ={}):
        here, rest = place, path.removeprefix(place.path)
        if rest != path and all(here := here.child(step) if here else None for step in filter(None, rest.split("/"))):
            match = here.classify(name, Kind.FILE)
            if match is not None:
                return True
    return False


def test_a_row_of_macos_is_looked_for_there_and_nowhere_else(drop_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (drop_ins / "acme.toml").write_text(file("acme", MAC_ROW))
    assert not finds(load(), "/h/Library/Caches/acme", "acme-mac")
    monkeypatch.setattr(system.customs, "CATALOGUE", "macos")
    assert finds(load(), "/h/Library/Caches/acme", "acme-mac")


@pytest.mark.parametrize(("base", "path"), [("darwin_temp", "T"), ("darwin_cache", "C"), ("mac_folders", "")])
def test_the_directories_that_macos_gives_a_user_have_names(drop_ins: Path, base: str, path: str) -> None:
    (drop_ins / "acme.toml").write_text(file("acme", row("acme-x").replace("{tmp}", f"{{{base}}}/acme")))
    place = f"/var/folders/zz/xyz/{path}".rstrip("/")
    assert finds(load(), f"{place}/acme", "acme-x")
    assert not finds(load(), "/t/acme", "acme-x")


def test_a_temp_root_of_macos_is_one_place_for_its_rows_and_everybodys(drop_ins: Path) -> None:
    rows = (row("acme-x").replace("{tmp}", "{darwin_temp}"), row("acme-y"))
    (drop_ins / "acme.toml").write_text(file("acme", *rows))
    places = [
        place for place in load().places(["/var/folders/zz/xyz/T"], "/h", environ={}) if place.path.endswith("/T")
    ]
    assert len(places) == 1
    assert places[0].classify("acme-x", Kind.FILE) and places[0].classify("acme-y", Kind.FILE)


def test_a_system_that_is_none_is_named(drop_ins: Path) -> None:
    (drop_ins / "acme.toml").write_text(file("acme", row("acme-x") + 'os = ["amiga"]\n'))
    assert "'amiga' is none of linux macos" in load().warnings[0]
