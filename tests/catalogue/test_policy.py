"""`[policy] lock` of /etc/tmpwarden: users try to weaken what is locked, in every way that a file gives them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import data
from tmpwarden.catalogue import policy
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.guard.rules.config import load

ALLOW_RM = '[[guard.arguments]]\ncommand = "rm"\nall_inside = ["~"]\ndecision = "allow"\n'
DENY_RM = '[[guard.arguments]]\ncommand = "rm"\nall_inside = ["~"]\ndecision = "deny"\n'
HOST = """[quarantine]
keep = "7d"
[keep]
paths = ["/srv/a"]
[guard]
preset = "sandbox"
default = "ask"
deny = ["git push"]
[redirect]
tmp = true
"""


@pytest.fixture
def etc(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = own_world / "etc" / "config.toml"
    file.parent.mkdir()
    (own_world / "config" / "tmpwarden").mkdir()
    monkeypatch.setattr(policy, "SYSTEM", str(file))
    return file


def users_file(own_world: Path, text: str) -> Path:
    file = own_world / "config" / "tmpwarden" / "config.toml"
    file.write_text(text)
    return file


def locked(etc: Path, *keys: str) -> None:
    etc.write_text(f"[policy]\nlock = {list(keys)!r}\n{HOST}")


@pytest.mark.parametrize("lock", ["quarantine.keep", "quarantine"])
@pytest.mark.parametrize("by", ["config.toml", "--config"])
def test_a_locked_value_stands_and_the_line_that_wanted_another_is_told(
    own_world: Path, etc: Path, lock: str, by: str
) -> None:
    locked(etc, lock)
    file = users_file(own_world, '[periodic]\nevery = "2h"\n[quarantine]\nkeep = "60s"\n')
    found = load_settings(str(file) if by == "--config" else None)
    assert (found.quarantine_s, found.periodic_every_s) == (7 * 86400, 7200)
    assert found.warnings == (f"{file}:4: quarantine.keep is locked by {etc}; what stands here is not used",)
    assert found.origin("quarantine.keep") == f"{etc}:4"


def test_what_is_not_locked_is_the_users(own_world: Path, etc: Path) -> None:
    locked(etc, "periodic")
    users_file(own_world, '[quarantine]\nkeep = "60s"\n')
    found = load_settings()
    assert (found.quarantine_s, found.warnings) == (60, ())


def test_beside_a_file_that_was_named_only_what_is_locked_counts(own_world: Path, etc: Path) -> None:
    locked(etc, "keep")
    found = load_settings(str(users_file(own_world, '[keep]\npaths = ["/mine"]\n')))
    assert (found.keep_paths, found.quarantine_s) == (("/srv/a", "/mine"), 24 * 3600)


def test_a_locked_key_of_which_the_host_says_nothing_has_its_default(own_world: Path, etc: Path) -> None:
    etc.write_text('[policy]\nlock = ["rescue.git", "rows"]\n')
    users_file(own_world, '[rescue]\ngit = true\n[rows."claude.cwd-marker"]\nenabled = false\n')
    found = load_settings()
    assert (found.rescue_git, dict(found.rows), len(found.warnings)) == (False, {}, 2)


@pytest.mark.parametrize("text", ["[policy]\nlock = []\n", "policy = 1\n", '[policy]\nlock = ["keep"]\n'])
def test_a_user_has_no_policy(own_world: Path, etc: Path, text: str) -> None:
    locked(etc, "quarantine")
    users_file(own_world, f"{text}[quarantine]\nkeep = '60s'\n" if "=" not in text[:8] else text)
    found = load_settings()
    assert (found.quarantine_s, found.locks) == (7 * 86400, ("quarantine",))
    assert any("policy is heard from" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    "text", ["[policy]\nlock = 1\n", "policy = 2\n", "[policy]\nlock = [3]\n", "[policy]\nloc = []\n"]
)
def test_a_policy_that_is_written_wrong_is_told(etc: Path, text: str) -> None:
    etc.write_text(text)
    [warning] = load_settings().warnings
    assert warning.startswith(f"{etc}:") and "policy" in warning


ATTEMPTS: dict[str, tuple[str, list[str]]] = {
    "another preset": ('[guard]\npreset = "none"\n', ["guard.presets"]),
    "several presets": ('[guard]\npreset = ["none"]\n', ["guard.preset"]),
    "another default": ('[guard]\ndefault = "pass"\n', ["guard.default"]),
    "an allow of its own": (ALLOW_RM, ["guard"]),
    "an allow in the midst": (DENY_RM + ALLOW_RM, ["guard.arguments"]),
    "a prefix": ('[guard]\nallow = ["rm"]\n', ["guard"]),
    "a regex": ("[guard]\nallow_checks = ['rm .*']\n", ["guard"]),
    "no redirect": ("[redirect]\n", ["redirect"]),
    "another target": ('[redirect]\ntarget = "/tmp/x"\n', ["redirect.tmp"]),
    "not a table": ("redirect = 1\n", ["redirect"]),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("by", ["config.toml", "guard.d", "--config"])
def test_the_guard_of_the_host_cannot_be_weakened(tmp_path: Path, etc: Path, attempt: str, by: str) -> None:
    text, locks = ATTEMPTS[attempt]
    locked(etc, *locks)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    strict = load((str(etc),))
    found = load((str(file),) if by == "--config" else (str(etc), str(file)))
    wanted = (
        ("default",) if locks == ["guard.default"] else ("redirect_tmp", "target") if "redirect" in locks[0] else ()
    )
    assert [getattr(found.rules, name) for name in wanted] == [getattr(strict.rules, name) for name in wanted]
    allows = [rule for rule in found.rules.rules if rule.label.startswith("mine.toml") and rule.decision == "allow"]
    assert allows == []
    assert any(rule.label.startswith("sandbox") for rule in found.rules.rules)
    assert any("is locked by" in str(mistake) and not mistake.fatal for mistake in found.mistakes)


def test_rules_that_deny_or_ask_are_the_users_right_even_where_all_is_locked(tmp_path: Path, etc: Path) -> None:
    locked(etc, "guard")
    file = tmp_path / "mine.toml"
    file.write_text('[guard]\ndeny = ["npm publish"]\nask = ["npm"]\n' + DENY_RM)
    found = load((str(etc), str(file)))
    assert len([rule for rule in found.rules.rules if rule.label.startswith("mine.toml")]) == 3
    assert found.mistakes == ()


def test_config_show_says_where_each_value_came_from_and_what_is_locked(own_world: Path, etc: Path) -> None:
    locked(etc, "quarantine", "guard")
    users_file(own_world, '[periodic]\nevery = "2h"\n[quarantine]\nkeep = "60s"\n')
    keys = data("config", "show")["keys"]
    assert keys["quarantine.keep"] == {"value": 7 * 86400, "from": f"{etc}:4", "locked": True}
    assert keys["periodic.every"]["from"].endswith("config.toml:2") and "locked" not in keys["periodic.every"]
    assert keys["guard.default"]["locked"]


TOML: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["decision", "lock", "x"]), inner),
    max_leaves=6,
)
TABLES = st.dictionaries(
    st.sampled_from(["guard", "redirect", "policy", "keep", "rows"]),
    TOML | st.dictionaries(st.sampled_from(["preset", "arguments", "paths", "tmp"]), TOML),
)


@given(TABLES, st.lists(st.sampled_from(["guard", "guard.preset", "redirect", "keep", "rows"])).map(tuple))
def test_of_any_document_nothing_locked_is_left_but_what_makes_safer(document: Any, locks: tuple[str, ...]) -> None:
    kept, _ = policy.allowed(document, locks)
    assert "policy" not in kept
    for table, content in kept.items():
        for key in content if isinstance(content, dict) else ():
            full = f"{table}.{key}"
            assert not policy.is_locked(full, locks) or full in ("keep.paths", "guard.arguments")
    again, dropped = policy.allowed(kept, locks)
    assert (again, dropped) == (kept, [])
