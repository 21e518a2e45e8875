"""Diversity, drawn: how many values calls give to a parameter."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import SEPARATOR, TOOL_TOOLTIPS, names_axis, number
from analysis.charts.figure import Drawn, figure
from analysis.measures.diversity import PARAMETERS
from analysis.wording import count


@figure(
    PARAMETERS,
    definition="Faint: calls that give the parameter a value. Full: how many of these values are distinct, compared as "
    "canonical JSON. Top-level parameters, most uses first; a parameter of two tools is two.",
    height=alt.Step(18),
)
def parameters(frame: pl.DataFrame) -> Drawn:
    """Uses and distinct values of the parameters used most."""
    several = frame["env_id"].n_unique() > 1
    name = "datum.tool_name + '(' + datum.parameter + ')'"
    label = f"{name} + (datum.env_id == null ? '' : {SEPARATOR!r} + datum.env_id)" if several else name
    told = "format(datum.values, ',') + ' of ' + format(datum.uses, ',')"
    tooltip = [*TOOL_TOOLTIPS, alt.Tooltip("parameter:N"), number("uses", "uses"), number("values", "values")]
    base = alt.Chart(frame).transform_calculate(label=label, told=told).encode(y=names_axis(limit=230), tooltip=tooltip)
    axis = alt.Axis(title="distinct values of the uses", tickMinStep=1)
    scale = alt.Scale(domain=[0, 1.2 * max(frame["uses"])])  # the longest bar has its numbers beside it
    uses = alt.X("uses:Q", axis=axis, scale=scale)
    fewest, most = (count(value) for value in (min(frame["values"]), max(frame["values"])))
    return Drawn(
        alt.layer(
            base.mark_bar(color=theme.PALETTE[0], opacity=0.25).encode(x=uses),
            base.mark_bar(color=theme.PALETTE[0]).encode(x=alt.X("values:Q", axis=axis, scale=scale)),
            base.mark_text(align="left", dx=4, fontSize=10).encode(x=uses, text="told:N"),
        ),
        f"The parameters used most take {fewest} to {most} distinct values each"
        if fewest != most
        else f"The parameters used most take {most} distinct values each",
        f"n = {count(frame['uses'].sum(), 'use')} of {count(frame.height, 'parameter')}",
    )
