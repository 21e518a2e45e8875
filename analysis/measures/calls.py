"""What several questions ask of a call: its place, its kind, and whether two calls are the same.

Groups are told apart by 64-bit hashes: over 2.5 million calls text keys take several times as long, and a chance
collision within one trajectory has a probability under 1e-13.
"""

import polars as pl

from analysis.canonical import canonical_text
from analysis.schema import Column

# First words of tools that only read. Any other word counts as changing: of the published environments' operations
# that do not read, each changes the state.
QUERY_VERBS = (
    *("get", "list", "search", "find", "check", "view", "read", "show", "lookup", "look", "query", "fetch"),
    *("retrieve", "count", "calculate", "compute", "compare", "validate", "verify", "describe", "summarize"),
    *("estimate", "filter", "has", "is", "can", "browse", "preview", "inspect", "think", "identify", "detect"),
)
KINDS = ("query", "change", "unknown")
KIND = Column("kind", pl.Enum(KINDS), "whether the tool reads or changes the state; unknown where no tool was named")
KIND_DEFINITION = (
    "Reading and changing tools are told apart by the catalogue where one is given, else by a heuristic on the name's "
    "first word (get, list, search, find, check, … read)"
)


def rate_columns(name: str, meaning: str) -> tuple[Column, ...]:
    """Columns of `intervals.clustered_rate`."""
    return (
        Column(name, pl.Float64(), f"{meaning}; null over fewer than 20", nullable=True),
        Column(f"{name}_low", pl.Float64(), "95 % interval over scenarios, lower end; null under 10", nullable=True),
        Column(f"{name}_high", pl.Float64(), "95 % interval over scenarios, upper end; null under 10", nullable=True),
        Column(f"{name}_clusters", pl.UInt32(), "scenarios with any", unit="scenarios"),
        Column(f"{name}_deff", pl.Float64(), "design effect: as many say as much as one alone would", nullable=True),
    )


def verb() -> pl.Expr:
    """First word of the tool's name: "get" of get_user, getUser and airline.get_user, in small letters."""
    local = pl.col("tool_name").str.extract(r"([^./:]*)$")
    return local.str.extract(r"^[_\W]*(\p{Lu}?[\p{Ll}\d]+|\p{Lu}+|[^_\W]+)").fill_null(local).str.to_lowercase()


def is_hand_over() -> pl.Expr:
    """The tool hands the user over to a person, and changes nothing: transfer_to_human_agents, escalate_to_operator."""
    people = "human|agent|operator|representative|person|staff|support"
    return pl.col("tool_name").str.contains(rf"(?i)(transfer|escalat|hand_?(over|off)).*({people})").fill_null(False)


def with_kind(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame) -> pl.LazyFrame:
    """Add `kind` (query, change, unknown) and `is_catalogued` (the catalogue said so, not the name's first word)."""
    catalogue = environment_tools.filter(pl.col("kind") != "unknown").select("env_id", "tool_name", catalogued="kind")
    name, known = pl.col("tool_name"), pl.col("catalogued").cast(pl.String)
    guessed = pl.when(verb().is_in(QUERY_VERBS)).then(pl.lit("query")).when(name.is_not_null()).then(pl.lit("change"))
    # Decided once a tool, a few thousand times, not once a call.
    kinds = (
        tool_calls.select("env_id", "tool_name")
        .unique()
        .join(catalogue, on=["env_id", "tool_name"], how="left", validate="m:1")
        .select(
            offer=offer_key(),
            kind=pl.coalesce(known, guessed, pl.lit("unknown")).cast(pl.Enum(KINDS)),
            is_catalogued=known.is_not_null(),
        )
    )
    return tool_calls.with_columns(offer=offer_key()).join(kinds, on="offer", how="left", validate="m:1").drop("offer")


def offer_key() -> pl.Expr:
    """A number that tells (env_id, tool_name) apart; joins on it take a third of the time of joins on the texts."""
    return pl.struct("env_id", "tool_name").hash(seed=6)


def argument_key(arguments: pl.Expr) -> pl.Expr:
    """A number equal for arguments that are the same, by `canonical_arguments`."""
    return arguments.map_batches(_canonical_hashes, return_dtype=pl.UInt64())


def canonical_arguments(text: str) -> str:
    """Arguments in the one form in which all questions compare them: JSON with sorted keys and no spaces.

    No arguments are {}, however they are written; what does not parse stays as it is.

    >>> [canonical_arguments(text) for text in ('{"b": 1, "a": 2}', "", "null", "{broken")]
    ['{"a":2,"b":1}', '{}', '{}', '{broken']
    """
    canonical = canonical_text(text)
    return "{}" if canonical.strip() in ("", "null") else canonical


def identity(where: pl.Expr) -> pl.Expr:
    """A number equal for calls with the same `tool` (its `tool_key`) and canonical arguments; null elsewhere.

    Args:
        where: the calls that can have an equal at all. Making arguments canonical is what costs, 0.6 µs a text.
    """
    named = where & pl.col("tool").is_not_null()
    arguments = argument_key(pl.when(named).then(pl.col("arguments").fill_null("{}")))
    return pl.when(named).then(pl.struct("tool", arguments).hash(seed=5))


def trajectory_key() -> pl.Expr:
    """A number that tells trajectories apart."""
    return pl.col("trajectory_id").hash(seed=2)


def tool_key() -> pl.Expr:
    """A number that tells (trajectory, tool) apart; null where no tool was named."""
    name = pl.col("tool_name")
    return pl.when(name.is_not_null()).then(pl.struct(trajectory_key(), name.hash(seed=1)).hash())


def _canonical_hashes(texts: pl.Series) -> pl.Series:
    distinct = texts.drop_nulls().unique()
    canonical = pl.Series([canonical_arguments(text) for text in distinct.to_list()], dtype=pl.String).hash(seed=3)
    keys = texts.hash(seed=4)
    return keys.replace_strict(distinct.hash(seed=4), canonical, default=None, return_dtype=pl.UInt64)
