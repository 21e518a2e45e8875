"""Overview, drawn: which rules are broken, how many records are sound, what `steps` counts, what was published."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import MODE_TOOLTIP, count_axis, kind_colour, mode_colour, number, percent, words_label
from analysis.charts.figure import Chart, Drawn, figure
from analysis.charts.modes import counts_by_mode, rate_by_mode, rows_by_mode
from analysis.charts.rates import dots
from analysis.measures.claims import VERDICT_COUNTS
from analysis.measures.overview import COMPOSITION, RULES, SOUND, STEPS
from analysis.schema import END_CLASSES
from analysis.wording import MODES, by_mode, count, plural, rate, rate_of, words


@figure(
    RULES,
    definition="Records with at least one finding of a rule, of all records kept. Findings are facts about a record "
    "that was kept; rules without a finding were checked too and are in the table.",
    height=alt.Step(15),
)
def rules(frame: pl.DataFrame) -> Drawn:
    """Records breaking each rule of the contract."""
    most = frame.row(0, named=True)
    broken = frame.filter(pl.col("findings") > 0).height
    often = rate_of(most["records_breaking"], most["records"], "record")
    return Drawn(
        _rule_bars(frame, has_broken=broken > 0),
        f"{count(broken)} of {count(frame.height, 'rule')} {plural(broken, 'is', 'are')} broken; most often "
        f"“{words(most['rule'])}”, in {often}"
        if broken
        else f"All {count(frame.height, 'rule')} of the contract hold",
        f"n = {count(most['records'], 'record')} kept",
    )


@figure(
    SOUND,
    definition="Records without any finding, of the mode's records kept, with the 95 % interval over scenarios; "
    "counts where "
    "a mode has fewer than 20.",
    height=alt.Step(34),
)
def sound(frame: pl.DataFrame) -> Drawn:
    """Share of records without a finding, per mode."""
    chart = dots(
        frame,
        label="datum.traj_type",
        rate="sound_share",
        events="sound_records",
        trials="records",
        axis_title="records without a finding",
        tooltip=[MODE_TOOLTIP],
        colour=mode_colour(),
    )
    return Drawn(
        chart,
        f"Records without a finding: {rate_by_mode(frame, 'sound_records', 'records')}",
        f"n = records kept: {counts_by_mode(frame, 'records')}",
    )


@figure(
    STEPS,
    definition="Records whose declared `steps` equals the count of assistant messages, of calls or of tool messages, "
    "of the records that declare it, with the 95 % interval over scenarios; counts where fewer than 20 do. In the "
    "release it "
    "is the number of assistant messages.",
    height=alt.Step(18),
)
def steps_candidates(frame: pl.DataFrame) -> Drawn:
    """What `steps` counts, by match rate with three candidates."""
    best = {mode: max(rows, key=lambda r: r["matches"]) for mode, rows in rows_by_mode(frame).items()}
    fits = {mode: f"{r['candidate']} ({rate(r['matches'], r['declared'])})" for mode, r in best.items()}
    chart = dots(
        frame,
        label="datum.candidate",
        rate="match_rate",
        events="matches",
        trials="declared",
        axis_title="records whose steps match",
        tooltip=[MODE_TOOLTIP, alt.Tooltip("candidate:N", title="count of")],
        by_mode=True,
    )
    return Drawn(
        chart,
        f"“steps” best matches the number of {by_mode(fits)}",
        f"n = records that declare steps: {counts_by_mode(frame, 'declared')}",
    )


@figure(
    COMPOSITION,
    definition="Records kept, by mode and by how they end. A completed marker is the agent's own word, not a success.",
    height=alt.Step(34),
)
def composition(frame: pl.DataFrame) -> Drawn:
    """What the records are: mode and end class."""
    counts = {mode: count(sum(r["records"] for r in rows)) for mode, rows in rows_by_mode(frame).items()}
    seen = set(frame["end_class"])
    ends = {end: colour for end, colour in _END_COLOURS.items() if end in seen}
    bars = alt.Chart(frame).mark_bar()
    return Drawn(
        bars.encode(
            x=count_axis(alt.X, "records", "records kept"),
            y=alt.Y("traj_type:N", title=None),
            color=kind_colour("end_class", ends, title="ends with", columns=3, labelExpr=words_label("label")),
            tooltip=_COMPOSITION_TOOLTIPS,
        ),
        f"Records by mode: {by_mode(counts)}",
        f"n = {count(frame['all_records'][0], 'record')} kept; format: {', '.join(sorted(set(frame['dialect'])))}",
    )


@figure(
    VERDICT_COUNTS,
    definition="Published figures of the EnvScaler sets beside those of this source: equal when the value here rounds "
    "to the published one; not checkable when the source is another set, a part of it, or lacks what was counted.",
    height=alt.Step(26),
)
def verdicts(frame: pl.DataFrame) -> Drawn | str:
    """How many published figures hold, per what they are about."""
    frame = frame.with_columns(pl.col("scope").replace(dict(MODES)))
    equal, differs, open_ = (sum(frame.filter(verdict=verdict)["claims"]) for verdict in _VERDICTS)
    if not equal + differs:
        return f"None of {count(frame['all_claims'][0], 'published figure')} can be checked on this source"
    bars = alt.Chart(frame).mark_bar()
    return Drawn(
        bars.encode(
            x=count_axis(alt.X, "claims", "published figures"),
            y=alt.Y("scope:N", title=None, axis=alt.Axis(labelExpr=words_label("label"))),
            color=kind_colour("verdict", _VERDICTS),
            tooltip=[alt.Tooltip("scope:N"), alt.Tooltip("verdict:N"), number("claims", "figures")],
        ),
        f"{count(equal)} of {count(equal + differs, 'published figure')} that can be checked here "
        f"{plural(equal, 'holds', 'hold')}",
        f"n = {count(frame['all_claims'][0], 'published figure')}: {count(equal)} equal, {count(differs)} different, "
        f"{count(open_)} not checkable",
    )


_VERDICTS = {"equal": theme.PALETTE[2], "differs": theme.PALETTE[5], "not checkable": theme.PALETTE[7]}
# An ending keeps its colour whatever else occurs; the colours of the two modes are not among them.
_ENDINGS = [*(theme.PALETTE[n] for n in (2, 5, 4, 3, 6, 7)), "#A0522D", "#7B6BD6", "#2F8F9D"]
_END_COLOURS = dict(zip(END_CLASSES, _ENDINGS, strict=True))
_RULE_TOOLTIPS = [
    alt.Tooltip("rule:N"),
    alt.Tooltip("sentence:N", title="a sound record"),
    alt.Tooltip("remedy:N"),
    number("records_breaking", "records"),
    number("findings", "findings"),
    percent("record_share", "of the records"),
]
_COMPOSITION_TOOLTIPS = [
    MODE_TOOLTIP,
    alt.Tooltip("dialect:N", title="format"),
    alt.Tooltip("end_class:N", title="ends with"),
    number("records", "records"),
    percent("record_share", "of all records"),
]


def _rule_bars(frame: pl.DataFrame, *, has_broken: bool) -> Chart:
    # Rules that hold are in the table below; they are drawn only where there is nothing else to draw.
    chart = alt.Chart(frame).transform_filter("datum.findings > 0") if has_broken else alt.Chart(frame)
    names = alt.Axis(labelExpr=words_label("label"), labelLimit=220)
    base = chart.encode(
        y=alt.Y("rule:N", title=None, sort=None, axis=names),
        x=count_axis(alt.X, "records_breaking", "records with a finding of the rule"),
        tooltip=_RULE_TOOLTIPS,
    )
    counts = base.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("records_breaking:Q", format=","))
    return alt.layer(base.mark_bar(color=theme.PALETTE[5]), counts)
