"""Rewards, drawn."""

import polars as pl
import pytest

from analysis.charts import rewards as charts
from analysis.measures import rewards as measures
from analysis.schema import SCENARIOS, TRAJECTORIES
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, title
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
        for task in range(8)
        for trial in range(3)
    ),
)
CHECKED = rows(SCENARIOS, *({"task_id": str(task), "checks": 3 + task % 3} for task in range(8)))

DISTRIBUTION = measures.distribution(PLAYED).collect()
PASS = measures.pass_k(PLAYED).collect()
SOLVED = measures.solved_runs(PLAYED).collect()
CHECKS = measures.checks(PLAYED, CHECKED).collect()


def test_every_chart_is_drawn_from_its_own_columns() -> None:
    assert_drawn(charts.distribution(DISTRIBUTION), DISTRIBUTION, measures.DISTRIBUTION, at_least=2)
    assert_drawn(charts.pass_k(PASS), PASS, measures.PASS, at_least=2 + 2 * PASS.height)
    assert_drawn(charts.solved_runs(SOLVED), SOLVED, measures.SOLVED_RUNS, at_least=SOLVED.height)
    assert_drawn(charts.checks(CHECKS), CHECKS, measures.CHECKS, at_least=2 * CHECKS.height)


@pytest.mark.parametrize("kind", ["environment", "model"])
def test_groups_are_drawn_with_a_row_each(kind: measures.Kind) -> None:
    frame = measures.groups(PLAYED, kind).collect()
    assert_drawn(charts.groups(frame), frame, measures.GROUPS, at_least=2 * frame.height)


def test_titles_tell_the_finding() -> None:
    # Of 24 runs the 6 with task + trial divisible by four have half a reward.
    assert title(charts.distribution(DISTRIBUTION)) == (
        "75.0 % of the trajectories have a reward of 0.9 or more, 25.0 % one below 0.6"
    )
    assert (
        title(charts.groups(measures.groups(PLAYED, "trial").collect()))
        == "By trial the mean reward is 0.88 throughout"
    )
    assert title(charts.groups(measures.groups(PLAYED, "model").collect())) == (
        "The mean reward is 0.88; the source tells one model only"
    )
    # Two scenarios of eight are solved in all three runs, six in two of three.
    assert title(charts.pass_k(PASS)) == (
        "A trial is solved with a chance of 0.75; 3 of 3 with 0.25, one of 3 at least with 1.00"
    )
    assert title(charts.solved_runs(SOLVED)) == "0 of 8 of the scenarios are never solved, 2 of 8 every time"


def test_several_models_have_a_small_figure_each() -> None:
    both = pl.concat([PLAYED.with_columns(model=pl.lit(name)) for name in ("small", "large")])
    frame = measures.pass_k(both).collect()
    assert_drawn(charts.pass_k(frame), frame, measures.PASS, at_least=2 * 2 + 2 * frame.height)
    assert title(charts.pass_k(frame)) == "A trial is solved with a chance of 0.75 to 0.75, by model and mode"


def test_what_is_missing_is_said_in_place_of_a_chart() -> None:
    for draw, table in (
        (charts.distribution, measures.DISTRIBUTION),
        (charts.groups, measures.GROUPS),
        (charts.pass_k, measures.PASS),
        (charts.solved_runs, measures.SOLVED_RUNS),
        (charts.checks, measures.CHECKS),
    ):
        assert_says_what_is_missing(draw(table.empty()), table)
