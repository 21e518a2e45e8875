"""Limits keep what they say, in an order that only the seed gives, and a manifest repeats the choice to the byte."""

import json
from collections import Counter
from filecmp import dircmp
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import load
from analysis.cli.main import main
from analysis.export import ExportRequest, Limits, export
from analysis.export.on_demand import choosable_of
from analysis.export.subset import choose, features_of
from analysis.tables import Tables


@pytest.fixture(scope="module")
def sample() -> Tables:
    return load("sample", progress=False)


def chosen(sample: Tables, seed: int = 0, **limits: Any) -> pl.DataFrame:
    rows = choosable_of(sample, Limits(**limits).columns)
    return choose(rows, Limits(**limits), seed, features_of(sample.tool_calls))[0]


def test_at_most_so_many_of_a_scenario_and_of_an_environment_are_kept(sample: Tables) -> None:
    all_ = sample.trajectories.collect()
    scenario = ("env_id", "task_id", "traj_type")
    for limits, columns in (({"per_scenario": 1}, scenario), ({"per_environment": 7}, ("env_id",))):
        (most,) = limits.values()
        before, after = (Counter(frame.select(columns).rows()) for frame in (all_, chosen(sample, **limits)))
        assert after == {key: min(n, most) for key, n in before.items()}


def test_copies_are_dropped_and_the_first_of_them_is_kept(sample: Tables) -> None:
    kept = chosen(sample, drop_copies=True)
    assert sample.trajectories.collect().height - kept.height == 5
    assert kept["trajectory_id"].is_sorted()


def test_a_budget_is_kept_and_nothing_left_out_would_fit(sample: Tables) -> None:
    kept = chosen(sample, budget=200_000)
    used = kept["tokens"].sum()
    left = choosable_of(sample, "tokens").join(kept, on="trajectory_id", how="anti")
    assert used <= 200_000 < used + left["tokens"].min()  # type: ignore[operator]


def naive(features: dict[str, frozenset[int]], order: list[str], most: int) -> list[str]:
    covered: set[int] = set()
    kept: list[str] = []
    while len(kept) < min(most, len(order)):
        left = [id_ for id_ in order if id_ not in kept]
        best = max(left, key=lambda id_: len(features[id_] - covered))
        kept.append(best)
        covered |= features[best]
    return kept


@given(st.lists(st.frozensets(st.integers(0, 12), max_size=5), min_size=1, max_size=12), st.integers(1, 12))
def test_the_diverse_are_those_a_plain_greedy_choice_takes(sets: list[frozenset[int]], most: int) -> None:
    features = {f"r{n}": one for n, one in enumerate(sets)}
    rows = pl.DataFrame({"trajectory_id": list(features)})
    kept, _ = choose(rows, Limits(diverse=most), 3, features)
    turns = choose(rows, Limits(diverse=len(sets)), 3, dict.fromkeys(features, frozenset()))[0]
    assert turns.height == len(sets)
    order = _order(rows, 3)
    assert set(kept["trajectory_id"]) == set(naive(features, order, most))


def _order(rows: pl.DataFrame, seed: int) -> list[str]:
    """The turns, by choosing one more each time from records that have nothing."""
    ids = rows["trajectory_id"].to_list()
    nothing: dict[str, frozenset[Any]] = dict.fromkeys(ids, frozenset())
    sets = [set(choose(rows, Limits(diverse=n), seed, nothing)[0]["trajectory_id"]) for n in range(1, len(ids) + 1)]
    return [next(iter(after - before)) for before, after in pairwise([set(), *sets])]


def test_the_diverse_cover_more_than_as_many_in_turn(sample: Tables) -> None:
    features = features_of(sample.tool_calls)

    def covered(ids: list[str]) -> int:
        return len(frozenset().union(*(features[id_] for id_ in ids if id_ in features)))

    diverse = chosen(sample, diverse=60)["trajectory_id"].to_list()
    in_turn = [covered(_first(sample, 60, seed)) for seed in range(3)]
    assert covered(diverse) > max(in_turn)


def _first(sample: Tables, most: int, seed: int) -> list[str]:
    rows = choosable_of(sample, "")
    return choose(rows, Limits(diverse=most), seed, {})[0]["trajectory_id"].to_list()


def test_another_seed_keeps_others_and_another_order_of_rows_the_same(sample: Tables) -> None:
    rows = choosable_of(sample, "")
    one, other, turned = (
        set(choose(frame, Limits(per_environment=3), seed, {})[0]["trajectory_id"])
        for frame, seed in ((rows, 0), (rows, 1), (rows.reverse(), 0))
    )
    assert one == turned != other


def test_a_manifest_repeats_its_export_to_the_byte_and_of_the_same_contents_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ["--drop-copies", "--per-scenario", "1", "--per-environment", "9", "--diverse", "60", "--budget", "300000"]
    words = ["export", "sample", str(tmp_path / "a"), "--format", "messages", "--quiet", "--seed", "5"]
    assert main([*words, *limits, "--mask", "errors", "--validation", "0.2", "--where", "steps > 4"]) == 0
    like = ["--like", str(tmp_path / "a/manifest.json"), "--quiet"]
    assert main(["export", "sample", str(tmp_path / "b"), *like]) == 0
    compared = dircmp(tmp_path / "a", tmp_path / "b")
    assert (compared.diff_files, compared.left_only, compared.right_only) == ([], [], [])
    steps = json.loads((tmp_path / "a/manifest.json").read_text("utf-8"))["subset"]["steps"]
    assert [step["limit"] for step in steps] == [
        *("drop_copies", "per_scenario 1", "per_environment 9", "diverse 60", "budget 300000"),
    ]
    assert all(before["remain"] - after["left_out"] == after["remain"] for before, after in pairwise(steps))
    capsys.readouterr()
    export(ExportRequest("sample", tmp_path / "raw", "raw", where="steps > 9", progress=False))
    assert main(["export", str(tmp_path / "raw/train.json"), str(tmp_path / "c"), *like]) == 2
    assert "its contents are not those of the export to repeat" in capsys.readouterr().err
    assert main(["export", "sample", str(tmp_path / "c"), *like, "--diverse", "9"]) == 2
    assert "--like says what --diverse says" in capsys.readouterr().err
    assert main(["export", "sample", str(tmp_path / "c"), "--like", str(tmp_path / "a/train.jsonl"), "--quiet"]) == 2
    assert "no manifest of an export" in capsys.readouterr().err
    assert main(["export", "sample", str(tmp_path / "c")]) == 2
    assert "needs --format, or --like" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
