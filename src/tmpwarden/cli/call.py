"""One call of the command line: what its common options said, and what a command answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

from ..errors import TmpwardenError
from ..lazy_dataclass import dataclass, field


@dataclass(slots=True)
class Call:
    """Filled by the common options, wherever on the line they stood; a command gets it with `@pass_call`."""

    json: bool = False
    roots: tuple[str, ...] = ()
    config_file: str | None = None
    warnings: list[str] = field(default_factory=list)
    now_ns: Callable[[], int] = time.time_ns
    started: float = field(default_factory=time.monotonic)

    @property
    def for_a_person(self) -> bool:
        """Somebody is watching stdout, and wants words rather than an object."""
        return not self.json and sys.stdout is not None and sys.stdout.isatty()

    @property
    def can_ask(self) -> bool:
        return not self.json and sys.stdin is not None and sys.stdin.isatty()

    def warn(self, *sentences: str) -> None:
        """Said on stderr at the end, or in the envelope's `warnings`; each once."""
        self.warnings += [each for each in dict.fromkeys(sentences) if each not in self.warnings]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command hands back. `data` (or what it returns when called) goes into the envelope, `text()` to people."""

    data: object = None
    text: Callable[[], Iterable[str]] | None = None
    exit_code: int = 0  # where no error says it
    error: TmpwardenError | None = None  # told beside the data, as on exit 2

    @property
    def status(self) -> int:
        return self.error.exit_code if self.error else self.exit_code


class Done(Exception):
    """No error: an option such as --version answered before the command ran."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class Terminated(KeyboardInterrupt):
    """SIGTERM, so that one `except KeyboardInterrupt` serves both."""
