"""Overview, drawn: which rules are broken, how many records are sound, what `steps` counts, what was published."""

from typing import Any

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, mode_colour, number, percent
from analysis.charts.figure import figure
from analysis.charts.rates import dots
from analysis.charts.words import MODES, title
from analysis.measures.claims import VERDICT_COUNTS
from analysis.measures.overview import COMPOSITION, RULES, SOUND, STEPS
from analysis.schema import END_CLASSES
from analysis.wording import by_mode as each_mode
from analysis.wording import count, rate

_VERDICT_COLOURS = {"equal": theme.PALETTE[2], "differs": theme.PALETTE[5], "not checkable": theme.PALETTE[7]}
# An ending keeps its colour whatever else occurs; the colours of the two modes are not among them.
_ENDINGS = [*(theme.PALETTE[n] for n in (2, 5, 4, 3, 6, 7)), "#A0522D", "#7B6BD6", "#2F8F9D"]
_END_COLOURS = dict(zip(END_CLASSES, _ENDINGS, strict=True))
_WORDS = "replace(datum.label, /_/g, ' ')"
_MODE = "replace(datum.label, 'non_conversation', 'no user')"


@figure(
    RULES,
    definition="Records with at least one finding of a rule, of all records kept. Findings are facts about a record "
    "that was kept; rules nobody breaks were checked and stand in the table.",
)
def rules(frame: pl.DataFrame) -> Any:
    """Records breaking each rule of the contract."""
    rows = frame.rows(named=True)
    broken = [r for r in rows if r["findings"]]
    n = rows[0]["records"]
    most = rows[0]
    sentence = (
        f"{len(broken)} of {len(rows)} rules are broken; most often “{_plain(most['rule'])}”, in "
        f"{rate(most['records_breaking'], n)} of the records"
        if broken
        else f"All {len(rows)} rules of the contract hold"
    )
    # Rules that hold stand in the table below; they are drawn only where there is nothing else to draw.
    drawn = alt.Chart(frame).transform_filter("datum.findings > 0") if broken else alt.Chart(frame)
    base = drawn.encode(
        y=alt.Y("rule:N", title=None, sort=None, axis=alt.Axis(labelExpr=_WORDS, labelLimit=220)),
        tooltip=[
            alt.Tooltip("rule:N"),
            alt.Tooltip("sentence:N", title="a sound record"),
            alt.Tooltip("remedy:N"),
            number("records_breaking", "records"),
            number("findings", "findings"),
            percent("record_share", "of the records"),
        ],
    )
    x = alt.X("records_breaking:Q", title="records with a finding of the rule", axis=alt.Axis(tickMinStep=1))
    bars = base.mark_bar(color=theme.PALETTE[5]).encode(x=x)
    counts = base.mark_text(align="left", dx=4, fontSize=10).encode(
        x=x, text=alt.Text("records_breaking:Q", format=",")
    )
    return alt.layer(bars, counts).properties(
        title=title(sentence, f"n = {count(n, 'record')} kept"),
        description=sentence,
        width="container",
        height=alt.Step(15),
    )


@figure(
    SOUND,
    definition="Records without any finding, of the mode's records kept, with the 95 % Wilson interval; counts where "
    "a mode has fewer than 20.",
)
def sound(frame: pl.DataFrame) -> Any:
    """Share of records without a finding, per mode."""
    rows = frame.rows(named=True)
    found = {r["traj_type"]: rate(r["sound_records"], r["records"]) for r in rows}
    counts = {r["traj_type"]: f"{r['records']:,}" for r in rows}
    sentence = f"Records without a finding: {each_mode(found)}"
    drawn = dots(
        frame,
        label="datum.traj_type == 'non_conversation' ? 'no user' : 'conversation'",
        rate="sound_share",
        events="sound_records",
        trials="records",
        axis_title="records without a finding",
        tooltip=[MODE_TOOLTIP],
        colour=mode_colour(),
    )
    return drawn.properties(
        title=title(sentence, f"n = records kept: {each_mode(counts)}"),
        description=sentence,
        width="container",
        height=alt.Step(34),
    )


