"""What the tests of measures share: the sources that second opinions are about, decoded once."""

from pathlib import Path

import pytest

from analysis import load
from tests.measures.raw import Source, file, sample


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Second opinions come last: they load whole sources, and a run that stops at the first failure seldom needs them.

    Mutation testing is many such runs.
    """
    items.sort(key=lambda item: "measures/test_second_opinion" in item.nodeid)


@pytest.fixture(scope="session", params=["sample", "tau_bench_airline_gpt4o.json", "envscaler_release_excerpt.json"])
def source(request: pytest.FixtureRequest) -> Source:
    """A source as the project decodes it, and its raw records read plainly."""
    if request.param == "sample":
        return load("sample"), list(sample())
    path: Path = request.getfixturevalue("shared_data") / request.param
    return load(str(path)), list(file(path))
