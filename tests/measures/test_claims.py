"""Claims: what is published is judged on the release, and stands beside what is found on anything else."""

from typing import Any

import polars as pl
import pytest

from analysis.measures import claims as m
from analysis.schema import ENVIRONMENTS, SCENARIOS, TRAJECTORIES
from tests.measures.frames import rows
from tests.measures.small import NO_ENVIRONMENTS, NO_SCENARIOS, NO_TRAJECTORIES, SOLO, TALK

MANIFEST: dict[str, Any] = {
    "records_in": 9_022,
    "rejected": 0,
    "bytes": 701_234_567,
    "content_hash": "e920e8ecd43e50abe4308e37fcea8f18b6c338e9526778da92d7349cf2414198",
    "dialects": {"release": 9_022},
}


def runs(mode: str, count: int, calls: int) -> list[dict[str, Any]]:
    return [{"trajectory_id": f"{mode}{i}", "traj_type": mode, "tool_calls": calls} for i in range(count)]


RELEASE = rows(TRAJECTORIES, *runs(TALK, 4_372, 13), *runs(SOLO, 4_650, 8), env_id="env_1_sft", task_id="1")


def check(trajectories: pl.LazyFrame = RELEASE, manifest: dict[str, Any] = MANIFEST, **selection: str) -> pl.DataFrame:
    return m.check(trajectories, NO_ENVIRONMENTS, NO_SCENARIOS, manifest, **selection).collect()


def of(claims: pl.DataFrame, quantity: str, scope: str, statistic: str) -> tuple[str, str | None, str | None]:
    found = claims.filter(quantity=quantity, scope=scope, statistic=statistic)
    assert found.height == 1
    verdict, shown, reason = found.select("verdict", "found", "reason").row(0)
    return verdict, shown, reason


def test_on_the_release_every_figure_of_the_records_is_judged() -> None:
    claims = check()
    assert of(claims, "trajectories", "all", "count") == ("equal", "9022", None)
    assert of(claims, "trajectories", TALK, "count") == ("equal", "4372", None)
    assert of(claims, "tool calls", TALK, "p50") == ("equal", "13", None)
    assert of(claims, "tool calls", SOLO, "p50") == ("differs", "8", "by -5")
    assert of(claims, "environments of the trajectories", "all", "count") == ("differs", "1", "by -140")
    assert of(claims, "sha256 of the file", "all", "text")[0] == "equal"
    assert of(claims, "size of the file, MB", "all", "count")[0] == "equal"
    assert of(claims, "records rejected", "all", "count") == ("equal", "0", None)
    # 4,650 of 9,022 have at most 8 calls: 0.515, not 0.138.
    verdict, shown, reason = of(claims, "tool calls", "all", "at most 8")
    assert (verdict, shown) == ("differs", "0.515")
    assert reason == f"by {4_650 / 9_022 - 0.138:+,.6g}"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"synthetic": True}, "synthetic sample"),
        ({"dialects": {"fc": 5_000, "release": 4_022}}, "another dialect"),
        ({"records_in": 200}, "200 trajectories; the published set holds 9,022"),
    ],
)
def test_a_source_that_is_not_the_release_is_shown_and_not_judged(changed: dict[str, Any], reason: str) -> None:
    claims = check(manifest={**MANIFEST, **changed})
    assert claims["verdict"].unique().to_list() == ["not checkable"]
    verdict, shown, why = of(claims, "trajectories", "all", "count")
    assert (verdict, shown) == ("not checkable", "9022")
    assert reason in (why or "")


def test_a_selected_mode_leaves_its_own_figures_checkable() -> None:
    claims = check(RELEASE.filter(pl.col("traj_type") == TALK), traj_type=TALK)
    assert of(claims, "trajectories", TALK, "count")[0] == "equal"
    assert of(claims, "trajectories", "all", "count") == ("not checkable", "4372", "only conversation is selected")
    assert of(claims, "sha256 of the file", "all", "text")[0] == "equal", "the file is the same whatever is selected"


