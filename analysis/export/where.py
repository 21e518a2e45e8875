"""A condition over a record's row, as text -> a Polars expression.

The row is that of the trajectories table, with the number and rules of its findings and the number of its failed calls.

Polars' SQL parses it, but not before its words are known: a subquery inside an expression (`env_id IN (SELECT ... FROM
read_csv(...))`, or a bare `FROM ...`) opens files while it is parsed. So the text is first cut into tokens, and every
word must be a column, a keyword or a function of the lists below, none of which can name a table. Functions work on a
row: whether a record is taken depends on that record alone.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from analysis.export.errors import ExportError
from analysis.measures.arguments import verdict
from analysis.nearest import nearest
from analysis.schema import REPLAYS, TRAJECTORIES, Column, Table

# Null where the trajectory was not replayed.
OF_REPLAY = (
    *("reproduced", "differing", "untold", "first_difference", "changes", "changes_read_back", "checks"),
    *("checks_passed", "reward"),
)
CHOOSABLE = Table(
    "choosable",
    "record, with what its findings and calls come to",
    (
        *TRAJECTORIES,
        Column("findings", pl.UInt32(), "breaches of the contract", unit="findings"),
        Column("rules", pl.String(), "ids of the rules that are broken, once each, between commas; empty without any"),
        Column("failed_calls", pl.UInt32(), "calls whose result says error", unit="calls"),
        Column("unanswered_calls", pl.UInt32(), "calls without a result", unit="calls"),
        Column(
            "refused_arguments",
            pl.UInt32(),
            "calls whose arguments do not fit, and leave out more than what the tool did without",
            unit="calls",
        ),
        Column("is_copy", pl.Boolean(), "does what an earlier one does; null where not asked for", nullable=True),
        Column("loops", pl.UInt32(), "loops of calls; null where not asked for", unit="loops", nullable=True),
        Column("tokens", pl.UInt64(), "tokens, rendered once; null where not asked for", unit="tokens", nullable=True),
        Column(
            "overlaps",
            pl.Boolean(),
            "the set of --against has its task, too, or nearly; null where not asked for",
            nullable=True,
        ),
        *(replace(REPLAYS[name], nullable=True) for name in OF_REPLAY),
    ),
    key=TRAJECTORIES.key,
)
COLUMNS = tuple(CHOOSABLE.names)
# Found for a condition that names them, and no other.
ON_DEMAND = ("is_copy", "loops", "tokens", "overlaps")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    "and or not in is null true false like ilike rlike regexp between case when then else end as distinct from"
)
TYPES = _words("varchar text int integer bigint float double boolean")
FUNCTIONS = _words(
    "abs cast ceil char_length coalesce concat ends_with floor greatest if ifnull least left length lower ltrim mod "
    "nullif regexp_like replace right round rtrim sign starts_with strpos substr try_cast upper"
)
# Polars reads an expression by recursion: thousands of operators overflow its stack, which nothing can catch.
MOST_TOKENS = 400
_TOKENS = re.compile(
    r"""\s+
    | (?P<text>'(?:[^']|'')*')
    | "(?P<quoted>[^"]*)"
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)
    | (?P<word>[^\W\d]\w*)
    | (?P<symbol>--|/\*|<=|>=|<>|!=|!~\*|!~|~\*|~|\|\||::|[-+*/%=<>(),])
    """,
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str


def condition(text: str) -> pl.Expr:
    """The expression of a condition; null is not true, as everywhere in SQL.

    Args:
        text: e.g. `traj_type = 'conversation' AND steps BETWEEN 5 AND 30`.

    Raises:
        ExportError: it does not parse, names what is not there, or is not true or false.
    """
    tokens = list(_tokens(text))
    nested = sum(token.kind in ("word", "symbol") and token.text != "," for token in tokens)
    if nested > MOST_TOKENS:
        raise ExportError(
            f"--where: {nested:,} words and operators, more than {MOST_TOKENS}; shorten it, e.g. by IN (…)"
        )
    for position, token in enumerate(tokens):
        _check(tokens, position, token, text)
        _check_value(tokens[position : position + 3], text)
    try:
        expression = pl.sql_expr(text)
        dtype = CHOOSABLE.empty().lazy().select(expression.alias("chosen")).collect_schema()["chosen"]
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise ExportError(f"--where {text!r}: {str(error).splitlines()[0]}") from None
    if dtype != pl.Boolean:
        raise ExportError(f"--where {text!r}: a condition is true or false; this is {dtype}. Compare it with something")
    return expression


def refuse_what_needs_a_replay(text: str, *, is_replayed: bool) -> None:
    """A column that is null for every record chooses none, which would pass for an answer.

    Raises:
        ExportError: the condition names a column that only a replay knows, and there is none.
    """
    asked = [] if is_replayed else [token.text for token in _tokens(text) if token.text in OF_REPLAY]
    if asked:
        raise ExportError(f"--where {text!r}: {asked[0]} is known after a replay only; add --replay")


def choosable(
    trajectories: pl.LazyFrame,
    findings: pl.LazyFrame,
    tool_calls: pl.LazyFrame,
    replays: pl.LazyFrame | None = None,
    on_demand: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """What a condition is about.

    Args:
        trajectories: conforms to TRAJECTORIES.
        findings: conforms to FINDINGS.
        tool_calls: conforms to TOOL_CALLS.
        replays: conforms to REPLAYS; None, or empty, where no replay was asked for.
        on_demand: `trajectory_id` and any of ON_DEMAND.

    Returns:
        One row per trajectory, in their order, conforming to CHOOSABLE.
    """
    rule = pl.col("rule")
    broken = findings.group_by("trajectory_id").agg(findings=pl.len(), rules=rule.unique().sort().str.join(","))
    counts = ("failed_calls", "unanswered_calls", "refused_arguments")
    calls = tool_calls.group_by("trajectory_id").agg(
        failed_calls=(pl.col("outcome") == "error").sum(),
        unanswered_calls=pl.col("result_message").is_null().sum(),
        refused_arguments=(~verdict().cast(pl.String).is_in(["valid", "over_required", "unchecked"])).sum(),
    )
    joined = trajectories
    asked = CHOOSABLE.empty().lazy().select("trajectory_id") if on_demand is None else on_demand
    played = REPLAYS.empty().lazy() if replays is None else replays.filter("is_replayable")
    for counted in (broken, calls, played.select("trajectory_id", *OF_REPLAY), asked):
        joined = joined.join(counted, on="trajectory_id", how="left", validate="1:1", maintain_order="left")
    there = asked.collect_schema().names()
    unasked = {name: pl.lit(None, CHOOSABLE[name].dtype) for name in ON_DEMAND if name not in there}
    return CHOOSABLE.select(
        joined.with_columns(
            pl.col("findings", *counts).fill_null(0),
            pl.col("rules").fill_null(""),
            **unasked,
        )
    )


def names_in(text: str) -> set[str]:
    """The words of a condition.

    Raises:
        ExportError: it cannot be cut into words.
    """
    return {token.text for token in _tokens(text)}


def chosen(choosable: pl.LazyFrame, text: str) -> pl.DataFrame:
    """The rows for which a condition holds; all of them for an empty one.

    Raises:
        ExportError: as in `condition`, or a value that a column cannot hold.
    """
    if not text.strip():
        return choosable.collect()
    expression = condition(text)
    try:
        return choosable.filter(expression).collect()
    except pl.exceptions.PolarsError as error:
        raise ExportError(f"--where {text!r}: {str(error).splitlines()[0]}") from None


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        found = _TOKENS.match(text, position)
        if found is None:
            raise ExportError(f"--where {text!r}: {text[position : position + 20]!r} is not understood")
        position = found.end()
        if found.lastgroup:
            yield _Token(found.lastgroup, found[found.lastgroup])


def _check(tokens: list[_Token], position: int, token: _Token, text: str) -> None:
    if token.kind == "symbol" and token.text in ("--", "/*"):
        raise ExportError(f"--where {text!r}: comments have no place in a condition")
    if token.kind == "quoted" and token.text not in COLUMNS:
        raise _unknown(token.text, text, " (a text stands in single quotes)")
    if token.kind != "word":
        return
    word = token.text.lower()
    is_called = tokens[position + 1 : position + 2] == [_Token("symbol", "(")]
    if is_called and (word in FUNCTIONS or word in KEYWORDS - {"from"} or word in TYPES):
        return
    if is_called:
        raise ExportError(f"--where {text!r}: no function {token.text}; there are {', '.join(sorted(FUNCTIONS))}")
    if word == "from":
        if position and tokens[position - 1].text.lower() == "distinct":
            return
        raise ExportError(f"--where {text!r}: a condition reads one record; it has no tables and no FROM")
    if token.text not in COLUMNS and word not in KEYWORDS and word not in TYPES:
        raise _unknown(token.text, text)


def _check_value(three: list[_Token], text: str) -> None:
    """`column = 'value'`, where the column has few values: another one is a slip, not an empty answer."""
    if [token.kind for token in three] != ["word", "symbol", "text"] or three[0].text not in COLUMNS:
        return
    dtype, value = CHOOSABLE[three[0].text].dtype, three[2].text[1:-1]
    if isinstance(dtype, pl.Enum) and three[1].text in ("=", "!=", "<>") and value not in dtype.categories:
        raise ExportError(f"--where {text!r}: {three[0].text} is one of {', '.join(dtype.categories)}")


def _unknown(name: str, text: str, why: str = "") -> ExportError:
    near = nearest(name, COLUMNS)
    known = f"nearest: {', '.join(near)}" if near else f"columns are {', '.join(COLUMNS)}"
    return ExportError(f"--where {text!r}: no column {name}{why}; {known}")
