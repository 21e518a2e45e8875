"""Rewards, drawn."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import number, percent
from analysis.charts.figure import figure
from analysis.charts.words import MODES, title
from analysis.measures.rewards import CHECKS, DISTRIBUTION, GROUPS, PASS, SOLVED_RUNS
from analysis.wording import count, rate

_NAMELESS = {
    "environment": "(no environment)",
    "model": "(no model named)",
    "trial": "(no trial numbered)",
    "mode": "(no mode)",
    "ending": "(no ending)",
}
ALL, ANY = "all k: pass^k", "one of k at least: pass@k"


@figure(
    DISTRIBUTION,
    definition="Trajectories by the reward that the source holds, in tenths of the span from 0 to 1, wider where "
    "rewards go beyond; the last bin holds its upper edge.",
)
def distribution(frame: pl.DataFrame) -> Any:
    """Histogram of rewards."""
    rows = frame.rows(named=True)
    n, last = rows[0]["all_trajectories"], rows[-1]
    sentence = (
        f"{rate(last['trajectories'], n)} of the trajectories have a reward of {last['reward_from']:.1f} or more, "
        f"{rate(rows[0]['trajectories'], n)} one below {rows[0]['reward_to']:.1f}"
    )
    return (
        alt.Chart(frame)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X(
                "reward_from:Q",
                bin="binned",
                title="reward",
                scale=alt.Scale(domain=[min(0.0, rows[0]["reward_from"]), max(1.0, last["reward_to"])]),
            ),
            x2="reward_to:Q",
            y=alt.Y("trajectory_share:Q", title="of trajectories", axis=alt.Axis(format="%")),
            tooltip=[
                alt.Tooltip("reward_from:Q", title="from", format=".2f"),
                alt.Tooltip("reward_to:Q", title="to", format=".2f"),
                number("trajectories", "trajectories"),
                percent("trajectory_share", "share"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(n, 'trajectory')} with a reward"),
            description=sentence,
            width="container",
            height=220,
        )
    )


@figure(
    GROUPS,
    definition="Mean reward of trajectories that have one, with its 95 % interval, a bootstrap that draws scenarios "
    "whole, because runs of one scenario are not independent. A group of one scenario has no interval.",
)
def groups(frame: pl.DataFrame) -> Any:
    """Mean reward per group, a row each."""
    rows = frame.rows(named=True)
    kind = rows[0]["kind"]
    means = sorted(row["mean_reward"] for row in rows)
    shown = f"{len(rows):,} of {rows[0]['all_groups']:,}" if len(rows) < rows[0]["all_groups"] else f"{len(rows):,}"
    if len(rows) == 1:
        sentence = f"The mean reward is {means[0]:.2f}; the source tells one {kind} only"
    elif f"{means[0]:.2f}" == f"{means[-1]:.2f}":
        sentence = f"By {kind} the mean reward is {means[0]:.2f} throughout"
    else:
        sentence = f"By {kind} the mean reward goes from {means[0]:.2f} to {means[-1]:.2f}"
    base = (
        alt.Chart(frame)
        .transform_calculate(label=f"datum.group == null ? '{_NAMELESS[kind]}' : datum.group")
        .encode(
            y=alt.Y("label:N", title=None, sort=None),
            tooltip=[
                alt.Tooltip("group:N", title=kind),
                alt.Tooltip("mean_reward:Q", title="mean reward", format=".3f"),
                alt.Tooltip("mean_low:Q", title="from", format=".3f"),
                alt.Tooltip("mean_high:Q", title="to", format=".3f"),
                number("trajectories", "trajectories"),
                number("scenarios", "scenarios"),
                number("solved", "with a reward of 1"),
                percent("solved_share", "of the trajectories"),
            ],
        )
    )
    axis = alt.X("mean_reward:Q", title="mean reward", scale=_reward_scale(frame))
    return alt.layer(
        base.mark_rule(strokeWidth=2, color=theme.PALETTE[0]).encode(
            x=alt.X("mean_low:Q", title="mean reward", scale=_reward_scale(frame)), x2="mean_high:Q"
        ),
        base.mark_point(filled=True, size=60, color=theme.PALETTE[0]).encode(x=axis),
    ).properties(
        title=title(
            sentence,
            f"n = {count(rows[0]['all_trajectories'], 'trajectory')} with a reward; "
            f"{shown} {kind}{'s' if len(rows) > 1 else ''} shown",
        ),
        description=sentence,
        width="container",
        height=alt.Step(22),
    )


@figure(
    PASS,
    definition="pass^k is the chance that k trials of a scenario are all solved, pass@k that one at least is; unbiased "
    "over a scenario's n runs with c solved: C(c, k) / C(n, k) and 1 - C(n - c, k) / C(n, k), the mean over scenarios "
    "run k times or more, with a 95 % bootstrap over scenarios. Solved is a reward of 1.",
)
def pass_k(frame: pl.DataFrame) -> Any:
    """Both chances over k, a small figure per model and mode."""
    rows = frame.rows(named=True)
    firsts = sorted(row["pass_all"] for row in rows if row["k"] == 1)
    most = max(rows, key=lambda row: row["k"])
    if len(firsts) > 1:
        sentence = f"A trial is solved with a chance of {firsts[0]:.2f} to {firsts[-1]:.2f}, by model and mode"
    else:
        sentence = f"A trial is solved with a chance of {firsts[0]:.2f}"
        if (k := most["k"]) > 1:
            sentence += f"; {k} of {k} with {most['pass_all']:.2f}, one of {k} at least with {most['pass_any']:.2f}"
    more = f", {most['scenarios']:,} at k = {most['k']}" if most["k"] > 1 else ""
    mode = " : ".join(f"datum.traj_type == '{name}' ? '{words}'" for name, words in MODES.items()) + " : ''"
    parts = [
        _chance(most["k"], "pass_all", ALL),
        _chance(most["k"], "pass_any", ANY),
    ]
    return (
        alt.layer(*(layer for part in parts for layer in part), data=frame)
        .properties(width=300, height=200)
        .facet(facet=alt.Facet("series:N", title=None), columns=2)
        .transform_calculate(series=f"(datum.model == null ? '' : datum.model + ', ') + ({mode})")
        .properties(
            title=title(sentence, f"n = {count(rows[0]['scenarios'], 'scenario')} at k = 1{more}"),
            description=sentence,
        )
    )


@figure(
    SOLVED_RUNS,
    definition="Scenarios by how many of their runs have a reward of 1, among the scenarios with as many runs: at the "
    "left end those never solved, at the right end those solved every time.",
)
def solved_runs(frame: pl.DataFrame) -> Any:
    """Scenarios by solved runs, for the number of runs that most scenarios have."""
    totals = frame.group_by("runs").agg(pl.col("scenarios").sum()).sort("scenarios", "runs").rows()
    runs, n = totals[-1]
    shown = frame.filter(pl.col("runs") == runs)
    counts = dict(shown.select("solved", "scenarios").rows())
    sentence = (
        f"{rate(counts.get(0, 0), n)} of the scenarios are never solved, {rate(counts.get(runs, 0), n)} every time"
    )
    return (
        alt.Chart(shown)
        .mark_bar(color=theme.PALETTE[0])
        .encode(
            x=alt.X("solved:O", title=f"solved of {runs:,} runs", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("scenarios:Q", title="scenarios"),
            tooltip=[
                number("solved", "solved"),
                number("runs", "of runs"),
                number("scenarios", "scenarios"),
                percent("scenario_share", "share"),
            ],
        )
        .properties(
            title=title(
                sentence,
                f"n = {count(n, 'scenario')} with {runs:,} runs, of {frame['all_scenarios'][0]:,} with a reward",
            ),
            description=sentence,
            width="container",
            height=220,
        )
    )


@figure(
    CHECKS,
    definition="Mean reward of the trajectories by the number of checks that judge the scenario's final state, with a "
    "95 % bootstrap over scenarios. The reward of such a scenario is the share of its checks that hold.",
)
def checks(frame: pl.DataFrame) -> Any:
    """Mean reward by number of checks."""
    n, scenarios = int(frame["trajectories"].sum()), int(frame["scenarios"].sum())
    first, last = frame.row(0, named=True), frame.row(-1, named=True)
    sentence = f"With {first['checks']:,} checks the mean reward is {first['mean_reward']:.2f}"
    if frame.height > 1:
        sentence += f", with {last['checks']:,} it is {last['mean_reward']:.2f}"
    base = alt.Chart(frame).encode(
        x=alt.X("checks:O", title="checks of the scenario", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            number("checks", "checks"),
            alt.Tooltip("mean_reward:Q", title="mean reward", format=".3f"),
            alt.Tooltip("mean_low:Q", title="from", format=".3f"),
            alt.Tooltip("mean_high:Q", title="to", format=".3f"),
            number("trajectories", "trajectories"),
            number("scenarios", "scenarios"),
        ],
    )
    scale = _reward_scale(frame)
    return alt.layer(
        base.mark_rule(strokeWidth=2, color=theme.PALETTE[0]).encode(
            y=alt.Y("mean_low:Q", title="mean reward", scale=scale), y2="mean_high:Q"
        ),
        base.mark_point(filled=True, size=60, color=theme.PALETTE[0]).encode(
            y=alt.Y("mean_reward:Q", title="mean reward", scale=scale)
        ),
    ).properties(
        title=title(
            sentence,
            f"n = {count(n, 'trajectory')} of {count(scenarios, 'scenario')} that have checks",
        ),
        description=sentence,
        width="container",
        height=220,
    )


def _chance(most: int, name: str, words: str) -> list[Any]:
    """A line with its band; the words become the legend."""
    colours = alt.Scale(domain=[ALL, ANY], range=theme.PALETTE[:2])
    x = alt.X(
        "k:Q", title="trials k", axis=alt.Axis(tickMinStep=1, format="d"), scale=alt.Scale(domain=[1, max(most, 2)])
    )
    base = (
        alt.Chart()
        .transform_calculate(chance=f"'{words}'")
        .encode(
            x=x,
            color=alt.Color("chance:N", scale=colours, title=None, legend=alt.Legend(symbolOpacity=1)),
            tooltip=[
                number("k", "k"),
                percent(name, words),
                percent(f"{name}_low", "from"),
                percent(f"{name}_high", "to"),
                number("scenarios", "scenarios"),
            ],
        )
    )
    y = alt.Y(f"{name}:Q", title="chance", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    return [
        base.mark_area(opacity=0.2).encode(y=alt.Y(f"{name}_low:Q", title="chance"), y2=f"{name}_high:Q"),
        base.mark_line(point=True).encode(y=y),
    ]


def _reward_scale(frame: pl.DataFrame) -> alt.Scale:
    """From 0 to 1, wider where rewards go beyond."""
    ends = frame.select(
        low=pl.min_horizontal(pl.col("mean_low", "mean_reward").min()),
        high=pl.max_horizontal(pl.col("mean_high", "mean_reward").max()),
    ).row(0)
    return alt.Scale(domain=[min(0.0, ends[0]), max(1.0, ends[1])])
