"""Overview, drawn: rules that are broken, sound records, what steps count, verdicts."""

from typing import Any

import polars as pl
import pytest

from analysis.charts import overview as charts
from analysis.measures import claims
from analysis.measures import overview as m
from analysis.schema import Table
from tests.charts.drawn import assert_drawn, assert_says_what_is_missing, marks, spec, title
from tests.measures.frames import rows, times
from tests.measures.small import FINDINGS_SEEN, NO_FINDINGS, TRAJECTORIES_SEEN

CONTRACT = [("alternation", "turns alternate", "look"), ("no_environment", "there is one", "none")]
RULES = m.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN, CONTRACT).collect()
KEPT = m.rules(TRAJECTORIES_SEEN, NO_FINDINGS, CONTRACT).collect()
SOUND = m.sound(TRAJECTORIES_SEEN, FINDINGS_SEEN).collect()
STEPS = m.steps_candidates(TRAJECTORIES_SEEN).collect()
COMPOSITION = m.composition(TRAJECTORIES_SEEN).collect()
VERDICTS = rows(
    claims.VERDICT_COUNTS,
    {"scope": "all", "verdict": "equal", "claims": 5, "all_claims": 9},
    {"scope": "all", "verdict": "differs", "claims": 1, "all_claims": 9},
    {"scope": "catalogue", "verdict": "not checkable", "claims": 3, "all_claims": 9},
).collect()

DRAWN = [
    (charts.rules, RULES, m.RULES, 3 + 3),
    (charts.sound, SOUND, m.SOUND, 2),
    (charts.steps_candidates, STEPS, m.STEPS, 4),
    (charts.composition, COMPOSITION, m.COMPOSITION, 2),
    (charts.verdicts, VERDICTS, claims.VERDICT_COUNTS, 3),
]
IDS = [draw.__name__ for draw, *_ in DRAWN]


@pytest.mark.parametrize(("draw", "frame", "result", "at_least"), DRAWN, ids=IDS)
def test_every_chart_is_drawn_from_its_own_columns(
    draw: Any, frame: pl.DataFrame, result: Table, at_least: int
) -> None:
    assert_drawn(draw(frame), frame, result, at_least=at_least)


@pytest.mark.parametrize(("draw", "result"), [(row[0], row[2]) for row in DRAWN], ids=IDS)
def test_what_is_missing_is_said_in_place_of_a_chart(draw: Any, result: Table) -> None:
    assert_says_what_is_missing(draw(result.empty()), result)


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.rules(RULES)) == (
        "3 of 4 rules are broken; most often “no environment”, in 1 of 4 of the records"
    )
    assert (
        title(charts.sound(SOUND))
        == "Records without a finding: 1 of 1 in conversations, 1 of 3 in runs without a user"
    )
    assert title(charts.composition(COMPOSITION)) == "The records are 1 conversations and 3 runs without a user"
    assert title(charts.verdicts(VERDICTS)) == "5 of 6 published figures that can be checked here hold; 1 differ"
    assert title(charts.verdicts(VERDICTS.tail(1))) == "None of the published figures can be checked on this source"
    assert title(charts.steps_candidates(STEPS)).startswith(
        "“steps” best fits the number of: assistant messages (1 of 1)"
    )


def test_rules_that_all_hold_are_drawn_with_their_noughts() -> None:
    chart = charts.rules(KEPT)
    assert title(chart) == "All 2 rules of the contract hold"
    assert marks(spec(chart)) >= 2


def test_sound_records_are_counts_under_twenty_and_an_interval_above() -> None:
    assert marks(spec(charts.sound(SOUND))) == 2, "a text a mode"
    many = m.sound(times(TRAJECTORIES_SEEN, 30), times(FINDINGS_SEEN, 30)).collect()
    assert marks(spec(charts.sound(many))) >= 4, "a point and an interval a mode"
