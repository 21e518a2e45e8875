"""The one way a chart is declared: a small frame in, an Altair chart out, with all that a page says around it.

`@figure(RESULT, definition="…")` wraps a function that returns `Drawn`: a chart without words, the sentence that tells
the finding, and n with its denominator. The decorator
- refuses a frame over MAX_ROWS rows: aggregation belongs to the measure;
- names the modes as every page does, in the frame;
- sets title, subtitle, description, width and height;
- answers an empty frame with a chart that says so, and a function that returns a sentence with a chart that is it:
  where there is nothing to see, words say it better;
- keeps definition and columns beside the chart, where `show` finds them, and our theme with it, whoever shows it.

What comes out is an ordinary chart of Altair's: it can be faceted, layered, repeated and concatenated, and nothing of
the importer's own charts changes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from textwrap import wrap
from typing import Any, Concatenate, ParamSpec, cast

import altair as alt
import polars as pl
from altair.utils.schemapi import debug_mode

from analysis.charts import theme
from analysis.charts.encodings import MODES_DRAWN
from analysis.schema import Table
from analysis.wording import MODES, unbroken

P = ParamSpec("P")
Chart = alt.Chart | alt.LayerChart | alt.FacetChart

MAX_ROWS = 2_000
HEIGHT = 240
# Vega does not break lines; longer ones would run out of a chart of usual width.
LINE = 84


@dataclass(frozen=True)
class Drawn:
    """What a chart function returns.

    `sentence` tells the finding; `facts` are n, the denominator and what is selection, a line each. `height` is that of
    the declaration unless given.
    """

    chart: Chart
    sentence: str
    facts: str | Sequence[str]
    height: int | alt.Step | None = None


@dataclass(frozen=True)
class Declared:
    """What a chart function was declared with: the table its frame conforms to, and its definition."""

    result: Table
    definition: str


@dataclass(frozen=True)
class Around:
    """What a page says around one chart; `empty` is said in place of a chart that has nothing to draw."""

    declared: Declared
    columns: tuple[str, ...]
    empty: str = ""

    def meta(self) -> dict[str, Any]:
        """The same as JSON, for the specification that a page reads."""
        columns = {name: self.declared.result[name] for name in self.columns}
        return {
            "table": self.declared.result.name,
            "definition": self.declared.definition,
            "columns": {name: {"title": c.title, "meaning": c.meaning} for name, c in columns.items()},
            "order": list(self.columns),  # nbformat sorts the keys of what it writes
        }


class _Ours:
    """Mixed into Altair's own classes: our theme where the chart is the whole picture, and what stands around it."""

    def to_dict(self, *args: Any, context: dict[str, Any] | None = None, **kwargs: Any) -> dict[str, Any]:
        if not (context or {}).get("top_level", True):
            return super().to_dict(*args, context=context, **kwargs)  # type: ignore[misc,no-any-return]
        with alt.theme.enable(theme.NAME):
            return super().to_dict(*args, context=context, **kwargs)  # type: ignore[misc,no-any-return]

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        copied = super().copy(*args, **kwargs)  # type: ignore[misc]
        vars(copied).update({"around": around(self)})
        return copied


_OURS = {kind: type(kind.__name__, (_Ours, kind), {}) for kind in (alt.Chart, alt.LayerChart, alt.FacetChart)}

ChartFunction = Callable[Concatenate[pl.DataFrame, P], Chart]


