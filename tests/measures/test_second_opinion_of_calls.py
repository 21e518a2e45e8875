"""Call quality, sequences and value flow recomputed from raw records by plain loops: the sample and real ones."""

import ast
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise, product
from statistics import mean, pstdev
from typing import Any, NamedTuple

import polars as pl
import pytest

from analysis.measures import arguments, grounding, order, outcomes, recovery, repeats, sequences
from analysis.records import values
from analysis.schema import VALUES
from analysis.tables import Tables
from tests.measures.raw import Raw, Source


class Call(NamedTuple):
    """A call with its result, paired by position."""

    tool: str
    arguments: str
    outcome: str
    message: int
    result: int | None

    @property
    def same(self) -> str:
        return self.tool + json.dumps(json.loads(self.arguments), sort_keys=True)


def outcome(result: dict[str, Any] | None) -> str:
    """What a result says, read without the project's rules: a literal, JSON, or a text that starts with Error."""
    content = (result or {}).get("content") or ""
    if content.lower().startswith("error"):
        return "error"
    for read in (ast.literal_eval, json.loads):
        try:
            found = read(content)
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, dict) and "success" in found:
            return "ok" if found["success"] else "error"
        return "ok" if isinstance(found, dict | list) else "unknown"
    return "unknown"


def calls(record: Raw) -> Iterator[Call]:
    """The calls of a record in which every message makes at most one and the next message answers it."""
    for place, message in enumerate(record.messages):
        for call in message.get("tool_calls") or ():
            after = record.messages[place + 1] if place + 1 < len(record.messages) else None
            function = call["function"]
            answered = place + 1 if after is not None and after["role"] == "tool" else None
            yield Call(function["name"], function["arguments"], outcome(after), place, answered)


Called = tuple[Tables, list[Raw], list[list[Call]]]


@pytest.fixture(scope="session")
def called(source: Source) -> Called:
    """A source, its raw records, and their calls."""
    tables, raw = source
    return tables, raw, [list(calls(record)) for record in raw]


def by(frame: pl.LazyFrame, *keys: str) -> dict[Any, dict[str, Any]]:
    rows = frame.collect().rows(named=True)
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}


def test_outcomes_per_mode(called: Called) -> None:
    tables, raw, made = called
    expected: dict[str, Counter[str]] = defaultdict(Counter)
    for record, of_record in zip(raw, made, strict=True):
        expected[record.traj_type].update(call.outcome for call in of_record)
    found = by(outcomes.by_mode(tables.tool_calls), "traj_type")
    assert {mode: (row["calls"], row["errors"], row["unknown"]) for mode, row in found.items()} == {
        mode: (counts.total(), counts["error"], counts["unknown"]) for mode, counts in expected.items()
    }


def test_outcomes_per_environment_tool_and_tenth(called: Called) -> None:
    tables, raw, made = called
    environments: Counter[str] = Counter()
    tools: Counter[tuple[str, str]] = Counter()
    tenths: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for record, of_record in zip(raw, made, strict=True):
        for place, call in enumerate(of_record):
            if len(of_record) >= 10:
                tenth = min(int((place + 0.5) / len(of_record) * 10 + 1e-9), 9) + 1
                tenths[record.traj_type, tenth][call.outcome] += 1
            if call.outcome == "error":
                environments[record.env_id] += 1
                tools[record.env_id, call.tool] += 1
    of_environment = by(outcomes.by_environment(tables.tool_calls), "env_id")
    assert {name: row["errors"] for name, row in of_environment.items() if row["errors"]} == environments
    of_tool = by(outcomes.by_tool(tables.tool_calls, top=10_000), "env_id", "tool_name")
    assert {tool: row["errors"] for tool, row in of_tool.items()} == tools
    of_tenth = by(outcomes.by_position(tables.tool_calls), "traj_type", "tenth")
    assert {key: (row["calls"], row["errors"]) for key, row in of_tenth.items()} == {
        key: (counts.total(), counts["error"]) for key, counts in tenths.items()
    }


def test_templates_account_for_every_error(called: Called) -> None:
    tables, _, made = called
    found = outcomes.templates(tables.tool_calls, top=10_000).collect()
    assert found["errors"].sum() == sum(call.outcome == "error" for of_record in made for call in of_record)
    assert not [text for text in found["template"] if re.search(r"\d", text)]


