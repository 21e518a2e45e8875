"""Replay in brief: what came out again, what trajectories changed, whether the scenarios' checks hold."""

from typing import Any

import polars as pl

from analysis.brief import Headline, only, total
from analysis.wording import count, mode, rate


def in_brief(summary: pl.DataFrame, agreement: pl.DataFrame) -> list[Headline]:
    """Say what came of playing the calls again.

    Args:
        summary: conforms to replay.SUMMARY.
        agreement: conforms to replay.AGREEMENT.

    Returns:
        Headlines in reading order; none where no replay was asked for.
    """
    if summary.is_empty():
        return []
    all_ = only(summary)
    return [
        _played(all_),
        _reproduced(all_),
        *_checks(all_),
        *_rewards(all_),
        Headline(
            rate(all_["changes"] - all_["changes_read_back"], all_["changes"]),
            "changes never read back",
            f"of {count(all_['changes'], 'call')} that changed the state: no later call returned what they changed",
        ),
        *_agreement(agreement),
    ]


def _played(all_: dict[str, Any]) -> Headline:
    left = all_["trajectories"] - all_["replayable"]
    return Headline(
        rate(all_["replayable"], all_["trajectories"]),
        "trajectories played again",
        f"{count(all_['replayable'])} of {count(all_['trajectories'], 'trajectory')}, in the sandbox",
        f"{count(left)} of {count(all_['trajectories'], 'trajectory')} could not be played; the reasons are below."
        if left
        else None,
    )


def _reproduced(all_: dict[str, Any]) -> Headline:
    differ = all_["differing"]
    untold = f"; of {count(all_['untold'])} neither can be told" if all_["untold"] else ""
    return Headline(
        rate(all_["reproduced"], all_["calls"]),
        "calls reproduced",
        f"{count(all_['reproduced'])} of {count(all_['calls'], 'call')} played came out as recorded{untold}",
        f"{count(differ)} of {count(all_['calls'], 'call')} played came out otherwise than recorded."
        if differ
        else None,
    )


def _checks(all_: dict[str, Any]) -> list[Headline]:
    if not all_["checked"]:
        return []
    untold = f"; {count(all_['checks_untold'])} could not be asked" if all_["checks_untold"] else ""
    return [
        Headline(
            rate(all_["checks_passed"], all_["checks"]),
            "checks passed",
            f"of {count(all_['checks'], 'check')} of {count(all_['checked'], 'trajectory')}{untold}; "
            f"{count(all_['all_passed'])} of {count(all_['checked'], 'trajectory')} pass all of theirs",
        )
    ]


def _rewards(all_: dict[str, Any]) -> list[Headline]:
    if not all_["rewarded"]:
        return []
    return [
        Headline(
            rate(all_["equal_rewards"], all_["rewarded"]),
            "rewards as recorded",
            f"of {count(all_['rewarded'], 'trajectory')} with a recorded reward and checks to compute it from",
        )
    ]


def _agreement(agreement: pl.DataFrame) -> list[Headline]:
    scenarios = total(agreement, "scenarios", mode="both")
    if not scenarios:
        return []
    return [
        Headline(
            rate(total(agreement, "agreeing", mode="both"), scenarios),
            "scenarios that agree",
            f"of {count(scenarios, 'scenario')} that several trajectories played: all end in the same state, right or "
            "wrong",
        )
    ]


def modes(agreement: pl.DataFrame) -> pl.DataFrame:
    """The agreement with its modes in words."""
    named = {name: mode(name) for name in ("conversation", "non_conversation")} | {"both": "both modes"}
    return agreement.with_columns(pl.col("mode").cast(pl.String).replace(named))


HOW_TO_ASK = (
    "This source was not replayed: nothing replays unless asked. Set `replay = True` above, or make the report with "
    "`-p replay true`; the environments and scenarios of the source have to be given, and the extra `replay` installed."
)


def on_offer(environments: int, scenarios: int) -> str:
    """Whether the calls can be played again, and how to ask for it, as Markdown."""
    if not (environments and scenarios):
        return (
            "Whether the recorded results are real could be told by a replay: it needs the environments' code and the "
            "scenarios' initial states, which are not given here (`environments` and `scenarios`)."
        )
    return (
        f"{count(environments, 'environment')} and {count(scenarios, 'scenario')} are given, so the recorded calls can "
        "be played again in a sandbox: `python -m analysis replay SOURCE OUT`, or `-p replay true` for the page."
    )


def reasons(differing: pl.DataFrame, ids: list[str]) -> list[str]:
    """How many calls of each trajectory came out otherwise.

    Args:
        differing: rows of REPLAYED_CALLS whose verdict is differing.
        ids: of the trajectories.
    """
    calls = dict(differing.group_by("trajectory_id").len().iter_rows())
    return [f"{count(calls[id_], 'call')} came out otherwise" for id_ in ids]
