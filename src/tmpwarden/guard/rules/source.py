"""One TOML file of the guard's config as it was read, and what is wrong in it: file, line, key, sentence."""

import tomllib

from ...lazy_dataclass import dataclass
from ...oskit.files.atomic import at_once
from ...toml_lines import line_of, lines_of


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something wrong in a config file. `fatal` ones keep the file from coming into force."""

    file: str
    line: int
    key: str
    message: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}{': ' if self.key else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class Source:
    """One TOML file that was read, or could not be."""

    path: str
    name: str  # in the labels of its rules
    document: dict[str, object]
    lines: dict[str, int]
    mistakes: tuple[Mistake, ...] = ()

    def mistake(self, key: str, message: str, *, fatal: bool = True) -> Mistake:
        return Mistake(self.path, line_of(key, self.lines), key, message, fatal)


def read(path: str, name: str) -> Source:
    try:
        with open(path, "rb", opener=at_once) as file:
            text = file.read().decode()
        return Source(path, name, tomllib.loads(text), lines_of(text))
    except tomllib.TOMLDecodeError as error:
        line, message = _place_of(error, text)
        return Source(path, name, {}, {}, (Mistake(path, line, "", f"not TOML: {message}"),))
    except (OSError, UnicodeDecodeError) as error:
        return Source(path, name, {}, {}, (Mistake(path, 1, "", f"cannot be read: {error}"),))


def _place_of(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    message, _, place = str(error).rpartition(" (at ")
    digits = "".join(c for c in place.partition(",")[0] if c.isdigit())
    return (int(digits) if digits else text.count("\n") + 1), message or str(error)
