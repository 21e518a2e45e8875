"""Reasoning, drawn."""

from analysis.charts import reasoning as charts
from analysis.measures import reasoning as measures
from tests.charts.drawn import marks, spec, title
from tests.measures.frames import times
from tests.measures.test_reasoning import LONG, MESSAGES_SEEN, TRAJECTORIES_SEEN

FEW = measures.summary(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect()
SAMPLES = {
    charts.missing: (measures.summary(times(MESSAGES_SEEN, 10), times(TRAJECTORIES_SEEN, 10)).collect(), 4),
    charts.lengths: (measures.lengths(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect(), 4),
    charts.positions: (measures.positions(*LONG).collect(), 4),
}


def test_few_messages_are_shown_as_counts() -> None:
    assert marks(spec(charts.missing(FEW))) >= 2
    assert title(charts.missing(FEW)) == "Assistant messages without reasoning: 2 of 4 with user, 0 of 2 without user"


def test_a_source_where_all_messages_have_reasoning_says_so() -> None:
    full = FEW.with_columns(without_reasoning=0 * FEW["without_reasoning"])
    assert title(charts.missing(full)) == "Every assistant message has reasoning"


def test_the_trend_goes_from_the_first_tenth_to_the_last() -> None:
    positions, _ = SAMPLES[charts.positions]
    assert "from 100 to 1,000 characters with user" in title(charts.positions(positions))
