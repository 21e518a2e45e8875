"""Environments, drawn: the published histograms, and the checks of scenarios."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import figure
from analysis.charts.words import title
from analysis.measures.environments import CHECKS_PER_SCENARIO, HISTOGRAM, QUANTITIES
from analysis.wording import count


@figure(
    HISTOGRAM,
    definition="Environments of the sibling set by their number of query tools, state-change tools, state categories "
    "(attributes over all entities), scenarios, state entities and rules.",
)
def histogram(frame: pl.DataFrame) -> Any:
    """One small histogram per quantity."""
    rows = frame.rows(named=True)
    most: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["environments"] > most.get(row["quantity"], {"environments": 0})["environments"]:
            most[row["quantity"]] = row
    n = max(sum(r["environments"] for r in rows if r["quantity"] == quantity) for quantity in most)
    peaks = ", ".join(f"{_bin(most[q])} {q}" for q in ("query tools", "state-change tools") if q in most)
    sentence = f"An environment most often has {peaks}" if peaks else "Environments by what they hold"
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X(
                "count_from:Q", bin="binned", title=None, axis=alt.Axis(labelExpr="datum.value % 1 ? '' : datum.label")
            ),
            x2="count_to:Q",
            y=alt.Y("environments:Q", title="environments"),
            tooltip=[
                alt.Tooltip("quantity:N"),
                number("count_from", "from"),
                number("count_to", "to below"),
                number("environments", "environments"),
                percent("environment_share", "share"),
            ],
        )
        .properties(width=210, height=120)
        .facet(
            facet=alt.Facet("quantity:N", title=None, sort=list(QUANTITIES)),
            columns=3,
        )
        .resolve_scale(x="independent", y="independent")
        .properties(title=title(sentence, f"n = {count(n, 'environment')}"), description=sentence)
    )


@figure(
    CHECKS_PER_SCENARIO,
    definition="Scenarios of the RL set by the number of checks that judge their final state; scenarios without "
    "checks, as all of the SFT set, are not counted.",
)
def checks_per_scenario(frame: pl.DataFrame) -> Any:
    """Checks per scenario."""
    first = frame.row(0, named=True)
    sentence = f"A scenario is judged by {first['mean_checks']:.1f} checks in the mean"
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("checks:O", title="checks of a scenario", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("scenarios:Q", title="scenarios"),
            tooltip=[number("checks", "checks"), number("scenarios", "scenarios"), percent("scenario_share", "share")],
        )
        .properties(
            title=title(sentence, f"n = {count(first['all_scenarios'], 'scenario')} that have checks"),
            description=sentence,
            width="container",
            height=220,
        )
    )


def _bin(row: dict[str, Any]) -> str:
    last = row["count_to"] - 1
    return f"{row['count_from']:,}" if last == row["count_from"] else f"{row['count_from']:,} to {last:,}"
