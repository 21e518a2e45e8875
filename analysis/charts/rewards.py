"""Rewards, drawn."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import count_axis, ends, names_axis, number, percent, plain_axis, precise, share_axis
from analysis.charts.figure import Drawn, figure
from analysis.charts.rates import points
from analysis.measures.rewards import CHECKS, DISTRIBUTION, GROUPS, PASS, SOLVED_RUNS
from analysis.wording import count, decimal, plural, rate, rate_of

_NAMELESS = {
    "environment": "(no environment)",
    "model": "(no model name)",
    "trial": "(no trial number)",
    "mode": "(no mode)",
    "ending": "(no ending)",
}
ALL, ANY = "all k: pass^k", "at least one of k: pass@k"
_MEAN = [precise("mean_reward", "mean reward", 3), precise("mean_low", "from", 3), precise("mean_high", "to", 3)]
_SIZE = [number("trajectories", "trajectories"), number("scenarios", "scenarios")]


@figure(
    DISTRIBUTION,
    definition="Trajectories by the reward in the source, in tenths of the span from 0 to 1, wider where rewards go "
    "beyond. The last bin includes its upper edge.",
    height=220,
)
def distribution(frame: pl.DataFrame) -> Drawn:
    """Histogram of rewards."""
    first, last = frame.row(0, named=True), frame.row(-1, named=True)
    n = first["all_trajectories"]
    span = alt.Scale(domain=[min(0.0, first["reward_from"]), max(1.0, last["reward_to"])])
    bars = (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("reward_from:Q", bin="binned", title="reward", scale=span),
            x2="reward_to:Q",
            y=share_axis(alt.Y, "trajectory_share", "of trajectories"),
            tooltip=[
                precise("reward_from", "from"),
                precise("reward_to", "to"),
                number("trajectories", "trajectories"),
                percent("trajectory_share", "share"),
            ],
        )
    )
    return Drawn(
        bars,
        f"{rate_of(last['trajectories'], n, 'trajectory')} have a reward of {decimal(last['reward_from'])} or more"
        + (
            f", {rate(first['trajectories'], n)} have one below {decimal(first['reward_to'])}"
            if frame.height > 1
            else ""
        ),
        f"n = {count(n, 'trajectory')} with a reward",
    )


@figure(
    GROUPS,
    definition="Mean reward of the trajectories that have one, with its 95 % interval over whole scenarios, because "
    "trajectories of one scenario are not independent. A group of fewer than 20 trajectories has no mean, one of fewer "
    "than 10 scenarios no interval.",
    height=alt.Step(22),
)
def groups(frame: pl.DataFrame) -> Drawn | str:
    """Mean reward per group, a row each."""
    first = frame.row(0, named=True)
    kind, of_all = first["kind"], first["all_groups"]
    frame = frame.drop_nulls("mean_reward")
    if frame.is_empty():
        return f"No {kind} has 20 trajectories with a reward: too few for a mean"
    base = (
        alt.Chart(frame)
        .transform_calculate(label=f"datum.group == null ? '{_NAMELESS[kind]}' : datum.group")
        .encode(
            y=names_axis(limit=220),
            tooltip=[
                alt.Tooltip("group:N", title=kind),
                *_MEAN,
                *_SIZE,
                number("solved", "with a reward of 1"),
                percent("solved_share", "of the trajectories"),
            ],
        )
    )
    shown = f"{count(frame.height)} of {count(of_all)}" if frame.height < of_all else count(of_all)
    return Drawn(
        points(base, alt.X, "mean_reward", "mean_low", "mean_high", title="mean reward", scale=_reward_scale(frame)),
        _span(kind, frame["mean_reward"].drop_nulls().sort().to_list()),
        f"n = {count(first['all_trajectories'], 'trajectory')} with a reward; {shown} {plural(of_all, kind)} shown",
    )


def _span(kind: str, means: list[float]) -> str:
    least, most = (decimal(end, 2) for end in (min(means, default=None), max(means, default=None)))
    if len(means) == 1:
        return f"The mean reward is {least}; the source has only one {kind}"
    return f"By {kind}, the mean reward " + (
        f"is {least} throughout" if least == most else f"lies between {least} and {most}"
    )


@figure(
    PASS,
    definition="pass^k is the chance that k trials of a scenario are all solved, pass@k that at least one is. Both are "
    "unbiased over a scenario's n trials with c solved: C(c, k) / C(n, k) and 1 - C(n - c, k) / C(n, k), the mean over "
    "the same scenarios for every k, those run as often as nine in ten are, with a 95 % interval over scenarios. "
    "Solved is a reward of 1; identical records count once.",
)
def pass_k(frame: pl.DataFrame) -> Drawn | str:
    """Both chances over k, a small figure per model and mode."""
    frame = frame.drop_nulls("pass_all")
    if frame.is_empty():
        return "No model plays 20 scenarios in one mode: too few for a chance"
    most = frame.row(frame["k"].arg_max() or 0, named=True)
    lines = [*_chance(most["k"], "pass_all", ALL), *_chance(most["k"], "pass_any", ANY)]
    facets = (
        alt.layer(*lines, data=frame)
        .properties(width=300, height=200)
        .facet(facet=alt.Facet("series:N", title=None), columns=2)
        .transform_calculate(series=_SERIES)
    )
    scenarios, all_ = count(most["scenarios"]), count(most["all_scenarios"], "scenario")
    return Drawn(facets, _chances(frame), f"n = {scenarios} of {all_}, those with {count(most['k'], 'trial')} or more")


def _chances(frame: pl.DataFrame) -> str:
    firsts = frame.filter(k=1)["pass_all"]
    least, most = decimal(firsts.min(), 2), decimal(firsts.max(), 2)  # type: ignore[arg-type]
    if len(firsts) > 1:
        return f"The chance that a trial is solved is {least} to {most}, by model and mode"
    last = frame.row(-1, named=True)
    several = (
        f"; that all {last['k']} trials are, {decimal(last['pass_all'], 2)}; that at least one of {last['k']} is, "
        f"{decimal(last['pass_any'], 2)}"
    )
    return f"The chance that a trial is solved is {least}{several if last['k'] > 1 else ''}"


@figure(
    SOLVED_RUNS,
    definition="Scenarios by how many of their trajectories have a reward of 1, among the scenarios with the same "
    "number of trajectories: on the left those never solved, on the right those solved every time.",
    height=220,
)
def solved_runs(frame: pl.DataFrame) -> Drawn:
    """Scenarios by solved trajectories, for the number of trajectories that most have; a figure per model and mode."""
    totals = frame.group_by("runs").agg(pl.col("scenarios").sum()).sort("scenarios", "runs").rows()
    runs, n = totals[-1]
    shown = frame.filter(runs=runs)
    series = shown.partition_by("model", "traj_type", maintain_order=True)
    bars = (
        alt.Chart(shown)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=plain_axis(alt.X, "solved", f"solved of {count(runs, 'trajectory')}"),
            y=count_axis(alt.Y, "scenarios", "scenarios"),
            tooltip=[
                number("solved", "solved"),
                number("runs", "of trajectories"),
                number("scenarios", "scenarios"),
                percent("scenario_share", "share"),
            ],
        )
    )
    several = (
        bars.properties(width=300, height=200)
        .facet(facet=alt.Facet("series:N", title=None), columns=2)
        .transform_calculate(series=_SERIES)
    )
    rest = f"with {count(runs, 'trajectory')} each, of {count(_scenarios(frame))} with a reward"
    return Drawn(
        bars if len(series) == 1 else several,
        "; ".join(_solved(one, runs) for one in series[:_NAMED]),
        f"n = {count(n, 'scenario')} {rest}" + ("" if len(series) == 1 else ", per model and mode"),
    )


_SERIES = "(datum.model == null ? '' : datum.model + ', ') + datum.traj_type"
# Series that a sentence names; the figure has all.
_NAMED = 3


def _scenarios(frame: pl.DataFrame) -> int:
    return int(frame.unique(["model", "traj_type"])["all_scenarios"].sum())


def _solved(one: pl.DataFrame, runs: int) -> str:
    """How many scenarios are solved never and every time, by one model in one mode."""
    never, always = (one.filter(solved=solved)["scenarios"].sum() for solved in (0, runs))
    n, model = one["scenarios"].sum(), one["model"][0]
    said = f"{rate_of(never, n, 'scenario')} are never solved, {rate(always, n)} every time"
    return f"{model}: {said}" if model else said


@figure(
    CHECKS,
    definition="Mean reward of the trajectories by the number of checks that judge the scenario's final state, with a "
    "95 % interval over scenarios; none over fewer than 20 trajectories. The reward of such a scenario is the share of "
    "its checks that hold.",
    height=220,
)
def checks(frame: pl.DataFrame) -> Drawn | str:
    """Mean reward by number of checks."""
    frame = frame.drop_nulls("mean_reward")
    if frame.is_empty():
        return "For no number of checks are there 20 trajectories with a reward: too few for a mean"
    first, last = (
        f"{decimal(row['mean_reward'], 2)} with {count(row['checks'], 'check')}"
        for row in (frame.row(0, named=True), frame.row(-1, named=True))
    )
    n, scenarios = frame["trajectories"].sum(), frame["scenarios"].sum()
    base = alt.Chart(frame).encode(
        x=plain_axis(alt.X, "checks", "checks of the scenario"),
        tooltip=[number("checks", "checks"), *_MEAN, *_SIZE],
    )
    return Drawn(
        points(base, alt.Y, "mean_reward", "mean_low", "mean_high", title="mean reward", scale=_reward_scale(frame)),
        f"The mean reward is {first}" + (f", {last}" if frame.height > 1 else ""),
        f"n = {count(n, 'trajectory')} of {count(scenarios, 'scenario')} with checks",
    )


def _chance(most: int, name: str, words: str) -> list[alt.Chart]:
    """A line with its band; the words become the legend."""
    colours = alt.Scale(domain=[ALL, ANY], range=theme.PALETTE[:2])
    trials = alt.Axis(tickMinStep=1, format="d")
    base = (
        alt.Chart()
        .transform_calculate(chance=f"'{words}'")
        .encode(
            x=alt.X("k:Q", title="trials k", axis=trials, scale=alt.Scale(domain=[1, max(most, 2)])),
            color=alt.Color("chance:N", scale=colours, title=None, legend=alt.Legend(symbolOpacity=1)),
            tooltip=[number("k", "k"), percent(name, words), *ends(name), number("scenarios", "scenarios")],
        )
    )
    return [
        base.mark_area(opacity=0.2).encode(y=alt.Y(f"{name}_low:Q", title="chance"), y2=f"{name}_high:Q"),
        base.mark_line(point=True).encode(y=share_axis(alt.Y, name, "chance", is_whole=True)),
    ]


def _reward_scale(frame: pl.DataFrame) -> alt.Scale:
    """From 0 to 1, wider where rewards go beyond."""
    low, high = frame.select(
        low=pl.min_horizontal(pl.col("mean_low", "mean_reward").min()),
        high=pl.max_horizontal(pl.col("mean_high", "mean_reward").max()),
    ).row(0)
    return alt.Scale(domain=[min(0.0, low or 0), max(1.0, high or 1)])
