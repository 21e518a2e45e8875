"""Claims: every figure published about the EnvScaler sets beside what is found, as equal, differs or not checkable.

What was published is data (`claims.toml`). A source that is not the release is not shouted at: its values stand beside
the published ones, and the verdict says why they cannot be compared.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analysis.measures.expressions import quantile
from analysis.schema import Column, Table

VERDICTS = ("differs", "equal", "not checkable")
SYNTHETIC, SUBSET, ENVIRONMENT, MODE, DIALECTS = "synthetic", "subset", "environment", "mode", "dialects"
NONE_GIVEN, OTHER_SIZE, NOTHING = "none given", "other size", "nothing to count"
TEMPLATED_FILE, VOCABULARY = "templated file", "Qwen3.5 vocabulary"
OBSTACLES = (
    SYNTHETIC, SUBSET, ENVIRONMENT, MODE, DIALECTS, NONE_GIVEN, OTHER_SIZE, NOTHING, TEMPLATED_FILE, VOCABULARY
)  # fmt: skip

CLAIMS = Table(
    "claims",
    "published figure",
    (
        Column("quantity", pl.String(), "what was counted"),
        Column("scope", pl.String(), "over which records: a mode, all, or the sibling sets (catalogue)"),
        Column("statistic", pl.String(), "which figure of it; percentiles by linear interpolation"),
        Column("published", pl.String(), "as published, digit by digit"),
        Column("found", pl.String(), "in this source; null where nothing is there to count", nullable=True),
        Column("verdict", pl.Enum(VERDICTS), "equal when the found value rounds to the published one"),
        Column("difference", pl.Float64(), "found - published, where the figure differs", nullable=True),
        Column("obstacle", pl.Enum(OBSTACLES), "why it is not checkable", nullable=True),
        Column("detail", pl.String(), "what the obstacle is about: a selection, a set, dialects", nullable=True),
        Column("size", pl.UInt32(), "size of the set, where that is the obstacle", nullable=True),
        Column("where_published", pl.String(), "where it is published"),
    ),
)

VERDICT_COUNTS = Table(
    "claims_verdicts",
    "scope and verdict",
    (
        CLAIMS["scope"],
        CLAIMS["verdict"],
        Column("claims", pl.UInt32(), "published figures", unit="figures"),
        Column("all_claims", pl.UInt32(), "published figures in all", unit="figures"),
    ),
    key=("scope", "verdict"),
)

COUNTED = {
    "assistant_messages": "assistant messages",
    "tool_calls": "tool calls",
    "tool_messages": "tool messages",
    "user_messages": "user messages",
    "tools_offered": "tools offered",
}
_PER_ENVIRONMENT = {
    "state_entities": "state entities per environment",
    "state_categories": "state categories per environment",
    "rules": "rules per environment",
    "query_tools": "query tools per environment",
    "change_tools": "state-change tools per environment",
    "operations": "operations per environment",
}
_CALL_LIMITS = {
    "at most 8": 8, "at most 12": 12, "at most 16": 16, "at most 24": 24, "at most 32": 32, "at most 48": 48
}  # fmt: skip

# A revision may add or drop some records and is then to be judged; a part of the set, or another set, is not.
SIZES = {"trajectories": 9_022, "environments": 191, "SFT scenarios": 4_684, "RL scenarios": 2_550}
_NEARLY = 0.1


class Claim(NamedTuple):
    """One published figure."""

    quantity: str
    scope: str
    statistic: str
    published: str
    needs: str
    where_published: str


class Obstacle(NamedTuple):
    """Why a figure cannot be checked on a source; its fields are columns of CLAIMS."""

    kind: str
    detail: str | None = None
    size: int | None = None


def published() -> Iterator[Claim]:
    """The published figures, in the order of `claims.toml`."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for group in tomllib.loads(text)["group"]:
        for statistic, value in group["values"].items():
            yield Claim(group["quantity"], group["scope"], statistic, value, group["needs"], group["where"])


