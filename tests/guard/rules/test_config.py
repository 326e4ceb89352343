"""The guard's config: several files merged, every mistake with its file, line and key, compiled once."""

from marshal import dumps, loads
from pathlib import Path

import pytest

from tmpwarden.guard.rules.compiled import cache_path, config_files, rules_in_force
from tmpwarden.guard.rules.config import Mistake, load
from tmpwarden.guard.rules.verify import verify
from tmpwarden.toml_lines import lines_of


def written(tmp_path: Path, text: str, name: str = "config.toml") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def mistakes(tmp_path: Path, text: str) -> tuple[Mistake, ...]:
    return verify((written(tmp_path, text),)).mistakes


def test_lists_of_several_files_concatenate(tmp_path: Path) -> None:
    one = written(tmp_path, '[guard]\ndeny = ["git push"]\n', "one.toml")
    two = written(tmp_path, '[guard]\ndeny = ["npm publish"]\n', "two.toml")
    rules = load((one, two)).rules
    assert [rule.operands for rule in rules.of("prefix", "deny")] == [("git", "push"), ("npm", "publish")]


def test_the_last_file_that_sets_a_scalar_wins_and_one_that_is_silent_changes_nothing(tmp_path: Path) -> None:
    one = written(tmp_path, '[guard]\non_error = "deny"\ndefault = "ask"\n', "one.toml")
    two = written(tmp_path, '[guard]\ndefault = "deny"\n', "two.toml")
    rules = load((one, two)).rules
    assert (rules.on_error, rules.default) == ("deny", "deny")


def test_a_redirect_block_replaces_the_earlier_one_whole(tmp_path: Path) -> None:
    one = written(tmp_path, '[redirect]\ntmp = true\ntarget = "/tmp/claude"\n', "one.toml")
    two = written(tmp_path, "[redirect]\ntmp = true\n", "two.toml")
    assert load((one,)).rules.target == "/tmp/claude"
    assert load((one, two)).rules.target == "session"
    assert not load((one, written(tmp_path, "[redirect]\n", "three.toml"))).rules.redirect_tmp


