"""Commands that are to start fast: their options are data, and an ordinary line is read without click.

Whatever is not ordinary (--help, a mistake, an abbreviation) is left to click, which gets the same data: it alone
tells what is wrong, so the two cannot disagree in words. A test holds that they agree in values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .call import Answer, Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

QUICK = frozenset(("clean", "run", "scan", "status", "teardown"))  # modules of cli/commands that are written like this


class Parameter:
    """One option or argument, said as click's decorators want it."""

    __slots__ = ("is_argument", "names", "settings")

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any], *, is_argument: bool) -> None:
        self.names, self.settings, self.is_argument = names, settings, is_argument

    @property
    def is_flag(self) -> bool:
        return bool(self.settings.get("is_flag"))

    @property
    def takes_many(self) -> bool:
        return bool(self.settings.get("multiple")) or self.settings.get("nargs") == -1

    @property
    def keyword(self) -> str:
        """What the function calls it: a name without dashes, else the first long one."""
        plain = [name for name in self.names if not name.startswith("-")]
        long = [name[2:] for name in self.names if name.startswith("--")]
        return (plain or long)[0].replace("-", "_")

    @property
    def default(self) -> object:
        return () if self.takes_many else self.settings.get("default", False if self.is_flag else None)


class Plain:
    """A command: a function that takes the Call first, and its parameters."""

    __slots__ = ("function", "parameters", "settings")

    def __init__(self, function: Callable[..., Answer], settings: dict[str, Any]) -> None:
        self.function, self.settings = function, settings
        self.parameters: tuple[Parameter, ...] = tuple(reversed(function.__dict__.pop("parameters", ())))

    @property
    def ends_at_first_word(self) -> bool:
        return self.settings.get("context_settings", {}).get("allow_interspersed_args") is False


def command(**settings: Any) -> Callable[[Callable[..., Answer]], Plain]:
    return lambda function: Plain(function, settings)


def option(*names: str, **settings: Any) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    return _noting(Parameter(names, settings, is_argument=False))


def argument(*names: str, **settings: Any) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    return _noting(Parameter(names, settings, is_argument=True))


def _noting(parameter: Parameter) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    def note(function: Callable[..., Answer]) -> Callable[..., Answer]:
        function.__dict__.setdefault("parameters", []).append(parameter)
        return function

    return note


_COMMON = {
    "--json": Parameter(("--json",), {"is_flag": True}, is_argument=False),
    "--root": Parameter(("--root",), {"multiple": True}, is_argument=False),
    "--config": Parameter(("--config",), {}, is_argument=False),
}


def called(call: Call, argv: Sequence[str]) -> Answer | None:
    """The command's answer, or None if click has to read this line."""
    at = next((at for at, word in enumerate(argv) if word != "--json"), len(argv))  # before it: no other common option
    name = argv[at] if at < len(argv) else "status"
    if name not in QUICK:
        return None
    found = __import__(f"{__package__}.commands.{name}", fromlist=["command"]).command
    assert isinstance(found, Plain)
    values = parsed(found, [*argv[:at], *argv[at + 1 :]])
    if values is None:
        return None
    roots, config_file = values.pop("root", ()), values.pop("config", None)
    call.json |= bool(values.pop("json", False))
    call.roots += roots if isinstance(roots, tuple) else ()
    call.config_file = config_file if isinstance(config_file, str) else call.config_file
    return found.function(call, **values)


def parsed(found: Plain, words: Sequence[str]) -> dict[str, object] | None:
    """Values by keyword, or None for a line that click has to read."""
    options = {name: each for each in found.parameters if not each.is_argument for name in each.names}
    options = _COMMON | {name: each for name, each in options.items() if name.startswith("-")}
    arguments = [each for each in found.parameters if each.is_argument]
    values: dict[str, Any] = {each.keyword: each.default for each in found.parameters}
    left = list(reversed(words))
    rest: list[str] = []
    try:
        while left:
            word = left.pop()
            if word == "--":
                rest += reversed(left)
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                if found.ends_at_first_word:
                    rest += reversed(left)
                    break
                continue
            _take(options, word, left, values)
        if rest:
            (only,) = arguments  # ValueError: there is none, or there are several
            kind = only.settings.get("type", str)
            values[only.keyword] = tuple(kind(word) for word in rest)
    except Exception:  # a mistake: click says which
        return None
    return values


def _take(options: dict[str, Parameter], word: str, left: list[str], values: dict[str, Any]) -> None:
    """One option with its value. Raises whatever it likes for a line that is not ordinary."""
    name, has_value, value = word.partition("=") if word.startswith("--") else (word, "", "")
    found = options[name]
    if found.is_flag:
        if has_value:
            raise ValueError(word)
        values[found.keyword] = True
        return
    text = value if has_value else left.pop()
    made = found.settings.get("type", str)(text)
    values[found.keyword] = (*values.get(found.keyword, ()), made) if found.takes_many else made
