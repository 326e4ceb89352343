"""`[policy] lock` of /etc/tmpwarden: users try to weaken what is locked, in every way that a file gives them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import answer, data
from tmpwarden.catalogue import policy
from tmpwarden.catalogue.load import load as catalogue
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.guard.rules import config as rules_config
from tmpwarden.guard.rules.compiled import rules_in_force
from tmpwarden.guard.rules.config import Loaded, load
from tmpwarden.model.terms import Tier

ALLOW_RM = '[[guard.arguments]]\ncommand = "rm"\nall_inside = ["~"]\ndecision = "allow"\n'
DENY_RM = '[[guard.arguments]]\ncommand = "rm"\nall_inside = ["~"]\ndecision = "deny"\n'
UNDER = """import sys
from tmpwarden.catalogue import policy
from tmpwarden.cli.main import main
policy.SYSTEM = sys.argv[1]
sys.exit(main(sys.argv[2:]))
"""
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
    "rules switched off": ('[guard]\noff = ["sandbox:*"]\n', ["guard.presets"]),
    "the host's own rule switched off": ('[guard]\noff = ["config.toml:deny*"]\n', ["guard.deny"]),
    "an allow before a preset's ask": (ALLOW_RM, ["guard.preset"]),
    "an allow before the host's default": ('[guard]\nallow = ["rm"]\n', ["guard.default"]),
    "places called trusted": ('[guard]\ntrusted = ["prod-*"]\n', ["guard.presets"]),
    "fewer protected branches": ('[guard]\nprotected = ["nothing"]\n', ["guard.presets"]),
    "the default that a preset sets": ('[guard]\ndefault = "pass"\n', ["guard.presets"]),
    "what a preset does on errors": ('[guard]\non_error = "pass"\n', ["guard.presets"]),
    "no scratch of one's own": ("[redirect]\nown = false\ntmp = true\n", ["guard.presets"]),
    "no redirect beside a preset": ("[redirect]\ntmp = false\n", ["guard.presets"]),
    "another default": ('[guard]\ndefault = "pass"\n', ["guard.default"]),
    "an allow of its own": (ALLOW_RM, ["guard"]),
    "an allow in the midst": (DENY_RM + ALLOW_RM, ["guard.arguments"]),
    "a prefix": ('[guard]\nallow = ["rm"]\n', ["guard"]),
    "a regex": ("[guard]\nallow_checks = ['rm .*']\n", ["guard"]),
    "no redirect": ("[redirect]\n", ["redirect"]),
    "another target": ('[redirect]\ntarget = "/tmp/x"\n', ["redirect.tmp"]),
    "not a table": ("redirect = 1\n", ["redirect"]),
}


def said(found: Loaded) -> tuple[object, ...]:
    """All that the rules of the host, whoever else speaks, come to."""
    rules = found.rules
    ours = [rule.label for rule in rules.rules if not rule.label.startswith("mine.toml")]
    scalars = (rules.default, rules.on_error, rules.owns, rules.redirect_tmp, rules.target)
    return ours, rules.rows, *scalars, rules.trusted, rules.protected


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("by", ["config.toml", "guard.d", "--config"])
def test_the_guard_of_the_host_cannot_be_weakened(tmp_path: Path, etc: Path, attempt: str, by: str) -> None:
    text, locks = ATTEMPTS[attempt]
    locked(etc, *locks)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    found = load((str(file),) if by == "--config" else (str(etc), str(file)))
    assert said(found) == said(load(()) if by == "--config" else load((str(etc),)))
    assert [rule for rule in found.rules.rules if rule.label.startswith("mine.toml") and rule.decision == "allow"] == []
    assert any(rule.label.startswith("sandbox") for rule in found.rules.rules)
    assert any("is locked by" in str(mistake) and not mistake.fatal for mistake in found.mistakes)


def test_what_takes_nothing_away_from_a_locked_preset_is_the_users(tmp_path: Path, etc: Path) -> None:
    locked(etc, "guard.presets")
    file = tmp_path / "mine.toml"
    file.write_text('[guard]\ndeny = ["npm publish"]\n[redirect]\ntmp = true\ntarget = "/tmp/x"\n')
    found = load((str(etc), str(file)))
    assert (found.rules.target, found.mistakes) == ("/tmp/x", ())
    assert any(rule.label.startswith("mine.toml") for rule in found.rules.rules)


def test_a_file_is_the_hosts_by_where_it_lies_and_not_by_how_it_is_spelled(tmp_path: Path, etc: Path) -> None:
    locked(etc, "guard")
    (tmp_path / "mine.toml").write_text('[guard]\npreset = "none"\n')
    around = f"{etc.parent}/../../{tmp_path.relative_to(etc.parents[1].parent)}/mine.toml"
    found = load((around,))
    assert found.mistakes and any(rule.label.startswith("sandbox") for rule in found.rules.rules)


def test_rules_of_the_hosts_guard_d_hold_beside_a_file_that_was_named(tmp_path: Path, etc: Path) -> None:
    locked(etc, "guard")
    (etc.parent / "guard.d").mkdir()
    (etc.parent / "guard.d" / "ours.toml").write_text('[guard]\ndeny = ["npm publish"]\n')
    (tmp_path / "mine.toml").write_text('[guard]\noff = ["ours.toml:*"]\n')
    found = load((str(tmp_path / "mine.toml"),))
    assert any(rule.label.startswith("ours.toml") for rule in found.rules.rules)


@pytest.mark.parametrize("was_compiled_before", [False, True])
def test_a_user_whose_file_is_broken_has_the_hosts_policy_of_today(
    own_world: Path, etc: Path, was_compiled_before: bool
) -> None:
    mine, cache = users_file(own_world, ""), str(own_world / "state" / "guard" / "rules.json")
    files = (str(etc), str(mine))
    etc.write_text("")
    if was_compiled_before:
        rules_in_force(files, cache)
    mine.write_text("[guard]\nthis is not TOML\n")
    locked(etc, "guard.presets")
    found = rules_in_force(files, cache)
    assert "config.toml:deny[0]" in {rule.label for rule in found.rules.rules}
    assert "only the host's rules are used" in found.complaint


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_no_variable_leads_past_what_is_locked(
    own_world: Path, etc: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    locked(etc, "quarantine", "guard.presets")
    elsewhere = own_world / "elsewhere"
    place = elsewhere / ("tmpwarden" if variable == "XDG_CONFIG_HOME" else ".config/tmpwarden")
    place.mkdir(parents=True)
    (place / "config.toml").write_text('[quarantine]\nkeep = "60s"\n[guard]\npreset = "none"\n')
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv(variable, str(elsewhere))
    found = load_settings()
    assert (found.quarantine_s, len(found.warnings)) == (7 * 86400, 1)
    keys = data("config", "show")["keys"]
    assert keys["quarantine.keep"]["locked"] and keys["guard.rules"]["value"] > 10


def test_no_option_of_run_is_above_a_locked_limit(own_world: Path, etc: Path) -> None:
    def ran(asked: str) -> "subprocess.CompletedProcess[str]":
        write = ["sh", "-c", 'head -c 4096 /dev/zero > "$TMPDIR/big" || exit 3']
        argv = [sys.executable, "-c", UNDER, str(etc), "run", "--max-file", asked, "--", *write]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    etc.write_text('[policy]\nlock = ["run"]\n[run]\nmax_file = "1K"\n')
    refused = ran("1G")
    assert refused.returncode == 3
    assert f"run.max_file is locked by {etc}: the limit is 1.0 KB" in refused.stderr
    etc.write_text('[run]\nmax_file = "1K"\n')
    assert ran("8K").returncode == 0


def test_no_drop_in_of_a_user_masks_rows_that_are_locked(own_world: Path, etc: Path) -> None:
    mask = own_world / "config" / "tmpwarden" / "agents.d" / "claude.toml"
    mask.parent.mkdir()
    mask.write_text("")
    assert "claude" not in {row.agent for row in catalogue().rows if row.tier is not Tier.NEVER}
    etc.write_text('[policy]\nlock = ["rows"]\n')
    found = catalogue()
    assert "claude" in {row.agent for row in found.rows if row.tier is not Tier.NEVER}
    assert any("rows are locked" in warning for warning in found.warnings)


@pytest.mark.parametrize("lock", ["gaurd", "guard.persets", "quarantine.keeps", "redirect.tmpp"])
def test_a_lock_of_nothing_is_told(etc: Path, lock: str) -> None:
    locked(etc, "quarantine", lock)
    [warning] = load_settings().warnings
    assert f"unknown key and no table {lock}" in warning
    assert load_settings().locks[0] == "quarantine"


def test_every_key_that_the_guard_reads_can_be_locked(etc: Path) -> None:
    for key in (*rules_config._LISTS, *rules_config._NAMES, *rules_config._SCALARS):
        locked(etc, f"guard.{key}")
        assert load_settings().warnings == (), key
    for key in rules_config._REDIRECT_KEYS:
        locked(etc, f"redirect.{key}")
        assert load_settings().warnings == (), key


def test_config_set_says_that_a_key_is_locked(own_world: Path, etc: Path) -> None:
    locked(etc, "quarantine")
    _, told = answer("config", "set", "quarantine.keep", "60s")
    assert any("quarantine.keep is locked" in warning for warning in told["warnings"])


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