def test_without_a_word_about_presets_the_sandbox_is_in_force_and_none_takes_it_out(tmp_path: Path) -> None:
    assert {rule.label.partition(":")[0] for rule in load(()).rules.rules} == {"agents", "sandbox"}
    assert load((written(tmp_path, '[guard]\npreset = "none"\n'),)).rules.rules == ()


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("[guard]\ndeny = [\n", None, "", "not TOML"),
        ("[guard]\n\nwrong = 1\n", 3, "guard.wrong", "unknown key"),
        ("[guard]\ndefault = 'allow'\n", 2, "guard.default", "an allow rule must name the command"),
        ("[guard]\non_error = 'shrug'\n", 2, "guard.on_error", "not one of ask, deny, pass"),
        ("[guard]\npreset = 'sandbx'\n", 2, "guard.preset", "there are agents"),
        ("[guard]\ndeny = 'rm'\n", 2, "guard.deny", "must be a list"),
        ("[guard]\nask = [\n  'ls',\n  3,\n]\n", 4, "guard.ask[1]", "must be a table or a string"),
        ("[guard]\nallow = ['*']\n", 2, "guard.allow[0].prefix", "must name its command"),
        ("[guard]\nallow = ['\"x']\n", 2, "guard.allow[0].prefix", "cannot be split"),
        ("[redirect]\ntmp = true\ntarget = '/home/u/x'\n", 3, "redirect.target", "right under /tmp"),
        ("[redirect]\ntarget = '/tmp/a/b'\n", 2, "redirect.target", "right under /tmp"),
        ("[redirect]\ntarget = '/tmp/..'\n", 2, "redirect.target", "right under /tmp"),
        ("[redirect]\ntmp = 'yes'\n", 2, "redirect.tmp", "true or false"),
        (
            "[[guard.arguments]]\ncommand = 'rm'\nall_inside = ['@scratch']\ndecision = 'allow'\n"
            "[[guard.arguments]]\ncommand = 'rm'\nall_inside = ['@scratch']\nany_outside = ['.']\ndecision = 'ask'\n",
            5,
            "guard.arguments[1]",
            "exactly one of all_inside, any_outside, all_match, any_match, any_named, has all_inside and any_outside",
        ),
        (
            "[[guard.arguments]]\ncommand = 'rm'\nall_inside = ['@scrach']\ndecision = 'allow'\n",
            3,
            "guard.arguments[0].all_inside[0]",
            "there is no @scrach",
        ),
        (
            "[[guard.arguments]]\ncommand = '/bin/rm'\nall_inside = ['.']\ndecision = 'allow'\n",
            2,
            "guard.arguments[0].command",
            "can never match",
        ),
        (
            "[[guard.redirects]]\nmode = 'wirte'\noutside = ['.']\ndecision = 'deny'\n",
            2,
            "guard.redirects[0].mode",
            "must be one of read, write, overwrite, append, delete, any",
        ),
        ("[[guard.redirects]]\noutside = ['.']\n", 1, "guard.redirects[0]", "decision must be one of"),
        ("[[guard.redirects]]\noutside = ['/']\ndecision = 'ask'\n", 2, "guard.redirects[0].outside[0]", "inside /"),
        ("[guard]\nchecks = ['(a)\\\\1']\n", 2, "guard.checks[0].test", "can take very long"),
        ("[guard]\nchecks = ['(a+)+(?=b)']\n", 2, "guard.checks[0].test", "can take very long"),
        ("[guard]\nchecks = ['x', '(.*)+a.{12}']\n", 2, "guard.checks[1].test", "more than 2000 states"),
        ("[guard]\nchecks = ['(a']\n", 2, "guard.checks[0].test", "not a regex"),
        ("[guard]\nallow_checks = ['cp .* /tmp/x']\n", 2, "guard.allow_checks[0].test", "cp has two targets"),
        ("[guard]\nallow_checks = ['(rm|mv) /tmp/x']\n", 2, "guard.allow_checks[0].test", "mv has two targets"),
        ("[guard]\nallow_checks = ['ln -s x']\n", 2, "guard.allow_checks[0].test", "ln has two targets"),
        ("[guard]\nallow_checks = ['rsync .*']\n", 2, "guard.allow_checks[0].test", "rsync has two targets"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_key(
    tmp_path: Path, text: str, line: int | None, key: str, words: str
) -> None:
    found = [mistake for mistake in mistakes(tmp_path, text.replace("\\\\", "\\")) if mistake.fatal]
    assert len(found) == 1, found
    assert found[0].file == str(tmp_path / "config.toml")
    assert found[0].key == key
    assert words in found[0].message
    assert line is None or found[0].line == line


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[guard]\ndeny = ['rm']\n", "guard.deny[0]", "shadows the scoped allow sandbox:arguments[0]"),
        ("[guard]\ndeny = ['rm -rf']\n", "guard.deny[0]", "shadows the scoped allow sandbox:arguments[0]"),
        ("[guard]\nchecks = ['rm -r.*']\n", "guard.checks[0]", "shadows the scoped allow sandbox:arguments[0]"),
        (
            "[[guard.arguments]]\ncommand = 'r*'\nany_outside = ['@project']\ndecision = 'deny'\n",
            "guard.arguments[0]",
            "shadows the scoped allow",
        ),
        ("[guard]\nask = ['git push']\nallow = ['git push origin']\n", "guard.allow[0]", "can never match: ask"),
        ("[guard]\ndeny = ['git', 'git push']\n", "guard.deny[1]", "can never match: deny"),
        ("[guard]\nchecks = ['x', 'x']\n", "guard.checks[1]", "says the same"),
        ("[guard]\nchecks = ['--force']\n", "guard.checks[0]", "none starts like that"),
        ("[guard]\nchecks = ['curl .*\\| *sh']\n", "guard.checks[0]", "judged alone"),
        ("[guard]\nchecks = ['curl x$y']\n", "guard.checks[0]", "no text does"),
    ],
)
def test_what_is_surely_not_meant_is_pointed_out_and_stays_in_force(
    tmp_path: Path, text: str, key: str, words: str
) -> None:
    found = mistakes(tmp_path, text)
    assert [mistake.key for mistake in found] == [key]
    assert words in found[0].message
    assert not found[0].fatal


