"""Training budget, drawn: tokens by part, lengths, what a cutoff costs, what training by step costs."""

import json
from collections.abc import Callable
from typing import cast

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import (
    MODE_NAMES,
    MODE_TOOLTIP,
    ends,
    mode_colour,
    number,
    percent,
    precise,
    share_axis,
)
from analysis.charts.figure import Drawn, figure
from analysis.charts.histograms import two_sides
from analysis.charts.modes import each_mode
from analysis.measures.training_budget import CUTOFF, EXPANSION_BY_STEPS, LENGTHS, LIMITS, PART_COLUMNS, PARTS
from analysis.wording import count, decimal, rate
from analysis.wording import percent as per_cent

_LAYOUTS = {"whole": "one sample per trajectory", "per_turn": "one sample per step"}
_SAMPLE = {"whole": "trajectory", "per_turn": "step with what comes before it"}
_LAYOUT_LABEL = f"{json.dumps(_LAYOUTS)}[datum.value]"


def _by(tokenizer: str) -> str:
    return f"counted by: {tokenizer}"


@figure(
    PARTS,
    definition="Tokens of the trajectories rendered with Qwen3's chat template, with all reasoning, by what they are "
    "part of. Template: the markers, role names and line breaks that the template adds.",
    height=90,
)
def parts(frame: pl.DataFrame, tokenizer: str) -> Drawn:
    """Tokens by part, per mode, as shares."""
    names = list(PART_COLUMNS)
    colours = alt.Scale(domain=names, range=theme.PALETTE[: len(names)])
    bars = (
        alt.Chart(frame)
        .transform_calculate(rank=f"indexof({names}, datum.part)")
        .mark_bar()
        .encode(
            x=share_axis(alt.X, "token_share", "share of the mode's tokens"),
            y=alt.Y("traj_type:N", title=None),
            color=alt.Color(
                "part:N", sort=names, scale=colours, legend=alt.Legend(orient="bottom", title=None, columns=4)
            ),
            order=alt.Order("rank:Q"),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("part:N"),
                percent("token_share", "share"),
                number("tokens_per_trajectory", "tokens per trajectory"),
                number("tokens", "tokens in all"),
            ],
        )
    )
    return Drawn(bars, _largest_part(frame), [_sizes(frame), _by(tokenizer)])


def _largest_part(frame: pl.DataFrame) -> str:
    largest = frame.sort("tokens", descending=True, maintain_order=True)
    names = set(largest.group_by("traj_type", maintain_order=True).first()["part"].to_list())
    if len(names) == 1:
        return f"The largest part of the tokens is {names.pop()}: " + each_mode(
            largest, lambda row: per_cent(row["token_share"])
        )
    return "The largest part of the tokens is " + each_mode(
        largest, lambda row: f"{row['part']} ({per_cent(row['token_share'])})"
    )


def _sizes(frame: pl.DataFrame) -> str:
    means = frame.group_by("traj_type").agg(pl.col("tokens_per_trajectory").sum(), pl.col("trajectories").first())
    return each_mode(
        means,
        lambda row: f"{count(row['tokens_per_trajectory'])} tokens per trajectory (n = {count(row['trajectories'])})",
    )


@figure(
    LENGTHS,
    definition="Samples by their number of tokens. One sample per trajectory keeps all reasoning. One sample per step "
    "has all that comes before the step, without the reasoning of earlier steps, and the step with its reasoning.",
)
def lengths(frame: pl.DataFrame, tokenizer: str) -> Drawn:
    """Histogram of sample lengths, one row per layout."""
    samples = frame.unique(["layout", "traj_type"]).group_by("layout").agg(pl.col("mode_samples").sum())
    bars = alt.Chart(frame, width=theme.WIDTH, height=130).encode(
        x=alt.X("tokens_from:Q", bin="binned", title="tokens of a sample", axis=alt.Axis(format="~s")),
        x2="tokens_to:Q",
        y=share_axis(alt.Y, "sample_share", "share of samples", stack=None),
        color=mode_colour(),
        tooltip=[
            MODE_TOOLTIP,
            number("tokens_from", "tokens from"),
            number("tokens_to", "to below"),
            number("samples", "samples"),
            percent("sample_share", "share"),
        ],
    )
    header = alt.Header(labelExpr=_LAYOUT_LABEL, labelOrient="top", labelAnchor="start")
    return Drawn(
        two_sides(bars, frame, "traj_type", MODE_NAMES).facet(
            row=alt.Row("layout:N", title=None, sort=list(_LAYOUTS), header=header)
        ),
        f"No sample is longer than {count(frame['tokens_to'].max())} tokens",  # type: ignore[arg-type]
        ["n = samples: " + _each_layout(samples, lambda row: count(row["mode_samples"])), _by(tokenizer)],
    )


