"""The look of every chart, and the one way a chart function is declared.

`@figure(RESULT, definition="…")` wraps a chart function (small frame in, `alt.Chart` out). It
- refuses a frame over MAX_ROWS rows: aggregation belongs to the measure;
- answers an empty frame with an empty-state chart whose usermeta says so, so that pages print the sentence instead;
- puts the definition and the columns' meaning into the chart's `usermeta`, where the page finds them.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import altair as alt
import polars as pl

from analysis.schema import Table

P = ParamSpec("P")
MAX_ROWS = 2_000

# Okabe and Ito's palette: told apart by people with any common colour vision deficiency.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"]


def figure(
    result: Table, definition: str
) -> Callable[[Callable[Concatenate[pl.DataFrame, P], Any]], Callable[Concatenate[pl.DataFrame, P], Any]]:
    """Declare a chart function: what its frame carries and the one-sentence definition under the chart."""

    def declare(draw: Callable[Concatenate[pl.DataFrame, P], Any]) -> Callable[Concatenate[pl.DataFrame, P], Any]:
        @wraps(draw)
        def chart(frame: pl.DataFrame, *args: P.args, **kwargs: P.kwargs) -> Any:
            if frame.height > MAX_ROWS:
                raise ValueError(
                    f"{draw.__name__}: {frame.height:,} rows; aggregate to at most {MAX_ROWS:,} before drawing"
                )
            meta: dict[str, Any] = {
                "definition": definition,
                "columns": {
                    c.name: {"title": c.title, "meaning": c.meaning} for c in result if c.name in frame.columns
                },
            }
            if frame.is_empty():
                meta["empty"] = f"Nothing to draw: {result.grain} – no rows in this source or selection."
                return empty(meta["empty"]).properties(usermeta=meta)
            return draw(frame, *args, **kwargs).properties(usermeta=meta)

        return chart

    return declare


def empty(sentence: str) -> alt.Chart:
    """A chart that says why there is none."""
    return alt.Chart(pl.DataFrame({"text": [sentence]}), title=sentence).mark_text(align="left").encode(text="text:N")
