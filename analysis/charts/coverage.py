"""Coverage, drawn: trajectories per environment, how evenly, and how scenarios were run."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import (
    ENVIRONMENT_TOOLTIP,
    MODE_NAMES,
    count_axis,
    kind_colour,
    mode_colour,
    number,
    percent,
    share_axis,
)
from analysis.charts.figure import Drawn, figure
from analysis.measures.coverage import ENVIRONMENTS, LORENZ, MODES, PER_SCENARIO
from analysis.wording import count, decimal, rate, rate_of

# Beyond this many environments their names no longer fit under the bars.
_NAMED = 40


@figure(
    ENVIRONMENTS,
    definition="Trajectories per environment, by mode, the largest first. With a catalogue, environments without "
    "trajectories stand at 0 on the right; without one, only the environments seen are shown.",
    height=260,
)
def environments(frame: pl.DataFrame) -> Drawn:
    """Trajectories per environment."""
    seen = frame.filter(pl.col("trajectories") > 0)
    has_catalogue = frame["is_catalogued"].null_count() < frame.height
    of_all = (
        "The only environment is covered"
        if frame.height == 1
        else f"{count(seen.height)} of {count(frame.height, 'environment')} are covered"
    )
    return Drawn(
        _bars(frame),
        f"{of_all if has_catalogue else count(seen.height, 'environment')}, with {_each(seen['trajectories'])}",
        f"n = {count(frame['trajectories'].sum(), 'trajectory')} that name an environment; environments are those "
        + ("of the catalogue and those seen" if has_catalogue else "seen: no catalogue was given"),
    )


def _held(grain: str, share: float, total: int) -> str:
    """What they hold, as a share or, of few, counted."""
    return rate_of(round(share * total), total, grain.removesuffix("s").replace("trajectorie", "trajectory"))


@figure(
    LORENZ,
    definition="Lorenz curve: the share of all trajectories (scenarios) that the smallest environments hold together; "
    "the diagonal is an even spread, Gini twice the area between.",
    height=300,
)
def lorenz(frame: pl.DataFrame) -> Drawn:
    """How evenly trajectories and scenarios are spread over the environments."""
    grains = frame.unique("grain", keep="first", maintain_order=True)
    half = frame.filter(pl.col("environment_share") <= 0.5).group_by("grain", maintain_order=True)
    held = half.agg(pl.col("held_share").max(), pl.col("total").first()).rows()
    n = grains["environments"][0]
    even = alt.Chart(_EVEN).mark_line(strokeDash=[4, 3], color="#808080", strokeWidth=1)
    return Drawn(
        alt.layer(even.encode(x="environment_share:Q", y="held_share:Q"), _curve(n <= _NAMED), data=frame),
        "The smaller half of the environments holds " + " and ".join(_held(*row) for row in held),
        f"n = {count(n, 'environment')}; Gini "
        + ", ".join(f"{decimal(g, 2)} for {grain}" for grain, g in grains.select("grain", "gini").iter_rows()),
    )


@figure(
    PER_SCENARIO,
    definition="Scenarios by their number of trajectories and the modes these are in; a scenario is an environment and "
    "a task together. Without a catalogue, scenarios that were never run are unknown, and only those seen are counted.",
)
def per_scenario(frame: pl.DataFrame) -> Drawn:
    """How often, and in which modes, scenarios were run."""
    first = frame.row(0, named=True)
    n, has_catalogue = first["all_scenarios"], first["has_catalogue"]
    both, absent = (rate(frame.filter(modes=modes)["scenarios"].sum(), n) for modes in ("both modes", "not run"))
    bars = alt.Chart(frame).mark_bar()
    return Drawn(
        bars.encode(
            x=alt.X("trajectories:O", title="trajectories of a scenario", axis=alt.Axis(labelAngle=0)),
            y=count_axis(alt.Y, "scenarios", "scenarios"),
            color=kind_colour("modes", _SCENARIO_COLOURS, columns=2),
            tooltip=[
                number("trajectories", "trajectories"),
                alt.Tooltip("modes:N"),
                number("scenarios", "scenarios"),
                percent("scenario_share", "of the scenarios"),
            ],
        ),
        f"Scenarios run in both modes: {both}" + (f"; not run at all: {absent}" if has_catalogue else ""),
        f"n = {count(n, 'scenario')} "
        + ("of the catalogue or seen" if has_catalogue else "seen; no catalogue was given"),
    )


_COLUMNS = ("conversations", "non_conversations")
_EVEN = pl.DataFrame({"environment_share": [0.0, 1.0], "held_share": [0.0, 1.0]})
_GRAINS = {"trajectories": theme.PALETTE[0], "scenarios": theme.PALETTE[2]}
_SCENARIO_COLOURS = dict(zip(MODES, (theme.PALETTE[n] for n in (2, 0, 1, 7)), strict=True))


def _bars(frame: pl.DataFrame) -> alt.Chart:
    is_named = frame.height <= _NAMED
    order = frame.sort("trajectories", descending=True, maintain_order=True)["env_id"].to_list()
    labels = alt.Axis(labelAngle=-45) if is_named else alt.Axis(labels=False, ticks=False)
    mode = f"datum.column == 'conversations' ? '{MODE_NAMES[0]}' : '{MODE_NAMES[1]}'"
    bars = (
        alt.Chart(frame).transform_fold([*_COLUMNS], as_=["column", "runs"]).transform_calculate(mode=mode).mark_bar()
    )
    return bars.encode(  # type: ignore[no-any-return]
        x=alt.X("env_id:N", title=None if is_named else "environments, the largest first", sort=order, axis=labels),
        y=count_axis(alt.Y, "runs", "trajectories"),
        color=mode_colour("mode"),
        tooltip=[
            ENVIRONMENT_TOOLTIP,
            number("trajectories", "trajectories"),
            percent("trajectory_share", "of all"),
            *(number(column, name) for column, name in zip(_COLUMNS, MODE_NAMES, strict=True)),
            number("scenarios", "scenarios"),
            number("scenarios_catalogued", "scenarios of the catalogue"),
        ],
    )


def _each(trajectories: pl.Series) -> str:
    counts = sorted(trajectories.to_list()) or [0]
    fewest, most = counts[0], counts[-1]
    if len(counts) == 1:
        return count(most, "trajectory")
    return (
        f"{count(fewest)} to {count(most)} trajectories each" if fewest < most else f"{count(most, 'trajectory')} each"
    )


def _curve(is_dotted: bool) -> alt.Chart:
    dashes = alt.Scale(domain=list(_GRAINS), range=[[1, 0], [6, 3]])
    line = alt.Chart().mark_line(strokeWidth=2, point=is_dotted)
    return line.encode(  # type: ignore[no-any-return]
        x=share_axis(alt.X, "environment_share", "environments, the smallest first"),
        y=share_axis(alt.Y, "held_share", "held together"),
        color=kind_colour("grain", _GRAINS),
        strokeDash=alt.StrokeDash("grain:N", title=None, scale=dashes, legend=alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("grain:N", title="spread of"),
            percent("environment_share", "environments"),
            percent("held_share", "hold"),
        ],
    )