def test_a_selected_environment_leaves_nothing_of_the_records_checkable() -> None:
    claims = check(env_id="env_1_sft")
    assert claims.filter(pl.col("verdict") != "not checkable").is_empty()
    assert of(claims, "trajectories", "all", "count")[2] == "only environment env_1_sft is selected"


def test_an_empty_source_is_not_checkable() -> None:
    claims = check(NO_TRAJECTORIES, {})
    assert claims["verdict"].unique().to_list() == ["not checkable"]
    assert claims.height == len(list(m.published()))


def test_the_sibling_sets_are_judged_when_they_are_given_whole() -> None:
    environments = rows(
        ENVIRONMENTS,
        *[{"env_id": f"env_{i}_{'sft' if i <= 140 else 'rl'}"} for i in range(1, 192)],
        query_tools=10,
        change_tools=8,
    )
    scenarios = rows(
        SCENARIOS,
        *[{"task_id": f"s{i}", "env_id": f"env_{i % 140 + 1}_sft"} for i in range(4_684)],
        *[{"task_id": f"r{i}", "env_id": f"env_{i % 51 + 141}_rl", "checks": 3} for i in range(2_550)],
    )
    claims = m.check(NO_TRAJECTORIES, environments, scenarios, {}).collect()
    assert of(claims, "environments", "catalogue", "count") == ("equal", "191", None)
    assert of(claims, "environments, _sft", "catalogue", "count")[0] == "equal"
    rl = claims.filter(quantity="environments, _rl").select("published", "verdict").rows()
    assert rl == [("51", "equal"), ("50", "differs")], "the files hold one more than the model cards say"
    assert of(claims, "query tools per environment", "catalogue", "p50") == ("equal", "10", None)
    assert of(claims, "query tools per environment", "catalogue", "mean") == ("differs", "10.00", "by -0.44")
    assert of(claims, "SFT scenarios", "catalogue", "count") == ("equal", "4684", None)
    assert of(claims, "RL scenarios", "catalogue", "count") == ("equal", "2550", None)
    assert of(claims, "scenarios per environment", "catalogue", "mean") == (
        "differs",
        f"{7_234 / 191:.2f}",
        f"by {7_234 / 191 - 37.28:+,.6g}",
    )
    part = m.check(NO_TRAJECTORIES, environments.head(20), NO_SCENARIOS, {}).collect()
    assert of(part, "environments", "catalogue", "count") == (
        "not checkable",
        "20",
        "20 environments; the published set holds 191",
    )


def test_every_published_number_of_the_records_is_there() -> None:
    published = {(c.quantity, c.scope, c.statistic): c.published for c in m.published()}
    assert published["assistant messages", TALK, "total"] == "96729"
    assert published["tool calls", SOLO, "mean"] == "13.287311827956989"
    assert published["tool messages", TALK, "total"] == "58474"
    assert published["tools offered", SOLO, "p95"] == "25"
    assert published["tool calls", "all", "at most 12"] == "0.4876"
    assert all(c.where_published for c in m.published())


@pytest.mark.parametrize(
    ("found", "published", "is_equal"),
    [
        (22.124656907593778, "22.124656907593778", True),
        (22.124656907594, "22.124656907593778", True),  # summed in another order
        (22.1246569, "22.124656907593778", False),
        (0.48764, "0.4876", True),
        (0.48771, "0.4876", False),
        (140, "141", False),
        (13.4, "13", True),
    ],
)
def test_equal_means_that_it_rounds_to_what_was_published(found: float, published: str, is_equal: bool) -> None:
    claim = m.Claim("q", "all", "mean", published, "trajectories", "somewhere")
    judged = m._judge(claim, {("q", "all", "mean"): found}, None)
    assert (judged[5] == "equal") is is_equal


def test_verdicts_are_counted_by_scope() -> None:
    claims = check()
    counted = m.verdicts(claims.lazy()).collect()
    assert counted["claims"].sum() == claims.height == counted["all_claims"][0]
    assert counted.filter(verdict="equal")["claims"].sum() == claims.filter(verdict="equal").height
    assert m.verdicts(m.CLAIMS.empty().lazy()).collect().equals(m.VERDICT_COUNTS.empty())
