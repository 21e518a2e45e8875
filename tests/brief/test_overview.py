"""The overview in brief."""

from analysis.brief import Headline
from analysis.brief.overview import in_brief
from analysis.measures.overview import SUMMARY
from tests.measures.frames import frame

SOURCE = {
    "kept": 1_500, "rejected": 3, "conversations": 600, "non_conversations": 900, "environments": 2, "scenarios": 3,
    "conversation_steps": 3.5, "non_conversation_steps": 5.0, "calls": 1_200, "errors": 300, "judged": 900,
    "unknown": 300, "sound": 900,
}  # fmt: skip


def test_headlines_say_what_was_read_and_what_the_records_are() -> None:
    assert in_brief(frame(SUMMARY, SOURCE)) == [
        Headline("1,500", "records kept", "of 1,503 read; 3 rejected", "Records that could not be read: 3 of 1,503."),
        Headline("2", "environments", "distinct env_id among the records kept"),
        Headline("3", "scenarios", "distinct scenarios among the records kept"),
        Headline("600", "records with user", "a simulated one; 900 without user"),
        Headline("3.5 / 5", "steps, median", "assistant messages per trajectory; with user / without user"),
        Headline("1,200", "tool calls", "in the records kept, including unreadable blocks"),
        Headline(
            "33.3 %",
            "calls that fail",
            "300 of 900 calls whose result says ok or error; not a measure of quality; 300 say neither",
            "Calls whose result says neither ok nor error: 300 of 1,200; error rates leave them out.",
        ),
        Headline("60.0 %", "records without a finding", "900 of 1,500 records kept, without a breach of the contract"),
    ]


def test_a_source_without_loss_and_with_few_unknown_results_needs_no_attention() -> None:
    quiet = in_brief(frame(SUMMARY, {**SOURCE, "rejected": 0, "unknown": 10}))
    assert not [n for n in quiet if n.attention]


def test_a_source_without_any_record_has_no_headlines() -> None:
    assert in_brief(SUMMARY.empty()) == []
