"""Comparison in brief: what each side holds, how many numbers tell them apart, whether they can be compared at all."""

from collections.abc import Callable
from typing import Any

import polars as pl

from analysis.brief import MUCH_UNKNOWN, Headline, only
from analysis.measures.compare import SIDES
from analysis.wording import ABSENT, count, decimal, interval, percent, rate, signed, verdict


def in_brief(
    counts: pl.DataFrame,
    headlines: pl.DataFrame,
    paired: pl.DataFrame,
    membership: pl.DataFrame,
    *,
    names: tuple[str, str] = SIDES,
) -> list[Headline]:
    """Say what each side holds, how many numbers tell them apart, and whether they can be compared at all.

    Args:
        counts: conforms to sides.COUNTS.
        headlines: conforms to compare.HEADLINES.
        paired: conforms to compare.PAIRED.
        membership: conforms to sides.MEMBERSHIP.
        names: what the left and the right are.

    Returns:
        Seven headlines, in reading order; a dash where a side has nothing.
    """
    held = {name: only(counts.filter(counted=name)) for name in ("trajectories", "scenarios", "tools offered")}
    quantities = {row["quantity"]: row for row in headlines.iter_rows(named=True)}
    none = dict.fromkeys(headlines.columns)
    return [
        _trajectories(held["trajectories"], names),
        _scenarios(held["scenarios"], has_both=_has_both(held["trajectories"])),
        _steps(quantities.get("steps per trajectory", none)),
        _errors(quantities.get("error rate of calls", none), quantities.get("unknown share of calls", none)),
        _differences(headlines, "numbers that differ", "over the scenarios of both sides together"),
        _differences(paired, "numbers that differ on the same scenarios", "a scenario counts once"),
        _tools(held["tools offered"], membership, has_both=_has_both(held["trajectories"])),
    ]


def _trajectories(sides: dict[str, Any], names: tuple[str, str]) -> Headline:
    is_alone = bool(sides["left"] or sides["right"]) and not _has_both(sides)
    return Headline(
        _beside(sides, lambda number: count(number or 0)),
        "trajectories",
        f"left: {names[0]}; right: {names[1]}",
        f"One side has no trajectory ({count(sides['left'])} on the left, {count(sides['right'])} on the right): there "
        "is nothing to compare."
        if is_alone
        else None,
    )


def _scenarios(sides: dict[str, Any], *, has_both: bool) -> Headline:
    left, right, shared = (count(sides[side] or 0) for side in (*SIDES, "shared"))
    return Headline(
        shared,
        "scenarios on both sides",
        f"of {left} on the left and {right} on the right",
        f"No scenario is on both sides ({left} on the left, {right} on the right): their tasks differ."
        if has_both and not sides["shared"]
        else None,
    )


def _steps(steps: dict[str, Any]) -> Headline:
    ends = interval(steps["difference_low"], steps["difference_high"])
    return Headline(
        _beside(steps, decimal),
        "steps, mean",
        "left / right; one side has none"
        if steps["left"] is None
        else f"left / right; difference {signed(steps['difference'])}, {ends}",
    )


def _errors(errors: dict[str, Any], unknown: dict[str, Any]) -> Headline:
    is_unknown = max(unknown[side] or 0 for side in SIDES) >= MUCH_UNKNOWN
    return Headline(
        " / ".join(_rate(errors, side) for side in SIDES),
        "calls that fail",
        "left / right; one side has no call whose result says ok or error"
        if errors["left_trials"] is None
        else f"of {count(errors['left_trials'], 'call')} on the left and {count(errors['right_trials'])} on the right "
        "whose result says ok or error; not a measure of quality",
        f"Calls whose result says neither ok nor error: {percent(unknown['left'])} on the left, "
        f"{percent(unknown['right'])} on the right. Error rates leave them out."
        if is_unknown
        else None,
    )


def _tools(sides: dict[str, Any], membership: pl.DataFrame, *, has_both: bool) -> Headline:
    gained, lost = (membership.filter(kind="tool", change=change).height for change in ("gained", "lost"))
    environments = membership.filter(kind="environment").height
    return Headline(
        count(sides["shared"] or 0),
        "tools offered on both sides",
        f"{count(gained)} more on the left only and {count(lost)} on the right only, in environments that both have",
        f"Environments that only one side has: {count(environments)}." if has_both and environments else None,
    )


def _rate(row: dict[str, Any], side: str) -> str:
    trials = row[f"{side}_trials"]
    return ABSENT if trials is None else rate(row[f"{side}_events"], trials)


def _beside(sides: dict[str, Any], text: Callable[[Any], str]) -> str:
    return " / ".join(text(sides[side]) for side in SIDES)


def _has_both(trajectories: dict[str, Any]) -> bool:
    return bool(trajectories["left"] and trajectories["right"])


def _differences(numbers: pl.DataFrame, label: str, over: str) -> Headline:
    compared, different = only(numbers)["compared"] or 0, int(numbers["is_different"].sum())
    said = verdict(compared, different, only(numbers)["by_chance"] or 0)
    return Headline(rate(different, compared) if compared else ABSENT, label, f"{said}; {over}")
