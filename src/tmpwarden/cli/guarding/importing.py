"""`tmpwarden guard import FILE.yaml`: the rules of a fencepost user, as TOML of ours."""

from __future__ import annotations

import importlib
import os
import tempfile

import click

from ...errors import AlreadyThere, BadArgument, BadConfig, NotFound
from ...guard.rules.config import load
from ...oskit.files import atomic, own_dirs
from ...text import shown
from ..call import Answer, Call
from ..group import pass_call
from .fencepost import Yaml, converted


@click.command("import")
@click.argument("path", metavar="FILE.yaml")
@click.option(
    "-o", "--output", metavar="FILE", help="Write it there (a new file), as ~/.config/tmpwarden/guard.d/mine.toml."
)
@pass_call
def take_over(call: Call, path: str, output: str | None) -> Answer:
    """Rules of fencepost as TOML, with a comment where the meaning differs. Prints it, or writes a new file.

    Exit status 2: something means another thing here, or was left out; each has a line.
    """
    try:
        rules = converted(_read(path))
    except ValueError as wrong:
        raise BadConfig(shown(path), str(wrong), hint="mend the word there, then import it again") from None
    text = f"# From {os.path.basename(path)} by `tmpwarden guard import`.\n\n{rules}"
    mistakes = _mistakes(text)
    differs = [line.removeprefix("# ") for line in rules.splitlines() if line.startswith("# ")]
    call.warn(*mistakes, *differs)
    data = {"toml": text, "written": output, "mistakes": mistakes, "differs": differs}
    status = 2 if mistakes or differs else 0
    if output is None:
        return Answer(data, lambda: text.splitlines(), exit_code=status)
    if os.path.lexists(output):
        raise AlreadyThere(shown(output))
    own_dirs.make_parents(os.path.dirname(os.path.abspath(output)))
    atomic.write(output, text)
    verify = f"`tmpwarden guard verify --config {shown(output)}` looks at it."
    return Answer(data, lambda: [f"Written: {shown(output)}. {verify}"], exit_code=status)


def _read(path: str) -> Yaml:
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise BadArgument(
            "reading YAML needs PyYAML", hint="pip install pyyaml, into the Python that runs tmpwarden"
        ) from error
    try:
        with open(path, encoding="utf-8") as file:
            document = yaml.safe_load(file)
    except FileNotFoundError as error:
        raise NotFound(shown(path)) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadConfig(shown(path), " ".join(str(error).split())) from error
    if not isinstance(document, dict):
        raise BadConfig(shown(path), "not a table of rules")
    return document


def _mistakes(text: str) -> list[str]:
    """What our own reader dislikes about it: a rule that was broken there is broken here."""
    with tempfile.TemporaryDirectory() as place:
        file = os.path.join(place, "imported.toml")
        atomic.write(file, text)
        return [str(mistake).replace(f"{place}/", "") for mistake in load((file,)).mistakes if mistake.fatal]
