"""What is true of one agent that has hooks, as agent_facts.py holds it. A type for mypy; hooks never import this."""

from __future__ import annotations

from typing import TypedDict


class Event(TypedDict):
    """One event of an agent: what it means to us, and how we ask for it."""

    moment: str  # start, guide (a subagent starts), before, after, stop, end
    matcher: str  # empty: all
    registered: bool  # by `install`; "before" only with --guard


class Facts(TypedDict):
    """One file of catalogue/agents, its rows aside."""

    id: str
    name: str
    programs: tuple[str, ...]  # commands that start it
    dialect: str  # a module of hooks/dialects
    answers: tuple[str, ...]  # what it understands: the words of tools/facts.py
    keeps_rewrite: tuple[int, ...]  # since which version a rewritten input was measured to run; empty: never
    version_from: tuple[str, ...]  # where its version is told, tried in turn
    owner_pid: str  # a variable of its hooks that holds its pid
    project: str  # a variable of its hooks that holds the project's directory
    own: tuple[str, ...]  # its own directories
    guarded: tuple[str, ...]  # globs: its settings, hooks and transcripts, in the home and in projects
    shell: str  # which shell runs its commands: bash, "bash or zsh", login (the user's), environment (SHELL's)
    snapshots: str  # below `directory`: what its shell loads before each command
    tools: dict[str, str]  # its name of a tool -> shell, read, write, edit, notebook, patch
    events: dict[str, Event]
    directory: str  # where its settings lie
    variable: str  # moves that directory
    settings: tuple[str, ...]  # the first that exists, else the first
    more_settings: tuple[str, ...]  # others that it reads
    timeout: int  # of a hook, in the agent's unit
    update: str  # the command that updates it
    temp_by: str  # how its commands get a TMPDIR: env-file, answer, toml-set, dotenv, shell
    temp_variable: str  # env-file: names the file
    temp_file: str  # toml-set, dotenv: below `directory`
    temp_own_variable: str  # moves the agent's own temp files
    temp_witness_variable: str  # another that names where its commands write
    shared_names: tuple[str, ...]  # globs of names in a temp root that every user's agent wants alike
    sandbox: str  # below a temp root: where alone its sandboxed commands can write
    silent: tuple[tuple[int, ...], ...]  # from the one version until the other it fails without a word in a full temp
