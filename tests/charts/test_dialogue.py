"""Dialogue and endings, drawn."""

from analysis.charts import dialogue as charts
from analysis.measures import dialogue as measures
from tests.charts.drawn import title
from tests.measures.test_dialogue import CALLS_SEEN, MESSAGES_SEEN, TRAJECTORIES_SEEN

SAMPLES = {
    charts.end_classes: (measures.end_classes(TRAJECTORIES_SEEN).collect(), 3),
    charts.questions_by_step: (measures.questions_by_step(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect(), 4),
    charts.user_turns: (measures.user_turns(TRAJECTORIES_SEEN).collect(), 2),
    charts.calls_per_user_turn: (measures.calls_per_user_turn(MESSAGES_SEEN, TRAJECTORIES_SEEN).collect(), 3),
    charts.first_calls: (measures.first_calls(CALLS_SEEN, TRAJECTORIES_SEEN).collect(), 4),
    charts.paired_difference: (measures.paired_difference(TRAJECTORIES_SEEN, CALLS_SEEN).collect(), 5),
}


def test_titles_say_how_records_end_what_a_user_turn_takes_and_how_modes_differ() -> None:
    assert [title(chart(frame)) for chart, (frame, _) in SAMPLES.items()] == [
        "The most common ending is stop marker (2 of 3) with user, completed marker (1 of 1) without user",
        "The agent asks a question in 3 of 8 messages, and in 2 of 3 first messages",
        f"A conversation has {(2 + 3 + 3) / 3:.2f} user messages on average",
        f"A user turn takes {3 / 5:.1f} calls on average; 3 of 5 need none",
        "Trajectories that call a tool in their first message: 1 of 3 with user, 1 of 1 without user",
        "On the same scenario a conversation takes the same number of assistant messages and 1 fewer call",
    ]
