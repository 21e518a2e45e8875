"""What a card says about a source: sections of rows and pictures, from the results that notebooks and gates use.

Every share stands beside what it is counted of; over fewer than 20 there is a dash in its place.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import polars as pl

from analysis import gate, verdict
from analysis.card.markdown import Grid
from analysis.charts import coverage as coverage_charts
from analysis.charts import dialogue as dialogue_charts
from analysis.charts import step_lengths as step_charts
from analysis.charts import tool_usage as tool_charts
from analysis.gate import QUANTITIES, Gate
from analysis.measures import arguments, coverage, dialogue, outcomes, overview, step_lengths, tool_usage
from analysis.records.rules import RULES
from analysis.schema import FEWEST_FOR_A_RATE, Table
from analysis.tables import Tables
from analysis.wording import ABSENT, GAP, cell, count, percent

BUSIEST = 10
# More bars than this are a wall; the curve of how evenly they are filled tells more.
MOST_BARS = 200
# They count tokens, and so depend on a vocabulary that a card's reader has not chosen.
_OF_TOKENS = frozenset({"cut_share", "supervised_lost_share", "expansion_factor"})


class Section(NamedTuple):
    """A heading, a sentence that says what is counted, rows, and a chart with the name of its file."""

    title: str
    sentence: str
    grids: tuple[Grid, ...] = ()
    picture: str = ""
    chart: Any = None


def sections(data: Tables) -> Iterator[Section]:
    """Measure a source.

    Args:
        data: its tables.

    Returns:
        The sections, in the order they are read; one without anything to count says so.
    """
    for title, made in _SECTIONS.items():
        yield made(data, title)


def _verdict(data: Tables, title: str) -> Section:
    """By the limits of a set like the release, but for the one on tokens."""
    bounds = gate.read()
    limits = [one for one in bounds.threshold if one.quantity not in _OF_TOKENS]
    found = verdict.judge(data, msgspec.structs.replace(bounds, threshold=limits), is_own=False)
    steps = {step.mends: step.remains.trajectories for step in found.steps}
    rows = [
        (one.meaning, one.found, one.bound, f"{one.mends}; {count(steps[one.name], 'record')} would remain")
        if one.name in steps
        else (one.meaning, one.found, one.bound, one.mends)
        for one in found.reasons
    ]
    names = ("what", "found", "bound", "mends")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    heads = {"what": "what does not hold", "found": "found", "bound": "asked for", "mends": "what mends it"}
    sentence = (
        f"By the limits of `python -m analysis check`, without the one on tokens: {found.answer}. Limits that hold: "
        f"{count(found.held)} of {count(found.bounds)} that could be judged."
    )
    return Section(title, sentence, (Grid(frame, heads, frozenset(names)),) if rows else ())


def _holds(data: Tables, title: str) -> Section:
    kept, talks, calls, steps = (
        data.trajectories.select(
            pl.len(),
            (pl.col("traj_type") == "conversation").sum().alias("talks"),
            pl.col("tool_calls").sum(),
            pl.col("assistant_messages").sum(),
        )
        .collect()
        .row(0)
    )
    scenarios = _first(coverage.scenario_summary(data.trajectories, data.scenarios))
    balance = _first(coverage.balance(_environments(data).lazy()))
    tools = _first(tool_usage.across(_tools(data)))
    rows = [
        (
            "records kept",
            kept,
            f"of {count(data.manifest['records_in'])} read; {count(data.manifest['rejected'])} could not be read",
        ),
        ("records with user", talks, f"of {count(kept)} kept; the user is simulated, and the others are without"),
        ("environments", balance.get("seen", 0), _catalogue(balance, balance.get("environments", 0))),
        (
            "scenarios",
            scenarios.get("present" if scenarios.get("has_catalogue") else "seen", 0),
            _catalogue(scenarios, scenarios.get("scenarios", 0)),
        ),
        (
            "tools called",
            tools.get("used_tools", 0),
            f"of {count(tools.get('offered_tools', 0))} offered, each name counted once per environment",
        ),
        ("tool calls", calls, f"in {count(kept, 'record')}"),
        ("assistant messages", steps, f"in {count(kept, 'record')}"),
    ]
    texts = [(what, count(number), of) for what, number, of in rows]
    frame = pl.DataFrame(texts, schema={"what": pl.String, "count": pl.String, "of": pl.String}, orient="row")
    return Section(
        title, "", (Grid(frame, {"what": "what", "count": "number", "of": "counted"}, frozenset(frame.columns)),)
    )


def _lengths(data: Tables, title: str) -> Section:
    found = step_lengths.summary(data.trajectories).collect()
    grid = _grid(
        found,
        step_lengths.SUMMARY,
        "quantity traj_type trajectories total mean minimum median p90 p95 p99 maximum",
        prose="quantity",
    )
    sentence = (
        "Per trajectory. A step is one assistant message with what it caused. Percentiles by linear interpolation."
    )
    distribution = step_lengths.distribution(data.trajectories, "steps").collect()
    return Section(title, sentence, (grid,), "steps", _drawn(step_charts.histogram, distribution))


def _spread(data: Tables, title: str) -> Section:
    held = _environments(data)
    grid = _grid(
        coverage.balance(held.lazy()).collect(),
        coverage.BALANCE,
        "grain environments seen total minimum median maximum evenness effective_environments",
        prose="grain",
    )
    sentence = (
        "How trajectories and scenarios are spread over environments. Evenness is entropy / ln(environments), 1 when "
        "all have the same; the effective number is the number of equal environments that would be as even."
    )
    if held.height <= MOST_BARS:
        return Section(title, sentence, (grid,), "environments", _drawn(coverage_charts.environments, held))
    curve = coverage.lorenz(held.lazy()).collect()
    return Section(title, sentence, (grid,), "environments", _drawn(coverage_charts.lorenz, curve))


def _usage(data: Tables, title: str) -> Section:
    busiest = tool_usage.busiest(_tools(data), top=BUSIEST).collect()
    grid = _grid(
        _judged(busiest, "all_call_share", "all_calls"),
        tool_usage.BUSIEST,
        "env_id tool_name calls all_calls all_call_share calling offering usage_rate",
    )
    sentence = (
        f"The {count(busiest.height, 'tool')} called most. Usage rate: trajectories that call the tool, of those that "
        "were offered it; a large environment makes its tools busy."
    )
    return Section(title, sentence, (grid,), "tools", _drawn(tool_charts.usage, busiest))


def _calls(data: Tables, title: str) -> Section:
    grid = _grid(
        outcomes.by_mode(data.tool_calls).collect(),
        outcomes.MODES,
        "traj_type calls errors judged unknown error_rate",
    )
    sentence = (
        "What results say. Error rate: errors, of the calls whose result says ok or error. A failed call is not a "
        "failed task, and an error that is recovered is worth learning from."
    )
    return Section(title, sentence, (grid,))


def _arguments(data: Tables, title: str) -> Section:
    grid = _grid(
        arguments.classes(data.tool_calls).collect(),
        arguments.CLASSES,
        "traj_type verdict calls mode_calls class_rate",
    )
    sentence = (
        "Each call's arguments against that record's own JSON Schema of the tool. Over-required: they leave out only "
        "required arguments that the tool did not need."
    )
    return Section(title, sentence, (grid,))


def _endings(data: Tables, title: str) -> Section:
    found = dialogue.end_classes(data.trajectories).collect()
    rows = _judged(found, "trajectory_share", "mode_trajectories")
    grid = _grid(rows, dialogue.ENDS, "traj_type end_class trajectories mode_trajectories trajectory_share")
    sentence = "How records end. A marker of completion is the agent's own word and does not mean success."
    return Section(title, sentence, (grid,), "endings", _drawn(dialogue_charts.end_classes, found))


def _quantities(data: Tables, title: str) -> Section:
    rows = []
    for name, quantity in QUANTITIES.items():
        if name in _OF_TOKENS:
            continue
        found = quantity.find(data, Gate())
        rows.append((name, _value(found.value, found.events, found.of), _counted(found), quantity.meaning))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("name", "value", "counted", "meaning"), pl.String), orient="row")
    heads = {"name": "quantity", "value": "value", "counted": "counted", "meaning": "meaning"}
    sentence = "Numbers of the whole set, as `python -m analysis check` puts bounds on them."
    return Section(title, sentence, (Grid(frame, heads, frozenset({"value", "counted", "meaning"})),))


def _findings(data: Tables, title: str) -> Section:
    rules = overview.rules(data.trajectories, data.findings, RULES).collect()
    broken = rules.filter(pl.col("records_breaking") > 0)
    sentence = (
        f"Records are checked against {count(len(RULES), 'rule')}; "
        + ("no record breaks any." if broken.is_empty() else f"{count(broken.height)} of them are broken somewhere.")
        if rules.height
        else "There are no records to check against rules."
    )
    if broken.is_empty():
        return Section(title, sentence)
    names = "rule sentence records_breaking records record_share findings"
    return Section(title, sentence, (_grid(broken, overview.RULES, names, prose="sentence"),))


_SECTIONS: dict[str, Callable[[Tables, str], Section]] = {
    "Verdict": _verdict,
    "What it holds": _holds,
    "How long trajectories are": _lengths,
    "Environments and scenarios": _spread,
    "Tools": _usage,
    "Calls": _calls,
    "Arguments": _arguments,
    "Endings": _endings,
    "Quantities": _quantities,
    "Findings": _findings,
}


def _environments(data: Tables) -> pl.DataFrame:
    return coverage.environments(data.trajectories, data.environments, data.scenarios).collect()


def _tools(data: Tables) -> pl.LazyFrame:
    return tool_usage.by_tool(data.tool_calls, data.trajectories, data.tools)


def _first(frame: pl.LazyFrame) -> dict[str, Any]:
    """The first row by name; nothing where there is none."""
    rows = frame.head(1).collect().rows(named=True)
    return rows[0] if rows else {}


def _catalogue(found: dict[str, Any], of: int) -> str:
    return f"of {count(of)} in the catalogue" if found.get("has_catalogue") else "seen; no catalogue was given"


def _grid(frame: pl.DataFrame, result: Table, names: str, *, prose: str = "") -> Grid:
    """Columns of a result, named with blanks between, under the titles of its declaration."""
    return Grid(frame, {name: result[name].title for name in names.split()}, frozenset(prose.split()))


def _judged(frame: pl.DataFrame, share: str, of: str) -> pl.DataFrame:
    """The rows without their share where it would be one of fewer than 20."""
    return frame.with_columns(pl.when(pl.col(of) >= FEWEST_FOR_A_RATE).then(share).alias(share))


def _drawn(draw: Callable[[pl.DataFrame], Any], frame: pl.DataFrame) -> Any:
    return None if frame.is_empty() else draw(frame)


def _value(value: float | None, events: float | None, of: float | None) -> str:
    if value is None or (events is not None and (of or 0) < FEWEST_FOR_A_RATE):
        return ABSENT
    return (percent(value) if events is not None and value <= 1 else cell(value)).replace(" ", GAP)


def _counted(found: Any) -> str:
    if found.events is None or not found.of:
        return found.reason or (f"n = {count(found.of)}" if found.of is not None else "")
    return f"{count(found.events)} of {count(found.of)}"
