"""One number has one spelling, whether a headline, a title, a table, a card, a gate or a log says it."""

import json
import re

import pytest

from analysis import show
from analysis.brief.outcomes import failures
from analysis.card import markdown
from analysis.charts import outcomes as charts
from analysis.gate import sarif, text
from analysis.gate.check import Check
from analysis.markup import grid
from analysis.measures.outcomes import MODES
from analysis.report import assets
from tests.charts.drawn import title
from tests.measures.frames import TALK, frame
from tests.outputs import shown


def everywhere(errors: int, calls: int) -> dict[str, str]:
    """What each place shows of so many errors among so many calls."""
    counts = {"calls": calls, "judged": calls, "errors": errors}
    rows = frame(MODES, {"traj_type": TALK, **counts, "error_rate": errors / calls})
    table = rows.select("error_rate")
    check = Check("error_rate", "threshold", "", "falls short", "less", errors / calls, errors, calls)
    (headline,) = shown(lambda: show.headlines([failures(errors, calls)]))
    texts = {
        "headline": headline["data"]["text/plain"],
        "title": title(charts.by_mode(rows)),
        "table": grid(table, {}, "calls"),
        "card": markdown.table(markdown.Grid(table, {"error_rate": "error rate"})),
        "gate": text.table([check]),
        "log": json.dumps(sarif._of_set(check, {"gate/error_rate": 0}), ensure_ascii=False),
        "index": assets.environment().from_string("{{ wording.percent(share) }}").render(share=errors / calls),
    }
    return {place: string.replace("\u00a0", " ").replace("\\xa0", " ") for place, string in texts.items()}


@pytest.mark.parametrize(
    ("errors", "calls", "rate"),
    [(1, 5_000, "under 0.1 %"), (4_999, 5_000, "over 99.9 %"), (0, 5_000, "0 %"), (3, 9_022, "under 0.1 %")],
)
def test_a_rate_is_spelled_alike_wherever_it_is_shown(errors: int, calls: int, rate: str) -> None:
    texts = everywhere(errors, calls)
    spellings = {place: re.findall(r"(?:under |over )?[0-9.]+ ?%", string) for place, string in texts.items()}
    assert spellings == {place: [rate] for place in spellings}
