"""All tests of one agent in one process: what it does without us is asked once (`--dist loadgroup`)."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec and "agent" in callspec.params and item.get_closest_marker("clients"):
            item.add_marker(pytest.mark.xdist_group(str(callspec.params["agent"])))
