"""Overview, usage, lengths and coverage recomputed from raw records by plain loops: the sample and real ones."""

import json
import re
from collections import Counter, defaultdict
from math import exp, log
from pathlib import Path
from statistics import mean, median, quantiles

import polars as pl
import pytest

from analysis import brief, load
from analysis.measures import claims, coverage, overview, step_lengths, tool_usage
from analysis.records.rules import RULES
from analysis.sample import DEFAULT, write_siblings
from analysis.schema import ENVIRONMENTS, SCENARIOS
from analysis.tables import Tables
from tests.measures.raw import Key, Raw, Source, modes, sample, usage


def gini(held: list[int]) -> float:
    """Mean difference of all pairs over twice the mean: the definition, not the formula the project uses."""
    return sum(abs(a - b) for a in held for b in held) / len(held) ** 2 / (2 * mean(held))


def by_tool(tables: Tables) -> pl.LazyFrame:
    return tool_usage.by_tool(tables.tool_calls, tables.trajectories, tables.tools)


def test_usage_of_every_tool(source: Source) -> None:
    tables, raw = source
    found = by_tool(tables).collect()
    assert {
        (env, tool): (calls, offering, calling)
        for env, tool, calls, offering, calling in found.select(
            "env_id", "tool_name", "calls", "offering", "calling"
        ).iter_rows()
    } == usage(raw)
    calls = Counter(record.env_id for record in raw for _ in record.calls)
    for row in found.iter_rows(named=True):
        assert row["call_share"] == (
            pytest.approx(row["calls"] / calls[row["env_id"]]) if calls[row["env_id"]] else None
        )
        assert row["usage_rate"] == (row["calling"] / row["offering"] if row["offering"] >= 20 else None)


def test_the_busiest_tools(source: Source) -> None:
    tables, raw = source
    calls = Counter((record.env_id, name) for record in raw for name, _ in record.calls)
    found = tool_usage.busiest(by_tool(tables), top=10).collect()
    assert found["calls"].to_list() == sorted(calls.values(), reverse=True)[:10]
    assert found["all_calls"].unique().to_list() == [calls.total()]
    assert found["all_tools"].unique().to_list() == [len(usage(raw))]


def test_bands_of_the_usage_rate(source: Source) -> None:
    tables, raw = source
    often = [(calling, of) for _, of, calling in usage(raw).values() if of >= 20]
    # 0 apart, else the tenth whose upper end is not below the rate, counted up in whole numbers
    expected = Counter(next(band for band in range(11) if calling * 10 <= band * of) for calling, of in often)
    found = tool_usage.rates(by_tool(tables)).collect()
    assert {band: n for band, n in found.select("band", "tools").iter_rows() if n} == expected
    assert found["small_tools"].unique().to_list() == (
        [sum(0 < of < 20 for _, of, _ in usage(raw).values())] if often else []
    )


def test_the_largest_difference_between_the_modes(source: Source) -> None:
    tables, raw = source
    sides = {mode: usage(records) for mode, records in modes(raw).items()}
    talk, solo = sides.get("conversation", {}), sides.get("non_conversation", {})
    differences = [
        talk[key][2] / talk[key][1] - solo[key][2] / solo[key][1]
        for key in talk.keys() & solo.keys()
        if talk[key][1] >= 20 and solo[key][1] >= 20
    ]
    found = tool_usage.modes(tables.tool_calls, tables.trajectories, tables.tools, top=5).collect()
    assert found["difference"].abs().to_list()[::2] == pytest.approx(sorted(map(abs, differences), reverse=True)[:5])
    assert found["compared_tools"].unique().to_list() == ([len(differences)] if differences else [])


def test_breadth(source: Source) -> None:
    tables, raw = source
    found = tool_usage.breadth(tables.trajectories).collect()
    for mode, records in modes(raw).items():
        shares = [len({name for name, _ in r.calls} & r.offered) / len(r.offered) for r in records if r.offered]
        rows = found.filter(pl.col("traj_type") == mode)
        assert rows["trajectories"].sum() == len(shares)
        assert rows["median_breadth"].unique().to_list() == pytest.approx([median(shares)])
        for low, high, n in rows.select("breadth_from", "breadth_to", "trajectories").iter_rows():
            end = high - 1e-9 if high < 0.999 else 2
            assert n == sum(low - 1e-9 <= share < end for share in shares)


