"""For charts that still make their own titles; goes with the last of them."""

import altair as alt

from analysis.charts.encodings import MODE_NAMES
from analysis.charts.figure import title as _title
from analysis.wording import GAP

__all__ = ["GAP", "MODES", "title"]
MODES = {name: name for name in MODE_NAMES}


def title(sentence: str, *lines: str) -> alt.TitleParams:
    return _title(sentence, lines)
