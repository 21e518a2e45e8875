"""What the tests of measures share."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Second opinions come last: they load whole sources, and a run that stops at the first failure seldom needs them.

    Mutation testing is many such runs.
    """
    items.sort(key=lambda item: "measures/test_second_opinion" in item.nodeid)