@figure(
    STEPS,
    definition="Records whose declared `steps` equals the count of assistant messages, of calls or of tool messages, "
    "of the records that declare it, with the 95 % Wilson interval; counts where fewer than 20 do. In the release it "
    "is the number of assistant messages.",
)
def steps_candidates(frame: pl.DataFrame) -> Any:
    """What `steps` counts, by match rate with three candidates."""
    rows = frame.rows(named=True)
    best = {
        mode: max((r for r in rows if r["traj_type"] == mode), key=lambda r: r["matches"])
        for mode in dict.fromkeys(r["traj_type"] for r in rows)
    }
    found = {mode: f"{r['candidate']} ({rate(r['matches'], r['declared'])})" for mode, r in best.items()}
    counts = {mode: f"{r['declared']:,}" for mode, r in best.items()}
    sentence = f"“steps” best fits the number of: {each_mode(found)}"
    drawn = dots(
        frame,
        label="datum.candidate",
        rate="match_rate",
        events="matches",
        trials="declared",
        axis_title="records whose steps match",
        tooltip=[MODE_TOOLTIP, alt.Tooltip("candidate:N", title="count of")],
        by_mode=True,
    )
    return drawn.properties(
        title=title(sentence, f"n = records that declare steps: {each_mode(counts)}"),
        description=sentence,
        width="container",
        height=alt.Step(18),
    )


@figure(
    COMPOSITION,
    definition="Records kept, by mode and by how they end. A completed marker is the agent's own word: these data hold "
    "no label of success.",
)
def composition(frame: pl.DataFrame) -> Any:
    """What the records are: mode and end class."""
    rows = frame.rows(named=True)
    n = rows[0]["all_records"]
    by_mode = {
        mode: f"{sum(r['records'] for r in rows if r['traj_type'] == mode):,} {MODES[mode]}"
        for mode in dict.fromkeys(r["traj_type"] for r in rows)
    }
    dialects = ", ".join(sorted({r["dialect"] for r in rows}))
    ends = [end for end in _END_COLOURS if end in set(frame.get_column("end_class"))]
    sentence = f"The records are {' and '.join(by_mode.values())}"
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("records:Q", title="records kept", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y(
                "traj_type:N",
                title=None,
                axis=alt.Axis(labelExpr=_MODE),
            ),
            color=alt.Color(
                "end_class:N",
                title="ends with",
                scale=alt.Scale(domain=ends, range=[_END_COLOURS[end] for end in ends]),
                legend=alt.Legend(orient="bottom", columns=3, labelExpr=_WORDS),
            ),
            tooltip=[
                MODE_TOOLTIP,
                alt.Tooltip("dialect:N"),
                alt.Tooltip("end_class:N", title="ends with"),
                number("records", "records"),
                percent("record_share", "of all records"),
            ],
        )
        .properties(
            title=title(sentence, f"n = {count(n, 'record')} kept; read as: {dialects}"),
            description=sentence,
            width="container",
            height=alt.Step(34),
        )
    )


@figure(
    VERDICT_COUNTS,
    definition="Published figures of the EnvScaler sets beside what is found: equal when the found value rounds to the "
    "published one; not checkable when the source is another set, a part of it, or lacks what was counted.",
)
def verdicts(frame: pl.DataFrame) -> Any:
    """How many published figures hold, per what they are about."""
    rows = frame.rows(named=True)
    n = rows[0]["all_claims"]
    counts = {v: sum(r["claims"] for r in rows if r["verdict"] == v) for v in _VERDICT_COLOURS}
    checked = counts["equal"] + counts["differs"]
    sentence = (
        f"{counts['equal']} of {checked} published figures that can be checked here hold; {counts['differs']} differ"
        if checked
        else "None of the published figures can be checked on this source"
    )
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("claims:Q", title="published figures", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("scope:N", title=None, axis=alt.Axis(labelExpr=_WORDS)),
            color=alt.Color(
                "verdict:N",
                title=None,
                scale=alt.Scale(domain=list(_VERDICT_COLOURS), range=list(_VERDICT_COLOURS.values())),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[alt.Tooltip("scope:N"), alt.Tooltip("verdict:N"), number("claims", "figures")],
        )
        .properties(
            title=title(sentence, f"n = {n:,} published figures; {counts['not checkable']:,} not checkable"),
            description=sentence,
            width="container",
            height=alt.Step(26),
        )
    )


def _plain(rule: str) -> str:
    return rule.replace("_", " ")
