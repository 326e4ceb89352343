"""One module per command, each with `command: click.Command`, imported only when that command is called. Several ways
of one thing share a module: `WITH` says where, and the command has its own name there.

The table below is what `tmpwarden --help` prints, in its order: (section, name, summary).
"""

EVERYDAY, MORE = "Everyday commands", "More"

TABLE: tuple[tuple[str, str, str], ...] = (
    (EVERYDAY, "status", "Overview: disk usage, running sessions, setup, last clean-up, next step (the default)."),
    (EVERYDAY, "scan", "Show what agents left behind and what can be removed. Removes nothing."),
    (EVERYDAY, "clean", "Remove what ended sessions left behind. Asks first."),
    (EVERYDAY, "undo", "Bring back what the last clean removed."),
    (EVERYDAY, "why", "Explain a path: owner, current users, and whether it can be removed."),
    (EVERYDAY, "doctor", "Find out why an agent's commands fail, and what to run."),
    (EVERYDAY, "report", "Write an HTML report: usage, what can be removed, forecast."),
    (EVERYDAY, "ui", "Browse, clean and undo in a full-screen view."),
    (EVERYDAY, "setup", "Set up every agent found: hooks, temp directory, hourly clean-up, completion. Asks first."),
    (MORE, "log", "Show what was removed, when and why."),
    (MORE, "keep", "Never remove a path."),
    (MORE, "off", "Switch all hooks off for a while, or until `on`."),
    (MORE, "on", "Switch the hooks on again."),
    (MORE, "uninstall", "Remove tmpwarden from an agent's settings."),
    (MORE, "run", "Run a command with a private temp directory."),
    (MORE, "worktrees", "List agents' git worktrees; remove those that hold no work of their own."),
    (MORE, "rescue", "Save work that exists nowhere else, and restore it."),
    (MORE, "orphans", "List and end processes that outlived their agent."),
    (MORE, "brake", "Find runaway files; pause or kill the writer, or free the space."),
    (MORE, "guard", "Check commands against the guard's rules; list rules and decisions."),
    (MORE, "config", "Show and change the settings."),
    (MORE, "agents", "List the agents tmpwarden knows, and the files each leaves behind."),
    (MORE, "adopt", "Teach tmpwarden a name pattern it does not know."),
    (MORE, "teardown", "Remove what an ended session left behind (for orchestrators)."),
    (MORE, "lease", "Give an agent you start a temp directory (for orchestrators)."),
    (MORE, "shellenv", "Print shell functions that start agents under `tmpwarden run`."),
    (MORE, "metrics", "Print usage and clean-ups for Prometheus."),
    (MORE, "bugreport", "Print what a bug report needs; names are hashed."),
    (MORE, "completion", "Print shell completion for bash, zsh or fish."),
    (MORE, "help", "Show what a command does, with examples."),
)

# What still works and is no longer told: `install` is `setup` for one agent, `version` is --version.
HIDDEN = ("install", "version")

WITH = {"on": "off", "uninstall": "install", "version": "help"}
