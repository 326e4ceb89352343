"""`tmpwarden setup`: one diff for all agents, temp for their commands, and every byte back with --remove."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from hooks.calling import hook, said
from setup.test_install import put
from setup.test_timer import Machine
from support import odd_homes, planted
from support.command import AHEAD, WHOLE_MACHINE, tmpwarden
from support.mounts import needs_root
from support.terminal import on_a_terminal
from tmpwarden.agent_facts import FACTS
from tmpwarden.catalogue.settings import load_settings
from tmpwarden.leases import static_temp
from tmpwarden.setup import everything, record, runtime, schedulers, shells, temp, timer
from tmpwarden.setup.targets import find
from tmpwarden.sweep.weigh import consent

ODD = {
    ".claude/settings.json": b'\xef\xbb\xbf{\r\n\t"model": "opus", // mine\r\n\t"hooks": {},\r\n}\r\n',
    ".codex/config.toml": b'# mine\nmodel = "x"\n\n[shell_environment_policy]\ninherit = "core" # less\n',
    ".codex/hooks.json": b'{"hooks": {"Stop": []}}',
    ".gemini/settings.json": b'{\n  // theme\n  "theme": "a",\n}\n',
    ".gemini/.env": b"GEMINI_API_KEY=x",
    ".qwen/settings.json": b"{}",
    ".copilot/config.json": b"{}",
    "config/opencode/opencode.jsonc": b'{\n  /* one */ "plugin": ["other"], // two\n}\n',
    ".bashrc": b"alias ll=ls",
}


@pytest.fixture(autouse=True)
def world(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with every agent that has hooks, a crontab of its own, no systemd."""
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    monkeypatch.setattr(schedulers, "runtime_dir", lambda: "")
    bin_ = own_world / "bin"
    bin_.mkdir()
    for name in FACTS:
        (bin_ / name).write_text("#!/bin/sh\n")
        (bin_ / name).chmod(0o755)
        directory = FACTS[name]["directory"].format(home=own_world / "home", xdg_config=own_world / "config")
        Path(directory).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.chdir(own_world)
    for name, content in ODD.items():
        path = own_world / ("home" if not name.startswith("config/") else ".") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return own_world


