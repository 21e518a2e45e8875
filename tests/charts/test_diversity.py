"""Diversity, drawn."""

from analysis.charts import diversity as charts
from analysis.measures.diversity import PARAMETERS
from tests.charts.drawn import spec, subtitle, title
from tests.measures.frames import frame

GIVEN = frame(
    PARAMETERS,
    {"env_id": "bank", "tool_name": "pay", "parameter": "sum", "uses": 40, "values": 30},
    {"env_id": "shop", "tool_name": "buy", "parameter": "item", "uses": 20, "values": 2},
)

SAMPLES = {charts.parameters: (GIVEN, 6)}


def test_the_title_gives_the_span_of_values_and_ranks_nothing() -> None:
    assert title(charts.parameters(GIVEN)) == "The parameters used most take 2 to 30 distinct values each"
    assert subtitle(charts.parameters(GIVEN)) == "n = 60 uses of 2 parameters"


def test_the_longest_bar_leaves_room_for_its_numbers() -> None:
    domains = [layer["encoding"]["x"]["scale"]["domain"][1] for layer in spec(charts.parameters(GIVEN))["layer"]]
    assert domains == [48, 48, 48]
