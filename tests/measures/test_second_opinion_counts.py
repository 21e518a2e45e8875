"""Usage, lengths, coverage, overview, compare: once more by plain loops over raw records, the sample and real ones."""

from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import polars as pl
import pytest

from analysis import load
from analysis.measures import claims, compare, coverage, overview, step_lengths, tool_usage
from analysis.tables import Tables
from tests.measures.raw import Raw, file, sample

Source = tuple[Tables, list[Raw]]
Key = tuple[str, str]


@pytest.fixture(scope="module", params=["sample", "tau_bench_airline_gpt4o.json", "envscaler_release_excerpt.json"])
def source(request: pytest.FixtureRequest) -> Source:
    """A source as the project decodes it, and its raw records read plainly."""
    if request.param == "sample":
        return load("sample"), list(sample())
    path: Path = request.getfixturevalue("shared_data") / request.param
    return load(str(path)), list(file(path))


def names(record: Raw) -> list[str]:
    return [tool["function"]["name"] for tool in record.tools]


def usage(raw: list[Raw]) -> dict[Key, tuple[int, int, int]]:
    """Calls, trajectories offered and, of these, calling, per environment and tool."""
    calls: Counter[Key] = Counter()
    offering: Counter[Key] = Counter()
    calling: Counter[Key] = Counter()
    for record in raw:
        made = [name for name, _ in record.calls]
        calls.update((record.env_id, name) for name in made)
        offering.update((record.env_id, name) for name in set(names(record)))
        calling.update((record.env_id, name) for name in set(made) & set(names(record)))
    return {key: (calls[key], offering[key], calling[key]) for key in calls | offering}


def test_tool_usage(source: Source) -> None:
    tables, raw = source
    found = tool_usage.by_tool(tables.tool_calls, tables.trajectories, tables.tools).collect()
    assert {
        (env_id, name): counts
        for env_id, name, *counts in found.select("env_id", "tool_name", "calls", "offering", "calling").iter_rows()
    } == {key: list(counts) for key, counts in usage(raw).items()}
    assert found["calls"].sum() == sum(len(record.calls) for record in raw)
    unused = tool_usage.unused(found.lazy()).collect()
    assert set(unused.select("env_id", "tool_name").iter_rows()) == {
        key for key, (calls, offering, _) in usage(raw).items() if offering and not calls
    }


def test_breadth(source: Source) -> None:
    tables, raw = source
    shares = defaultdict(list)
    for record in raw:
        offered = set(names(record))
        shares[record.traj_type].append(len({name for name, _ in record.calls} & offered) / len(offered))
    found = tool_usage.breadth(tables.trajectories).collect()
    for mode, values in shares.items():
        rows = found.filter(pl.col("traj_type") == mode)
        assert rows["trajectories"].sum() == len(values)
        assert rows["median_breadth"][0] == pytest.approx(median(values))


def test_concentration(source: Source) -> None:
    tables, raw = source
    by_tool = tool_usage.by_tool(tables.tool_calls, tables.trajectories, tables.tools)
    calls = defaultdict(list)
    for (env_id, _), (made, offering, _) in usage(raw).items():
        if offering:
            calls[env_id].append(made)
    for row in tool_usage.concentration(by_tool, tables.trajectories).collect().iter_rows(named=True):
        held = calls[row["env_id"]]
        total = sum(held)
        pairs = sum(abs(one - other) for one in held for other in held)
        assert row["gini"] == pytest.approx(pairs / (2 * len(held) * total))
        assert row["top_three_share"] == pytest.approx(sum(sorted(held)[-3:]) / total)
        assert (row["offered_tools"], row["unused_tools"]) == (len(held), held.count(0))


def lengths(record: Raw) -> dict[str, int]:
    return {
        "steps": len(record.assistant),
        "tool calls": len(record.calls),
        "user messages": sum(message["role"] == "user" for message in record.messages),
    }