def figure(
    result: Table, definition: str, *, height: int | alt.Step = HEIGHT
) -> Callable[[Callable[Concatenate[pl.DataFrame, P], Drawn | str]], ChartFunction[P]]:
    """Declare a chart function.

    Args:
        result: the table its frame conforms to.
        definition: one sentence under the chart: what is drawn, over what.
        height: of the chart in pixels, or of a row: `alt.Step(17)`.

    Raises:
        ValueError: the chart function was given more than MAX_ROWS rows.
    """
    declared = Declared(result, definition)

    def declare(draw: Callable[Concatenate[pl.DataFrame, P], Drawn | str]) -> ChartFunction[P]:
        @wraps(draw)
        def chart(frame: pl.DataFrame, *args: P.args, **kwargs: P.kwargs) -> Chart:
            if frame.height > MAX_ROWS:
                raise ValueError(
                    f"{draw.__name__}: {frame.height:,} rows; aggregate to at most {MAX_ROWS:,} before drawing"
                )
            columns = tuple(name for name in result.names if name in frame.columns)
            if frame.is_empty():
                sentence = f"Nothing to draw: {result.grain} – no rows in this source or selection."
                return _ours(_sentence(sentence), Around(declared, columns, sentence))
            # Altair would check each part as it is made; the whole is checked when it is shown.
            named = _with_modes_named(frame)
            with debug_mode(False), _drawing(named):
                drawn = draw(named, *args, **kwargs)
            if isinstance(drawn, str):
                return _ours(_sentence(drawn), Around(declared, columns, drawn))
            if frame.height == 1:  # one bar, one dot: its sentence says it
                said = ". ".join([drawn.sentence, *_facts(drawn)])
                words = _sentence(said).properties(
                    title=title(drawn.sentence, drawn.facts), description=unbroken(drawn.sentence)
                )
                return _ours(words, Around(declared, columns, said))
            with debug_mode(False):
                return _ours(_titled(drawn, height), Around(declared, columns))

        # For the pages that tell the method, and say which schema a chart's data keep.
        vars(chart)["declared"] = declared
        return cast(ChartFunction[P], chart)

    return declare


def around(chart: Any) -> Around | None:
    """What a page says around a chart of ours; None for anybody else's, and for a combination of several."""
    return cast(Around | None, vars(chart).get("around"))


def title(sentence: str, facts: str | Sequence[str] = ()) -> alt.TitleParams:
    """A chart's title: the finding, and under it n, the denominator and what is selection."""
    lines = [facts] if isinstance(facts, str) else list(facts)
    # The page sets the lines as one paragraph: what is a fact of its own must end in a stop of its own.
    ended = [line if line.endswith((".", ";", ",", ":")) else f"{line};" for line in lines[:-1]] + lines[-1:]
    subtitle = [part for line in ended for part in _wrapped(line, LINE + 16)]
    return alt.TitleParams(_wrapped(sentence, LINE), subtitle=subtitle, anchor="start")


def _wrapped(sentence: str, width: int) -> list[str]:
    # The page puts the lines together again with spaces: they break at spaces only.
    return wrap(unbroken(sentence), width, break_long_words=False, break_on_hyphens=False)


def _titled(drawn: Drawn, height: int | alt.Step) -> Chart:
    words: dict[str, Any] = {"title": title(drawn.sentence, drawn.facts), "description": unbroken(drawn.sentence)}
    if isinstance(drawn.chart, alt.FacetChart):  # its parts have their own sizes
        return cast(Chart, drawn.chart.properties(**words))
    return cast(Chart, drawn.chart.properties(**words, width=theme.WIDTH, height=drawn.height or height))


def _with_modes_named(frame: pl.DataFrame) -> pl.DataFrame:
    return (
        frame.with_columns(pl.col("traj_type").cast(pl.String).replace(dict(MODES)))
        if "traj_type" in frame.columns
        else frame
    )


@contextmanager
def _drawing(frame: pl.DataFrame) -> Iterator[None]:
    modes = tuple(frame["traj_type"].unique().drop_nulls()) if "traj_type" in frame.columns else ()
    before = MODES_DRAWN.set(modes)
    try:
        yield
    finally:
        MODES_DRAWN.reset(before)


def _facts(drawn: Drawn) -> list[str]:
    return [drawn.facts] if isinstance(drawn.facts, str) else [*drawn.facts]


def _ours(chart: Any, facts: Around) -> Chart:
    # Plain assignment would make it a property of the specification.
    object.__setattr__(chart, "__class__", _OURS.get(type(chart), type(chart)))
    vars(chart)["around"] = facts
    return cast(Chart, chart)


def _sentence(sentence: str) -> alt.Chart:
    chart = alt.Chart(pl.DataFrame({"text": [sentence]}), title=title(sentence)).mark_text(align="left")
    return cast(alt.Chart, chart.encode(text="text:N"))