def check(
    trajectories: pl.LazyFrame,
    environments: pl.LazyFrame,
    scenarios: pl.LazyFrame,
    manifest: Mapping[str, Any],
    *,
    traj_type: str = "",
    env_id: str = "",
    sha256: Callable[[], str] | None = None,
) -> pl.LazyFrame:
    """Hold a source against what was published.

    Args:
        trajectories: conforms to TRAJECTORIES.
        environments: conforms to schema.ENVIRONMENTS; empty when not given.
        scenarios: conforms to schema.SCENARIOS; empty when not given.
        manifest: of the source: bytes, dialects, records_in, rejected, synthetic.
        traj_type: the mode the trajectories were filtered to, if they were.
        env_id: the environment they were filtered to, if they were.
        sha256: of the source's file, "" where there is none; asked for only when the source can be the release, as it
            takes a while.

    Returns:
        One row per published figure, in the order they are published, conforming to CLAIMS.
    """
    values = dict(_found(trajectories, environments, scenarios, manifest))
    obstacles = _obstacles(environments, scenarios, manifest, env_id)
    if sha256 and obstacles["trajectories"] is None and (found := sha256()):
        values["sha256 of the file", "all", "text"] = found
    rows = [_judge(claim, values, _obstacle(claim, obstacles, traj_type)) for claim in published()]
    return CLAIMS.select(
        pl.LazyFrame([{name: row[name] for name in CLAIMS.names} for row in rows], schema=CLAIMS.schema)
    )


def verdicts(claims: pl.LazyFrame) -> pl.LazyFrame:
    """Count the verdicts.

    Args:
        claims: conforms to CLAIMS.

    Returns:
        One row per (scope, verdict) that occurs, conforming to VERDICT_COUNTS.
    """
    counted = claims.group_by("scope", "verdict").agg(claims=pl.len()).with_columns(all_claims=pl.col("claims").sum())
    return VERDICT_COUNTS.select(counted.sort("scope", "verdict"))


def _judge(
    claim: Claim, values: Mapping[tuple[str, str, str], float | str], obstacle: Obstacle | None
) -> dict[str, Any]:
    found = values.get((claim.quantity, claim.scope, claim.statistic))
    shown = _as_published(found, claim.published) if found is not None else None
    verdict, difference = "equal", None
    if obstacle or found is None:
        verdict, obstacle = "not checkable", obstacle or Obstacle(NOTHING)
    elif isinstance(found, str):
        verdict = "equal" if found == claim.published else "differs"
    elif abs(found - float(claim.published)) > _tolerance(claim.published):
        verdict, difference = "differs", found - float(claim.published)
    kind, detail, size = obstacle or (None, None, None)
    judgement = {"found": shown, "verdict": verdict, "difference": difference}
    return {**claim._asdict(), **judgement, "obstacle": kind, "detail": detail, "size": size}


def _tolerance(text: str) -> float:
    """Half a unit of the last digit that was published, but never less than a float can tell."""
    _, _, decimals = text.partition(".")
    return max(0.5 * 10.0 ** -len(decimals), 1e-12 * abs(float(text)))


def _as_published(found: float | str, text: str) -> str:
    """The found value with as many decimals as were published, or more where it would else look equal and is not."""
    if isinstance(found, str):
        return found
    _, _, decimals = text.partition(".")
    if decimals or found == int(found):
        return f"{found:.{len(decimals)}f}"
    return f"{found:.2f}"


def _obstacles(
    environments: pl.LazyFrame, scenarios: pl.LazyFrame, manifest: Mapping[str, Any], env_id: str
) -> dict[str, Obstacle | None]:
    """Why claims that need something cannot be checked here; None where they can."""
    given = environments.select(environments=pl.len()).collect().item()
    sft, rl = scenarios.select((pl.col("checks") == 0).sum(), rl=(pl.col("checks") > 0).sum()).collect().row(0)
    held = {
        "trajectories": int(manifest.get("records_in") or 0),
        "environments": given,
        "SFT scenarios": sft,
        "RL scenarios": rl,
    }
    sizes = {need: _size_obstacle(need, count) for need, count in held.items()}
    return {
        **sizes,
        "trajectories": _not_the_release(manifest, env_id) or sizes["trajectories"],
        "both scenario sets": sizes["SFT scenarios"] or sizes["RL scenarios"] or sizes["environments"],
        TEMPLATED_FILE: Obstacle(TEMPLATED_FILE),
        VOCABULARY: Obstacle(VOCABULARY),
    }


def _not_the_release(manifest: Mapping[str, Any], env_id: str) -> Obstacle | None:
    if manifest.get("synthetic"):
        return Obstacle(SYNTHETIC)
    if manifest.get("subset"):
        return Obstacle(SUBSET)
    if env_id:
        return Obstacle(ENVIRONMENT, env_id)
    dialects: Mapping[str, int] = manifest.get("dialects") or {}
    foreign = sum(count for name, count in dialects.items() if name != "release")
    if foreign * 2 > sum(dialects.values()):
        return Obstacle(DIALECTS, ", ".join(sorted(dialects)))
    return None