def _each_layout(frame: pl.DataFrame, text: Callable[[dict[str, int]], str]) -> str:
    rows = {row["layout"]: row for row in frame.iter_rows(named=True)}
    return ", ".join(f"{text(rows[layout])} with {name}" for layout, name in _LAYOUTS.items() if layout in rows)


_LIMIT = [
    MODE_TOOLTIP,
    alt.Tooltip("layout:N"),
    number("limit", "limit"),
    percent("over_share", "over it"),
    *ends("over_share"),
    number("over", "samples over it"),
    number("samples", "samples"),
]


@figure(
    LIMITS,
    definition="Share of samples longer than a limit, with its 95 % interval over scenarios; one of exactly the "
    "limit fits.",
    height=260,
)
def over_limits(frame: pl.DataFrame, tokenizer: str) -> Drawn:
    """Share of samples over each limit, per layout and mode."""
    limits = frame["limit"].unique().sort().to_list()
    ticks = alt.Axis(values=limits, format=",d")
    base = alt.Chart(frame).encode(
        x=alt.X("limit:Q", scale=alt.Scale(type="log", base=2), title="limit (tokens)", axis=ticks),
        color=mode_colour(),
        detail="layout:N",
        tooltip=_LIMIT,
    )

    def over(field: str) -> alt.Y:
        return share_axis(alt.Y, field, "samples over the limit", is_whole=True)  # type: ignore[no-any-return]

    layers = [
        base.mark_rule().encode(y=over("over_share_low"), y2="over_share_high:Q"),
        base.mark_line().encode(y=over("over_share"), strokeDash=_layout_dash()),
        base.mark_point(filled=True, size=45).encode(y=over("over_share")),
    ]
    # A layer without rows has no extent, and Vega warns of it.
    if frame["over_share"].null_count():
        layers.append(_few(base).encode(y=over("place")))
    n = frame.filter(limit=limits[0])["samples"].sum()
    return Drawn(alt.layer(*layers), _fits(frame), [f"n = {count(n, 'sample')} in both layouts", _by(tokenizer)])


def _few(base: alt.Chart) -> alt.Chart:
    """Counts in place of shares over few samples, each series at a height of its own."""
    place = f"(datum.layout == 'whole' ? 0.12 : 0) + (datum.traj_type == '{MODE_NAMES[0]}' ? 0.06 : 0)"
    few = base.transform_filter("datum.over_share === null").transform_calculate(
        counted="datum.over + ' of ' + datum.samples", place=place
    )
    return cast(alt.Chart, few.mark_text(dy=-6).encode(text="counted:N"))


def _layout_dash() -> alt.StrokeDash:
    label = _LAYOUT_LABEL.replace("value", "label")
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeColor="#808080", labelExpr=label)
    return alt.StrokeDash("layout:N", sort=list(_LAYOUTS), legend=legend)


def _fits(frame: pl.DataFrame) -> str:
    """The smallest limit that every sample of a layout fits."""
    over = frame.group_by("layout", "limit").agg(pl.col("over").sum()).filter(over=0)
    smallest = dict(over.group_by("layout").agg(pl.col("limit").min()).iter_rows())
    if not smallest:
        return f"In either layout some samples are longer than {count(frame['limit'].max())} tokens"  # type: ignore[arg-type]
    if len(smallest) == len(_LAYOUTS) and len(set(smallest.values())) == 1:
        return f"Every sample of both layouts fits {count(smallest['whole'])} tokens"
    return ", ".join(
        f"every {sample} fits {count(smallest[layout])} tokens"
        for layout, sample in _SAMPLE.items()
        if layout in smallest
    ).capitalize()