def test_argument_classes_by_the_required_and_declared_names(called: Called) -> None:
    tables, raw, made = called
    expected: Counter[str] = Counter()
    for record, of_record in zip(raw, made, strict=True):
        declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in record.tools}
        for call in of_record:
            if call.tool not in declared:
                expected["undeclared_tool"] += 1
            elif set(declared[call.tool].get("required", ())) - set(json.loads(call.arguments)):
                expected["over_required" if call.outcome == "ok" else "missing_required"] += 1
    found = arguments.classes(tables.tool_calls).collect()
    assert found["calls"].sum() == sum(map(len, made))
    counted = dict(found.group_by(pl.col("verdict").cast(pl.String)).agg(pl.col("calls").sum()).iter_rows())
    for verdict in ("undeclared_tool", "over_required", "missing_required"):
        assert counted.get(verdict, 0) == expected[verdict], verdict


def test_recovery(called: Called) -> None:
    tables, raw, made = called
    latencies: dict[str, list[int | None]] = defaultdict(list)
    episodes: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    responses: Counter[tuple[str, str]] = Counter()
    for record, of_record in zip(raw, made, strict=True):
        begun: dict[str, int] = {}
        for place, call in enumerate(of_record):
            if call.outcome == "ok" and call.tool in begun:
                episodes[record.traj_type].append((place - begun.pop(call.tool), True))
            if call.outcome != "error":
                continue
            begun.setdefault(call.tool, place)
            later = of_record[place + 1 :]
            oks = [k for k, other in enumerate(later, start=1) if other.tool == call.tool and other.outcome == "ok"]
            latencies[record.traj_type].append(oks[0] if oks else None)
            if not later:
                response = "no_further_call"
            elif later[0].same == call.same:
                response = "identical_retry"
            else:
                response = "same_tool" if later[0].tool == call.tool else "other_tool"
            responses[record.traj_type, response] += 1
        for place in begun.values():
            episodes[record.traj_type].append((len(of_record) - 1 - place, False))
    found = by(recovery.summary(tables.tool_calls), "traj_type")
    assert set(found) == set(latencies)
    for mode, row in found.items():
        recovered = [latency for latency in latencies[mode] if latency is not None]
        assert (row["errors"], row["recovered"]) == (len(latencies[mode]), len(recovered))
        assert row["identical_retries"] == responses[mode, "identical_retry"]
        ended = [is_recovered for _, is_recovered in episodes[mode]]
        assert (row["episodes"], row["recovered_episodes"]) == (len(ended), sum(ended))
    assert {
        key: row["errors"] for key, row in by(recovery.next_calls(tables.tool_calls), "traj_type", "response").items()
    } == responses
    within = by(recovery.latencies(tables.tool_calls), "traj_type", "latency")
    for mode, lived in episodes.items():
        still_open, expected = 1.0, {}
        for latency in sorted({time for time, is_recovered in lived if is_recovered}):
            at_risk = sum(time >= latency for time, _ in lived)
            still_open *= 1 - lived.count((latency, True)) / at_risk
            expected[latency] = (lived.count((latency, True)), at_risk, pytest.approx(1 - still_open))
        half = [latency for latency, (*_, share) in expected.items() if share.expected >= 0.5 - 1e-12]
        assert found[mode]["median_latency"] == min(half, default=None)
        assert {
            latency: (row["recovered"], row["open"], row["cumulative_share"])
            for (m, latency), row in within.items()
            if m == mode
        } == {latency: told for latency, told in expected.items() if latency <= recovery.LONGEST_LATENCY}


def test_longest_runs_of_errors(called: Called) -> None:
    tables, raw, made = called
    expected: Counter[tuple[str, int]] = Counter()
    for record, of_record in zip(raw, made, strict=True):
        stretches = groupby(of_record, key=lambda call: call.outcome == "error")
        lengths = [len(list(stretch)) for is_error, stretch in stretches if is_error]
        if of_record:
            expected[record.traj_type, max(lengths, default=0)] += 1
    found = by(recovery.runs(tables.tool_calls), "traj_type", "longest_run")
    assert {key: row["trajectories"] for key, row in found.items()} == expected


