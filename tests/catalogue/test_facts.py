"""One record per agent: the generated module says what the TOML files say, and a drop-in cannot loosen the guard."""

import copy
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from facts import facts_of, moments
from tmpwarden.agent_events import MOMENTS
from tmpwarden.agent_facts import FACTS, SANDBOXES
from tmpwarden.catalogue.load import BUILT_IN, load
from tmpwarden.hooks.dialects.common import load as dialect_of

ROOT = Path(__file__).parents[2]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_generated_module_is_stale() -> None:
    for path, text in generator().TARGETS.items():
        assert path.read_text() == text(), f"{path} is stale: run `make generate`"


def test_generated_text_is_formatted_as_everything_else_is(tmp_path: Path) -> None:
    for path in generator().TARGETS:
        done = subprocess.run([f"{os.path.dirname(sys.executable)}/ruff", "format", "--check", str(path)], check=False)
        assert done.returncode == 0


def claude() -> dict[str, Any]:
    return tomllib.loads(Path(BUILT_IN, "claude.toml").read_text())


BROKEN: list[tuple[tuple[str, ...], object, str]] = [
    (("hooks", "answers"), ["allow", "shrug"], "answers does not know 'shrug'"),
    (("hooks", "keeps_rewrite"), "2.1.300", "it must be like"),
    (("hooks", "keeps_rewrite"), ">=new", "it must be like"),
    (("hooks", "version_from"), ["rumour"], "is not one of environment:NAME"),
    (("hooks", "tools"), {"Bash": "magic"}, "tools does not know 'magic'"),
    (("hooks", "events"), {"Stop": {"moment": "noon"}}, "moment does not know 'noon'"),
    (("hooks", "events"), {"Stop": {"moment": "stop", "when": 1}}, "an event does not know 'when'"),
    (("hooks", "surprise"), True, "[hooks] does not know 'surprise'"),
    (("setup", "surprise"), True, "[setup] does not know 'surprise'"),
    (("temp", "by"), "prayer", "by does not know 'prayer'"),
]


@pytest.mark.parametrize(("keys", "value", "sentence"), BROKEN)
def test_a_word_that_nobody_reads_stops_the_generator(keys: tuple[str, str], value: object, sentence: str) -> None:
    data = copy.deepcopy(claude())
    data[keys[0]][keys[1]] = value
    with pytest.raises(ValueError, match=re.escape(sentence)):
        facts_of(data)


def test_two_agents_cannot_mean_different_moments_by_one_event() -> None:
    one, other = facts_of(claude()), facts_of(claude())
    other["events"] = {"Stop": {"moment": "end", "matcher": "", "registered": True}}
    with pytest.raises(ValueError, match="another moment by Stop"):
        moments([one, other])
    assert moments(FACTS.values()) == MOMENTS
    assert SANDBOXES == ("claude-{uid}/tw",)


@pytest.mark.parametrize("agent", sorted(FACTS))
def test_every_agent_with_hooks_has_a_dialect_a_way_to_a_tmpdir_and_a_place_for_settings(agent: str) -> None:
    facts = FACTS[agent]
    assert dialect_of(agent).agent == agent
    assert {event["moment"] for event in facts["events"].values()} >= {"start", "before", "after", "end"}
    assert "shell" in facts["tools"].values()
    assert bool(facts["temp_file"]) == (facts["temp_by"] in ("toml-set", "dotenv"))
    assert bool(facts["temp_variable"]) == (facts["temp_by"] == "env-file")
    rewrites = {"rewrite", "rewrite-with-allow"} & set(facts["answers"])
    assert bool(facts["keeps_rewrite"]) == bool(rewrites), "a version that keeps what is never sent, or the other way"


LOOSE = """\
schema = 1
[agent]
id = "claude"
name = "Claude Code"
[hooks]
own = ["/"]
keeps_rewrite = ">=0.0"
[[litter]]
id = "mine"
in = "{tmp}"
name = "claude-mine-[0-9]+"
kind = "file"
tier = "ask"
worth = "some"
owner = "agent"
why = "a drop-in"
seen = ["here"]
matches = ["claude-mine-1"]
spares = ["claude-mine"]
"""


def test_a_drop_in_adds_litter_and_is_not_heard_about_hooks_or_living_sessions(tmp_path: Path) -> None:
    (tmp_path / "claude.toml").write_text(LOOSE)
    catalogue = load(dirs=[str(tmp_path)])
    agent = catalogue.agent("claude")
    assert [row.id for row in agent.rows if row.tier.value != "never"] == ["mine"]
    built_in = load(dirs=()).agent("claude")
    assert (agent.session_env, agent.registry) == (built_in.session_env, built_in.registry)
    assert [warning for warning in catalogue.warnings if "heard from built-in files only" in warning]
    assert FACTS["claude"]["own"] == ("/tmp/claude-{uid}", "~/.claude")
