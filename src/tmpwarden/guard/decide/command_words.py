"""The words of a command as `[[guard.commands]]` sees them: where its subcommand ends, which options are given."""

from __future__ import annotations

from ..rules.patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_READINGS = 64
_FALSE = ("false", "no", "0")


def tails(argv: tuple[str | None, ...], words: list[str]) -> Iterator[int]:
    """Where the words behind the subcommand begin, in each reading; -1: a word of it cannot be told."""
    todo = [(1, 0)]
    for _ in range(MAX_READINGS):
        if not todo:
            return
        at, done = todo.pop()
        if done == len(words):
            yield at
            continue
        if at >= len(argv):
            continue
        word = argv[at]
        if word is None:
            yield -1
        elif word == "--":
            todo.append((at + 1, done))
        elif word[:1] == "-" and word != "-":
            if "=" not in word:
                todo.append((at + 2, done))
            todo.append((at + 1, done))
        elif any(matches(one, word) for one in words[done].split("|")):
            todo.append((at + 1, done + 1))


class Given:
    """The words of one reading, taken apart. `at`: behind the subcommand; options may stand anywhere."""

    __slots__ = ("argv", "at", "has_unknown", "letters", "longs", "plain", "separated", "valued")

    def __init__(self, argv: tuple[str | None, ...], at: int, valued: str) -> None:
        self.argv = argv
        self.at = at
        self.valued = valued  # letters of options that take a value
        self.plain: list[str] = []  # behind the subcommand, values of options too
        self.letters = ""  # of all short options
        self.longs: list[tuple[str, str | None, int]] = []  # name, glued value, where
        self.separated = False  # is there a --
        self.has_unknown = None in argv
        for here in range(1, len(argv)):
            self._take(here, argv[here])

    def _take(self, here: int, word: str | None) -> None:
        if word is None:
            return
        if self.separated or word[:1] != "-" or word == "-":
            if here >= self.at:
                self.plain.append(word)
        elif word == "--":
            self.separated = here >= self.at
        else:
            name, equals, value = word.partition("=")
            self.longs.append((name, value if equals else None, here))
            if word[1] != "-":
                letters = name[1:]
                stop = min([letters.find(letter) for letter in self.valued if letter in letters], default=len(letters))
                self.letters += letters[: stop + 1]

    def any_of(self, options: Iterable[str]) -> bool:
        """Is any of them given? `-f` in any bundle, `--force` by any beginning, `--replicas=0` with that value."""
        return any(self._has(option) for option in options)

    def _has(self, option: str) -> bool:
        if option == "--":
            return self.separated
        if len(option) == 2:
            return option[1] in self.letters
        name, equals, wanted = option.partition("=")
        if not equals:
            return any(_is(long, name) and value not in _FALSE for long, value, _ in self.longs)
        return any(value is not None and matches(wanted, value) for value in self.values_of((name,)))

    def surely(self, options: Iterable[str], known: Iterable[str]) -> bool:
        """Is any of them given as it stands, and not as the value of an option that we do not know?"""
        wanted = tuple(options)
        switches = {*wanted, *known}
        for name, value, here in self.longs:
            word = name if value is None else f"{name}={value}"
            before = self.argv[here - 1] or "-"
            if before[:1] == "-" and _takes_next(before, switches, self.valued):
                continue
            short = [option[1] for option in wanted if len(option) == 2]
            if word in wanted or (word[1] != "-" and value is None and any(letter in word for letter in short)):
                return True
        return False

    def values_of(self, options: Iterable[str]) -> list[str | None]:
        """What these options are given, glued or as the next word; None: not known. `@` is the host of an address."""
        values: list[str | None] = []
        for option in options:
            if option == "@":
                values += [_host(word) for word in self.plain if "://" in word]
            for name, value, here in self.longs:
                if len(option) == 2 and name[:2] == option and len(name) > 2 and option[1] != "-":
                    values.append(name[2:] if value is None else f"{name[2:]}={value}")
                elif name == option or (len(option) > 2 and _is(name, option)):
                    values.append(
                        value if value is not None else self.argv[here + 1] if here + 1 < len(self.argv) else ""
                    )
        return values


def _takes_next(option: str, switches: set[str], valued: str) -> bool:
    """May the word behind it be its value?"""
    if option[:2] != "--":
        return option[-1] in valued
    return "=" not in option and not any(switch.startswith(option) for switch in switches)


def _is(word: str, option: str) -> bool:
    """Any beginning of a long name may mean it; `-destroy` and `--destroy` are one to Go's programs."""
    name, wanted = word.lstrip("-"), option.lstrip("-")
    if option[:2] == "--":
        return word[:2] == "--" and bool(name) and wanted.startswith(name)
    return name == wanted


def _host(address: str) -> str:
    rest = address.partition("://")[2].partition("/")[0]
    return rest.rpartition("@")[2].partition(":")[0]
