from pathlib import Path

import pytest

from support.program import Programs


@pytest.fixture
def programs(own_world: Path) -> Programs:
    return Programs(own_world / "tmp")
