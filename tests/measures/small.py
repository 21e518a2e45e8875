"""Four records of two environments and of none, as tables: what the measures of usage, lengths and coverage are about.

a  bank  bank-1  conversation  5 steps   get get set    offered get, set, never
b  bank  bank-1  without user  3 steps   get ???        offered get, set, never; one block names no tool
c  shop  shop-1  without user  29 steps  get            offered get
d  –     –       without user  30 steps  odd            offered nothing
"""

import polars as pl

from analysis.schema import ENVIRONMENTS, FINDINGS, MESSAGES, REJECTED, SCENARIOS, TOOL_CALLS, TOOLS, TRAJECTORIES
from tests.measures.frames import rows

TALK, SOLO = "conversation", "non_conversation"

TRAJECTORIES_SEEN = rows(
    TRAJECTORIES,
    {
        "trajectory_id": "a", "env_id": "bank", "task_id": "bank-1", "traj_type": TALK, "steps": 5,
        "assistant_messages": 5, "tool_calls": 3, "tool_messages": 3, "user_messages": 3,
        "tools_offered": 3, "tools_used": 2, "tool_set": "S", "end_class": "stop_marker",
    },
    {
        "trajectory_id": "b", "env_id": "bank", "task_id": "bank-1", "traj_type": SOLO, "steps": 2,
        "assistant_messages": 3, "tool_calls": 2, "tool_messages": 2, "user_messages": 2,
        "tools_offered": 3, "tools_used": 1, "tool_set": "S",
    },
    {
        "trajectory_id": "c", "env_id": "shop", "task_id": "shop-1", "traj_type": SOLO, "steps": 29,
        "assistant_messages": 29, "tool_calls": 1, "tool_messages": 1, "user_messages": 2,
        "tools_offered": 1, "tools_used": 1, "tool_set": "R",
    },
    {
        "trajectory_id": "d", "traj_type": SOLO,
        "assistant_messages": 30, "tool_calls": 1, "tool_messages": 1, "user_messages": 2, "tool_set": "none",
    },
    dialect="release",
)  # fmt: skip

TOOLS_SEEN = rows(
    TOOLS,
    *[
        {"tool_set": tool_set, "tool_name": name}
        for tool_set, name in [("S", "get"), ("S", "set"), ("S", "never"), ("R", "get")]
    ],
)

CALLS_SEEN = rows(
    TOOL_CALLS,
    *[
        {
            "trajectory_id": trajectory, "env_id": env_id, "traj_type": mode, "call": call, "tool_name": name,
            "is_offered": is_offered, "outcome": outcome,
        }
        for trajectory, env_id, mode, call, name, is_offered, outcome in [
            ("a", "bank", TALK, 1, "get", True, "ok"),
            ("a", "bank", TALK, 2, "get", True, "error"),
            ("a", "bank", TALK, 3, "set", True, "ok"),
            ("b", "bank", SOLO, 1, "get", True, "ok"),
            ("b", "bank", SOLO, 2, None, False, "error"),
            ("c", "shop", SOLO, 1, "get", True, "ok"),
            ("d", None, SOLO, 1, "odd", False, "unknown"),
        ]
    ],
)  # fmt: skip

MESSAGES_SEEN = rows(
    MESSAGES,
    {"trajectory_id": "a", "message": 0, "role": "system", "content_chars": 100},
    {"trajectory_id": "a", "message": 1, "role": "user", "content_chars": 20},
    {"trajectory_id": "a", "message": 2, "role": "assistant", "reasoning_chars": 50, "tool_calls": 1},
    {"trajectory_id": "a", "message": 3, "role": "tool"},
    {"trajectory_id": "a", "message": 4, "role": "assistant", "content_chars": 30},
    {"trajectory_id": "b", "message": 0, "role": "system", "content_chars": 10},
)

FINDINGS_SEEN = rows(
    FINDINGS,
    {"trajectory_id": "b", "rule": "steps_mismatch"},
    {"trajectory_id": "b", "rule": "unreadable_call", "message": 4},
    {"trajectory_id": "d", "rule": "no_environment"},
    {"trajectory_id": "elsewhere", "rule": "no_environment"},
)
REJECTED_SEEN = rows(
    REJECTED,
    {"origin": "x.json@900", "reason": "messages: cut off"},
    {"origin": "x.json@100", "reason": "messages: cut off"},
    {"origin": "x.json@500", "reason": "not an object"},
)

# A catalogue with an environment and a scenario nobody ran, and without the shop.
ENVIRONMENTS_GIVEN = rows(ENVIRONMENTS, {"env_id": "bank"}, {"env_id": "zoo"})
SCENARIOS_GIVEN = rows(SCENARIOS, {"env_id": "bank", "task_id": "bank-1"}, {"env_id": "bank", "task_id": "bank-2"})

NO_ENVIRONMENTS: pl.LazyFrame = ENVIRONMENTS.empty().lazy()
NO_SCENARIOS: pl.LazyFrame = SCENARIOS.empty().lazy()
NO_TRAJECTORIES: pl.LazyFrame = TRAJECTORIES.empty().lazy()
NO_CALLS: pl.LazyFrame = TOOL_CALLS.empty().lazy()
NO_TOOLS: pl.LazyFrame = TOOLS.empty().lazy()
NO_MESSAGES: pl.LazyFrame = MESSAGES.empty().lazy()
NO_FINDINGS: pl.LazyFrame = FINDINGS.empty().lazy()
NO_REJECTED: pl.LazyFrame = REJECTED.empty().lazy()
