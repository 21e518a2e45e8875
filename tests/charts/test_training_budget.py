"""Training budget, drawn."""

import polars as pl
import pytest

from analysis.charts import training_budget as charts
from analysis.measures import training_budget as measures
from tests.charts.drawn import spec, title
from tests.measures.test_training_budget import TOKENS_SEEN, TRAJECTORIES_SEEN

SEEN = (TOKENS_SEEN, TRAJECTORIES_SEEN)
SAMPLES = {
    charts.parts: (measures.parts(*SEEN).collect(), 10, "a tokenizer"),
    charts.lengths: (measures.lengths(*SEEN).collect(), 3, "a tokenizer"),
    charts.over_limits: (measures.over_limits(*SEEN).collect(), 10, "a tokenizer"),
    charts.cutoff_loss: (measures.cutoff_loss(*SEEN, cutoff=300).collect(), 2, "a tokenizer"),
    charts.expansion: (measures.expansion_by_steps(*SEEN).collect(), 2, "a tokenizer"),
}


def test_every_chart_names_its_tokenizer() -> None:
    for chart, (frame, _, tokenizer) in SAMPLES.items():
        assert "counted by: a tokenizer" in spec(chart(frame, tokenizer))["title"]["subtitle"]


@pytest.mark.parametrize(
    ("limits", "whole", "sentence"),
    [
        ((100, 2_000, 4_000), 0, "Every sample of both layouts fits 2,000 tokens"),
        ((100, 2_000, 4_000), 1, "Every step with what comes before it fits 2,000 tokens"),
        ((10, 20), 0, "In either layout some samples are longer than 20 tokens"),
    ],
)
def test_the_smallest_limit_that_every_sample_fits_is_named(limits: tuple[int, ...], whole: int, sentence: str) -> None:
    frame = measures.over_limits(*SEEN, limits=limits).collect()
    more = pl.when(pl.col("layout") == "whole").then(whole).otherwise(0)
    assert title(charts.over_limits(frame.with_columns(over=pl.col("over") + more), "t")) == sentence


def test_the_loss_at_the_cutoff_is_a_share_of_each_layout() -> None:
    frame = measures.cutoff_loss(*SEEN, cutoff=300).collect()
    lost, of_all = frame.filter(layout="whole").select(pl.col("supervised_lost", "supervised_tokens").sum()).row(0)
    assert f"cutoff of 300: {100 * lost / of_all:.1f} % with one sample per trajectory, " in title(
        charts.cutoff_loss(frame, "t")
    )


def test_the_expansion_is_over_all_trajectories() -> None:
    modes = measures.expansion(*SEEN).collect().rows(named=True)
    factor = sum(r["prefix_tokens"] + r["output_tokens"] for r in modes) / sum(r["trajectory_tokens"] for r in modes)
    assert f"takes {factor:.1f} times" in title(charts.expansion(SAMPLES[charts.expansion][0], "t"))
