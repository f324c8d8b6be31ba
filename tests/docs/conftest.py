"""Examples start MPI programs: one process of several runs them all, one after the other."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what is started together; the rest goes on beside it."""
    for item in items:
        group = "examples" if "page" in getattr(item, "fixturenames", ()) else "pages"
        item.add_marker(pytest.mark.xdist_group(group))
