"""Histograms: two sides in one picture without a third colour, and bins of whole numbers labelled at their middle."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

FILLED = 0.5


def two_sides(bars: alt.Chart, frame: pl.DataFrame, field: str, names: Sequence[str]) -> Any:
    """The first side filled, the second an outline over it: laid over each other, two fills would make a third colour.

    Args:
        bars: a chart of bars with all their encodings, the colour among them.
        frame: its rows.
        field: what tells the sides apart.
        names: of the sides, in their order; a side that is alone is filled.
    """
    here = [name for name in names if name in frame.get_column(field).cast(pl.String).to_list()]
    if len(here) < 2:
        return bars.mark_bar(opacity=FILLED + 0.2)
    # Both layers hold the rows of both sides, so that none is without rows where a reader chooses one side.
    first, second = (
        alt.condition(alt.FieldEqualPredicate(field=field, equal=name), alt.value(shown), alt.value(0))
        for name, shown in zip(here, (FILLED, 1), strict=True)
    )
    return alt.layer(
        bars.mark_bar().encode(opacity=first),
        bars.mark_bar(filled=False, strokeWidth=1.5, aria=False).encode(opacity=second),
        data=frame,
    )


def whole_numbers(bars: alt.Chart, column: str, title: str) -> alt.Chart:
    """Bars over bins of whole numbers: 3 is drawn from 2.5 to 3.5, so that its label stands under its middle.

    Args:
        bars: a chart of `column`, where a bin starts, and `<column>_to`, where the next one does.
        column: of the frame.
        title: of the axis.
    """
    edges = {"bin_start": f"datum.{column} - 0.5", "bin_end": f"datum.{column}_to - 0.5"}
    x = alt.X("bin_start:Q", title=title, bin="binned", axis=alt.Axis(tickMinStep=1, format=",d"))
    return bars.transform_calculate(**edges).encode(x=x, x2="bin_end:Q")
