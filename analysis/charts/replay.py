"""Replay, drawn: where results come out otherwise, in which way, and which checks fail."""

import altair as alt
import polars as pl

from analysis.charts import theme
from analysis.charts.encodings import ENVIRONMENT_TOOLTIP, count_axis, kind_colour, names_axis, number, percent
from analysis.charts.figure import Drawn, figure
from analysis.charts.rates import dots
from analysis.measures.replay import CHECKED, ENVIRONMENTS, KINDS
from analysis.wording import count, rate, rate_of

_VERDICTS = {"reproduced": theme.PALETTE[2], "differing": theme.PALETTE[5], "untold": theme.PALETTE[7]}


@figure(
    KINDS,
    definition="Calls played again, by whether the result is the recorded one and in which way: to the letter (text), "
    "as a value, but for generated ids and times, the same exception or refusal; or another content, outcome or "
    "id, or no such tool. Untold: without a recorded result, or depending on clock, chance or order.",
    height=alt.Step(22),
)
def kinds(frame: pl.DataFrame) -> Drawn | str:
    """In which way replayed results agree or differ."""
    n = frame["all_calls"][0]
    same, other = (frame.filter(verdict=verdict)["calls"].sum() for verdict in ("reproduced", "differing"))
    sentence = f"{rate_of(same, n, 'call')} played come out as recorded, {rate(other, n)} otherwise"
    if same == n:
        return f"All {count(n, 'call')} played come out as recorded"
    bars = alt.Chart(frame).mark_bar()
    return Drawn(
        bars.encode(
            x=count_axis(alt.X, "calls", "calls"),
            y=alt.Y("kind:N", title=None, sort=None),
            color=kind_colour("verdict", _VERDICTS),
            tooltip=[
                alt.Tooltip("verdict:N"),
                alt.Tooltip("kind:N", title="in which way"),
                number("calls", "calls"),
                percent("call_share", "of the calls played"),
            ],
        ),
        sentence,
        f"n = {count(n, 'call')} played",
    )


@figure(
    ENVIRONMENTS,
    definition="Calls whose result came out otherwise, over those that are reproduced or differ, with the 95 % "
    "interval over scenarios; counts for fewer than 20. The environment's code, the record or the replay may be at "
    "fault.",
    height=alt.Step(14),
)
def by_environment(frame: pl.DataFrame) -> Drawn | str:
    """Where results come out otherwise."""
    differing, judged = frame["differing"].sum(), frame["judged"].sum()
    if not differing:
        return (
            f"No call of {count(judged)} that can be told comes out otherwise, in {count(frame.height, 'environment')}"
        )
    return Drawn(
        dots(
            frame,
            label="datum.env_id == null ? '(no environment)' : datum.env_id",
            rate="differing_rate",
            events="differing",
            trials="judged",
            axis_title="differing / (reproduced + differing)",
            tooltip=[ENVIRONMENT_TOOLTIP, number("untold", "neither")],
        ),
        f"{rate_of(differing, judged, 'call')} that can be told come out otherwise, in "
        f"{count(frame.filter(pl.col('differing') > 0).height)} of {count(frame.height, 'environment')}",
        f"n = {count(judged, 'call')} reproduced or differing",
    )


@figure(
    CHECKED,
    definition="Trajectories whose final state does not pass a check, of those it was asked of; the checks that most "
    "fail, with their sentence.",
    height=alt.Step(18),
)
def checks(frame: pl.DataFrame) -> Drawn:
    """The checks that final states fail."""
    failed, asked = frame["failed"].sum(), frame["asked"].sum()
    bars = alt.Chart(frame).transform_calculate(label="datum.task_id + ' · ' + datum.item").mark_bar()
    return Drawn(
        bars.encode(
            y=names_axis(limit=360),
            x=count_axis(alt.X, "failed", "trajectories that fail it"),
            tooltip=[
                ENVIRONMENT_TOOLTIP,
                alt.Tooltip("task_id:N", title="scenario"),
                alt.Tooltip("item:N", title="check"),
                number("failed", "failed by"),
                number("asked", "asked of"),
            ],
        ),
        f"{count(frame.height, 'check')} that fail: in {rate_of(failed, asked, 'trajectory')} they were asked of",
        f"n = {count(asked)} answers to the checks shown",
    )
