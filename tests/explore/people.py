"""A few trajectories to choose from, with what is known of each at a glance."""

from typing import Any

import polars as pl

from analysis.explore.runs import RUNS, runs
from analysis.tables import Tables
from tests.builders import decode, step, trajectory

HOSTILE = "</script><img src=x onerror=alert(1)>"


def records() -> list[dict[str, Any]]:
    """
    row  environment  mode              steps  calls  failed  tools
    0    bank         non_conversation  2      1      0       look
    1    bank         conversation      3      2      1       look, pay
    2    shop         non_conversation  4      3      2       pay (three times)
    3    HOSTILE      non_conversation  2      1      0       HOSTILE
    """
    done = step(says="Done, the refund is made.")
    fails = step("pay", error="no funds")
    return [
        trajectory("t1", env_id="bank", steps=[step("look"), done]),
        trajectory("t2", env_id="bank", traj_type="conversation", steps=[step("look"), fails, done]),
        trajectory("t3", env_id="shop", steps=[step("pay"), fails, fails, done]),
        trajectory("t4", env_id=HOSTILE, steps=[step(HOSTILE, result=HOSTILE), step(says=HOSTILE)]),
    ]


def loaded() -> Tables:
    return decode(*records())


def frame() -> pl.DataFrame:
    data = loaded()
    found = runs(data.trajectories, data.tool_calls, data.findings).collect()
    assert found.schema == RUNS.schema
    return found
