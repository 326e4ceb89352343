"""Without Textual the view says how to add it to this very installation."""

import sys

import pytest

from tmpwarden.cli.commands.ui import _how_to_add
from tmpwarden.text import quoted


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/you/.local/share/pipx/venvs/tmpwarden", "pipx inject tmpwarden textual"),
        ("/home/you/.local/share/uv/tools/tmpwarden", f"uv pip install --python {quoted(sys.executable)} textual"),
        ("/home/you/project/.venv", f"{quoted(sys.executable)} -m pip install textual"),
    ],
    ids=["pipx", "uv", "pip"],
)
def test_the_command_is_that_of_the_installer_and_fetches_no_tmpwarden_from_elsewhere(
    prefix: str, command: str
) -> None:
    """Each was run as printed in a real installation of its kind; `uv tool install tmpwarden` finds none on PyPI."""
    assert _how_to_add(prefix) == command
