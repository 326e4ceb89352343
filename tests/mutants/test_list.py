"""list.toml stays true: a line that was moved or changed is found before `make mutants` runs."""

import ast

import pytest

from mutants.listed import LIST, REPOSITORY, Mutant, mutants

ALL = mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: f"{mutant.law}: {mutant.says}")
def test_the_line_is_there_once_and_its_change_is_python(mutant: Mutant) -> None:
    """Where this fails after a change of yours: write the line into tests/mutants/list.toml as it is now."""
    changed = mutant.applied_to((REPOSITORY / mutant.path).read_text())
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse((REPOSITORY / mutant.path).read_text()))
    for target in mutant.tests:
        assert (REPOSITORY / "tests" / target.split(" ")[0]).exists(), f"{LIST.name} names {target}"


def test_the_laws_are_carried_by_sixty_lines_or_more() -> None:
    assert len(ALL) >= 60
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in ALL}) == len(ALL)
    assert {1, 2, 3, 4, 5, 6, 7, 8, 9, 11} <= {mutant.law for mutant in ALL}