def test_repeats(called: Called) -> None:
    tables, raw, made = called
    expected: Counter[str] = Counter()
    idle = 0
    kinds = {
        (row["env_id"], row["tool_name"]): row["kind"] for row in tables.environment_tools.collect().rows(named=True)
    }
    reading = re.compile(r"(get|list|search|find|check|view|lookup|calculate|think|filter|retrieve|count)_?")
    for record, of_record in zip(raw, made, strict=True):
        last: dict[str, int] = {}
        changes: list[int] = []
        for place, call in enumerate(of_record):
            if call.same in last:
                expected[record.traj_type] += 1
                idle += not any(last[call.same] < change < place for change in changes)
            last[call.same] = place
            guess = "query" if reading.match(call.tool) else "change"
            if kinds.get((record.env_id, call.tool), guess) == "change":
                changes.append(place)
    found = repeats.shares(tables.tool_calls, tables.environment_tools).collect()
    per_mode = found.group_by(pl.col("traj_type").cast(pl.String)).agg(pl.col("repeats").sum())
    assert {mode: n for mode, n in per_mode.iter_rows() if n} == expected
    assert found["calls"].sum() == sum(map(len, made))
    assert found["idle_repeats"].sum() == idle


def test_loops(called: Called) -> None:
    tables, _, made = called
    expected: Counter[tuple[int, int, int]] = Counter()
    for of_record in made:
        same = [call.same for call in of_record]
        for period in range(1, repeats.LONGEST_PERIOD + 1):
            for first, last in stretches(same, period):
                block = same[first : first + period]
                shorter = [p for p in range(1, period) if period % p == 0 and block == block[:p] * (period // p)]
                if not shorter:
                    expected[period, first + 1, last - first + 1] += 1
    found = repeats.loops(tables.tool_calls, tables.environment_tools).collect()
    assert Counter(found.select("period", "first_call", "calls").iter_rows()) == expected


def stretches(same: list[str], period: int) -> Iterator[tuple[int, int]]:
    """First and last place of every longest stretch of that period, at least three blocks long."""
    place = 0
    while place < len(same):
        last = place + period - 1
        while last + 1 < len(same) and same[last + 1] == same[last + 1 - period]:
            last += 1
        if last - place + 1 >= repeats.FEWEST_TURNS * period:
            yield place, last
            place = last - period + 2
        else:
            place += 1


def test_transitions_and_entropy(called: Called) -> None:
    tables, raw, made = called
    pairs: Counter[tuple[str, str]] = Counter()
    of_environment: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for record, of_record in zip(raw, made, strict=True):
        if of_record:
            tokens = [order.START, *(call.tool for call in of_record), order.END]
            pairs.update(pairwise(tokens))
            of_environment[record.env_id].update(pairwise(tokens))
    found = sequences.transitions(tables.tool_calls, tables.environment_tools, min_n=1, top=100_000)
    counted = by(found, "before", "after")
    assert {pair: row["transitions"] for pair, row in counted.items()} == pairs
    before = Counter[str]()
    expected = Counter[tuple[str, str]]()
    for (first, _), n in pairs.items():
        before[first] += n
    for seen in of_environment.values():
        leaving, coming = Counter[str](), Counter[str]()
        for (first, second), n in seen.items():
            leaving[first] += n
            coming[second] += n
        for first, second in product(leaving, coming):
            expected[first, second] += leaving[first] * coming[second] / seen.total()  # type: ignore[assignment]
    for pair, row in counted.items():
        assert row["probability"] == pytest.approx(pairs[pair] / before[pair[0]])
        assert row["lift"] == pytest.approx(pairs[pair] / expected[pair])
    entropies = by(sequences.entropy(tables.tool_calls, tables.environment_tools, min_n=1), "env_id")
    assert set(entropies) == set(of_environment)
    for name, seen in of_environment.items():
        outgoing = Counter[str]()
        for (first, _), n in seen.items():
            outgoing[first] += n
        rate = -sum(n / seen.total() * math.log2(n / outgoing[first]) for (first, _), n in seen.items())
        assert entropies[name]["seen_entropy_rate"] == pytest.approx(rate, abs=1e-9)
    fewest = min(seen.total() for seen in of_environment.values())
    for name, seen in of_environment.items():
        draw = random.Random(1)
        drawn = [rate_of(Counter(draw.sample(list(seen.elements()), fewest))) for _ in range(100)]
        assert entropies[name]["entropy_rate"] == pytest.approx(mean(drawn), abs=4 * pstdev(drawn) / 10 + 1e-9)


def rate_of(seen: Counter[tuple[str, str]]) -> float:
    """Entropy rate of what was seen, in bits."""
    outgoing = Counter[str]()
    for (first, _), n in seen.items():
        outgoing[first] += n
    return -sum(n / seen.total() * math.log2(n / outgoing[first]) for (first, _), n in seen.items())


def test_maximal_runs_of_calls(called: Called) -> None:
    tables, _, made = called
    support: Counter[tuple[str, ...]] = Counter()
    for of_record in made:
        names = [call.tool for call in of_record]
        support.update({tuple(names[k : k + n]) for n in (2, 3, 4) for k in range(len(names) - n + 1)})
    for min_n in (1, 5, 20):
        kept = {run: n for run, n in support.items() if n >= min_n}
        inside = {part for run in kept if len(run) > 2 for part in (run[:-1], run[1:])}
        maximal = {" → ".join(run): n for run, n in kept.items() if run not in inside}
        found = sequences.ngrams(tables.tool_calls, tables.environment_tools, min_n=min_n, top=1_000_000)
        assert {name: row["trajectories"] for name, row in by(found, "ngram").items()} == maximal


def test_every_id_like_value_is_where_it_is_said_to_be(called: Called) -> None:
    """Grounded or not, judged by splitting the texts before the call into words."""
    tables, raw, made = called
    found = tables.derive(VALUES, values.rows, key=values.VERSION).collect()
    order = tables.trajectories.select("trajectory_id").collect()["trajectory_id"].to_list()
    place = {id_: k for k, id_ in enumerate(order)}
    assert found.height
    for row in found.sample(min(found.height, 1_500), seed=0).iter_rows(named=True):
        record, call = raw[place[row["trajectory_id"]]], made[place[row["trajectory_id"]]][row["call"] - 1]
        heard = [m for m in record.messages[: call.message] if m["role"] != "assistant"]
        holding = [m["role"] for m in heard if row["value"] in words(m.get("content") or "")]
        if row["source"] in ("user", "system"):
            assert row["source"] in holding
        elif row["source"] in ("result", "echo"):
            assert "tool" in holding
        else:
            # The error that rejected a value does not ground it.
            assert set(holding) <= {"tool"}
            refused = {c.result for c in made[place[row["trajectory_id"]]] if c.outcome == "error"}
            elsewhere = [m for n, m in enumerate(record.messages[: call.message]) if n not in refused]
            assert row["value"] not in {w for m in elsewhere if m["role"] == "tool" for w in words(m["content"] or "")}
            assert (row["source"] == "task") == (row["value"] in words(record.task))
        if row["source_call"] is not None:
            origin = made[place[row["trajectory_id"]]][row["source_call"] - 1]
            assert row["distance"] == row["call"] - row["source_call"] > 0
            assert origin.result is not None
            assert row["value"] in (record.messages[origin.result]["content"] or "")


@cache
def words(text: str) -> set[str]:
    """Every stretch of word characters and hyphens, and the parts of it that hyphens set apart at its ends."""
    return {word for stretch in re.split(r"[^\w\-@.:/#+ ]|\\[nrt]| ", text) for word in parts(stretch)}


def parts(stretch: str) -> Iterator[str]:
    pieces = re.split(r"([@.:/#+])", stretch)
    for first in range(0, len(pieces), 2):
        for last in range(first + 1, len(pieces) + 1, 2):
            word = "".join(pieces[first:last])
            yield word
            yield word.rstrip("-")


def test_ungrounded_rate_and_chains(called: Called) -> None:
    tables, raw, made = called
    found = tables.derive(VALUES, values.rows, key=values.VERSION)
    rows = found.collect().rows(named=True)
    counted = grounding.sources(found).collect()
    assert counted["values"].sum() == len(rows)
    links: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if row["source_call"] is not None:
            links[row["trajectory_id"]][row["call"]].add(row["source_call"])
    longest: Counter[tuple[str, int]] = Counter()
    for id_, record, of_record in zip(
        tables.trajectories.select("trajectory_id").collect()["trajectory_id"], raw, made, strict=True
    ):
        if of_record:
            deepest = max(depth(call, links[id_]) for call in range(1, len(of_record) + 1))
            longest[record.traj_type, deepest] += 1
    chains = by(grounding.chains(found, tables.trajectories), "traj_type", "longest_chain")
    assert {key: row["trajectories"] for key, row in chains.items()} == longest


def depth(call: int, links: dict[int, set[int]]) -> int:
    return 1 + max((depth(origin, links) for origin in links.get(call, ())), default=0)
