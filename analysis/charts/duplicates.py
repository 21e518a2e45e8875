"""Duplication, drawn: how alike runs of one scenario are."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import figure
from analysis.charts.words import title
from analysis.measures.duplicates import COMPARED, PAIR_KINDS, SIMILARITY
from analysis.wording import rate

_ALIKE = 0.9


@figure(
    SIMILARITY,
    definition="Every two runs of one scenario by the similarity of their sequences of calls: 1 - edit distance / "
    "longer length, over calls with their arguments and over tool names alone.",
)
def similarity(frame: pl.DataFrame) -> Any:
    """Similarity of runs of one scenario, per kind of pair."""
    rows = [r for r in frame.rows(named=True) if r["compared"] == "calls with arguments"]
    totals = {r["kind"]: r["kind_pairs"] for r in rows}
    alike = {
        k: sum(r["pairs"] for r in rows if r["kind"] == k and r["similarity_from"] >= _ALIKE - 1e-9) for k in totals
    }
    found = ", ".join(
        f"{rate(alike[kind], totals[kind])} of the pairs in the {kind}" for kind in PAIR_KINDS if kind in totals
    )
    sentence = f"Nearly the same calls (similarity {_ALIKE} or more): {found}".replace("in the across", "across")
    counts = ", ".join(f"{totals[kind]:,} {kind}" for kind in PAIR_KINDS if kind in totals)
    return (
        alt.Chart(frame)
        .mark_bar(opacity=0.7)
        .encode(
            x=alt.X(
                "similarity_from:Q", bin="binned", title="similarity of the two runs", scale=alt.Scale(domain=[0, 1])
            ),
            x2="similarity_to:Q",
            y=alt.Y("pair_share:Q", title="share of pairs", axis=alt.Axis(format="%"), stack=None),
            color=alt.Color(
                "compared:N",
                scale=alt.Scale(domain=list(COMPARED), range=theme.PALETTE[:2]),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            tooltip=[
                alt.Tooltip("kind:N", title="pair"),
                alt.Tooltip("compared:N"),
                alt.Tooltip("similarity_from:Q", title="similarity from", format=".2f"),
                alt.Tooltip("similarity_to:Q", title="to below", format=".2f"),
                number("pairs", "pairs"),
                percent("pair_share", "share"),
            ],
        )
        .properties(width=680, height=120)
        .facet(row=alt.Row("kind:N", title=None, header=alt.Header(labelOrient="top", labelAnchor="start")))
        .properties(title=title(sentence, f"n = pairs of runs of one scenario: {counts}"), description=sentence)
    )
