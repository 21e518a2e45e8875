"""What holds for every declared chart. A question's own test module gives `SAMPLES`: a small frame for each chart."""

import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any

import altair as alt
import jsonschema_rs
import polars as pl
import pytest
from altair.utils.schemapi import debug_mode

import analysis.charts
from analysis.charts.figure import Declared, around
from tests.charts.drawn import calculated, fields, marks, spec

# What a question's test module gives: for each chart function a frame, how many marks at least are drawn of it, and
# whatever else the function takes.
Samples = dict[Any, tuple[Any, ...]]


def declared() -> dict[str, Any]:
    """Every chart function by `question.chart`."""
    modules = [import_module(f"analysis.charts.{module.name}") for module in iter_modules(analysis.charts.__path__)]
    return {
        f"{module.__name__.rsplit('.')[-1]}.{name}": member
        for module in modules
        for name, member in vars(module).items()
        if isinstance(getattr(member, "declared", None), Declared) and member.__module__ == module.__name__
    }


CHARTS = declared()


@cache
def drawn(name: str) -> tuple[Any, pl.DataFrame, int]:
    """The chart of that name of its sample, with the sample."""
    samples: Samples = getattr(import_module(f"tests.charts.test_{name.split('.', maxsplit=1)[0]}"), "SAMPLES", {})
    assert CHARTS[name] in samples, f"{name}: add a small frame for it to SAMPLES of its test module"
    frame, at_least, *more = samples[CHARTS[name]]
    frame = pl.concat([frame, frame]) if frame.height == 1 else frame  # of one row there is a sentence, and no picture
    return CHARTS[name](frame, *more), frame, at_least


@cache
def validator() -> Any:
    """Vega-Lite's schema, compiled once: Altair's own check of one chart takes longer."""
    path = files("altair") / "vegalite" / "v6" / "schema" / "vega-lite-schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    places = {name: f"d{number}" for number, name in enumerate(schema["definitions"])}

    def renamed(node: Any) -> Any:  # names of definitions hold characters that no address may
        if isinstance(node, list):
            return [renamed(item) for item in node]
        if not isinstance(node, dict):
            return node
        if isinstance(ref := node.get("$ref"), str):
            return {"$ref": f"#/definitions/{places[ref.removeprefix('#/definitions/')]}"}
        return {key: renamed(item) for key, item in node.items()}

    definitions = {places[name]: renamed(held) for name, held in schema["definitions"].items()}
    return jsonschema_rs.validator_for(renamed({**schema, "definitions": {}}) | {"definitions": definitions})


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_draws_columns_of_its_table_and_says_what_they_show(name: str) -> None:
    chart, frame, at_least = drawn(name)
    found, result = spec(chart), CHARTS[name].declared.result
    assert fields(found) - calculated(found) <= set(frame.columns) <= set(result.names)
    assert marks(found) >= at_least
    assert found["title"]["text"]
    assert found["description"]
    assert "n = " in " ".join(found["title"]["subtitle"])
    assert CHARTS[name].declared.definition.endswith(".")


@pytest.mark.parametrize("name", CHARTS)
def test_an_empty_frame_is_answered_with_what_is_missing(name: str) -> None:
    result = CHARTS[name].declared.result
    facts = around(CHARTS[name](result.empty()))
    assert facts
    assert result.grain in facts.empty


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_can_be_combined_like_any_of_altair(name: str) -> None:
    chart, frame, _ = drawn(name)
    combined = [chart]
    if not isinstance(chart, alt.FacetChart):  # of which Altair makes no layers, facets and repetitions
        column = frame.columns[0]
        combined += [chart + chart, chart.facet(f"{column}:N"), chart.repeat(row=[column])]
    with debug_mode(False):
        made = alt.vconcat(*combined).to_dict(validate=False)
    assert not list(validator().iter_errors(made))


def test_what_is_no_chart_is_found_out() -> None:
    assert list(validator().iter_errors({"mark": "bar", "usermeta": 3, "encoding": {"x": {"fields": "a"}}}))


@pytest.mark.parametrize("name", sorted(CHARTS.keys() - {"dialogue.paired_difference"}))  # which is always two
def test_one_row_is_a_sentence_and_no_picture(name: str) -> None:
    samples: Samples = import_module(f"tests.charts.test_{name.split('.', maxsplit=1)[0]}").SAMPLES
    frame, _, *more = samples[CHARTS[name]]
    chart = CHARTS[name](frame.head(1), *more)
    assert fields(spec(chart)) == {"text"}
    facts = around(chart)
    assert facts
    assert facts.empty


def test_a_legend_names_no_mode_that_is_not_there() -> None:
    for name in CHARTS:
        _, frame, _ = drawn(name)
        if "traj_type" in frame.columns:
            alone = frame.filter(pl.col("traj_type") == "conversation")
            samples: Samples = import_module(f"tests.charts.test_{name.split('.', maxsplit=1)[0]}").SAMPLES
            if alone.height > 1:
                assert "without user" not in json.dumps(spec(CHARTS[name](alone, *samples[CHARTS[name]][2:]))), name


def test_importing_our_charts_leaves_altair_as_it_was() -> None:
    imports = "; ".join(f"import analysis.charts.{module.name}" for module in iter_modules(analysis.charts.__path__))
    state = "(alt.theme.active, alt.renderers.active, alt.data_transformers.active)"
    code = f"import altair as alt; before = {state}; {imports}; assert before == {state}, {state}"
    subprocess.run([sys.executable, "-c", code], check=True)
