"""How much a run will meet is counted by names, for whoever watches it; or it is not told."""

from pathlib import Path

from support.litter import claude_session
from tmpwarden.sweep.compose import scan


def test_a_scan_knows_how_many_items_it_will_meet_at_most(own_world: Path) -> None:
    for number in range(600):
        (own_world / "tmp" / f"claude-{number:04x}-cwd").write_text("/\n")
    claude_session(own_world / "tmp")
    met = sum(len(verdict.finding.members) or 1 for verdict in scan())
    assert met >= 601
    counted = scan().expected(within_s=60)
    assert counted is not None
    assert met <= counted <= met + 2  # a directory that only counts when it is empty has a name of its own


def test_what_takes_too_long_to_count_is_not_told(own_world: Path) -> None:
    for number in range(600):
        claude_session(
            own_world / "tmp",
            slug=f"-p{number}",
            files=0,
            recorded=False,
            session=f"{number:08x}-0000-4000-8000-000000000000",
        )
    assert scan().expected(within_s=-1) is None
