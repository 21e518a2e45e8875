"""Tool usage in brief."""

from analysis.brief import Headline
from analysis.brief.tool_usage import in_brief
from analysis.measures.tool_usage import ACROSS, BREADTH, BUSIEST, RATES
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        ACROSS,
        {
            "environments": 2, "offered_tools": 40, "distinct_names": 35, "used_tools": 34, "unused_tools": 6,
            "calls": 1_000, "undeclared_calls": 10, "top_tenth_calls": 400,
        },
    ),
    frame(
        BUSIEST,
        {"env_id": "zoo", "tool_name": None, "calls": 300},
        {"env_id": "bank", "tool_name": "get_user", "calls": 202},
    ),
    frame(RATES, {"band": 0, "tools": 5}, {"band": 9, "tools": 10}, {"band": 10, "tools": 10}),
    frame(
        BREADTH,
        {"traj_type": TALK, "median_breadth": 0.254, "mode_trajectories": 20},
        {"traj_type": WITHOUT, "median_breadth": 0.5, "mode_trajectories": 19},
    ),
)  # fmt: skip


def test_headlines_say_how_many_tools_there_are_and_how_many_are_called() -> None:
    assert in_brief(*RESULTS) == [
        Headline("40", "tools offered", "in 2 environments, under 35 distinct names"),
        Headline(
            "85.0 %",
            "tools called",
            "34 of 40 tools of an environment, at least once",
            "Tools that are offered and never called: 6 of 40.",
        ),
        Headline(
            "1,010",
            "tool calls",
            "1,000 to offered tools; 10 to tools that were not offered, or without a name",
            "Calls to tools that were not offered, or without a tool name: 10 of 1,010.",
        ),
        # Blocks that name no tool are more, and are no tool.
        Headline(
            "20.0 %",
            "calls to any one tool, at most",
            "202 of 1,010 calls, a tool being one name in one environment",
        ),
        Headline(
            "40.0 %",
            "tools called by nearly all",
            "by over 90 % of the trajectories offered them: 10 of 25 tools offered to 20 or more",
        ),
        Headline(
            "25.4 % / –",
            "offered tools that a trajectory calls, median",
            "distinct tools called of those offered; none of fewer than 20 trajectories; with user / without user",
        ),
        Headline(
            "40.0 %",
            "calls to a tenth of the tools, at most",
            "400 of 1,000 calls: no tenth of the offered tools takes more",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_need_no_attention() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0", "0 of 0", "0", "0 of 0", "0 of 0", "– / –", "0 of 0"]
    assert numbers[3].meaning == "no call names a tool"
    assert not [n for n in numbers if n.attention]
