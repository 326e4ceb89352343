"""`python -m tmpwarden` is the command."""

from tmpwarden.cli.entry import run

run()
