"""Environments, drawn: the published histograms, and the checks of scenarios."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import Drawn, figure
from analysis.measures.environments import CHECKS_PER_SCENARIO, HISTOGRAM, QUANTITIES
from analysis.wording import count, decimal


@figure(
    HISTOGRAM,
    definition="Environments of the sibling set by their number of query tools, state-change tools, state categories "
    "(attributes over all entities), scenarios, state entities and rules.",
)
def histogram(frame: pl.DataFrame) -> Drawn:
    """One small histogram per quantity."""
    peaks = " and ".join(_peak(frame, quantity) for quantity in _TOOLS if quantity in frame["quantity"].to_list())
    n = frame.group_by("quantity").agg(pl.col("environments").sum())["environments"].max()
    return Drawn(
        _bars(frame)
        .properties(width=210, height=120)
        .facet(facet=alt.Facet("quantity:N", title=None, sort=list(QUANTITIES)), columns=3)
        .resolve_scale(x="independent", y="independent"),
        f"An environment most often has {peaks}" if peaks else "What environments contain, by their number",
        f"n = {count(n, 'environment')}",  # type: ignore[arg-type]
    )


@figure(
    CHECKS_PER_SCENARIO,
    definition="Scenarios of the RL set by the number of checks that judge their final state. Scenarios without "
    "checks, such as all of the SFT set, are not counted.",
    height=220,
)
def checks_per_scenario(frame: pl.DataFrame) -> Drawn:
    """Checks per scenario."""
    first = frame.row(0, named=True)
    bars = alt.Chart(frame).mark_bar(color=theme.PALETTE[0])
    return Drawn(
        bars.encode(
            x=alt.X("checks:O", title="checks of a scenario", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("scenarios:Q", title="scenarios"),
            tooltip=[number("checks", "checks"), number("scenarios", "scenarios"), percent("scenario_share", "share")],
        ),
        f"A scenario is judged by {decimal(first['mean_checks'])} checks on average",
        f"n = {count(first['all_scenarios'], 'scenario')} with checks",
    )


_TOOLS = ("query tools", "state-change tools")


def _bars(frame: pl.DataFrame) -> alt.Chart:
    whole_numbers = alt.Axis(labelExpr="datum.value % 1 ? '' : datum.label")
    bars = alt.Chart(frame).mark_bar(color=theme.PALETTE[0])
    return bars.encode(  # type: ignore[no-any-return]
        x=alt.X("count_from:Q", bin="binned", title=None, axis=whole_numbers),
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


def _peak(frame: pl.DataFrame, quantity: str) -> str:
    """The bin with the most environments, in words."""
    rows: list[dict[str, Any]] = frame.filter(quantity=quantity).rows(named=True)
    most = max(rows, key=lambda r: r["environments"])
    first, last = most["count_from"], most["count_to"] - 1
    return f"{count(first)} {quantity}" if first == last else f"{count(first)} to {count(last)} {quantity}"