def test_step_lengths(source: Source) -> None:
    tables, raw = source
    values = defaultdict(list)
    for record in raw:
        for quantity, value in lengths(record).items():
            values[quantity, record.traj_type].append(value)
    found = step_lengths.summary(tables.trajectories).collect()
    assert set(found.select("quantity", "traj_type").iter_rows()) == set(values)
    for row in found.iter_rows(named=True):
        seen = values[row["quantity"], row["traj_type"]]
        assert (row["trajectories"], row["total"]) == (len(seen), sum(seen))
        assert (row["minimum"], row["maximum"]) == (min(seen), max(seen))
        assert (row["mean"], row["median"]) == pytest.approx((mean(seen), median(seen)))
        if len(seen) > 1:
            cuts = quantiles(seen, n=100, method="inclusive")
            expected = [cuts[24], cuts[74], cuts[89], cuts[94], cuts[98]]
            assert [row[c] for c in ("p25", "p75", "p90", "p95", "p99")] == pytest.approx(expected)
        if row["quantity"] == "steps":
            low, high = step_lengths.EDGES[row["traj_type"]]
            assert (row["at_edge_low"], row["at_edge_high"]) == (seen.count(low), seen.count(high))
            assert row["outside_edges"] == sum(not low <= n <= high for n in seen)
    counted = step_lengths.distribution(tables.trajectories, "steps").collect()
    assert Counter(
        {(mode, value): n for mode, value, n in counted.select("traj_type", "value", "trajectories").iter_rows()}
    ) == Counter((record.traj_type, len(record.assistant)) for record in raw)


def test_characters(source: Source) -> None:
    tables, raw = source
    totals: Counter[Key] = Counter()
    kinds = {"assistant": "assistant text", "tool": "result"}
    # A result may be delivered by the user: those records are compared as a whole.
    for record in raw:
        for message in record.messages:
            totals[record.traj_type, kinds.get(message["role"], message["role"])] += len(message.get("content") or "")
            totals[record.traj_type, "reasoning"] += len(message.get("reasoning_content") or "")
    found = step_lengths.characters(tables.messages, tables.trajectories).collect()
    seen = {(mode, kind): n for mode, kind, n in found.select("traj_type", "kind", "total_chars").iter_rows()}
    for mode in {record.traj_type for record in raw}:
        for kind in ("system", "assistant text", "reasoning"):
            assert seen.get((mode, kind), 0) == totals[mode, kind]
        delivered = totals[mode, "user"] + totals[mode, "result"]
        assert seen.get((mode, "user"), 0) + seen.get((mode, "result"), 0) == delivered


def test_coverage(source: Source) -> None:
    tables, raw = source
    none = (
        pl.LazyFrame(schema=tables.environments.collect_schema()),
        pl.LazyFrame(schema=tables.scenarios.collect_schema()),
    )
    found = coverage.environments(tables.trajectories, *none).collect()
    runs = Counter(record.env_id for record in raw)
    tasks = defaultdict(set)
    for record in raw:
        tasks[record.env_id].add(record.task_id)
    assert dict(found.select("env_id", "trajectories").iter_rows()) == runs
    assert dict(found.select("env_id", "scenarios").iter_rows()) == {env: len(ids) for env, ids in tasks.items()}
    keys = Counter((record.traj_type, record.env_id, record.task_id) for record in raw)
    modes = defaultdict(set)
    for mode, env_id, task_id in keys:
        modes[env_id, task_id].add(mode)
    summary = coverage.scenario_summary(tables.trajectories, none[1]).collect().row(0, named=True)
    assert (summary["seen"], summary["paired"]) == (len(modes), sum(len(kinds) == 2 for kinds in modes.values()))
    assert summary["repeats"] == sum(n - 1 for n in keys.values())
    assert summary["repeated_keys"] == sum(n > 1 for n in keys.values())
    per = Counter(n for n in Counter((record.env_id, record.task_id) for record in raw).values())
    counted = coverage.per_scenario(tables.trajectories, none[1]).collect().group_by("trajectories")
    assert dict(counted.agg(pl.col("scenarios").sum()).iter_rows()) == per


