"""Ann's agents have made worktrees and forgotten them.

One is merged, one has a commit that only its own HEAD names, one an untracked file, one a process at work in it. She
looks at the list and cleans: the first two go, and the commit has a name now. She changes her mind: `undo` brings
both back, as git knows them. A build directory with her own script in it is not taken for something that a tool can
make again.
"""

from collections.abc import Callable

import pytest

from journeys.conftest import Start
from journeys.machine import Person

pytestmark = pytest.mark.journey
MADE = """
set -e
git config --global user.name Ann; git config --global user.email ann@example.org
git config --global init.defaultBranch main
git init -q --bare ~/origin.git
git clone -q ~/origin.git ~/shop 2>/dev/null; cd ~/shop
echo 1 > a; printf 'build/\\ntarget/\\ndist/\\n' > .gitignore; echo '{}' > package.json
printf '[package]\\nname = "shop"\\n' > Cargo.toml; echo > setup.py
git add -A; git commit -qm one; git push -q origin HEAD:main
for name in merged detached untracked busy; do git worktree add -q .claude/worktrees/$name -b $name; done
cd .claude/worktrees/detached; echo 2 > b; git add b; git commit -qm two; git checkout -q --detach
git branch -qD detached
echo 3 > ../untracked/c
"""
TREES = "~/shop/.claude/worktrees"


HERS = {"build/deploy.sh": "make it so", "target/notes.md": "thoughts", "dist/shop.tar.asc": "signed"}


def trees(ann: Person) -> set[str]:
    return {path.name for path in ann.path(TREES).iterdir()}


def with_four_worktrees(start: Start) -> tuple[Person, Callable[[float], None]]:
    machine = start("ext4", 48, "ann")
    ann = machine.person("ann")
    ann.types(MADE).must()
    ann.path("~/.claude.json").write_text('{"projects": {"/home/ann/shop": {}}}')
    return ann, machine.days_pass


def test_only_what_has_nothing_to_lose_goes_and_undo_brings_it_back(start: Start, tell: Callable[[str], None]) -> None:
    ann, days_pass = with_four_worktrees(start)
    ann.starts("sleep", "600", cwd="/home/ann/shop/.claude/worktrees/busy")
    days_pass(2)
    listed = ann.types("tmpwarden worktrees --json", cwd="/").must().data["worktrees"]
    assert {each["path"].rpartition("/")[2] for each in listed} >= {"merged", "detached", "untracked", "busy"}
    cleaned = ann.types("tmpwarden worktrees clean --yes", cwd="/").must()
    assert trees(ann) == {"untracked", "busy"}, cleaned.text
    ann.types("cd ~/shop && git worktree list").must("untracked", "busy")
    ann.types("cd ~/shop && git log --all --format=%s").must("two")
    ann.types("tmpwarden undo").must()
    assert trees(ann) == {"merged", "detached", "untracked", "busy"}
    ann.types("cd ~/shop/.claude/worktrees/merged && git status --porcelain && git log -1 --format=%s").must("one")
    ann.types("cd ~/shop/.claude/worktrees/detached && git log -1 --format=%s").must("two")
    tell("of four worktrees two had nothing to lose and went; undo brought them back as git knows them")


def test_what_she_wrote_into_a_build_directory_is_not_derived(start: Start, tell: Callable[[str], None]) -> None:
    ann, days_pass = with_four_worktrees(start)
    for path, text in HERS.items():
        ann.types(f"mkdir -p $(dirname {TREES}/merged/{path}) && echo '{text}' > {TREES}/merged/{path}").must()
    days_pass(2)
    said = ann.types(f"tmpwarden worktrees clean --derived-only --yes {TREES}/merged", cwd="/").text
    said += ann.types("tmpwarden worktrees clean --yes", cwd="/").text
    for path, text in HERS.items():
        assert ann.types(f"cat {TREES}/merged/{path}").out == f"{text}\n", said
    tell(f"{', '.join(HERS)} were hers, and stayed")
