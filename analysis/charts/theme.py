"""The look of our charts: palette, ink, and the Altair theme `trajectory`, registered here and enabled for nobody."""

from typing import Any

import altair as alt

NAME = "trajectory"

# JupyterLab's Vega never settles on a width of "container": a notebook gets this one, the page puts the container back.
WIDTH = 680

# After Okabe and Ito, told apart with any common colour vision deficiency. The light ones are darkened until each
# colour stands out 3:1 (WCAG 1.4.11) against white and against the page's dark background.
PALETTE = ["#0072B2", "#C77C02", "#009E73", "#C2649A", "#3B97CF", "#D55E00", "#9A8500", "#858585"]

# Text takes the colour of its surroundings: one specification for light, dark, print and forced colours.
INK = "currentColor"
FAINT = "#8080804d"


@alt.theme.register(NAME, enable=False)
def _theme() -> alt.theme.ThemeConfig:
    words: Any = {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    config: Any = {
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "view": {"stroke": None, "continuousWidth": WIDTH},
        "axis": {
            **words,
            "gridColor": FAINT,
            "domainColor": "#808080",
            "tickColor": "#808080",
            "labelLimit": 220,
            "labelSeparation": 6,
        },
        # As many lines as there is room for their labels: a line without one measures nothing.
        "axisXQuantitative": {"tickCount": {"expr": "max(4, ceil(width / 90))"}},
        "legend": {**words, "orient": "bottom", "labelLimit": 260, "symbolStrokeWidth": 2},
        "header": words,
        "title": {
            "color": INK,
            "subtitleColor": INK,
            "fontSize": 14,
            "subtitleFontSize": 12,
            "anchor": "start",
            "subtitlePadding": 4,
        },
        "text": {"color": INK},
        "rule": {"color": INK},
        "range": {"category": PALETTE},
        "bar": {"color": PALETTE[0]},
        "line": {"color": PALETTE[0]},
        "point": {"color": PALETTE[0], "filled": True, "opacity": 1},
        "tick": {"color": PALETTE[0]},
        "area": {"color": PALETTE[0]},
    }
    return {"config": config}