def test_concentration_and_unused_tools(source: Source) -> None:
    tables, raw = source
    counted: dict[str, list[int]] = defaultdict(list)
    for (env, _), (n, offering, _) in usage(raw).items():
        if offering:
            counted[env].append(n)
    found = tool_usage.concentration(by_tool(tables), tables.trajectories).collect()
    assert set(found["env_id"]) == set(counted)
    for row in found.iter_rows(named=True):
        calls = sorted(counted[row["env_id"]], reverse=True)
        assert (row["offered_tools"], row["unused_tools"], row["calls"]) == (len(calls), calls.count(0), sum(calls))
        assert row["gini"] == pytest.approx(gini(calls))
        assert row["top_three_share"] == pytest.approx(sum(calls[:3]) / sum(calls))
        entropy = -sum(n / sum(calls) * log(n / sum(calls)) for n in calls if n)
        assert row["effective_tools"] == pytest.approx(exp(entropy))
    unused = tool_usage.unused(by_tool(tables)).collect()
    assert set(unused.select("env_id", "tool_name").iter_rows()) == {
        key for key, (n, offering, _) in usage(raw).items() if offering and not n
    }
    whole = tool_usage.across(by_tool(tables)).collect().row(0, named=True)
    assert whole["offered_tools"] == sum(map(len, counted.values()))
    assert whole["gini"] == pytest.approx(gini([n for held in counted.values() for n in held]))
    assert whole["undeclared_calls"] == sum(name not in r.offered for r in raw for name, _ in r.calls)


def test_step_lengths(source: Source) -> None:
    tables, raw = source
    found = step_lengths.summary(tables.trajectories).collect()
    assert found.height == 3 * len(modes(raw))
    for row in found.iter_rows(named=True):
        values = [record.lengths[row["quantity"]] for record in modes(raw)[row["traj_type"]]]
        assert (row["trajectories"], row["total"]) == (len(values), sum(values))
        assert (row["minimum"], row["maximum"]) == (min(values), max(values))
        assert row["mean"] == pytest.approx(mean(values))
        assert row["median"] == median(values)
        if len(values) > 1:
            cuts = quantiles(values, n=100, method="inclusive")
            assert [row[p] for p in ("p25", "p75", "p90", "p95", "p99")] == pytest.approx(
                [cuts[level - 1] for level in (25, 75, 90, 95, 99)]
            )
        is_published = all(re.fullmatch(r"env_\d+_sft", record.env_id) for record in raw)
        if row["quantity"] == "steps" and is_published:
            low, high = (5, 39) if row["traj_type"] == "conversation" else (3, 29)
            assert (row["at_edge_low"], row["at_edge_high"]) == (values.count(low), values.count(high))
            assert row["outside_edges"] == sum(not low <= value <= high for value in values)


def test_histograms_and_cumulative_shares(source: Source) -> None:
    tables, raw = source
    found = step_lengths.distribution(tables.trajectories).collect()
    for mode, records in modes(raw).items():
        for quantity in ("steps", "tool calls", "user messages"):
            values = [record.lengths[quantity] for record in records]
            rows = found.filter((pl.col("traj_type") == mode) & (pl.col("quantity") == quantity))
            assert dict(rows.select("value", "trajectories").iter_rows()) == Counter(values)
            for value, share in rows.select("value", "cumulative_share").iter_rows():
                assert share == pytest.approx(sum(v <= value for v in values) / len(values))


def test_steps_by_environment(source: Source) -> None:
    tables, raw = source
    by_env: dict[str, list[Raw]] = defaultdict(list)
    for record in raw:
        by_env[record.env_id].append(record)
    found = step_lengths.by_environment(tables.trajectories, top=1_000).collect()
    assert set(found["env_id"]) == set(by_env)
    for row in found.iter_rows(named=True):
        records = by_env[row["env_id"]]
        assert row["environment_median"] == median(len(r.assistant) for r in records)
        assert row["median"] == median(len(r.assistant) for r in records if r.traj_type == row["traj_type"])
    assert found["environment_median"].is_sorted(descending=True)


def test_characters(source: Source) -> None:
    tables, raw = source
    texts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for record in raw:
        for message in record.messages:
            kind = {"assistant": "assistant text", "tool": "result"}.get(message["role"], message["role"])
            size = len(message.get("content") or "")
            if kind != "assistant text" or size:
                texts[record.traj_type, kind].append(size)
            if message.get("reasoning_content"):
                texts[record.traj_type, "reasoning"].append(len(message["reasoning_content"]))
    found = step_lengths.characters(tables.messages, tables.trajectories).collect()
    assert {
        (mode, kind): (n, total)
        for mode, kind, n, total in found.select("traj_type", "kind", "texts", "total_chars").iter_rows()
    } == {key: (len(sizes), sum(sizes)) for key, sizes in texts.items()}
    for row in found.iter_rows(named=True):
        sizes = texts[row["traj_type"], row["kind"]]
        assert (row["median"], row["maximum"]) == (median(sizes), max(sizes))


