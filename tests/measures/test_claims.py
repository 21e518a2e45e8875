"""Claims: what was published is complete and exact, and a source is judged only where it can be."""

from typing import Any

import polars as pl
import pytest

from analysis.brief.claims import EXPLAINED, explained
from analysis.measures import claims
from analysis.schema import ENVIRONMENTS, SCENARIOS, TRAJECTORIES
from tests.measures.frames import rows

CONVERSATION, SOLO = "conversation", "non_conversation"
SHA = "e920e8ecd43e50abe4308e37fcea8f18b6c338e9526778da92d7349cf2414198"
MANIFEST: dict[str, Any] = {
    "records_in": 9_022,
    "kept": 9_022,
    "rejected": 0,
    "bytes": 701_200_000,
    "dialects": {"release": 9_022},
    "synthetic": False,
}
NO_ENVIRONMENTS, NO_SCENARIOS = ENVIRONMENTS.empty().lazy(), SCENARIOS.empty().lazy()


def trajectories(talks: int = 4_372, solos: int = 4_650, environments: int = 140) -> pl.LazyFrame:
    """As many trajectories as the release, of 22 and 14 steps and 13 calls."""
    n = talks + solos
    made = pl.DataFrame({"place": range(n)}).with_columns(
        trajectory_id=pl.col("place").cast(pl.String),
        traj_type=pl.when(pl.col("place") < talks).then(pl.lit(CONVERSATION)).otherwise(pl.lit(SOLO)),
        env_id=pl.format("env_{}_sft", pl.col("place") % environments + 1),
        task_id=(pl.col("place") % 4_684).cast(pl.String),
        assistant_messages=pl.when(pl.col("place") < talks).then(22).otherwise(14),
        tool_calls=pl.lit(13),
        tool_messages=pl.lit(13),
        user_messages=pl.lit(2),
        tools_offered=pl.lit(18),
    )
    filled = made.with_columns(
        pl.lit(None if c.nullable else 0).cast(c.dtype, strict=False).alias(c.name)
        for c in TRAJECTORIES
        if c.name not in made.columns and c.dtype.is_numeric()
    ).with_columns(
        pl.lit("release").alias("dialect"),
        pl.lit("stop_marker").alias("end_class"),
        *[pl.lit("").alias(name) for name in ("origin", "task", "tool_set", "trial", "model")],
    )
    return TRAJECTORIES.select(filled.lazy())


RELEASE_LIKE = trajectories()


def judged(
    trajectories: pl.LazyFrame = RELEASE_LIKE,
    environments: pl.LazyFrame = NO_ENVIRONMENTS,
    scenarios: pl.LazyFrame = NO_SCENARIOS,
    selection: dict[str, Any] | None = None,
    sha256: str = SHA,
    **changed: Any,
) -> dict[tuple[str, str, str], tuple[str | None, str, str | None]]:
    found = claims.check(
        trajectories, environments, scenarios, MANIFEST | changed, sha256=lambda: sha256, **(selection or {})
    ).collect()
    return {
        (quantity, scope, statistic): (value, verdict, reason)
        for (quantity, scope, statistic), (value, verdict, reason) in zip(
            found.select("quantity", "scope", "statistic").iter_rows(),
            explained(found).select("found", "verdict", "reason").iter_rows(),
            strict=True,
        )
    }


def verdicts(found: dict[tuple[str, str, str], tuple[str | None, str, str | None]], scope: str) -> set[str]:
    return {verdict for (_, of, _), (_, verdict, _) in found.items() if of == scope}


def test_every_published_figure_is_named_once_with_where_it_is_published() -> None:
    published = list(claims.published())
    names = [(c.quantity, c.scope, c.statistic, c.where_published) for c in published]
    assert len(set(names)) == len(names) > 100
    assert all(c.where_published and c.published and c.needs for c in published)


@pytest.mark.parametrize(
    ("quantity", "scope", "statistic", "value"),
    [
        ("assistant messages", CONVERSATION, "mean", "22.124656907593778"),
        ("assistant messages", SOLO, "mean", "14.287311827956989"),
        ("tool calls", CONVERSATION, "total", "58483"),
        ("tool calls", SOLO, "p99", "27"),
        ("tool calls", "all", "mean", "13.330636222567058"),
        ("tool calls", "all", "at most 16", "0.7692"),
        ("tool messages", CONVERSATION, "total", "58474"),
        ("user messages", CONVERSATION, "mean", "9.75"),
        ("tools offered", SOLO, "p95", "25"),
        ("sha256 of the file", "all", "text", SHA),
        ("query tools per environment", "catalogue", "mean", "10.44"),
        ("scenarios per environment", "catalogue", "p50", "42"),
    ],
)
def test_published_figures_are_kept_digit_by_digit(quantity: str, scope: str, statistic: str, value: str) -> None:
    assert value in [
        c.published for c in claims.published() if (c.quantity, c.scope, c.statistic) == (quantity, scope, statistic)
    ]


