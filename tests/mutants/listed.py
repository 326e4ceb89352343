"""Read list.toml: each line that carries a law, what is put in its place, and the tests that must notice."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LIST = Path(__file__).with_name("list.toml")


@dataclass(frozen=True)
class Mutant:
    law: int  # of the design
    says: str  # what the line is for
    file: str  # below src/tmpwarden
    old: str
    new: str
    tests: tuple[str, ...]  # below tests; words after the path select, as pytest's -k does

    @property
    def path(self) -> Path:
        return Path("src", "tmpwarden", self.file)

    def applied_to(self, text: str) -> str:
        """The broken text. Raises ValueError where the line is not there any more, or not alone."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path} holds {text.count(self.old)} times, and must once:\n{self.old}")
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    # A row begins at its law: merges of two branches that both added rows lose or double the heading between them.
    text = LIST.read_text().replace("\n[[mutant]]\n", "\n").replace("\nlaw = ", "\n[[mutant]]\nlaw = ")
    rows = tomllib.loads(text)["mutant"]
    return [Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows]
