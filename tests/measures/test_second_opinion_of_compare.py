"""Two sides compared once more by plain loops over raw records: the sample and real ones."""

from collections import defaultdict
from statistics import mean
from typing import Any

import polars as pl
import pytest

from analysis.measures import compare
from analysis.measures.intervals import FEWEST_CLUSTERS
from tests.measures.raw import Key, Raw, Source


def test_compare_on_the_same_scenarios(source: Source) -> None:
    tables, raw = source
    halves = [tables.where(traj_type=mode) for mode in ("conversation", "non_conversation")]
    sides: list[dict[Key, list[Raw]]] = [defaultdict(list), defaultdict(list)]
    for record in raw:
        sides[record.traj_type == "non_conversation"][record.env_id, record.task_id].append(record)
    frames: list[Any] = [half.trajectories for half in halves] + [half.tool_calls for half in halves]
    found = compare.paired(*frames).filter(pl.col("quantity") == "steps per trajectory").collect()
    shared = sides[0].keys() & sides[1].keys()
    changes = [
        mean(len(r.assistant) for r in sides[0][key]) - mean(len(r.assistant) for r in sides[1][key]) for key in shared
    ]
    assert found["scenarios"].to_list() == ([len(shared)] if shared else [])
    assert found["difference"].to_list() == pytest.approx([mean(changes)] if shared else [])
    headline = compare.headlines(*frames).filter(pl.col("quantity") == "calls per step").collect()
    if all(sides):
        rates = [
            sum(len(r.calls) for runs in side.values() for r in runs)
            / sum(len(r.assistant) for runs in side.values() for r in runs)
            for side in sides
        ]
        assert headline.select("left", "right").row(0) == pytest.approx(tuple(rates))
        if min(len(side) for side in sides) >= FEWEST_CLUSTERS:
            assert headline["difference_low"][0] <= rates[0] - rates[1] <= headline["difference_high"][0]
        else:
            assert headline["difference_low"].to_list() == [None]
    else:
        assert headline.is_empty()
