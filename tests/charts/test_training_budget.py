"""Training budget, drawn: fields, marks, titles, and the tokenizer by name."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import training_budget as charts
from analysis.measures import training_budget as measures
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, spec, title
from tests.measures.test_training_budget import TOKENS_SEEN, TRAJECTORIES_SEEN

DRAWN = [
    (charts.parts, measures.parts, measures.PARTS, 10),
    (charts.lengths, measures.lengths, measures.LENGTHS, 3),
    (charts.over_limits, measures.over_limits, measures.LIMITS, 10),
    (charts.cutoff_loss, measures.cutoff_loss, measures.CUTOFF, 2),
    (charts.expansion, measures.expansion_by_steps, measures.EXPANSION_BY_STEPS, 2),
]


@pytest.mark.parametrize(("draw", "measure", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_every_chart_is_drawn_from_its_own_columns(draw: Any, measure: Any, result: Table, marks: int) -> None:
    frame = measure(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    chart = draw(frame, "a tokenizer")
    assert_drawn(chart, frame, result, at_least=marks)
    assert "Counted by: a tokenizer" in spec(chart)["title"]["subtitle"]


@pytest.mark.parametrize(("draw", "measure", "result", "marks"), DRAWN, ids=[row[2].name for row in DRAWN])
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, measure: Any, result: Table, marks: int) -> None:
    assert_says_what_is_missing(draw(result.empty(), "a tokenizer"), result)


def test_the_smallest_limit_that_holds_every_sample_is_named() -> None:
    frame = measures.over_limits(TOKENS_SEEN, TRAJECTORIES_SEEN, limits=(100, 2_000, 4_000)).collect()
    assert title(charts.over_limits(frame, "t")) == "2,000 tokens hold every sample in both layouts"
    frame = frame.with_columns(over=pl.when(pl.col("layout") == "whole").then(pl.lit(1)).otherwise("over"))
    assert "2,000 tokens hold every turn" in title(charts.over_limits(frame, "t"))


def test_limits_too_small_for_all_are_told_so() -> None:
    frame = measures.over_limits(TOKENS_SEEN, TRAJECTORIES_SEEN, limits=(10, 20)).collect()
    assert title(charts.over_limits(frame, "t")) == "20 tokens do not hold every sample in either layout"


def test_the_loss_at_the_cutoff_is_told_per_layout() -> None:
    frame = measures.cutoff_loss(TOKENS_SEEN, TRAJECTORIES_SEEN, cutoff=300).collect()
    lost = frame.group_by("layout").agg(pl.col("supervised_lost", "supervised_tokens").sum()).sort("layout")
    whole = lost.row(0, named=True)
    share = 100 * whole["supervised_lost"] / whole["supervised_tokens"]
    assert f"cutoff of 300: {share:.1f} % with one sample a trajectory" in title(charts.cutoff_loss(frame, "t"))


def test_the_expansion_is_told_over_all_trajectories() -> None:
    modes = measures.expansion(TOKENS_SEEN, TRAJECTORIES_SEEN).collect().rows(named=True)
    factor = sum(r["prefix_tokens"] + r["output_tokens"] for r in modes) / sum(r["trajectory_tokens"] for r in modes)
    frame = measures.expansion_by_steps(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    assert f"reads {factor:.1f} times" in title(charts.expansion(frame, "t"))
