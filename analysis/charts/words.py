"""What several charts say alike: rates as text, the two modes by name and colour."""

from textwrap import wrap

import altair as alt

from analysis.charts.theme import PALETTE

# Vega does not break lines; longer ones would run out of a chart of usual width.
LINE = 84

# A space that no line breaks at.
GAP = "\u00a0"
# Below this many events a percentage claims more than is known.
FEWEST_FOR_A_RATE = 20
MODES = {"conversation": "conversations", "non_conversation": "runs without a user"}


def rate(events: float, trials: float) -> str:
    """A rate as text: "34.2 %", or "3 of 15" where fewer than 20 events were tried."""
    if trials < FEWEST_FOR_A_RATE:
        return f"{events:,.0f} of {trials:,.0f}"
    share = events / trials
    if 0 < share < 0.001:
        return f"under 0.1{GAP}%"
    return f"{100 * share:.0f}{GAP}%" if share in (0, 1) else f"{100 * share:.1f}{GAP}%"


def signed(value: float) -> str:
    """A difference as text, with its sign unless it rounds to nothing."""
    return "±0.0" if abs(value) < 0.05 else f"{value:+.1f}"


def each_mode(values: dict[str, str]) -> str:
    """ "34 % in conversations, 12 % in runs without a user" out of text per mode."""
    return ", ".join(f"{text} in {MODES[mode]}" for mode, text in values.items())


def mode_colour() -> alt.Color:
    """Colour by mode, the same in every chart."""
    scale = alt.Scale(domain=list(MODES), range=PALETTE[:2])
    legend = alt.Legend(orient="bottom", title=None, labelExpr="replace(datum.label, 'non_conversation', 'no user')")
    return alt.Color("traj_type:N", scale=scale, legend=legend)


def title(sentence: str, *lines: str) -> alt.TitleParams:
    """A chart's title: the finding, and under it n, the denominator and what is selection."""
    # The page sets the lines as one paragraph: what is a fact of its own must end in a stop of its own.
    facts = [line if line == lines[-1] or line.endswith((".", ";", ",", ":")) else f"{line};" for line in lines]
    subtitle = [part for line in facts for part in wrap(line, LINE + 16)]
    return alt.TitleParams(wrap(sentence, LINE), subtitle=subtitle, anchor="start")


def percent(field: str, heading: str) -> alt.Tooltip:
    """A tooltip that shows a share as a percentage."""
    return alt.Tooltip(f"{field}:Q", title=heading, format=".1%")


def number(field: str, heading: str) -> alt.Tooltip:
    """A tooltip that shows a count or a size, rounded, with thousands apart."""
    return alt.Tooltip(f"{field}:Q", title=heading, format=",.0f")


MODE_TOOLTIP = alt.Tooltip("traj_type:N", title="mode")
