"""The examples at the end of every --help: what people really type. A test runs each of them."""

from __future__ import annotations

import click

Example = tuple[str, str]  # what to type after `tmpwarden`, what it does
_WIDEST = 76  # columns of the 80 that click writes, behind its indent


def attach(command: click.Command, path: str) -> None:
    """Below the options of the command that is called `tmpwarden PATH`."""
    lines = EXAMPLES.get(path, ())
    if lines and not command.epilog:
        command.epilog = "\b\nExamples:\n" + "\n".join(_aligned(lines))


def _aligned(lines: tuple[Example, ...]) -> list[str]:
    """One line each where that fits, else what it does on the line below."""
    typed = [f"  tmpwarden {words}".rstrip() for words, _ in lines]
    column = max(map(len, typed)) + 2
    if all(column + len(does) <= _WIDEST for _, does in lines):
        return [f"{words:<{column}}{does}" for words, (_, does) in zip(typed, lines, strict=True)]
    return [line for words, (_, does) in zip(typed, lines, strict=True) for line in (words, f"      {does}")]


EXAMPLES: dict[str, tuple[Example, ...]] = {
    "": (
        ("", "how full, who lives, what to do next"),
        ("scan", "what agents left behind"),
        ("clean", "remove it; shows the list and asks"),
        ("undo", "bring it back"),
        ("doctor", "why does my agent fail?"),
        ("help clean", "all about one command"),
    ),
    "status": (
        ("status", "the same as `tmpwarden` alone"),
        ("status --json", "for a program"),
    ),
    "scan": (
        ("scan", "grouped, the biggest first"),
        ("scan --each --agent claude", "every single thing of Claude Code"),
        ("scan --root /var/tmp --json", "one directory, for a program"),
    ),
    "ui": (
        ("ui", "all temp directories"),
        ("ui --root /var/tmp", "one of them"),
        ("clean --pick", "only what may go, to choose from"),
    ),
    "why": (
        ("why /tmp/claude-1a2b-cwd", "whose it is, and whether it may go"),
        ("why --all /tmp", "all of a directory, as `clean --all` sees it"),
    ),
    "metrics": (
        ("metrics", "of your own temp directories"),
        ("metrics --json", "the same, for a program that reads JSON"),
    ),
    "report": (
        ("report --open", "look at it in your browser"),
        ("report -o /tmp/report.html", "for a timer"),
        ("report --from scan.json -o host.html", "what `scan --json` wrote elsewhere"),
    ),
    "doctor": (
        ("doctor", "what is wrong, and one command for each"),
        ("doctor -v", "what is in order too"),
    ),
    "log": (
        ("log", "the last 20 removals"),
        ("log --since 24h --agent claude", "Claude Code's of the last day"),
        ("log --observed", "what hooks that only watch would have taken"),
    ),
    "clean": (
        ("clean", "show the list, ask, remove"),
        ("clean --dry-run", "show the list and touch nothing"),
        ("clean --yes --agent claude", "no question, Claude Code's only"),
        ("clean --pick", "choose in the terminal what goes"),
        ("clean '/tmp/orch-*'", "these, by name, if nobody uses them"),
        ("clean --budget 60% --yes", "make room: oldest first, down to 60 %"),
    ),
    "undo": (
        ("undo", "all that the last clean took"),
        ("undo 3f9a1c02", "one thing, by the id that `log` shows"),
        ("undo 3f9a1c02 --to ~", "into another directory"),
    ),
    "worktrees": (
        ("worktrees", "all of them, and what each one holds"),
        ("worktrees proof ~/shop-wt1", "may this one go? exit 0: yes"),
        ("worktrees clean --merged", "let go what has been merged; asks"),
    ),
    "worktrees proof": (("worktrees proof ~/shop-wt1", "every item; exit 2 where one fails"),),
    "worktrees clean": (
        ("worktrees clean", "the finished ones of agents; asks"),
        ("worktrees clean --merged --yes", "merged ones, no question"),
        ("worktrees clean --derived-only", "node_modules, target, .venv only"),
    ),
    "rescue": (
        ("rescue /tmp/orch-7", "save what exists nowhere else"),
        ("rescue --session 2f6e1d", "all that a session left"),
        ("rescue list", "what was saved"),
        ("rescue restore 20260114 --to ~", "bring it back"),
    ),
    "rescue save": (("rescue save /tmp/orch-7 --no-files", "git work only"),),
    "rescue list": (("rescue list", "the newest first"),),
    "rescue show": (("rescue show 20260114", "every commit and file in it"),),
    "rescue restore": (("rescue restore 20260114 --to ~/back", "into this directory"),),
    "keep": (
        ("keep /tmp/thesis-data", "never remove it"),
        ("keep", "what is kept"),
        ("keep --forget /tmp/thesis-data", "no longer"),
        ("keep 'process:*redis*'", "never end such a process"),
    ),
    "orphans": (
        ("orphans", "look"),
        ("orphans end", "end all that may end; asks first"),
        ("orphans end 4711", "end this one"),
        ("keep pid:4711", "never end this one"),
    ),
    "orphans end": (
        ("orphans end --dry-run", "what would end"),
        ("orphans end --yes", "no question"),
        ("orphans end 4711", "this one, if nobody needs it"),
    ),
    "brake": (
        ("brake", "watch until Ctrl-C"),
        ("brake --stop 4711", "the writer waits; --resume lets it go on"),
        ("brake --punch /tmp/x.log", "give back all of it but its end"),
    ),
    "teardown": (
        ("teardown --session 2f6e1d", "this session has ended"),
        ("teardown --pid 4711 --wait", "this process has; wait till all is gone"),
        ("teardown --agent codex", "every ended session of Codex"),
    ),
    "run": (
        ("run -- make test", "TMPDIR is private and goes afterwards"),
        ("run --max-file 10G -- claude", "no file grows past 10 GB"),
        ("run --private-tmp --size 2G -- npm test", "a /tmp of its own, in memory"),
    ),
    "shellenv": (
        ("shellenv bash", 'see them; for ~/.bashrc: eval "$(tmpwarden shellenv)"'),
        ("shellenv fish", "for config.fish: tmpwarden shellenv fish | source"),
    ),
    "setup": (
        ("setup --dry-run", "what it would change, and nothing else"),
        ("setup --yes", "no question"),
        ("setup --remove", "every file as it was before"),
    ),
    "install": (
        ("install", "the agents found here and their state"),
        ("install claude --dry-run", "the change, and nothing else"),
        ("install claude --guard", "ask before destructive commands too"),
        ("install timer", "clear left-overs every hour"),
    ),
    "uninstall": (
        ("uninstall claude", "the settings as they were"),
        ("uninstall timer --dry-run", "what would be taken out"),
    ),
    "guard": (
        ("guard check 'rm -rf build'", "what would it say to this?"),
        ("guard verify", "mistakes in your rules"),
        ("guard packs", "packs of rules for what cannot be taken back"),
        ("guard log --since 1h", "what it said in the last hour"),
    ),
    "guard check": (
        ("guard check 'rm -rf /tmp/x'", "allow, ask, deny or pass, and why"),
        ("guard check 'ls > ../x' --agent codex", "as Codex would be answered"),
    ),
    "guard verify": (("guard verify --preset sandbox", "the rules that come with tmpwarden"),),
    "guard packs": (("guard packs show git", "what the pack git asks about, and why"),),
    "guard packs show": (("guard packs show secrets", "each rule with lines that it means and spares"),),
    "guard stats": (("guard stats --since 7d", "which rules spoke, and what was done all the same"),),
    "guard import": (("guard import ~/.claude/fencepost.yaml", "rules of fencepost as TOML, printed"),),
    "guard log": (
        ("guard log --decision deny", "what was refused"),
        ("guard log --since 1h --tool shell", "commands of the last hour"),
    ),
    "agents": (
        ("agents", "all of them"),
        ("agents show claude", "what Claude Code leaves, with evidence"),
        ("agents try ./mine.toml", "prove a file of your own"),
    ),
    "agents show": (("agents show claude", "where, when it goes, and why"),),
    "agents try": (("agents try ./mine.toml", "before you copy it to agents.d"),),
    "adopt": (
        ("adopt 'orch-*' --dry-run", "what it would match and write"),
        ("adopt 'orch-*'", "from now on `clean --all` takes them"),
        ("adopt --forget 'orch-*'", "no longer"),
    ),
    "config": (
        ("config show", "every key, its value, where it is set"),
        ("config set quarantine.keep 3d", "undo can bring back for three days"),
        ("config edit", "in your editor, checked before it counts"),
    ),
    "config init": (
        ("config init", "a sample, every line a comment"),
        ("config init --print", "look at it first"),
    ),
    "config set": (
        ("config set pressure.high 90%", "in a hurry from here on"),
        ("config set keep.paths ~/a /tmp/b", "a list takes several values"),
        ("config set pressure.high --unset", "the default again"),
    ),
    "config edit": (("config edit", "$VISUAL, else $EDITOR, else vi"),),
    "config schema": (("config schema", "JSON schema, draft 7"),),
    "config show": (("config show --json", "for a program"),),
    "completion": (
        ("completion bash", "put it into ~/.bashrc"),
        ("completion zsh", "put it into ~/.zshrc"),
        ("completion fish", "~/.config/fish/completions/tmpwarden.fish"),
    ),
    "bugreport": (
        ("bugreport", "read it, then paste it into the issue"),
        ("bugreport --names -n 50", "with names and more of the journal"),
    ),
    "help": (
        ("help", "all commands"),
        ("help clean", "one of them"),
        ("help orphans end", "a part of one"),
    ),
}
