"""One module per command, each with `command: click.Command`, imported only when that command is called. Two ways of
one switch share a module: `WITH` says where, and the command has its own name there.

The table below is what `tmpwarden --help` prints, in its order: (section, name, summary).
"""

TABLE: tuple[tuple[str, str, str], ...] = (
    ("Look", "status", "How full, live sessions and their scratch, hooks, last clean, next step (the default)."),
    ("Look", "scan", "What agents left behind, biggest first, and what may go."),
    ("Look", "why", "Whose is this path, who uses it, and may it go?"),
    ("Look", "ui", "All of it in the terminal, live: mark, clean, undo."),
    ("Look", "doctor", "Why does my agent fail? One sentence, one command to run."),
    ("Look", "report", "One HTML page: where the space is, what may go, where it is heading."),
    ("Look", "log", "What was removed, when and why."),
    ("Look", "metrics", "How full, what was left, what was cleaned, for Prometheus."),
    ("Clear", "clean", "Remove what is left by owners that are gone. Asks first."),
    ("Clear", "undo", "Bring back what the last clean put into quarantine."),
    ("Clear", "worktrees", "Worktrees that agents made, with a proof; let the finished ones go."),
    ("Clear", "rescue", "Save what exists nowhere else, and bring it back."),
    ("Clear", "keep", "Never remove this path."),
    ("Clear", "orphans", "Processes that outlived their agent: see them, end them."),
    ("Clear", "brake", "Files that grow without end: who writes them; stop, end or punch."),
    ("Clear", "teardown", "What an orchestrator calls when an agent ends."),
    ("Clear", "lease", "A temp directory for an agent that you start, from any language."),
    ("Prevent", "run", "Run any command with a private scratch directory."),
    ("Prevent", "shellenv", "Shell functions that start the agents found here under `tmpwarden run`."),
    ("Prevent", "setup", "Hooks, temp, timer and completion for every agent found here. Asks once."),
    ("Prevent", "install", "Write tmpwarden into an agent's settings. Shows the change first."),
    ("Prevent", "uninstall", "Take it out again."),
    ("Prevent", "off", "Switch all hooks off for a while, or until `on`."),
    ("Prevent", "on", "Switch them on again."),
    ("Prevent", "guard", "Check a command against the guard's rules, verify them, read their log."),
    ("Set up", "agents", "The catalogue: every agent, and every shape of file it leaves."),
    ("Set up", "adopt", "Take names that the catalogue does not know into it."),
    ("Set up", "config", "Settings: what is in force and where it is set; set and edit them."),
    ("Set up", "bugreport", "What to put into a bug report; names are hashed."),
    ("Set up", "help", "How a command is called, with examples."),
    ("Set up", "completion", "Completion for bash, zsh or fish."),
)

WITH = {"on": "off", "uninstall": "install"}