def test_environments_seen(source: Source) -> None:
    tables, raw = source
    held = Counter(record.env_id for record in raw)
    scenarios = {env: len({r.task_id for r in raw if r.env_id == env}) for env in held}
    found = coverage.environments(tables.trajectories, tables.environments, tables.scenarios).collect()
    there = found.filter(pl.col("trajectories") > 0)
    assert dict(there.select("env_id", "trajectories").iter_rows()) == held
    assert dict(there.select("env_id", "scenarios").iter_rows()) == scenarios
    balance = coverage.balance(found.lazy()).collect().row(0, named=True)
    counts = [*held.values(), *[0] * balance["absent"]]
    assert balance["gini"] == pytest.approx(gini(counts))
    entropy = -sum(n / len(raw) * log(n / len(raw)) for n in held.values())
    assert balance["effective_environments"] == pytest.approx(exp(entropy))
    largest = sorted(counts, reverse=True)[: -(-len(counts) // 10)]
    assert balance["top_tenth"] == sum(largest)
    assert balance["top_tenth_share"] == (pytest.approx(sum(largest) / len(raw)) if len(raw) >= 20 else None)


def test_scenarios_seen(source: Source) -> None:
    tables, raw = source
    runs: dict[Key, Counter[str]] = defaultdict(Counter)
    for record in raw:
        runs[record.env_id, record.task_id][record.traj_type] += 1
    found = coverage.scenario_summary(tables.trajectories, tables.scenarios).collect().row(0, named=True)
    assert (found["seen"], found["paired"]) == (len(runs), sum(len(kinds) == 2 for kinds in runs.values()))
    assert found["repeated_keys"] == sum(n > 1 for kinds in runs.values() for n in kinds.values())
    assert found["repeats"] == sum(n - 1 for kinds in runs.values() for n in kinds.values())
    per = coverage.per_scenario(tables.trajectories, tables.scenarios).collect().filter(pl.col("trajectories") > 0)
    by_runs: Counter[int] = Counter()
    for n, scenarios in per.select("trajectories", "scenarios").iter_rows():
        by_runs[n] += scenarios
    assert by_runs == Counter(kinds.total() for kinds in runs.values())
    repeated = coverage.repeated(tables.trajectories).collect()
    assert {(env, task, mode): n for env, task, mode, n in repeated.iter_rows()} == {
        (*key, mode): n for key, kinds in runs.items() for mode, n in kinds.items() if n > 1
    }


def test_what_steps_counts(source: Source) -> None:
    tables, raw = source
    found = overview.steps_candidates(tables.trajectories).collect()
    declared = tables.trajectories.select("traj_type", "steps").collect()
    for mode, records in modes(raw).items():
        steps = declared.filter(pl.col("traj_type") == mode)["steps"].to_list()
        assert len(steps) == len(records)
        counts = {
            "assistant messages": [len(r.assistant) for r in records],
            "tool calls": [len(r.calls) for r in records],
            "tool messages": [sum(m["role"] == "tool" for m in r.messages) for r in records],
        }
        rows = found.filter(pl.col("traj_type") == mode)
        assert dict(rows.select("candidate", "matches").iter_rows()) == {
            name: sum(a == b for a, b in zip(steps, numbers, strict=True)) for name, numbers in counts.items()
        }


def test_findings_by_rule(source: Source) -> None:
    tables, raw = source
    findings = tables.findings.select("trajectory_id", "rule").collect().rows()
    found = overview.rules(tables.trajectories, tables.findings, RULES).collect()
    broken = {
        rule: (n, records) for rule, n, records in found.select("rule", "findings", "records_breaking").iter_rows()
    }
    assert {rule: numbers for rule, numbers in broken.items() if numbers[0]} == {
        rule: (n, len({id_ for id_, broke in findings if broke == rule}))
        for rule, n in Counter(rule for _, rule in findings).items()
    }
    assert {rule.id for rule in RULES} <= set(broken)
    sound = overview.sound(tables.trajectories, tables.findings).collect()
    assert sound["sound_records"].sum() == len(raw) - len({id_ for id_, _ in findings})
    assert overview.composition(tables.trajectories).collect()["records"].sum() == len(raw)


def test_every_claim_about_lengths_is_recounted(source: Source) -> None:
    tables, raw = source
    checked = claims.check(tables.trajectories, tables.environments, tables.scenarios, tables.manifest).collect()
    found = {
        (quantity, scope, statistic): value
        for quantity, scope, statistic, value in checked.select("quantity", "scope", "statistic", "found").iter_rows()
    }
    assert set(checked.filter(pl.col("scope") != "catalogue")["verdict"]) == {"not checkable"}
    assert found["trajectories", "all", "count"] == str(len(raw))
    at_most = sum(len(record.calls) <= 12 for record in raw) / len(raw)
    assert found["tool calls", "all", "at most 12"] == f"{at_most:.4f}"
    for mode, records in modes(raw).items():
        assert found["trajectories", mode, "count"] == str(len(records))
        assert found["assistant messages", mode, "total"] == str(sum(len(r.assistant) for r in records))
        average = mean(len(r.tools) for r in records)
        assert float(found["tools offered", mode, "mean"]) == pytest.approx(average)
        if len(records) > 1:
            p95 = quantiles([len(r.calls) for r in records], n=20, method="inclusive")[18]
            assert float(found["tool calls", mode, "p95"]) == pytest.approx(p95, abs=0.005)


def test_without_a_catalogue_what_was_seen_is_all_there_is(source: Source) -> None:
    tables, raw = source
    none = SCENARIOS.empty().lazy()
    found = coverage.environments(tables.trajectories, ENVIRONMENTS.empty().lazy(), none).collect()
    assert dict(found.select("env_id", "trajectories").iter_rows()) == Counter(record.env_id for record in raw)
    runs = Counter((record.env_id, record.task_id) for record in raw)
    assert coverage.scenario_summary(tables.trajectories, none).collect()["seen"].to_list() == [len(runs)]
    per = coverage.per_scenario(tables.trajectories, none).collect().group_by("trajectories")
    assert dict(per.agg(pl.col("scenarios").sum()).iter_rows()) == Counter(runs.values())


def test_headlines_of_the_sample_add_up() -> None:
    tables, raw = load("sample"), list(sample())
    summary = overview.summary(tables.trajectories, tables.tool_calls, tables.findings, tables.rejected).collect()
    value = {headline.label: headline.value for headline in brief.overview.in_brief(summary)}
    results = [m["content"] for r in raw for m in r.messages if m["role"] == "tool"]
    failed = sum(result.startswith("{'success': False") for result in results)
    refused = sum(
        m["role"] == "user" and m["content"].startswith("Error:") and bool(r.messages[place - 1].get("tool_calls"))
        for r in raw
        for place, m in enumerate(r.messages)
    )
    judged = len(results) + refused
    assert value["calls that fail"] == f"{100 * (failed + refused) / judged:.1f} %"
    assert value["records kept"] == f"{len(raw):,}"
    assert value["tool calls"] == f"{sum(len(r.calls) for r in raw):,}"
    assert value["environments"] == str(len({r.env_id for r in raw}))
    assert value["scenarios"] == str(len({(r.env_id, r.task_id) for r in raw}))


def test_the_catalogue_of_the_sample_is_counted_from_its_files(tmp_path: Path) -> None:
    write_siblings(
        tmp_path,
        environments=DEFAULT["environments"],
        seed=DEFAULT["seed"],
        trajectories=DEFAULT["trajectories"],
    )
    catalogue = json.loads((tmp_path / "environments.json").read_text(encoding="utf-8"))
    names = set(catalogue) if isinstance(catalogue, dict) else {entry["env_id"] for entry in catalogue}
    listed = [
        scenario
        for name in ("scenarios.json", "rl_scenarios.json")
        for scenario in json.loads((tmp_path / name).read_text(encoding="utf-8"))
    ]
    tables, raw = load("sample"), list(sample())
    found = coverage.environments(tables.trajectories, tables.environments, tables.scenarios).collect()
    assert set(found["env_id"]) == names
    assert set(found.filter(pl.col("trajectories") == 0)["env_id"]) == names - {record.env_id for record in raw}
    missing = coverage.missing(tables.trajectories, tables.scenarios).collect()
    seen = {(record.env_id, record.task_id) for record in raw}
    known = {(s["env_id"], str(s["task_id"])) for s in listed}
    assert set(missing.iter_rows()) == known - seen
    summary = coverage.scenario_summary(tables.trajectories, tables.scenarios).collect().row(0, named=True)
    assert (summary["present"], summary["missing"]) == (len(known & seen), len(known - seen))