def _size_obstacle(need: str, count: int) -> Obstacle | None:
    if not count:
        return Obstacle(NONE_GIVEN, need)
    is_near = abs(count - SIZES[need]) <= _NEARLY * SIZES[need]
    return None if is_near else Obstacle(OTHER_SIZE, need, count)


def _obstacle(claim: Claim, obstacles: Mapping[str, Obstacle | None], traj_type: str) -> Obstacle | None:
    obstacle = obstacles[claim.needs]
    if obstacle is None and claim.needs == "trajectories" and traj_type and claim.scope != traj_type:
        # The file's own facts hold whatever is selected from it.
        of_file = claim.quantity.startswith(("sha256", "size", "records rejected"))
        return None if of_file else Obstacle(MODE, traj_type)
    return obstacle


def _found(
    trajectories: pl.LazyFrame, environments: pl.LazyFrame, scenarios: pl.LazyFrame, manifest: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str, str], float | str]]:
    for scope in ("all", "conversation", "non_conversation"):
        of_scope = trajectories if scope == "all" else trajectories.filter(pl.col("traj_type") == scope)
        counts = of_scope.select(
            pl.len().alias("trajectories"),
            pl.col("env_id").drop_nulls().n_unique().alias("environments of the trajectories"),
            pl.struct("env_id", "task_id")
            .filter(pl.col("task_id").is_not_null())
            .n_unique()
            .alias("scenarios of the trajectories"),
        )
        for quantity, count in counts.collect().row(0, named=True).items():
            yield (quantity, scope, "count"), count
        yield from _statistics(of_scope, COUNTED, scope)
        limits = of_scope.select(
            pl.when(pl.len() > 0).then((pl.col("tool_calls") <= n).mean()).alias(name)
            for name, n in _CALL_LIMITS.items()
        )
        for statistic, share in limits.collect().row(0, named=True).items():
            if share is not None:
                yield ("tool calls", scope, statistic), share
    yield from _found_in_file(manifest)
    yield from _found_in_siblings(environments, scenarios)


def _found_in_file(manifest: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str], float | str]]:
    if "rejected" in manifest:
        yield ("records rejected", "all", "count"), manifest["rejected"]
    if manifest.get("bytes"):
        yield ("size of the file, MB", "all", "count"), manifest["bytes"] / 1e6


def _found_in_siblings(
    environments: pl.LazyFrame, scenarios: pl.LazyFrame
) -> Iterator[tuple[tuple[str, str, str], float | str]]:
    suffix = pl.col("env_id").str.extract(r"_(sft|rl)$")
    counts = environments.select(
        pl.len().alias("environments"),
        (suffix == "sft").sum().alias("environments, _sft"),
        (suffix == "rl").sum().alias("environments, _rl"),
    ).join(
        scenarios.select(
            (pl.col("checks") == 0).sum().alias("SFT scenarios"), (pl.col("checks") > 0).sum().alias("RL scenarios")
        ),
        how="cross",
    )
    for quantity, count in counts.collect().row(0, named=True).items():
        if count:
            yield (quantity, "catalogue", "count"), count
    operations = environments.with_columns(operations=pl.col("query_tools") + pl.col("change_tools"))
    yield from _statistics(operations, _PER_ENVIRONMENT, "catalogue")
    played = environments.select("env_id").join(
        scenarios.group_by("env_id").agg(scenarios=pl.len()), on="env_id", how="left", validate="1:1"
    )
    held = played.with_columns(pl.col("scenarios").fill_null(0)).filter(pl.col("scenarios").sum() > 0)
    yield from _statistics(held, {"scenarios": "scenarios per environment"}, "catalogue")


def _statistics(
    frame: pl.LazyFrame, columns: Mapping[str, str], scope: str
) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Total, mean and percentiles of each column, as published ones are made."""
    for column, quantity in columns.items():
        value = pl.col(column)
        row = frame.select(
            total=value.sum(),
            mean=value.mean(),
            p50=quantile(column, 0.5),
            p90=quantile(column, 0.9),
            p95=quantile(column, 0.95),
            p99=quantile(column, 0.99),
            min=value.min(),
            max=value.max(),
        )
        found = row.collect().row(0, named=True)
        if found["mean"] is not None:
            yield from (((quantity, scope, statistic), figure) for statistic, figure in found.items())
