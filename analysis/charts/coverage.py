"""Coverage, drawn: trajectories per environment, how evenly, and how scenarios were run."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import figure
from analysis.charts.words import MODES, title
from analysis.measures.coverage import ENVIRONMENTS, LORENZ, PER_SCENARIO
from analysis.measures.coverage import MODES as SCENARIO_MODES
from analysis.wording import count, rate

# Beyond this many environments their names no longer fit under the bars.
_NAMED = 40


@figure(
    ENVIRONMENTS,
    definition="Trajectories per environment, by mode, the largest first. With a catalogue its absent environments "
    "stand at 0 on the right; without one only what was seen is known.",
)
def environments(frame: pl.DataFrame) -> Any:
    """Trajectories per environment."""
    rows = frame.rows(named=True)
    n, seen = sum(r["trajectories"] for r in rows), [r for r in rows if r["trajectories"]]
    has_catalogue = any(r["is_catalogued"] is not None for r in rows)
    counts = sorted(r["trajectories"] for r in seen) or [0]
    span = f"{counts[0]:,} to {counts[-1]:,}" if counts[0] < counts[-1] else f"{counts[0]:,}"
    each = count(counts[0], "trajectory") if len(seen) == 1 else f"{span} trajectories each"
    covered = f"{len(seen):,} of {len(rows):,} environments are" if len(rows) > 1 else "The one environment is"
    sentence = f"{covered} covered, with {each}" if has_catalogue else f"Environments seen: {len(seen):,}, with {each}"
    denominator = "catalogue and seen" if has_catalogue else "seen; no catalogue was given"
    order = [r["env_id"] for r in sorted(rows, key=lambda r: -r["trajectories"])]
    named = len(rows) <= _NAMED
    labels = alt.Axis(labelAngle=-45) if named else alt.Axis(labels=False, ticks=False)
    return (
        alt.Chart(frame)
        .transform_fold(["conversations", "non_conversations"], as_=["mode", "runs"])
        .mark_bar()
        .encode(
            x=alt.X("env_id:N", title=None if named else "environments, the largest first", sort=order, axis=labels),
            y=alt.Y("runs:Q", title="trajectories", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "mode:N",
                scale=alt.Scale(domain=["conversations", "non_conversations"], range=theme.PALETTE[:2]),
                legend=alt.Legend(
                    orient="bottom", title=None, labelExpr="replace(datum.label, 'non_conversations', 'no user')"
                ),
            ),
            tooltip=[
                alt.Tooltip("env_id:N", title="environment"),
                number("trajectories", "trajectories"),
                percent("trajectory_share", "of all"),
                number("conversations", "conversations"),
                number("non_conversations", MODES["non_conversation"]),
                number("scenarios", "scenarios"),
                number("scenarios_catalogued", "scenarios of the catalogue"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {count(n, 'trajectory')} that name an environment; denominator: {denominator}",
            ),
            description=sentence,
            width="container",
            height=260,
        )
    )


@figure(
    LORENZ,
    definition="Lorenz curve: the share of all trajectories (scenarios) that the smallest environments hold together; "
    "the diagonal is an even spread, Gini twice the area between.",
)
def lorenz(frame: pl.DataFrame) -> Any:
    """How evenly trajectories and scenarios are spread over the environments."""
    rows = frame.rows(named=True)
    by_grain = {r["grain"]: r for r in rows}
    half = {
        grain: max(r["held_share"] for r in rows if r["grain"] == grain and r["environment_share"] <= 0.5)
        for grain in by_grain
    }
    told = " and ".join(f"{100 * share:.0f} % of the {grain}" for grain, share in half.items())
    ginis = ", ".join(f"{r['gini']:.2f} for {grain}" for grain, r in by_grain.items())
    n = rows[0]["environments"]
    sentence = f"The smaller half of the environments holds {told}"
    base = alt.Chart(frame)
    even = (
        alt.Chart(pl.DataFrame({"environment_share": [0.0, 1.0], "held_share": [0.0, 1.0]}))
        .mark_line(strokeDash=[4, 3], color="#808080", strokeWidth=1)
        .encode(x="environment_share:Q", y="held_share:Q")
    )
    curve = base.mark_line(strokeWidth=2, point=n <= _NAMED).encode(
        x=alt.X("environment_share:Q", title="environments, the smallest first", axis=alt.Axis(format="%")),
        y=alt.Y("held_share:Q", title="held together", axis=alt.Axis(format="%")),
        color=alt.Color(
            "grain:N",
            scale=alt.Scale(domain=["trajectories", "scenarios"], range=[theme.PALETTE[0], theme.PALETTE[2]]),
            legend=alt.Legend(orient="bottom", title=None),
        ),
        strokeDash=alt.StrokeDash(
            "grain:N",
            scale=alt.Scale(domain=["trajectories", "scenarios"], range=[[1, 0], [6, 3]]),
            legend=alt.Legend(orient="bottom", title=None),
        ),
        tooltip=[
            alt.Tooltip("grain:N", title="spread of"),
            percent("environment_share", "environments"),
            percent("held_share", "hold"),
        ],
    )
    return alt.layer(even, curve).properties(
        title=title(sentence, f"n = {count(n, 'environment')}; Gini {ginis}"),
        description=sentence,
        width="container",
        height=300,
    )


@figure(
    PER_SCENARIO,
    definition="Scenarios by their number of trajectories and the modes these are in; a scenario is environment and "
    "task together. Without a catalogue the scenarios nobody ran are unknown and the denominator is what was seen.",
)
def per_scenario(frame: pl.DataFrame) -> Any:
    """How often, and in which modes, scenarios were run."""
    rows = frame.rows(named=True)
    n = rows[0]["all_scenarios"]
    both, absent = (sum(r["scenarios"] for r in rows if r["modes"] == mode) for mode in ("both modes", "absent"))
    sentence = f"Scenarios run in both modes: {rate(both, n)}" + (
        f"; in none: {rate(absent, n)}" if rows[0]["has_catalogue"] else ""
    )
    known = "of the catalogue or seen" if rows[0]["has_catalogue"] else "seen; no catalogue was given"
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("trajectories:O", title="trajectories of a scenario", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("scenarios:Q", title="scenarios", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "modes:N",
                scale=alt.Scale(
                    domain=list(SCENARIO_MODES),
                    range=[theme.PALETTE[2], theme.PALETTE[0], theme.PALETTE[1], theme.PALETTE[7]],
                ),
                legend=alt.Legend(orient="bottom", title=None, columns=2),
            ),
            tooltip=[
                number("trajectories", "trajectories"),
                alt.Tooltip("modes:N"),
                number("scenarios", "scenarios"),
                percent("scenario_share", "of the scenarios"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(n, 'scenario')} {known}"),
            description=sentence,
            width="container",
            height=240,
        )
    )
