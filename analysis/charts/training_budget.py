"""Training budget, drawn: tokens by part, lengths, what a cutoff costs, what training turn by turn costs."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent
from analysis.charts.figure import figure
from analysis.charts.words import GAP, MODES, title
from analysis.measures.training_budget import CUTOFF, EXPANSION_BY_STEPS, LENGTHS, LIMITS, PART_COLUMNS, PARTS
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate

_LAYOUTS = {"whole": "one sample a trajectory", "per_turn": "one sample an assistant turn"}
_SAMPLE = {"whole": "trajectory", "per_turn": "turn with what came before"}
_LAYOUT_LABEL = "datum.value == 'whole' ? 'one sample a trajectory' : 'one sample an assistant turn'"


@figure(
    PARTS,
    definition="Tokens of the trajectories rendered with Qwen3's chat template, every thought kept, by what they are "
    "part of; `template` are the markers, role names and line breaks the template adds.",
)
def parts(frame: pl.DataFrame, tokenizer: str) -> Any:
    """Tokens by part, per mode, as shares."""
    largest = {r["traj_type"]: r for r in frame.sort("tokens").iter_rows(named=True)}
    found = {m: f"{r['part']} ({100 * r['token_share']:.0f}{GAP}%)" for m, r in sorted(largest.items())}
    means = frame.group_by("traj_type").agg(pl.col("tokens_per_trajectory").sum(), pl.col("trajectories").first())
    sizes = {
        r["traj_type"]: f"{r['tokens_per_trajectory']:,.0f} tokens a trajectory (n = {r['trajectories']:,})"
        for r in means.sort("traj_type").iter_rows(named=True)
    }
    names = {str(r["part"]) for r in largest.values()}
    shares = {m: f"{100 * r['token_share']:.0f}{GAP}%" for m, r in sorted(largest.items())}
    told = f"{names.pop()}: {each_mode(shares)}" if len(names) == 1 else each_mode(found)
    sentence = f"The largest part of the tokens is {told}"
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("token_share:Q", title="share of the mode's tokens", axis=alt.Axis(format="%")),
            y=alt.Y("traj_type:N", title=None),
            color=alt.Color(
                "part:N",
                sort=list(PART_COLUMNS),
                scale=alt.Scale(domain=list(PART_COLUMNS), range=theme.PALETTE[: len(PART_COLUMNS)]),
                legend=alt.Legend(orient="bottom", title=None, columns=4),
            ),
            order=alt.Order("rank:Q"),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("part:N"),
                percent("token_share", "share"),
                number("tokens_per_trajectory", "tokens a trajectory"),
                number("tokens", "tokens in all"),
            ],
        )
        .transform_calculate(rank=f"indexof({list(PART_COLUMNS)}, datum.part)")
        .properties(
            title=title(sentence, each_mode(sizes), f"Counted by: {tokenizer}"),
            description=sentence,
            width="container",
            height=90,
        )
    )


@figure(
    LENGTHS,
    definition="Samples by their number of tokens. One sample a trajectory keeps every thought; one sample an "
    "assistant turn holds all that came before, without the thoughts of earlier turns, and that turn with its thought.",
)
def lengths(frame: pl.DataFrame, tokenizer: str) -> Any:
    """Histogram of sample lengths, one row per layout."""
    longest = max(frame["tokens_to"])
    sentence = f"No sample is longer than {longest:,} tokens"
    counts = (
        frame.select("layout", "traj_type", "mode_samples")
        .unique()
        .group_by("layout")
        .agg(pl.col("mode_samples").sum())
    )
    n = ", ".join(
        f"{r['mode_samples']:,} with {_LAYOUTS[r['layout']]}" for r in counts.sort("layout").iter_rows(named=True)
    )
    return (
        alt.Chart(frame)
        .mark_bar(opacity=0.65)
        .encode(
            x=alt.X("tokens_from:Q", bin="binned", title="tokens of a sample", axis=alt.Axis(format="~s")),
            x2="tokens_to:Q",
            y=alt.Y("sample_share:Q", title="share of samples", axis=alt.Axis(format="%"), stack=None),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("tokens_from", "tokens from"),
                number("tokens_to", "to below"),
                number("samples", "samples"),
                percent("sample_share", "share"),
            ],
        )
        .properties(width=680, height=130)
        .facet(
            row=alt.Row(
                "layout:N",
                title=None,
                sort=list(_LAYOUTS),
                header=alt.Header(labelExpr=_LAYOUT_LABEL, labelOrient="top", labelAnchor="start"),
            )
        )
        .properties(title=title(sentence, f"n = samples: {n}", f"Counted by: {tokenizer}"), description=sentence)
    )


@figure(
    LIMITS,
    definition="Share of samples longer than a limit, with its 95 % Wilson interval; one of exactly the limit fits.",
)
def over_limits(frame: pl.DataFrame, tokenizer: str) -> Any:
    """Share of samples over each limit, per layout and mode."""
    over = {(r["layout"], r["limit"]): 0 for r in frame.rows(named=True)}
    for r in frame.rows(named=True):
        over[r["layout"], r["limit"]] += r["over"]
    limits = sorted(frame["limit"].unique())
    enough = {layout: [limit for limit in limits if over.get((layout, limit)) == 0] for layout in _LAYOUTS}
    said = [f"{fit[0]:,} tokens hold every {_SAMPLE[layout]}" for layout, fit in enough.items() if fit]
    smallest = {fit[0] if fit else None for fit in enough.values()}
    if len(smallest) == 1 and said:
        said = [f"{smallest.pop():,} tokens hold every sample in both layouts"]
    sentence = ", ".join(said) if said else f"{limits[-1]:,} tokens do not hold every sample in either layout"
    base = alt.Chart(frame).encode(
        x=alt.X(
            "limit:Q",
            scale=alt.Scale(type="log", base=2),
            title="limit (tokens)",
            axis=alt.Axis(values=limits, format=",d"),
        ),
        color=mode_colour(),
        detail="layout:N",
        tooltip=[
            MODE_TOOLTIP,
            alt.Tooltip("layout:N"),
            number("limit", "limit"),
            percent("over_share", "over it"),
            percent("over_share_low", "from"),
            percent("over_share_high", "to"),
            number("over", "samples over it"),
            number("samples", "samples"),
        ],
    )
    axis, scale = alt.Axis(format="%", title="samples over the limit"), alt.Scale(domain=[0, 1])
    spilled = (
        base.transform_filter("datum.over_share === null")
        .transform_calculate(
            counted="datum.over + ' of ' + datum.samples",
            place="(datum.layout == 'whole' ? 0.12 : 0) + (datum.traj_type == 'conversation' ? 0.06 : 0)",
        )
        .mark_text(dy=-6)
        .encode(y=alt.Y("place:Q", axis=axis, scale=scale), text="counted:N")
    )
    dash = alt.StrokeDash(
        "layout:N",
        sort=list(_LAYOUTS),
        legend=alt.Legend(
            orient="bottom",
            title=None,
            symbolType="stroke",
            symbolStrokeColor="#808080",
            labelExpr=_LAYOUT_LABEL.replace("value", "label"),
        ),
    )
    line = base.mark_line().encode(y=alt.Y("over_share:Q", axis=axis, scale=scale), strokeDash=dash)
    points = base.mark_point(filled=True, size=45).encode(y=alt.Y("over_share:Q", axis=axis, scale=scale))
    interval = base.mark_rule().encode(y=alt.Y("over_share_low:Q", axis=axis, scale=scale), y2="over_share_high:Q")
    n = sum(r["samples"] for r in frame.rows(named=True) if r["limit"] == limits[0])
    # A layer without rows has no extent, and Vega warns of it.
    layers = [interval, line, points, *([spilled] if frame["over_share"].null_count() else [])]
    return alt.layer(*layers).properties(
        title=title(sentence, f"n = {count(n, 'sample')} in both layouts", f"Counted by: {tokenizer}"),
        description=sentence,
        width="container",
        height=260,
    )


@figure(
    CUTOFF,
    definition="Of the tokens the loss is computed on, the share that a cutoff takes away. One sample a trajectory is "
    "cut at its end; one sample an assistant turn as LLaMA-Factory cuts under mask_history, history first.",
)
def cutoff_loss(frame: pl.DataFrame, tokenizer: str) -> Any:
    """Supervised tokens lost at the cutoff, per layout and mode."""
    totals = frame.group_by("layout").agg(
        pl.col("supervised_lost", "supervised_tokens", "samples_cut", "samples").sum()
    )
    by_layout = {r["layout"]: r for r in totals.iter_rows(named=True)}
    found = ", ".join(
        f"{rate(by_layout[layout]['supervised_lost'], by_layout[layout]['supervised_tokens'])} with {words}"
        for layout, words in _LAYOUTS.items()
        if layout in by_layout
    )
    cut = ", ".join(
        f"{r['samples_cut']:,} of {r['samples']:,} with {_LAYOUTS[k]}"
        for k, r in sorted(by_layout.items(), reverse=True)
    )
    sentence = f"Supervised tokens lost at a cutoff of {frame['cutoff'][0]:,}: {found}"
    scale = alt.Scale(domain=[0, max(0.001, *frame["lost_share"])])
    # Domains, not `sort`: each layer would sort by itself, and Vega-Lite warns that they differ.
    modes = alt.Scale(domain=[mode for mode in MODES if mode in frame["traj_type"].to_list()])
    base = alt.Chart(frame).encode(
        x=alt.X("lost_share:Q", title="supervised tokens lost", axis=alt.Axis(format="~%"), scale=scale),
        y=alt.Y(
            "layout:N",
            title=None,
            scale=alt.Scale(domain=[layout for layout in _LAYOUTS if layout in by_layout]),
            axis=alt.Axis(labelExpr=_LAYOUT_LABEL, labelLimit=240),
        ),
        yOffset=alt.YOffset("traj_type:N", scale=modes),
        tooltip=[
            MODE_TOOLTIP,
            percent("lost_share", "supervised tokens lost"),
            number("supervised_lost", "supervised tokens lost"),
            number("supervised_tokens", "supervised tokens"),
            number("context_lost", "context tokens lost"),
            number("samples_cut", "samples cut"),
            number("samples", "samples"),
        ],
    )
    bars = base.mark_bar().encode(color=mode_colour())
    numbers = base.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("supervised_lost:Q", format=",d"))
    return alt.layer(bars, numbers).properties(
        title=title(sentence, f"n = samples cut: {cut}", f"Counted by: {tokenizer}"),
        description=sentence,
        width="container",
        height=140,
    )


@figure(
    EXPANSION_BY_STEPS,
    definition="Tokens of all samples when every assistant turn is trained as its own sample (context without earlier "
    "thoughts, plus the turn), over the tokens of the same trajectories rendered once with every thought.",
)
def expansion(frame: pl.DataFrame, tokenizer: str) -> Any:
    """Expansion factor by the number of assistant turns."""
    rows = frame.rows(named=True)
    once = sum(r["tokens_per_trajectory"] * r["trajectories"] for r in rows)
    samples = sum(r["sample_tokens_per_trajectory"] * r["trajectories"] for r in rows)
    factor = samples / once if once else 0.0
    sentence = f"Training turn by turn reads {factor:.1f} times the tokens of the trajectories"
    counts = {
        mode: f"{frame.filter(pl.col('traj_type') == mode)['trajectories'].sum():,}"
        for mode in MODES
        if mode in frame["traj_type"]
    }
    return (
        alt.Chart(frame)
        .mark_circle(opacity=0.8)
        .encode(
            x=alt.X("turns:Q", title="assistant turns of a trajectory"),
            y=alt.Y("expansion_factor:Q", title="tokens of the samples / tokens once", scale=alt.Scale(domainMin=0)),
            size=alt.Size("trajectories:Q", legend=alt.Legend(orient="bottom", title="trajectories")),
            color=mode_colour(),
            tooltip=[
                MODE_TOOLTIP,
                number("turns", "assistant turns"),
                alt.Tooltip("expansion_factor:Q", title="factor", format=".2f"),
                number("tokens_per_trajectory", "tokens once"),
                number("sample_tokens_per_trajectory", "tokens of the samples"),
                number("trajectories", "trajectories"),
            ],
        )
        .properties(
            title=title(sentence, f"n = trajectories: {each_mode(counts)}", f"Counted by: {tokenizer}"),
            description=sentence,
            width="container",
            height=260,
        )
    )
