"""Nothing differs between two halves of one source, drawn by scenario: what a comparison says then is a mistake."""

import numpy as np
import polars as pl
import pytest

from analysis import load
from analysis.measures import bootstrap, compare, tool_usage
from analysis.measures.expressions import scenario
from analysis.tables import Tables


@pytest.fixture(scope="module")
def sample() -> Tables:
    return load("sample")


def says_that_something_differs(data: Tables, seed: int) -> bool:
    placed = data.trajectories.with_columns(scenario=scenario()).collect()
    drawn = np.random.default_rng(seed).permutation(placed["scenario"].unique().sort().to_list())
    is_left = pl.col("scenario").is_in(drawn[: len(drawn) // 2].tolist())
    sides = [placed.filter(side).drop("scenario").lazy() for side in (is_left, ~is_left)]
    calls = [data.tool_calls.join(side, on="trajectory_id", how="semi") for side in sides]
    usage = [tool_usage.by_tool(one, side, data.tools) for one, side in zip(calls, sides, strict=True)]
    found = [
        compare.headlines(*sides, *calls),
        compare.paired(*sides, *calls),
        compare.tools(*usage, top=1),
    ]
    return any(frame["is_different"].any() for frame in pl.collect_all(found))


def test_two_halves_of_a_source_do_not_differ(sample: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "DRAWS", 500)
    assert not any(says_that_something_differs(sample, seed) for seed in range(2))


@pytest.mark.nightly
def test_of_200_halvings_of_the_sample_at_most_6_percent_say_that_anything_differs(sample: Tables) -> None:
    assert sum(says_that_something_differs(sample, seed) for seed in range(200)) <= 12
