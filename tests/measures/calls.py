"""Calls built from a script, for tests of what calls come one after another."""

import polars as pl

from analysis.schema import TOOL_CALLS
from tests.measures.frames import rows

OUTCOMES = {"+": "ok", "-": "error", "?": "unknown"}


def script(*trajectories: str, env_id: str = "bank", **everywhere: object) -> pl.LazyFrame:
    """One trajectory a text, one call a word: `get:a+` calls get with {"id": "a"} and is ok; - error, ? unknown.

    A word that begins with _ is a block without a readable tool, one that begins with & is a call of the message before
    it. The first trajectory is t1.
    """
    made = []
    for number, text in enumerate(trajectories, start=1):
        message = 0
        for call, word in enumerate(text.split(), start=1):
            message += not word.startswith("&")
            name, _, value = word.removeprefix("&")[:-1].partition(":")
            made.append(
                {
                    "trajectory_id": f"t{number}",
                    "call": call,
                    "message": message,
                    "tool_name": None if name.startswith("_") else name,
                    "arguments": f'{{"id": "{value}"}}',
                    "outcome": OUTCOMES[word[-1]],
                    "error": "refused" if word[-1] == "-" else None,
                }
            )
    return rows(TOOL_CALLS, *made, env_id=env_id, **everywhere)


NO_CALLS = TOOL_CALLS.empty().lazy()
