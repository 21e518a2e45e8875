"""Rewards, drawn."""

import polars as pl

from analysis.charts import rewards as charts
from analysis.measures import rewards as measures
from analysis.schema import SCENARIOS, TRAJECTORIES
from tests.charts.drawn import marks, spec, title
from tests.measures.frames import rows

PLAYED = rows(
    TRAJECTORIES,
    *(
        {
            "trajectory_id": f"{task}.{trial}",
            "env_id": f"env_{task % 2}",
            "task_id": str(task),
            "trial": str(trial),
            "total_reward": 1.0 if (task + trial) % 4 else 0.5,
        }
        for task in range(64)
        for trial in range(3)
    ),
)
CHECKED = rows(
    SCENARIOS, *({"env_id": f"env_{task % 2}", "task_id": str(task), "checks": 3 + task % 3} for task in range(64))
)

SAMPLES = {
    charts.distribution: (measures.distribution(PLAYED).collect(), 2),
    charts.groups: (measures.groups(PLAYED, "environment").collect(), 4),
    charts.pass_k: (measures.pass_k(PLAYED).collect(), 8),
    charts.solved_runs: (measures.solved_runs(PLAYED).collect(), 2),
    charts.checks: (measures.checks(PLAYED, CHECKED).collect(), 6),
}


def test_titles_say_what_trajectories_earn() -> None:
    # Of each 24 trajectories the 6 with task + trial divisible by four have half a reward. Of each eight scenarios two
    # are solved in all three trials, six in two of three.
    assert [title(chart(frame)) for chart, (frame, _) in SAMPLES.items()] == [
        "75.0 % of the trajectories have a reward of 0.9 or more, 25.0 % have one below 0.6",
        "By environment, the mean reward lies between 0.83 and 0.92",
        "The chance that a trial is solved is 0.75; that all 3 trials are, 0.25; that at least one of 3 is, 1",
        "0 % of the scenarios are never solved, 25.0 % every time",
        "The mean reward is 0.87 with 3 checks, 0.87 with 5 checks",
    ]


def test_a_source_of_one_model_says_so() -> None:
    model = measures.groups(PLAYED, "model").collect()
    assert title(charts.groups(model)) == "The mean reward is 0.88; the source has only one model"


def test_several_models_have_a_small_figure_each() -> None:
    both = pl.concat([PLAYED.with_columns(model=pl.lit(name)) for name in ("small", "large")])
    frame = measures.pass_k(both).collect()
    assert marks(spec(charts.pass_k(frame))) >= 2 * 2 + 2 * frame.height
    assert title(charts.pass_k(frame)) == "The chance that a trial is solved is 0.75 to 0.75, by model and mode"


def test_two_models_that_are_always_and_never_right_are_not_taken_together() -> None:
    models = [PLAYED.with_columns(model=pl.lit(name), total_reward=pl.lit(r)) for name, r in (("a", 1.0), ("b", 0.0))]
    frame = measures.solved_runs(pl.concat(models)).collect()
    assert title(charts.solved_runs(frame)) == (
        "a: 0 % of the scenarios are never solved, 100 % every time; b: 100 % of the scenarios are never solved, 0 % "
        "every time"
    )


def test_few_trajectories_have_no_chart_of_means_but_a_line() -> None:
    few = PLAYED.head(6)
    for chart, frame in (
        (charts.groups, measures.groups(few, "mode")),
        (charts.pass_k, measures.pass_k(few)),
        (charts.checks, measures.checks(few, CHECKED)),
    ):
        assert "too few for a" in title(chart(frame.collect()))


def test_groups_that_earn_the_same_have_one_number() -> None:
    trial = measures.groups(PLAYED, "trial").collect()
    assert title(charts.groups(trial)) == "By trial, the mean reward is 0.88 throughout"
