"""Overlap, drawn: how much of a source another set has, too."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import kind_colour, number, percent, share_axis
from analysis.charts.figure import Drawn, figure
from analysis.measures.overlap import SHARES
from analysis.wording import count, rate_of

_COLOURS = {"same": theme.PALETTE[5], "near": theme.PALETTE[1], "none": theme.PALETTE[7]}
_ONE = {"tasks": "task", "tools": "tool", "values": "value"}


@figure(
    SHARES,
    definition="Distinct tasks, tools and id-like argument values of this source, by whether the other set has the "
    "same (words; name and parameters; value), a near one (Jaccard similarity of at least the threshold), or none.",
    height=alt.Step(34),
)
def shares(frame: pl.DataFrame) -> Drawn:
    """What of a source has a neighbour in the other set."""
    kinds = dict(frame.select("kind", "of").unique(maintain_order=True).iter_rows())
    found = {
        kind: int(frame.filter(pl.col("kind") == kind, pl.col("match") != "none")["items"].sum()) for kind in kinds
    }
    said = [rate_of(found[kind], n, _ONE[kind]) for kind, n in kinds.items()]
    return Drawn(
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=share_axis(alt.X, "share", "share of the source's", stack="zero"),
            y=alt.Y("kind:N", title=None, sort=None),
            color=kind_colour("match", _COLOURS),
            order=alt.Order("match_order:Q"),
            tooltip=[
                alt.Tooltip("kind:N"),
                alt.Tooltip("match:N", title="in the other set"),
                number("items", "of the source"),
                percent("share", "share"),
            ],
        )
        .transform_calculate(match_order="indexof(['same', 'near', 'none'], datum.match)"),
        f"The other set has, or nearly has: {'; '.join(said)}",
        "n = " + ", ".join(count(n, _ONE[kind]) for kind, n in kinds.items()),
    )
