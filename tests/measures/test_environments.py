"""Environments: counts per environment, beside the published ones, and the checks of scenarios."""

from collections import Counter
from statistics import mean, median

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import environments
from analysis.sample import siblings
from analysis.schema import ENVIRONMENTS, SCENARIOS
from tests.measures.frames import rows, shuffled

ENVIRONMENTS_SEEN = rows(
    ENVIRONMENTS,
    {"env_id": "env_2", "query_tools": 10, "change_tools": 8, "state_categories": 20, "rules": 3},
    {"env_id": "env_10", "query_tools": 11, "change_tools": 8, "state_categories": 22, "rules": 5},
    {"env_id": "env_1", "query_tools": 10, "change_tools": 6, "state_categories": 21, "rules": 4},
)
SCENARIOS_SEEN = rows(
    SCENARIOS,
    {"task_id": "1", "env_id": "env_2", "checks": 2},
    {"task_id": "2", "env_id": "env_2", "checks": 2},
    {"task_id": "3", "env_id": "env_10", "checks": 5},
    {"task_id": "4", "env_id": "env_10"},
)
NO_SCENARIOS = SCENARIOS.empty().lazy()


def test_environments_stand_in_natural_order_and_one_without_scenarios_counts_none() -> None:
    found = environments.per_environment(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
    assert found.select("env_id", "scenarios").rows() == [("env_1", 0), ("env_2", 2), ("env_10", 2)]


def test_without_a_scenario_set_the_number_of_scenarios_is_unknown_not_nought() -> None:
    found = environments.per_environment(ENVIRONMENTS_SEEN, NO_SCENARIOS).collect()
    assert found["scenarios"].to_list() == [None, None, None]
    assert "scenarios" not in environments.summary(ENVIRONMENTS_SEEN, NO_SCENARIOS).collect()["quantity"].to_list()


def test_means_and_medians_stand_beside_the_published_ones() -> None:
    found = environments.summary(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
    queries = found.row(by_predicate=pl.col("quantity") == "query tools", named=True)
    assert (queries["environments"], queries["median"], queries["min"], queries["max"]) == (3, 10, 10, 11)
    assert queries["mean"] == pytest.approx((10 + 11 + 10) / 3)
    assert (queries["published_mean"], queries["published_median"], queries["is_equal"]) == (10.44, 10, False)
    rules = found.row(by_predicate=pl.col("quantity") == "rules", named=True)
    assert (rules["published_mean"], rules["is_equal"]) == (None, None)


def test_a_set_that_has_the_published_numbers_is_told_so() -> None:
    # 100 environments: 56 of 10 and 44 of 11 query tools have the mean 10.44 and the median 10.
    made = [{"env_id": f"env_{n}", "query_tools": 10 if n < 56 else 11} for n in range(100)]
    found = environments.summary(rows(ENVIRONMENTS, *made), NO_SCENARIOS).collect()
    assert found.row(by_predicate=pl.col("quantity") == "query tools", named=True)["is_equal"] is True


def test_the_published_numbers_are_those_of_the_card() -> None:
    assert environments.PUBLISHED == {
        "query tools": (10.44, 10),
        "state-change tools": (8.14, 8),
        "state categories": (21.38, 21),
        "scenarios": (37.28, 42),
    }


def test_histograms_hold_every_environment_once_per_quantity() -> None:
    found = environments.histogram(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
    queries = found.filter(pl.col("quantity") == "query tools")
    assert queries.select("count_from", "count_to", "environments").rows() == [(10, 11, 2), (11, 12, 1)]
    scenarios = found.filter(pl.col("quantity") == "scenarios")
    assert scenarios.select("count_from", "count_to", "environments").rows() == [(0, 5, 3)]
    sums = found.group_by("quantity").agg(pl.col("environments", "environment_share").sum())
    assert set(sums["environments"]) == {3}
    assert sums["environment_share"].to_list() == pytest.approx([1.0] * sums.height)


def test_quantities_stand_in_their_order_with_their_smallest_and_largest() -> None:
    found = environments.summary(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
    assert found["quantity"].to_list() == [name for name in environments.QUANTITIES if name in found["quantity"]]
    seen = {row["quantity"]: (row["median"], row["min"], row["max"]) for row in found.iter_rows(named=True)}
    assert seen["state-change tools"] == (8, 6, 8)
    assert seen["state categories"] == (21, 20, 22)
    assert seen["rules"] == (4, 3, 5)
    assert seen["scenarios"] == (2, 0, 2)
    published = dict(found.select("quantity", "published_median").iter_rows())
    assert {name: published[name] for name in environments.PUBLISHED} == {
        name: median for name, (_, median) in environments.PUBLISHED.items()
    }


def test_a_mean_like_the_published_one_with_another_median_is_not_equal() -> None:
    counts = [11] * 60 + [10] * 24 + [9] * 16
    made = rows(ENVIRONMENTS, *({"env_id": f"env_{n}", "query_tools": tools} for n, tools in enumerate(counts)))
    found = environments.summary(made, NO_SCENARIOS).collect()
    row = found.row(by_predicate=pl.col("quantity") == "query tools", named=True)
    assert (row["mean"], row["median"], row["is_equal"]) == (10.44, 11, False)


def test_bins_stand_in_order_and_scenarios_are_binned_by_five() -> None:
    played = rows(
        SCENARIOS, *({"task_id": str(n), "env_id": "env_2"} for n in range(7)), {"task_id": "x", "env_id": "env_1"}
    )
    found = environments.histogram(ENVIRONMENTS_SEEN, played).collect()
    scenarios = found.filter(pl.col("quantity") == "scenarios")
    assert scenarios.select("count_from", "count_to", "environments", "environment_share").rows() == [
        (0, 5, 2, 2 / 3),
        (5, 10, 1, 1 / 3),
    ]
    rules = found.filter(pl.col("quantity") == "rules")
    assert rules["count_from"].to_list() == [3, 4, 5]
    assert found["quantity"].unique(maintain_order=True).to_list() == [
        name for name in environments.QUANTITIES if name in found["quantity"]
    ]


def test_checks_are_counted_over_the_scenarios_that_have_any() -> None:
    found = environments.checks_per_scenario(SCENARIOS_SEEN).collect()
    assert found.select("checks", "scenarios", "all_scenarios").rows() == [(2, 2, 3), (5, 1, 3)]
    assert found["mean_checks"].unique().to_list() == [(2 + 2 + 5) / 3]
    assert found["scenario_share"].sum() == pytest.approx(1)


def test_the_samples_siblings_give_what_plain_counting_gives() -> None:
    raw, scenarios, checked = siblings(14, 7)
    kinds = {row["env_id"]: Counter(operation["operation_type"] for operation in row["operation_list"]) for row in raw}
    seen = rows(
        ENVIRONMENTS,
        *(
            {"env_id": name, "query_tools": n["query"], "change_tools": sum(n.values()) - n["query"]}
            for name, n in kinds.items()
        ),
    )
    played = rows(
        SCENARIOS,
        *({"task_id": row["task_id"], "env_id": row["env_id"]} for row in scenarios),
        *(
            {"task_id": row["task_id"], "env_id": row["env_id"], "checks": len(row["checklist_with_func"])}
            for row in checked
        ),
    )
    found = environments.summary(seen, played).collect().rows_by_key("quantity", named=True, unique=True)
    per_environment = Counter(row["env_id"] for row in [*scenarios, *checked])
    for quantity, counts in {
        "query tools": [n["query"] for n in kinds.values()],
        "state-change tools": [sum(n.values()) - n["query"] for n in kinds.values()],
        "scenarios": [per_environment[name] for name in kinds],
    }.items():
        assert found[quantity]["mean"] == pytest.approx(mean(counts))
        assert found[quantity]["median"] == median(counts)
    checks = environments.checks_per_scenario(played).collect()
    assert dict(checks.select("checks", "scenarios").iter_rows()) == Counter(
        len(row["checklist_with_func"]) for row in checked
    )


def test_order_is_irrelevant_and_nothing_gives_the_declared_empty_frame() -> None:
    for measure, result in [
        (environments.per_environment, environments.PER_ENVIRONMENT),
        (environments.summary, environments.SUMMARY),
        (environments.histogram, environments.HISTOGRAM),
    ]:
        expected = measure(ENVIRONMENTS_SEEN, SCENARIOS_SEEN).collect()
        assert_frame_equal(expected, measure(shuffled(ENVIRONMENTS_SEEN), shuffled(SCENARIOS_SEEN)).collect())
        assert_frame_equal(measure(ENVIRONMENTS.empty().lazy(), NO_SCENARIOS).collect(), result.empty())
    assert_frame_equal(
        environments.checks_per_scenario(NO_SCENARIOS).collect(), environments.CHECKS_PER_SCENARIO.empty()
    )
