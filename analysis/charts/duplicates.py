"""Duplication, drawn: how alike trajectories of one scenario are."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent, precise, share_axis
from analysis.charts.figure import Drawn, figure
from analysis.charts.histograms import two_sides
from analysis.measures.duplicates import COMPARED, PAIR_KINDS, SIMILARITY
from analysis.wording import count, rate

_ALIKE = 0.9


@figure(
    SIMILARITY,
    definition="Every two trajectories of one scenario by the similarity of their calls: 1 - edit distance / longer "
    "length, over calls with their arguments and over tool names alone.",
)
def similarity(frame: pl.DataFrame) -> Drawn:
    """Similarity of trajectories of one scenario, per kind of pair."""
    colours = alt.Scale(domain=list(COMPARED), range=theme.PALETTE[:2])
    bars = alt.Chart(frame, width=theme.WIDTH, height=120).encode(
        x=alt.X("similarity_from:Q", bin="binned", title="similarity", scale=alt.Scale(domain=[0, 1])),
        x2="similarity_to:Q",
        y=share_axis(alt.Y, "pair_share", "share of pairs", stack=None),
        color=alt.Color("compared:N", scale=colours, legend=alt.Legend(orient="bottom", title=None)),
        tooltip=[
            alt.Tooltip("kind:N", title="pair"),
            alt.Tooltip("compared:N"),
            precise("similarity_from", "similarity from"),
            precise("similarity_to", "to below"),
            number("pairs", "pairs"),
            percent("pair_share", "share"),
        ],
    )
    header = alt.Header(labelOrient="top", labelAnchor="start")
    kinds = _kinds(frame)
    alike = ", ".join(f"{rate(events, n)} {kind}" for kind, (events, n) in kinds.items())
    return Drawn(
        two_sides(bars, frame, "compared", COMPARED).facet(row=alt.Row("kind:N", title=None, header=header)),
        f"Pairs of trajectories with nearly the same calls (similarity {_ALIKE} or more): {alike}",
        "n = pairs of trajectories of one scenario: "
        + ", ".join(f"{count(n)} {kind}" for kind, (_, n) in kinds.items()),
    )


def _kinds(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """For each kind of pair, how many make nearly the same calls, and how many there are."""
    is_alike = pl.col("similarity_from") >= _ALIKE - 1e-9
    counts = (
        frame.filter(compared="calls with arguments")
        .group_by("kind")
        .agg(alike=pl.col("pairs").filter(is_alike).sum(), all=pl.col("kind_pairs").first())
    )
    by_kind = {kind: (alike, n) for kind, alike, n in counts.iter_rows()}
    return {_IN_WORDS[kind]: by_kind[kind] for kind in PAIR_KINDS if kind in by_kind}


_IN_WORDS = {"same mode": "in the same mode", "across modes": "across modes"}
