"""What the tests of three peers ask of a cleaner, as facts about ours: the tmp-cleanup plugin of Claude Code (10),
QuadWork's sweep (20 of 21) and moat's clean-temp (7). Where ours means to differ, the test says so.
"""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import tmpwarden
from support.command import tmpwarden as run
from support.litter import later
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.model.request import Request, Thresholds
from tmpwarden.sweep.compose import clean
from tmpwarden.text import plural, size

PLUGIN = Path(__file__).parents[1] / "src"
HOUR = 3600


@pytest.fixture
def root(own_world: Path) -> Path:
    return own_world / "tmp"


def fresh(path: Path, *, hours: float) -> None:
    """Written ten minutes before a clean that runs so many hours from now: only its mtime can be set."""
    at = time.time() + hours * HOUR - 600
    os.utime(path, (at, at))


# the plugin's test plan


def test_plugin_1_and_2_its_script_and_its_metadata_are_well_formed() -> None:
    subprocess.run(["sh", "-n", str(PLUGIN / "hooks" / "launch")], check=True)
    for path in (PLUGIN / "hooks" / "hooks.json", PLUGIN / ".claude-plugin" / "plugin.json"):
        json.loads(path.read_text())


def hook(event: str, **env: str) -> "subprocess.CompletedProcess[str]":
    groups = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"][event]
    payload = {"session_id": "4ccb12f1-61e7-48ad-9bec-1437a2f881f7", "hook_event_name": event, "cwd": "/"}
    return subprocess.run(
        ["sh", "-c", groups[0]["hooks"][0]["command"]],
        input=json.dumps(payload),
        env={**os.environ, "CLAUDE_PLUGIN_ROOT": str(PLUGIN), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_plugin_3_and_4_a_hook_ends_with_0_also_where_its_code_is_gone(tmp_path: Path) -> None:
    assert hook("Stop").returncode == 0
    gone = hook("Stop", CLAUDE_PLUGIN_ROOT=str(tmp_path))
    assert (gone.returncode, gone.stdout) == (0, "")


def test_plugin_5_a_link_is_not_followed_and_its_target_stays(root: Path, own_world: Path) -> None:
    target = own_world / "home" / "target"
    target.write_text("/home/me\n")
    (root / "claude-abcd-cwd").symlink_to(target)
    clean(now_ns=later(100))
    assert target.read_text() == "/home/me\n"
    assert (root / "claude-abcd-cwd").is_symlink()


def test_plugin_6_the_names_are_matched_to_the_letter(root: Path) -> None:
    wanted = {"claude-abcd-cwd", "claude-1234-cwd"}
    others = {"claude-ABCD-cwd", "claude-abcde-cwd", "claude-abc-cwd", "claude-my-backup-cwd", "claude--cwd"}
    for name in wanted | others:
        (root / name).write_text("/home/me\n")
    clean(now_ns=later(100))
    assert {path.name for path in root.iterdir()} - {f"tmpwarden-{os.geteuid()}"} == others


def test_plugin_7_of_25_files_the_15_stale_ones_go(root: Path) -> None:
    for number in range(25):
        (root / f"claude-{number:04x}-cwd").write_text("/home/me\n")
    now_ns = time.time_ns() + 120 * 10**9
    for number in range(15, 25):
        os.utime(root / f"claude-{number:04x}-cwd", ns=(now_ns, now_ns))
    clean(now_ns=lambda: now_ns)
    assert sorted(path.name for path in root.glob("claude-*")) == [f"claude-{n:04x}-cwd" for n in range(15, 25)]


def test_plugin_8_and_9_each_hook_has_ten_seconds_stop_has_no_matcher_and_nothing_says_tmp() -> None:
    text = (PLUGIN / "hooks" / "hooks.json").read_text()
    groups = json.loads(text)["hooks"]
    assert {each["timeout"] for group in groups.values() for one in group for each in one["hooks"]} == {10}
    assert "matcher" not in groups["Stop"][0]
    assert not re.search(r"/tmp\b", text + (PLUGIN / ".claude-plugin" / "plugin.json").read_text())


def test_plugin_10_the_temp_directory_is_the_systems(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = own_world / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "claude-abcd-cwd").write_text("/home/me\n")
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    clean(now_ns=later(1))
    assert not (elsewhere / "claude-abcd-cwd").exists()


# QuadWork's server/temp-cleanup.test.js, one number for each assertion


def test_quadwork_1_to_7_stale_entries_of_claudes_directory_go_and_a_live_ones_stay(root: Path) -> None:
    claude = root / f"claude-{os.geteuid()}"
    (claude / "old-dir").mkdir(parents=True)
    for name in ("old-file", "old-dir/inner.txt", "live-session-file"):
        (claude / name).write_text("x")
    fresh(claude / "live-session-file", hours=100)
    result = clean(now_ns=later(100))
    assert not (claude / "old-file").exists()  # 1
    assert not (claude / "old-dir").exists()  # 2
    assert (claude / "live-session-file").exists()  # 3
    assert claude.exists()  # 4
    assert {str(claude / "old-file"), str(claude / "old-dir")} <= {each.finding.path for each in result.removed}  # 5
    assert [each.finding.path for each in result.kept] == [str(claude / "live-session-file")]  # 6
    assert result.warnings == []  # 7


def test_quadwork_8_to_11_gemini_dumps_at_the_root(root: Path) -> None:
    stale = root / "gemini-client-error-Turn.run-2026-06-03T00-28-55-388Z.json"
    young, unrelated = root / "gemini-client-error-fresh.json", root / "unrelated-old-file.json"
    for path in (stale, young, unrelated):
        path.write_text("x")
    fresh(young, hours=100)
    result = clean(now_ns=later(100))
    assert not stale.exists()  # 8
    assert young.exists()  # 9
    assert unrelated.exists()  # 10
    assert [each.finding.path for each in result.removed] == [str(stale)]  # 11


def test_quadwork_12_to_15_without_a_directory_or_with_another_users_nothing_happens(root: Path) -> None:
    for prepare in (lambda: None, lambda: (root / "claude-9999").mkdir()):
        prepare()
        result = clean(now_ns=later(100))
        assert list(result.removed) == []  # 12, 14
        assert result.warnings == []  # 13, 15


def test_quadwork_16_a_root_that_is_none_throws_nothing_into_a_server() -> None:
    result = tmpwarden.teardown(agent="claude", roots=("/nonexistent/nope",))
    assert (result.removed, result.error) == ([], "NoSuchRoot: there is no directory /nonexistent/nope")


def settings(world: Path, text: str) -> object:
    config = world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(mode=0o700, exist_ok=True)
    config.write_text(text)
    return load_settings()


def test_quadwork_17_to_20_settings_have_its_defaults(own_world: Path) -> None:
    assert load_settings().periodic_enabled and load_settings().teardown_enabled  # 17
    assert load_settings().periodic_max_age_s in (None, 72 * HOUR)  # 18
    off = settings(own_world, "[periodic]\nenabled = false\n[teardown]\nenabled = false\n")
    assert (off.periodic_enabled, off.teardown_enabled) == (False, False)  # type: ignore[attr-defined]  # 19
    assert settings(own_world, '[periodic]\nmax_age = "24h"\n').periodic_max_age_s == 24 * HOUR  # type: ignore[attr-defined]  # 20


def test_quadwork_21_is_different_an_age_that_makes_no_sense_removes_nothing_by_itself(own_world: Path) -> None:
    """There: 72h. Here it is told with its line, because who wrote it wanted something."""
    wrong = settings(own_world, "[periodic]\nmax_age = -5\n")
    assert "max_age" in " ".join(wrong.warnings)  # type: ignore[attr-defined]


# moat's internal/system/tempclean_test.go


@pytest.mark.parametrize(("older_than", "count"), [("1h", 2), ("3h", 0), ("30m", 2)])
def test_moat_1_directories_are_found_by_their_age(root: Path, older_than: str, count: int) -> None:
    """Its test makes `agentops-aws-old`. Go's MkdirTemp makes digits; names that end in words stay their user's."""
    for name in ("agentops-aws-111", "moat-claude-staging-222", "agentops-aws-333", "agentops-aws-old"):
        (root / name).mkdir()
    fresh(root / "agentops-aws-333", hours=2)
    age_s = {"1h": 3600, "3h": 10800, "30m": 1800}[older_than]
    limits = Thresholds(max_age_s=age_s, min_age_s=age_s)  # its --min-age is our --older-than and --min-age
    result = clean(Request(thresholds=limits, agents=("moat",)), now_ns=later(2))
    assert len(result.removed) == count
    assert all(each.finding.litter.key.startswith("moat.") and each.finding.litter.why for each in result.removed)
    assert (root / "agentops-aws-old").exists()
    assert (root / "agentops-aws-333").exists()


def test_moat_2_what_was_found_is_removed(root: Path) -> None:
    for name in ("moat-aws-1", "moat-npm-2"):
        (root / name).mkdir()
        (root / name / "credentials").write_text("x")
    clean(Request(thresholds=Thresholds(max_age_s=3600), agents=("moat",)), now_ns=later(2))
    assert list(root.glob("moat-*")) == []


def test_moat_3_what_was_touched_between_the_look_and_the_deed_stays(root: Path) -> None:
    (root / "moat-aws-1").mkdir()
    (root / "moat-aws-1" / "credentials").write_text("x")

    def touch(_: object) -> bool:
        fresh(root / "moat-aws-1", hours=2)
        return True

    clean(Request(thresholds=Thresholds(max_age_s=3600), agents=("moat",)), confirm=touch, now_ns=later(2))
    assert (root / "moat-aws-1").exists()


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (512, "512 B"), (1024, "1.0 KB"), (1536, "1.5 KB"), (1 << 20, "1.0 MB"), (5 << 30, "5.0 GB")],
)
def test_moat_4_and_5_sizes_are_written_with_their_unit(count: int, said: str) -> None:
    """moat writes KiB for the same amount."""
    assert size(count) == said


def test_moat_6_the_size_of_a_directory_is_that_of_all_in_it(root: Path) -> None:
    deep = root / "moat-aws-1" / "deeper"
    deep.mkdir(parents=True)
    for path in (deep.parent / "a", deep.parent / "b", deep / "c"):
        path.write_text("x" * 5000)
    told = json.loads(run("scan", "--agent", "moat", "--json").stdout)["data"]["findings"]
    assert sum(each["bytes"] for each in told) >= 15_000


@pytest.mark.parametrize(("count", "said"), [(0, "0 items"), (1, "1 item"), (2, "2 items"), (100, "100 items")])
def test_moat_7_a_count_has_the_right_word(count: int, said: str) -> None:
    assert plural(count, "item") == said
