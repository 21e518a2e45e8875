"""Intervals against worlds whose truth is known: how often they hold it, and what the method page says of that."""

import polars as pl
import pytest

from analysis.measures import bootstrap
from analysis.reference import method
from tests.measures import simulation

KEYS = ("estimate", "world", "scenarios")


@pytest.mark.parametrize("estimate", simulation.ESTIMATES)
def test_intervals_hold_the_truth_of_some_skewed_worlds(estimate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "DRAWS", 500)
    worlds = [world for world in simulation.WORLDS if world.estimate == estimate and world.clusters == 20]
    held = [simulation.coverage(world, 40) for world in worlds[:2]]
    assert sum(held) / len(held) > 0.85


def test_the_method_tells_a_coverage_of_every_world() -> None:
    told = method.interval_coverage()
    assert told.select(KEYS).rows() == [(world.estimate, world.name, world.clusters) for world in simulation.WORLDS]
    # Rare events in few scenarios: the interval errs to the safe side.
    is_rare = pl.col("world").str.starts_with("rare") & (pl.col("scenarios") == 10)
    assert told.filter(~is_rare)["held"].is_between(0.925, 0.975).all()
    assert told.filter(is_rare)["held"].is_between(0.95, 0.99).all()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "world", simulation.WORLDS, ids=lambda world: f"{world.estimate}-{world.name}-{world.clusters}"
)
def test_intervals_hold_the_truth_as_often_as_the_method_says(
    world: simulation.World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "DRAWS", simulation.DRAWS)
    told = method.interval_coverage().row(simulation.WORLDS.index(world), named=True)["held"]
    assert simulation.coverage(world, simulation.RUNS) == pytest.approx(told, abs=0.0015)
