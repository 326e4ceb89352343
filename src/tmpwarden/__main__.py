"""`python -m tmpwarden` is the command."""

from tmpwarden.cli.main import run

run()
