"""Arguments in brief: how many calls fit the schema of their tool."""

import polars as pl

from analysis.brief import Headline, is_much
from analysis.wording import count, rate


def in_brief(classes: pl.DataFrame) -> list[Headline]:
    """Say how many calls fit the schema that their record declares.

    Args:
        classes: conforms to arguments.CLASSES.

    Returns:
        One headline, over the calls that could be checked.
    """
    calls = dict(classes.group_by(pl.col("verdict").cast(pl.String)).agg(pl.col("calls").sum()).iter_rows())
    checked = sum(calls.values()) - calls.get("unchecked", 0)
    valid, over = calls.get("valid", 0), calls.get("over_required", 0)
    broken = checked - valid - over
    return [
        Headline(
            rate(valid, checked),
            "calls that fit their schema",
            f"{count(valid)} of {count(checked, 'call')} that can be checked; {count(over)} more leave out a required "
            "argument and succeed",
            f"Calls that break the schema of their tool: {count(broken)} of {count(checked)}."
            if is_much(broken, checked)
            else None,
        )
    ]