def test_published_totals_fit_the_published_means() -> None:
    values = {(c.quantity, c.scope, c.statistic): c.published for c in claims.published()}
    for mode in (CONVERSATION, SOLO):
        n = int(values["trajectories", mode, "count"])
        for quantity in ("assistant messages", "tool calls"):
            assert int(values[quantity, mode, "total"]) / n == float(values[quantity, mode, "mean"])
    assert int(values["trajectories", CONVERSATION, "count"]) + int(values["trajectories", SOLO, "count"]) == 9_022


def test_on_a_source_that_is_the_release_figures_are_equal_or_differ_by_how_much() -> None:
    found = judged()
    assert found["trajectories", "all", "count"] == ("9022", "equal", None)
    assert found["assistant messages", CONVERSATION, "p50"] == ("22", "equal", None)
    assert found["assistant messages", CONVERSATION, "total"] == (str(4_372 * 22), "differs", "by -545")
    assert found["sha256 of the file", "all", "text"] == (SHA, "equal", None)
    assert found["size of the file, MB", "all", "count"][1] == "equal"  # 701.2 rounds to the 701 published
    assert found["records rejected", "all", "count"] == ("0", "equal", None)


def test_141_environments_published_and_140_found_is_a_difference() -> None:
    assert judged()["environments of the trajectories", "all", "count"] == ("140", "differs", "by -1")
    more = judged(trajectories(environments=141))
    assert more["environments of the trajectories", "all", "count"] == ("141", "equal", None)


def test_other_bytes_differ_without_a_number() -> None:
    found = judged(sha256="0" * 64)
    assert found["sha256 of the file", "all", "text"] == ("0" * 64, "differs", "other bytes")


def test_where_there_is_no_file_its_hash_is_not_checkable() -> None:
    nothing = (None, "not checkable", "nothing of the kind in this source")
    assert judged(sha256="")["sha256 of the file", "all", "text"] == nothing


def test_the_hash_of_what_cannot_be_the_release_is_not_asked_for() -> None:
    def never() -> str:
        raise AssertionError("asked for")

    claims.check(RELEASE_LIKE, NO_ENVIRONMENTS, NO_SCENARIOS, MANIFEST | {"records_in": 420}, sha256=never).collect()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"synthetic": True}, "synthetic sample, not the release"),
        ({"records_in": 420}, "420 trajectories; the published set has 9,022"),
        ({"records_in": 0}, "no trajectories are given"),
        ({"dialects": {"fc": 9_000, "release": 22}}, "records of another format than the release's: fc, release"),
        ({"selection": {"env_id": "env_1_sft"}}, "only environment env_1_sft is selected"),
        ({"subset": "9,000 of the 9,022 trajectories of release.json"}, "only a subset is read"),
    ],
)
def test_a_source_that_is_not_the_release_is_shown_and_not_judged(changed: dict[str, Any], reason: str) -> None:
    found = judged(**changed)
    value, verdict, why = found["assistant messages", CONVERSATION, "p50"]
    assert (value, verdict, why) == ("22", "not checkable", reason)
    assert verdicts(found, "all") == verdicts(found, CONVERSATION) == {"not checkable"}


def test_a_source_of_which_half_is_another_dialect_is_still_judged_and_one_more_record_is_too_many() -> None:
    half = judged(dialects={"fc": 4_511, "release": 4_511})
    assert half["trajectories", "all", "count"] == ("9022", "equal", None)
    more = judged(dialects={"fc": 4_512, "release": 4_510})
    assert more["trajectories", "all", "count"][1] == "not checkable"
    assert judged(dialects={})["trajectories", "all", "count"][1] == "equal"


def test_scenarios_are_counted_by_environment_and_task_and_those_without_an_id_are_none() -> None:
    few = trajectories().with_columns(
        env_id=pl.when(pl.col("trajectory_id") == "0").then(pl.lit("other")).otherwise(pl.lit("env")),
        task_id=pl.when(pl.col("trajectory_id").is_in(["0", "1"])).then(pl.lit("same")),
    )
    found = judged(few)
    assert found["scenarios of the trajectories", "all", "count"][0] == "2"
    assert found["environments of the trajectories", "all", "count"][0] == "2"