def everything_in(world: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the user's, with its mode; ours, and directories that may stay, left out."""
    return {
        str(path.relative_to(world)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in sorted(world.rglob("*"))
        if path.is_file() and not path.is_relative_to(world / "state")
    }


WANTED = everything.Wanted(timer=False, completion="# completion of tmpwarden\n")


def home(world: Path) -> Path:
    return world / "home"


def test_a_setup_and_its_removal_leave_every_byte_as_it_was(world: Path) -> None:
    before = everything_in(world)
    made = everything.plan(WANTED)
    assert everything_in(world) == before, "a plan writes nothing"
    everything.carry_out(made, WANTED)
    between = everything_in(world)
    assert {name for name in ODD if between.get(f"home/{name}", between.get(name)) == before.get(f"home/{name}")} <= {
        ".copilot/config.json", ".codex/config.toml",
    }  # fmt: skip
    assert everything.plan(WANTED).changes == (), "a second setup has nothing to do"
    everything.take_out()
    assert everything_in(world) == before


def test_without_our_state_a_removal_still_finds_everything_of_ours(world: Path) -> None:
    """Whoever removed ~/.local/state kept hooks that name a program of ours, and no command took them out."""
    before = everything_in(world)
    everything.carry_out(everything.plan(WANTED), WANTED)
    shutil.rmtree(world / "state")
    made = everything.removal()
    assert {change.agent for change in made.changes} >= set(FACTS)
    everything.take_out()
    after = {name: content for name, content in everything_in(world).items() if name in before}
    assert set(after) == set(before)
    told = [name for name, (_, content) in everything_in(world).items() if b"tmpwarden" in content]
    assert told == [], "nothing names us any more"
    assert after["home/.bashrc"][1].rstrip(b"\n") == ODD[".bashrc"]
    assert after["home/.gemini/.env"][1].rstrip(b"\n") == ODD[".gemini/.env"]


def test_a_first_line_that_names_us_does_not_make_a_start_file_ours(world: Path) -> None:
    (home(world) / ".bashrc").write_text("# tmpwarden is fine\nalias ll=ls\n")
    everything.take_out()
    assert (home(world) / ".bashrc").read_text() == "# tmpwarden is fine\nalias ll=ls\n"


def test_remove_all_takes_state_and_logs_and_leaves_the_users_config(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    state, config = world / "state" / "tmpwarden", world / "config" / "tmpwarden"
    (state / "guard").mkdir(exist_ok=True)
    (state / "guard" / "audit.jsonl").write_text("{}\n")
    config.mkdir()
    (config / "config.toml").write_text("")
    said_all = tmpwarden("setup", "--remove", "--all", "--yes")
    assert said_all.returncode == 0, said_all.stderr
    assert f"Removed {state}." in said_all.stdout
    assert not state.exists()
    assert (config / "config.toml").exists()
    assert tmpwarden("setup", "--all", "--yes").returncode == 3


def test_remove_all_does_not_lose_what_waits_in_quarantine(world: Path) -> None:
    left = world / "tmp" / "left"
    left.mkdir()
    (left / "file").write_text("x")
    assert tmpwarden("clean", str(left), "--yes").returncode == 0
    refused = tmpwarden("setup", "--remove", "--all", "--yes")
    assert refused.returncode == 6
    assert "1 item in quarantine would be lost" in refused.stderr
    assert tmpwarden("undo").returncode == 0
    assert left.exists()
    assert tmpwarden("setup", "--remove", "--all", "--yes").returncode == 0


@pytest.mark.parametrize("form", odd_homes.FORMS)
def test_whatever_form_settings_have_every_byte_mode_attribute_and_link_is_as_before(
    world: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(timer, "state", lambda: "installed")  # so that Codex gets its static directory too
    project = odd_homes.make(home(world), form)
    monkeypatch.chdir(project)
    before = odd_homes.everything(home(world))
    made = everything.plan(WANTED)
    assert not made.refused
    everything.carry_out(made, WANTED)
    assert odd_homes.everything(home(world)) != before
    assert everything.plan(WANTED).changes == ()
    everything.take_out()
    assert odd_homes.everything(home(world)) == before


def test_directories_that_were_made_for_a_file_go_with_it_and_others_stay(world: Path) -> None:
    def directories() -> set[str]:
        return {str(path.relative_to(home(world))) for path in home(world).rglob("*") if path.is_dir()}

    for name in (".gemini", ".claude"):
        shutil.rmtree(home(world) / name)
    (home(world) / ".qwen/mine").mkdir()
    before = directories()
    everything.carry_out(everything.plan(WANTED), WANTED)
    assert {".gemini", ".claude"} <= directories()
    (home(world) / ".gemini/of-somebody-else").touch()
    everything.take_out()
    assert directories() == before | {".gemini"}


def test_what_the_user_writes_in_between_stays(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    for name in (".gemini/.env", ".bashrc"):
        with open(home(world) / name, "ab") as file:
            file.write(b"MINE=1\n")
    everything.take_out()
    assert (home(world) / ".gemini/.env").read_bytes() == b"GEMINI_API_KEY=x\nMINE=1\n"
    assert (home(world) / ".bashrc").read_bytes() == b"alias ll=ls\nMINE=1\n"


def test_a_second_setup_keeps_the_guard_that_an_install_was_asked_for(world: Path) -> None:
    wanted = everything.Wanted(agents=("gemini",), guard=True, timer=False)
    everything.carry_out(everything.plan(wanted), wanted)
    assert everything.plan(everything.Wanted(agents=("gemini",), timer=False)).changes == ()
    known = record.load("gemini")
    assert known is not None and known.guard


def test_each_agent_gets_its_temp_the_best_way_it_has(world: Path) -> None:
    ways = {way.agent: way.by for way in everything.plan(WANTED).ways}
    by_facts = {"env-file": "hook", "answer": "hook", "dotenv": "settings", "toml-set": "settings", "shell": "shell"}
    best = {name: by_facts[facts["temp_by"]] for name, facts in FACTS.items()}
    # its hooks need consent, so nothing would make its directory again after a reboot
    assert ways == best | {"codex": "shell"}


def test_with_a_timer_codex_is_sent_to_a_static_directory(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "state", lambda: "installed")
    wanted = everything.Wanted(agents=("codex",))
    everything.carry_out(everything.plan(wanted), wanted)
    policy = tomllib.loads((home(world) / ".codex/config.toml").read_text())["shell_environment_policy"]
    directory = Path(policy["set"]["TMPDIR"])
    assert policy["inherit"] == "core"
    assert directory == world / "tmp" / f"tmpwarden-{os.geteuid()}" / "codex"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


CODEX = {
    "empty": "",
    "comments": '# mine\nmodel = "x" # yes\n',
    "no newline": 'model = "x"',
    "CRLF": 'model = "x"\r\n[a]\r\nb = 1\r\n',
    "a policy": '[shell_environment_policy]\ninherit = "core"\n[other]\nx = 1\n',
    "a set table": '[shell_environment_policy.set] # mine\nA = "1"\n\n[other]\nx = """\n[a]\n"""\n',
    "a last table": "[[list]]\nx = 1\n",
}
CANNOT = {
    "inline": 'shell_environment_policy = { set = { A = "1" } }\n',
    "inline set": '[shell_environment_policy]\nset = { A = "1" }\n',
    "set already": '[shell_environment_policy.set]\nTMPDIR = "/other"\n',
    "broken": "[a\n",
}


@pytest.mark.parametrize("form", CODEX)
def test_toml_gets_two_lines_between_marks_and_nothing_else(form: str) -> None:
    text = CODEX[form]
    after = temp.in_toml(text, "/tmp/x y")
    assert tomllib.loads(after)["shell_environment_policy"]["set"]["TMPDIR"] == "/tmp/x y"
    assert temp.in_toml(after, "/tmp/x y") == after
    assert shells.without_block(after).rstrip("\r\n") == text.rstrip("\r\n")
    assert "\n" not in after.replace("\r\n", "") if form == "CRLF" else "\r" not in after


@pytest.mark.parametrize("form", CANNOT)
def test_toml_that_cannot_be_changed_safely_is_left_with_the_lines_to_paste(form: str) -> None:
    with pytest.raises(temp.NotHere) as raised:
        temp.in_toml(CANNOT[form], "/tmp/x")
    assert form == "broken" or 'TMPDIR = "/tmp/x"' in str(raised.value)


def test_what_is_printed_for_an_inline_table_can_stand_in_the_file() -> None:
    text = '[shell_environment_policy]\nset = { A = "1" }\n'
    with pytest.raises(temp.NotHere) as raised:
        temp.in_toml(text, "/tmp/x")
    _, _, by_hand = str(raised.value).partition("replace it by: ")
    mended = tomllib.loads(text.replace('set = { A = "1" }', by_hand))
    assert mended["shell_environment_policy"]["set"] == {"A": "1", "TMPDIR": "/tmp/x"}


def test_a_filter_of_codex_that_would_drop_it_is_told(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home(world) / ".codex/config.toml").write_text('[shell_environment_policy]\ninclude_only = ["PATH", "HOME"]\n')
    assert any("include_only" in sentence for sentence in temp.way_of(find("codex")).remaining)
    (home(world) / ".codex/config.toml").write_text('[shell_environment_policy]\ninclude_only = ["PATH", "TMP*"]\n')
    assert temp.way_of(find("codex")).remaining == ()


def hide_home(world: Path) -> None:
    (home(world) / ".env").write_text("A=1\n")


def hide_project(world: Path) -> None:
    (world / ".env").write_text("A=1\n")


def set_already(world: Path) -> None:
    (home(world) / ".qwen/.env").write_text("export TMPDIR=/mine\n")


@pytest.mark.parametrize("arrange", [hide_home, hide_project, set_already], ids=lambda one: one.__name__)
def test_a_dotenv_that_would_hide_or_be_hidden_is_not_made(world: Path, arrange: Callable[[Path], None]) -> None:
    arrange(world)
    way = temp.way_of(find("qwen"))
    assert (way.by, way.edits) == ("shell", ())
    assert way.remaining


def test_after_a_reboot_the_first_hook_makes_the_directory_again_and_tells_the_model(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    directory = world / "tmp" / f"tmpwarden-{os.geteuid()}" / "gemini"
    directory.rmdir()
    answer = said(hook("gemini", "SessionStart", {"session_id": "s-1", "source": "startup", "cwd": str(world)}))
    assert str(directory) in json.dumps(answer)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_timer_makes_them_again_too(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    directories = [Path(path) for path in static_temp.directories(str(world / "state" / "tmpwarden"))]
    assert {directory.name for directory in directories} == {
        name for name, facts in FACTS.items() if facts["temp_by"] == "dotenv"
    }
    for directory in directories:
        directory.rmdir()
    tick = Path(static_temp.__file__).parents[1] / "lifecycle" / "tick.py"
    subprocess.run([sys.executable, "-I", "-S", str(tick)], check=True, capture_output=True, timeout=60)
    assert all(directory.is_dir() for directory in directories)


def command(*args: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "tmpwarden", *args]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


def test_while_hooks_only_observe_the_timer_removes_nothing_either(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine("0 5 * * * backup\n")
    monkeypatch.setattr(schedulers, "ask_scheduler", machine)
    monkeypatch.setattr(schedulers, "best", lambda *, system: "cron")

    def set_up(observe: bool | None) -> list[str]:
        wanted = everything.Wanted(agents=("claude",), observe=observe)
        everything.carry_out(everything.plan(wanted), wanted)
        assert everything.plan(wanted).changes == ()
        (line,) = [line for line in machine.crontab.splitlines() if "tick.py" in line]
        return line.split("tick.py")[1].split()

    assert "--observe" in set_up(True)
    assert "--observe" in set_up(None), "a second setup changes nothing"
    assert "--observe" not in set_up(False)


def test_a_timer_that_observes_logs_what_it_would_remove(world: Path) -> None:
    unit = planted.session(world / "tmp")
    tick = Path(static_temp.__file__).parents[1] / "lifecycle" / "tick.py"
    ahead = [sys.executable, AHEAD, str(planted.DAYS), str(tick)]
    consent.give()
    subprocess.run([*ahead, "--observe"], check=True, capture_output=True, timeout=60)
    assert unit.exists()
    assert str(unit) in tmpwarden("log", "--observed").stdout.replace("\n", "")
    subprocess.run(ahead, check=True, capture_output=True, timeout=60)
    assert not unit.exists()


def test_the_doctor_names_a_directory_that_is_gone_and_its_remedy_helps(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    directory = world / "tmp" / f"tmpwarden-{os.geteuid()}" / "qwen"

    def diagnosis() -> dict[str, str]:
        found = json.loads(command("doctor", "--json", "--no-probe").stdout)["data"]["diagnoses"]
        return next(one for one in found if one["check"] == "tempdirs")  # type: ignore[no-any-return]

    assert diagnosis()["status"] == "ok"
    directory.rmdir()
    told = diagnosis()
    assert told["status"] == "fail" and "every mktemp" in told["summary"]
    subprocess.run(["sh", "-c", told["remedy"]], check=True)
    assert diagnosis()["status"] == "ok"


def test_without_a_terminal_it_touches_nothing_and_says_how_to_go_on(world: Path) -> None:
    before = everything_in(world)
    done = command("setup", "--no-timer")
    assert (done.returncode, done.stdout) == (4, "")
    assert "--yes" in done.stderr
    assert everything_in(world) == before


def test_the_envelope_has_every_change_with_its_kind_and_diff(world: Path) -> None:
    done = command("setup", "--no-timer", "--dry-run", "--json")
    data = json.loads(done.stdout)["data"]
    assert {change["kind"] for change in data["changes"]} >= {"hooks", "temp", "shell"}
    assert all(change["diff"].startswith("--- ") for change in data["changes"])
    assert {change["agent"] for change in data["changes"] if change["kind"] == "hooks"} == set(FACTS)
    assert any("approve" in sentence for sentence in data["remaining"])


def test_broken_settings_of_one_agent_do_not_stop_the_others(world: Path) -> None:
    put("gemini", "{ nonsense")
    made = everything.plan(WANTED)
    assert made.refused == {"gemini"}
    assert any("line 1" in sentence for sentence in made.remaining)
    assert not any("nothing was changed" in sentence for sentence in made.remaining), "the others are"
    everything.carry_out(made, WANTED)
    assert (home(world) / ".qwen/settings.json").read_text() != "{}"


@needs_root
def test_two_hours_after_the_last_session_a_clean_takes_what_commands_left(world: Path) -> None:
    """In a pid namespace of its own: whoever runs these tests may be a Gemini."""
    everything.carry_out(everything.plan(WANTED), WANTED)
    directory = world / "tmp" / f"tmpwarden-{os.geteuid()}" / "gemini"
    (directory / "tmp.aB3dE9fG1h").write_text("x")
    (directory / "build").mkdir()
    (directory / "build" / "log").write_text("x")
    argv = [sys.executable, WHOLE_MACHINE, "7200", str(Path(sys.executable).parent / "tmpwarden"), "clean", "--force"]
    inside = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    done = subprocess.run([*inside, *argv], capture_output=True, text=True, check=False, timeout=60)
    assert sorted(directory.iterdir()) == [], done.stdout + done.stderr
    assert directory.is_dir(), "the directory itself stays"


@needs_root
def test_a_directory_in_somebody_elses_place_is_told_and_not_used(world: Path) -> None:
    everything.carry_out(everything.plan(WANTED), WANTED)
    parent = world / "tmp" / f"tmpwarden-{os.geteuid()}"
    os.chown(parent, 65534, 65534)
    answer = said(hook("gemini", "SessionStart", {"session_id": "s-1", "source": "startup", "cwd": str(world)}))
    assert "no temp directory for this session" in json.dumps(answer)
    assert "Temp files" not in json.dumps(answer)
    found = json.loads(command("doctor", "--json").stdout)["data"]["diagnoses"]
    assert "fail" in {one["status"] for one in found if one["check"] in ("tempdirs", "squatted")}


@pytest.mark.parametrize("words", [("setup", "--no-timer"), ("install", "gemini")], ids=lambda words: words[0])
@pytest.mark.parametrize("answer", ["n", "^D", "y"])
def test_on_a_terminal_the_diff_is_shown_and_only_a_yes_changes_anything(
    world: Path, words: tuple[str, ...], answer: str
) -> None:
    before = everything_in(world)
    typed = f"d\n{answer}" if words[0] == "setup" and answer != "^D" else answer  # setup shows its diff when asked to
    status, seen = on_a_terminal([sys.executable, "-m", "tmpwarden", *words], answer=typed, prompt="[y/N")
    assert status == 0, seen
    if words[0] == "setup" and answer == "^D":
        assert "Gemini CLI: hooks" in seen and "Nothing was changed." in seen
        return
    assert "+++ " in seen and "gemini SessionStart" in seen.replace("\r\n", "")
    assert ("Nothing was changed." in seen) is (answer != "y")
    if words[0] == "setup":  # the diff has scrolled by: every file once more, above the question
        summed_up = " ".join(seen.split()).partition("In all, ")[2].partition("? [y/N")[0]
        assert "gemini/settings.json: Gemini CLI" in summed_up
    after = everything_in(world)
    theirs = {name: content for name, content in after.items() if name in before}
    assert (theirs == before) is (answer != "y")


def test_o_agrees_to_hooks_that_only_log(world: Path) -> None:
    argv = [sys.executable, "-m", "tmpwarden", "setup", "--no-timer"]
    status, seen = on_a_terminal(argv, answer="o", prompt="[y/N")
    assert status == 0 and "o: yes, but remove nothing yet" in " ".join(seen.split())
    assert "--observe" in (home(world) / ".gemini" / "settings.json").read_text()


def test_e_edits_the_choice_and_asks_again(world: Path) -> None:
    before = everything_in(world)
    argv = [sys.executable, "-m", "tmpwarden", "setup", "--no-timer"]
    status, seen = on_a_terminal(argv, answer="e\nchaude\ngemini guard\ny", prompt="[y/N")
    told = " ".join(seen.split())
    assert status == 0 and "Unknown: chaude" in told and "Set up (Enter: as now)" in told
    changed = {name for name, content in everything_in(world).items() if before.get(name) != content}
    agents = {name for name in changed if "/.local/share/" not in name and not name.startswith("data/")}
    assert agents and all("gemini" in name or "completion" in name for name in agents), changed
    assert "BeforeTool" in (home(world) / ".gemini" / "settings.json").read_text()


def test_with_no_agent_here_nothing_is_promised(own_world: Path) -> None:
    argv = [sys.executable, "-m", "tmpwarden", "setup", "--no-timer"]
    (own_world / "fresh").mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    env |= {"HOME": str(own_world / "fresh"), "PATH": "/usr/bin:/bin"}
    status, seen = on_a_terminal(argv, answer="n", prompt="[y/N", env=env)
    told = " ".join(seen.split())
    assert status == 0 and "No agent was found." in told and "Only this would be set up:" in told
    assert "Removed automatically" not in told and "undo" not in told.lower()


def test_setup_takes_every_option_of_install_with_the_same_meaning() -> None:
    from tmpwarden.cli.commands import install
    from tmpwarden.cli.commands import setup as setup_command

    mine = {name for option in setup_command.command.params for name in option.opts}
    assert {name for option in install.command.params for name in option.opts} <= mine


def test_uninstall_alone_lists_and_changes_nothing(world: Path) -> None:
    assert tmpwarden("setup", "--no-timer", "--yes").returncode == 0
    before = everything_in(world)
    done = tmpwarden("uninstall")
    assert done.returncode == 0 and "gemini" in done.stdout
    assert everything_in(world) == before


def test_what_is_not_recognised_is_left_alone_unless_the_offer_is_taken(world: Path) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    argv = [sys.executable, "-m", "tmpwarden", "setup", "--no-timer"]
    status, seen = on_a_terminal(argv, answer="n", prompt="[y/N")
    assert status == 0 and "Left alone: temp files that tmpwarden does not recognise." in " ".join(seen.split())
    assert not config.exists()
    status, seen = on_a_terminal(argv, answer="u\ny", prompt="[y/N")
    assert status == 0
    assert "does not recognise, once unused for 7d." in " ".join(seen.split())
    assert load_settings().unknown_max_age_s == 7 * 86400


def test_the_option_sets_the_age_of_what_is_not_recognised_and_takes_it_back(world: Path) -> None:
    setup = ("setup", "--no-timer", "--yes", "--unknown")
    assert tmpwarden(*setup, "2h").returncode == 3
    assert tmpwarden(*setup, "14d").returncode == 0
    assert load_settings().unknown_max_age_s == 14 * 86400
    done = tmpwarden(*setup, "off")
    assert (done.returncode, load_settings().unknown_max_age_s) == (0, None), done.stdout
