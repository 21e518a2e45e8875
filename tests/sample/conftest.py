"""The sample as it is by default, played once: its records and its sibling sets."""

from typing import Any

import pytest

from analysis import sample

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def default() -> Rows:
    return list(sample.records(**sample.DEFAULT))


@pytest.fixture(scope="session")
def family() -> tuple[Rows, Rows, Rows]:
    """Environments, scenarios, and scenarios with checks."""
    return sample.siblings(sample.DEFAULT["environments"], sample.DEFAULT["seed"])
