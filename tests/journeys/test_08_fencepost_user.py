"""Fenja moves from fencepost to tmpwarden's guard.

She has a YAML file with a default, imported presets, a temp directory, rules for bash. She imports it into the place
that `guard import --help` names, `guard verify` accepts it, and what she allowed, wanted to be asked about and
forbade is decided as before; what means something else is told.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Person

pytestmark = pytest.mark.journey
WANTED = "~/.config/tmpwarden/guard.d/mine.toml"
PLAIN = """
default: ask
onError: deny
import: [claude]
redirect: { tmp: true, tmpTarget: /tmp/claude }
tools:
  bash:
    allow: [make]
    ask: [npm publish]
    deny: [terraform destroy]
    arguments:
      - { command: rm, allArgsInside: [/tmp/claude], decision: allow }
      - { command: "rm|rmdir", anyArgOutside: [/tmp/claude, "."], decision: ask }
    redirects:
      - { mode: write, outside: [/tmp/claude, "."], decision: deny, description: Stay inside. }
"""
DECIDED = {
    "rm -rf /tmp/claude/build": "allow",
    "rm -rf /tmp/claude/build /etc": "ask",
    "echo x > /etc/x": "deny",
    "make": "allow",
    "npm publish": "ask",
    "terraform destroy": "deny",
    "some-unknown-program": "ask",
}
RICH = PLAIN.replace("import: [claude]", "import: [claude, git, filesystem]").replace(
    "    redirects:\n",
    "    checks:\n      - { test: '(wipe|scrub) --all', description: Not everything. }\n"
    "    redirects:\n      - { mode: write, glob: '*.lock', decision: ask, description: A lock. }\n",
)
DECIDED_TOO = DECIDED | {
    "wipe --all": "deny",
    "scrub --all": "deny",
    "echo x > a.lock": "ask",
    "ls": "allow",
    "git push -f": "deny",
    "find . -delete": "deny",
    "git add x": "allow",
    "ls | xargs grep x": "allow",
}


def decided(fenja: Person, rules: str, where: str) -> dict[str, str]:
    """The decision of each line once the rules are imported."""
    fenja.path("~/fencepost.yaml").write_text(rules)
    done = fenja.types(f"mkdir -p ~/shop; {where}tmpwarden guard import ~/fencepost.yaml -o {WANTED}")
    lines = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    assert done.status == (2 if lines else 0), done.text  # 2: something means another thing, and has a line
    assert bool(lines) is ("glob" in rules), done.text
    fenja.types("tmpwarden guard verify").must("mine.toml")
    check = 'tmpwarden guard check "$line" --cwd ~/shop --project ~/shop --json'
    return {
        line: fenja.types(check, env={"line": line}).must().data["decision"]
        for line in DECIDED_TOO
        if rules == RICH or line in DECIDED
    }


def test_plain_rules_decide_as_before(start: Start, tell: Callable[[str], None]) -> None:
    fenja = start("ext4", 48, "fenja").person("fenja")
    assert decided(fenja, PLAIN, "mkdir -p ~/.config/tmpwarden/guard.d; ") == DECIDED
    tell(f"{len(DECIDED)} lines are decided as fencepost decided them")


def test_imported_presets_checks_and_globs_decide_as_before(start: Start, tell: Callable[[str], None]) -> None:
    fenja = start("ext4", 48, "fenja").person("fenja")
    assert decided(fenja, RICH, "") == DECIDED_TOO
    tell(f"{len(DECIDED_TOO)} lines with presets, checks and globs are decided as fencepost decided them")


def test_a_word_that_means_nothing_is_refused(start: Start, tell: Callable[[str], None]) -> None:
    fenja = start("ext4", 48, "fenja").person("fenja")
    fenja.path("~/fencepost.yaml").write_text("default: maybe\n")
    said = fenja.types("tmpwarden guard import ~/fencepost.yaml")
    assert said.status != 0 and "maybe" in said.err, said.text
    tell("`default: maybe` is refused by name")