def test_the_samples_catalogue_is_the_denominator() -> None:
    tables, raw = load("sample"), list(sample())
    listed = {
        (env_id, task_id) for env_id, task_id in tables.scenarios.select("env_id", "task_id").collect().iter_rows()
    }
    played = {(record.env_id, record.task_id) for record in raw}
    assert listed, "the sample brings its own catalogue"
    summary = coverage.scenario_summary(tables.trajectories, tables.scenarios).collect().row(0, named=True)
    assert (summary["present"], summary["missing"]) == (len(listed & played), len(listed - played))
    missing = coverage.missing(tables.trajectories, tables.scenarios).collect()
    assert set(missing.iter_rows()) == listed - played


def test_overview(source: Source) -> None:
    tables, raw = source
    composition = overview.composition(tables.trajectories).collect()
    assert composition["records"].sum() == len(raw)
    steps = overview.steps_candidates(tables.trajectories).filter(pl.col("candidate") == "assistant messages").collect()
    assert steps["matches"].sum() == steps["declared"].sum() == len(raw)
    calls = {"tool calls": sum(len(r.calls) for r in raw), "records kept": len(raw)}
    shown = overview.headlines(tables.trajectories, tables.tool_calls, tables.findings, tables.rejected).collect()
    values = dict(shown.select("label", "value").iter_rows())
    assert {label: values[label] for label in calls} == {label: f"{n:,}" for label, n in calls.items()}
    broken = set(tables.findings.select("trajectory_id").collect()["trajectory_id"])
    sound = overview.sound(tables.trajectories, tables.findings).collect()
    assert sound["sound_records"].sum() == len(raw) - len(broken)


def test_claims_find_what_loops_find(source: Source) -> None:
    tables, raw = source
    found = claims.check(tables.trajectories, tables.environments, tables.scenarios, tables.manifest).collect()
    expected: dict[tuple[str, str, str], float] = {("trajectories", "all", "count"): len(raw)}
    for mode in ("conversation", "non_conversation"):
        seen = [record for record in raw if record.traj_type == mode]
        expected["trajectories", mode, "count"] = len(seen)
        if len(seen) > 1:
            offered = [len(record.tools) for record in seen]
            expected["tools offered", mode, "mean"] = mean(offered)
            expected["assistant messages", mode, "total"] = sum(len(record.assistant) for record in seen)
            expected["tool calls", mode, "p95"] = quantiles([len(r.calls) for r in seen], n=20, method="inclusive")[18]
    expected["tool calls", "all", "at most 12"] = mean(len(record.calls) <= 12 for record in raw)
    rows = {
        (quantity, scope, statistic): value
        for quantity, scope, statistic, value in found.select("quantity", "scope", "statistic", "found").iter_rows()
    }
    for claim, value in expected.items():
        assert float(rows[claim] or "nan") == pytest.approx(value, abs=0.005)
    assert found["verdict"].unique().to_list() == ["not checkable"], "none of these is the release"


def test_compare_on_the_same_scenarios(source: Source) -> None:
    tables, raw = source
    halves = [tables.where(traj_type=mode) for mode in ("conversation", "non_conversation")]
    sides: list[dict[Key, list[Raw]]] = [defaultdict(list), defaultdict(list)]
    for record in raw:
        sides[record.traj_type == "non_conversation"][record.env_id, record.task_id].append(record)
    frames: list[Any] = [half.trajectories for half in halves] + [half.tool_calls for half in halves]
    found = compare.paired(*frames).filter(pl.col("quantity") == "steps per trajectory").collect()
    shared = sides[0].keys() & sides[1].keys()
    changes = [
        mean(len(r.assistant) for r in sides[0][key]) - mean(len(r.assistant) for r in sides[1][key]) for key in shared
    ]
    assert found["scenarios"].to_list() == ([len(shared)] if shared else [])
    assert found["difference"].to_list() == pytest.approx([mean(changes)] if shared else [])
    headline = compare.headlines(*frames).filter(pl.col("quantity") == "calls per step").collect()
    if all(sides):
        rates = [
            sum(len(r.calls) for runs in side.values() for r in runs)
            / sum(len(r.assistant) for runs in side.values() for r in runs)
            for side in sides
        ]
        assert headline.select("left", "right").row(0) == pytest.approx(tuple(rates))
        assert headline["difference_low"][0] <= rates[0] - rates[1] <= headline["difference_high"][0]
    else:
        assert headline.is_empty()