def test_a_good_config_has_no_mistakes(tmp_path: Path) -> None:
    text = """
[redirect]
tmp = true
target = "session"

[[guard.arguments]]
command = "rm|rmdir"
all_inside = ["@scratch"]
decision = "allow"

[[guard.redirects]]
mode = "write"
outside = ["@scratch", "@project", "~/.cache"]
decision = "deny"
description = "Writing outside the scratch can clobber files."
alternative = "write to $TMPDIR"

[guard]
preset = "none"
on_error = "ask"
deny = ["git push --force", { prefix = "npm publish", description = "Releases are made by CI." }]
ask = ["git push"]
allow = ["git status", "ls"]
checks = ['curl .*--insecure.*']
allow_checks = ['rm /tmp/claude/[a-z]+']
"""
    loaded = verify((written(tmp_path, text),))
    assert loaded.mistakes == ()
    assert len(loaded.rules.rules) == 9


def test_every_key_knows_its_line() -> None:
    text = '# top\n[a]\nx = """\n[b]\n"""\ny = [\n  "1", # ]\n  { k = 1 },\n]\n[[c.d]]\n"z" = 1\n[[c.d]]\nz = 2\n'
    lines = lines_of(text)
    assert lines == {
        "a": 2,
        "a.x": 3,
        "a.y": 6,
        "a.y[0]": 7,
        "a.y[1]": 8,
        "c.d[0]": 10,
        "c.d[0].z": 11,
        "c.d[1]": 12,
    } | {"c.d[1].z": 13}


@pytest.fixture
def places(own_world: Path) -> tuple[Path, Path]:
    config = own_world / "config" / "tmpwarden"
    config.mkdir()
    return config, own_world / "state" / "tmpwarden"


def in_force(places: tuple[Path, Path]) -> tuple[list[str], str]:
    config, state = places
    found = rules_in_force(config_files(str(config)), cache_path(str(state)))
    return [" ".join(rule.operands) for rule in found.rules.of("prefix", "deny")], found.complaint


def test_a_changed_source_is_compiled_anew_and_an_unchanged_one_is_not(places: tuple[Path, Path]) -> None:
    config, state = places
    (config / "config.toml").write_text('[guard]\ndeny = ["a"]\n')
    assert in_force(places) == (["a"], "")
    compiled = Path(cache_path(str(state)))
    assert compiled.stat().st_mode & 0o777 == 0o600
    before = compiled.stat().st_mtime_ns
    assert in_force(places) == (["a"], "")
    assert compiled.stat().st_mtime_ns == before
    (config / "guard.d").mkdir()
    (config / "guard.d" / "team.toml").write_text('[guard]\ndeny = ["bb"]\n')
    assert in_force(places) == (["a", "bb"], "")
    (config / "guard.d" / "team.toml").unlink()
    assert in_force(places) == (["a"], "")


def test_a_broken_config_leaves_the_last_good_one_in_force_and_every_call_says_so(places: tuple[Path, Path]) -> None:
    config, _ = places
    file = config / "config.toml"
    file.write_text('[guard]\ndeny = ["a"]\n')
    in_force(places)
    file.write_text('[guard]\ndeny = ["b"]\nwrong = 1\n')
    for _ in range(2):
        denied, complaint = in_force(places)
        assert denied == ["a"]
        assert f"{file}:3: guard.wrong" in complaint
    file.write_text('[guard]\ndeny = ["c"]\n')
    assert in_force(places) == (["c"], "")


def test_a_config_that_was_never_good_leaves_the_preset_in_force(places: tuple[Path, Path]) -> None:
    (places[0] / "config.toml").write_text("[guard\n")
    config, state = places
    found = rules_in_force(config_files(str(config)), cache_path(str(state)))
    assert [rule.label for rule in found.rules.rules] == [rule.label for rule in load(()).rules.rules]
    assert "config.toml:1" in found.complaint


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"schema": 4}', dumps({}), dumps({"schema": 0}), dumps([1])[:-1]])
def test_a_damaged_compiled_file_is_made_anew(places: tuple[Path, Path], damage: bytes) -> None:
    config, state = places
    (config / "config.toml").write_text('[guard]\ndeny = ["a"]\n')
    in_force(places)
    Path(cache_path(str(state))).write_bytes(damage)
    assert in_force(places) == (["a"], "")


def test_a_compiled_file_that_others_can_write_is_not_believed(places: tuple[Path, Path]) -> None:
    config, state = places
    (config / "config.toml").write_text('[guard]\ndeny = ["a"]\n')
    in_force(places)
    compiled = Path(cache_path(str(state)))
    document = loads(compiled.read_bytes())
    document["rules"] = []
    compiled.write_bytes(dumps(document))
    compiled.chmod(0o622)
    assert in_force(places) == (["a"], "")