def test_each_scope_has_statistics_of_its_own() -> None:
    found = judged()
    for mode, steps, n in ((CONVERSATION, 22, 4_372), (SOLO, 14, 4_650)):
        values = {statistic: found["assistant messages", mode, statistic][0] for statistic in ("total", "mean", "p50")}
        assert values["total"] == str(steps * n)
        levels = {level: value for (q, of, level), (value, _, _) in found.items() if (q, of) == ("tool calls", mode)}
        assert {levels[level] for level in ("p50", "p90", "p95", "p99")} == {"13"}
        assert float(values["mean"] or "nan") == steps
        assert values["p50"] == str(steps)
    # No trajectory makes more than 13 calls.
    shares = {
        statistic: value for (quantity, _, statistic), (value, _, _) in found.items() if statistic.startswith("at most")
    }
    assert {float(value or "nan") for statistic, value in shares.items() if int(statistic.split()[-1]) < 13} <= {0.0}
    assert {float(value or "nan") for statistic, value in shares.items() if int(statistic.split()[-1]) >= 13} == {1.0}


def test_a_revision_that_lost_a_tenth_is_still_judged() -> None:
    assert judged(records_in=8_120)["trajectories", "all", "count"][1] == "equal"
    assert judged(records_in=8_119)["trajectories", "all", "count"][1] == "not checkable"


def test_a_selected_mode_is_judged_by_its_own_figures_and_the_files() -> None:
    found = judged(trajectories(talks=0), selection={"traj_type": SOLO})
    assert found["trajectories", SOLO, "count"] == ("4650", "equal", None)
    assert found["trajectories", "all", "count"] == (
        "4650",
        "not checkable",
        "only trajectories without user are selected",
    )
    assert found["assistant messages", CONVERSATION, "p50"][:2] == (None, "not checkable")
    assert found["sha256 of the file", "all", "text"][1] == "equal"


def test_without_the_sibling_sets_the_catalogue_is_not_checkable() -> None:
    assert judged()["environments", "catalogue", "count"] == (None, "not checkable", "no environments are given")


def test_the_catalogue_is_judged_when_it_has_the_published_size() -> None:
    ids = [f"env_{n}_{'sft' if n <= 140 else 'rl'}" for n in range(1, 192)]
    shape = {"query_tools": 10, "change_tools": 8, "state_entities": 3, "rules": 4, "state_categories": 21}
    found = judged(environments=rows(ENVIRONMENTS, *({"env_id": name} for name in ids), **shape))
    assert found["environments", "catalogue", "count"] == ("191", "equal", None)
    assert found["environments, _sft", "catalogue", "count"] == ("140", "equal", None)
    assert found["query tools per environment", "catalogue", "p50"] == ("10", "equal", None)
    assert found["query tools per environment", "catalogue", "mean"] == ("10.00", "differs", "by -0.44")
    assert found["rules per environment", "catalogue", "max"] == ("4", "differs", "by -2")
    # The cards say 50 and the hub 51 environments for reinforcement learning: one of them must differ.
    both = claims.check(
        RELEASE_LIKE, rows(ENVIRONMENTS, *({"env_id": name} for name in ids)), NO_SCENARIOS, MANIFEST
    ).collect()
    rl = both.filter(pl.col("quantity") == "environments, _rl")
    assert sorted(rl.select("published", "verdict").iter_rows()) == [("50", "differs"), ("51", "equal")]


def test_scenarios_per_environment_need_both_sets_of_scenarios() -> None:
    sft = [{"env_id": f"env_{n % 191 + 1}", "task_id": f"s{n}"} for n in range(4_684)]
    rl = [{"env_id": f"env_{n % 191 + 1}", "task_id": f"r{n}", "checks": 3} for n in range(2_550)]
    environments = rows(ENVIRONMENTS, *({"env_id": f"env_{n}"} for n in range(1, 192)))
    one = judged(environments=environments, scenarios=rows(SCENARIOS, *sft))
    assert one["SFT scenarios", "catalogue", "count"] == ("4684", "equal", None)
    assert one["RL scenarios", "catalogue", "count"][1] == "not checkable"
    assert one["scenarios per environment", "catalogue", "mean"][1:] == ("not checkable", "no RL scenarios are given")
    two = judged(environments=environments, scenarios=rows(SCENARIOS, *sft, *rl))
    assert two["RL scenarios", "catalogue", "count"] == ("2550", "equal", None)
    value, verdict, reason = two["scenarios per environment", "catalogue", "mean"]
    assert (value, verdict) == ("37.87", "differs")  # (4684 + 2550) / 191, which is not the 37.28 published
    assert reason is not None
    assert float(reason.removeprefix("by ")) == pytest.approx((4684 + 2550) / 191 - 37.28, abs=1e-5)