@figure(
    CUTOFF,
    definition="Of the tokens the loss is computed on, the share that a cutoff takes away. One sample per trajectory "
    "is cut at its end; one sample per step as LLaMA-Factory cuts under mask_history, history first.",
    height=140,
)
def cutoff_loss(frame: pl.DataFrame, tokenizer: str) -> Drawn | str:
    """Supervised tokens lost at the cutoff, per layout and mode."""
    if not frame["supervised_lost"].sum():
        tokens = count(frame["supervised_tokens"].sum(), "supervised token")
        return f"No token of {tokens} is lost at a cutoff of {count(frame['cutoff'][0])}. {_by(tokenizer)}"
    present = [layout for layout in _LAYOUTS if layout in frame["layout"]]
    # Domains, not `sort`: each layer would sort by itself, and Vega-Lite warns that they differ.
    modes = alt.Scale(domain=[mode for mode in MODE_NAMES if mode in frame["traj_type"]])
    base = alt.Chart(frame).encode(
        x=alt.X(
            "lost_share:Q",
            title="supervised tokens lost",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, max(0.001, *frame["lost_share"])]),
        ),
        y=alt.Y(
            "layout:N",
            title=None,
            scale=alt.Scale(domain=present),
            axis=alt.Axis(labelExpr=_LAYOUT_LABEL, labelLimit=240),
        ),
        yOffset=alt.YOffset("traj_type:N", scale=modes),
        tooltip=_CUT,
    )
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("supervised_lost:Q", format=",d"))
    sums = frame.group_by("layout").agg(pl.col("supervised_lost", "supervised_tokens", "samples_cut", "samples").sum())
    lost = _each_layout(sums, lambda row: rate(row["supervised_lost"], row["supervised_tokens"]))
    cut = _each_layout(sums, lambda row: f"{count(row['samples_cut'])} of {count(row['samples'])}")
    return Drawn(
        alt.layer(base.mark_bar().encode(color=mode_colour()), numbers),
        f"Supervised tokens lost at a cutoff of {count(frame['cutoff'][0])}: {lost}",
        [f"n = samples cut: {cut}", _by(tokenizer)],
    )


_CUT = [
    MODE_TOOLTIP,
    percent("lost_share", "supervised tokens lost"),
    number("supervised_lost", "supervised tokens lost"),
    number("supervised_tokens", "supervised tokens"),
    number("context_lost", "context tokens lost"),
    number("samples_cut", "samples cut"),
    number("samples", "samples"),
]


@figure(
    EXPANSION_BY_STEPS,
    definition="Tokens of all samples when each step is a sample (context without earlier reasoning, plus the step), "
    "over the tokens of the same trajectories rendered once with all reasoning.",
    height=260,
)
def expansion(frame: pl.DataFrame, tokenizer: str) -> Drawn:
    """Expansion factor by the number of steps."""
    n = pl.col("trajectories")
    once, samples = frame.select(
        (pl.col("tokens_per_trajectory") * n).sum(), (pl.col("sample_tokens_per_trajectory") * n).sum()
    ).row(0)
    circles = (
        alt.Chart(frame)
        .mark_circle(opacity=0.8)
        .encode(
            x=alt.X("turns:Q", title="steps of a trajectory"),
            y=alt.Y("expansion_factor:Q", title="tokens of the samples / tokens once", scale=alt.Scale(domainMin=0)),
            size=alt.Size("trajectories:Q", legend=alt.Legend(orient="bottom", title="trajectories")),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("turns", "steps"),
                precise("expansion_factor", "factor"),
                number("tokens_per_trajectory", "tokens once"),
                number("sample_tokens_per_trajectory", "tokens of the samples"),
                number("trajectories", "trajectories"),
            ],
        )
    )
    trajectories = each_mode(frame.group_by("traj_type").agg(n.sum()), lambda row: count(row["trajectories"]))
    return Drawn(
        circles,
        f"One sample per step takes {decimal(samples / once if once else 0)} times the tokens of the trajectories",
        [f"n = trajectories: {trajectories}", _by(tokenizer)],
    )