@pytest.mark.parametrize(
    ("published", "found", "verdict"),
    [
        ("10.44", 10.4449, "equal"),
        ("10.44", 10.4451, "differs"),
        ("22", 22.5, "equal"),
        ("22", 22.51, "differs"),
        ("22.124656907593778", 96_729 / 4_372, "equal"),
        ("22.124656907593778", 96_730 / 4_372, "differs"),
        ("0.4876", 0.48764, "equal"),
    ],
)
def test_equal_means_that_it_rounds_to_what_was_published(published: str, found: float, verdict: str) -> None:
    claim = claims.Claim("q", "all", "mean", published, "trajectories", "somewhere")
    judgement = claims._judge(claim, {("q", "all", "mean"): found}, None)
    assert judgement["verdict"] == verdict


def test_nothing_found_is_not_a_difference() -> None:
    claim = claims.Claim("q", "all", "mean", "3", "trajectories", "somewhere")
    judgement = claims._judge(claim, {}, None)
    assert (judgement["found"], judgement["verdict"], judgement["obstacle"]) == (None, "not checkable", claims.NOTHING)


def test_verdicts_are_counted_per_scope() -> None:
    checked = claims.check(RELEASE_LIKE, NO_ENVIRONMENTS, NO_SCENARIOS, MANIFEST)
    found = claims.verdicts(checked).collect()
    assert found.schema == claims.VERDICT_COUNTS.schema
    assert found["claims"].sum() == checked.collect().height == found["all_claims"][0]
    catalogue = found.filter(pl.col("scope") == "catalogue")
    assert catalogue["verdict"].to_list() == ["not checkable"]


def test_verdicts_stand_by_scope_then_verdict_over_all_claims() -> None:
    made = [("all", "equal"), ("conversation", "differs"), ("all", "differs"), ("all", "equal")]
    table = rows(
        claims.CLAIMS,
        *({"quantity": str(n), "scope": scope, "verdict": verdict} for n, (scope, verdict) in enumerate(made)),
    )
    found = claims.verdicts(table).collect()
    counted = dict(zip(found.select("scope", "verdict").rows(), found["claims"], strict=True))
    assert counted == {("all", "equal"): 2, ("all", "differs"): 1, ("conversation", "differs"): 1}
    assert found["all_claims"].unique().to_list() == [4]
    assert found.equals(found.sort("scope", "verdict"))


@pytest.mark.parametrize(
    ("published", "found", "shown"),
    [
        ("22.12", 22.0, "22.00"),
        ("22", 22.4, "22.40"),
        ("22", 22.0, "22"),
        ("22.1", 22.46, "22.5"),
        ("abc", "abd", "abd"),
    ],
)
def test_what_was_found_is_shown_as_it_was_published_or_with_decimals_where_it_would_look_equal(
    published: str, found: float | str, shown: str
) -> None:
    claim = claims.Claim("q", "all", "mean", published, "trajectories", "somewhere")
    assert claims._judge(claim, {("q", "all", "mean"): found}, None)["found"] == shown
    obstacle = claims.Obstacle(claims.SUBSET)
    judgement = claims._judge(claim, {("q", "all", "mean"): found}, obstacle)
    assert (judgement["found"], judgement["verdict"], judgement["obstacle"]) == (shown, "not checkable", "subset")


def test_an_empty_source_shows_every_claim_as_not_checkable() -> None:
    nothing = {"records_in": 0, "kept": 0, "rejected": 0, "bytes": 0, "dialects": {}}
    found = claims.check(TRAJECTORIES.empty().lazy(), NO_ENVIRONMENTS, NO_SCENARIOS, nothing).collect()
    assert found["verdict"].unique().to_list() == ["not checkable"]
    assert explained(found)["reason"].null_count() == 0
    assert explained(found).schema == EXPLAINED.schema
    assert explained(found.clear()).schema == EXPLAINED.schema
