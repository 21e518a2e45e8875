"""Columns of a condition that take a while to find: only those that it names are."""

from functools import partial

import polars as pl

from analysis.export.errors import ExportError
from analysis.export.where import choosable, names_in
from analysis.measures import overlap, repeats, samples
from analysis.measures.signatures import signatures
from analysis.records import tokens
from analysis.records.vocabulary import vocabulary
from analysis.schema import TOKENS
from analysis.tables import Tables


def choosable_of(data: Tables, text: str) -> pl.DataFrame:
    """What a condition on this source is about, conforming to CHOOSABLE.

    Args:
        data: the source.
        text: the condition: of ON_DEMAND, what it does not name is null.
    """
    named = names_in(text)
    asked = data.trajectories.select("trajectory_id")
    for name, find in _FIND.items():
        if name in named:
            asked = asked.join(find(data), on="trajectory_id", how="left", validate="1:1")
    asked = asked.with_columns(
        pl.col(name).fill_null(value)
        for name, value in (("is_copy", False), ("loops", 0), ("overlaps", False))
        if name in named
    )
    return choosable(data.trajectories, data.findings, data.tool_calls, data.replays, asked).collect()


def _copies(data: Tables) -> pl.LazyFrame:
    """The first of equal ones is no copy."""
    alike = ["env_id", "scenario", "signature"]
    signed = signatures(data.trajectories, data.tool_calls).select("trajectory_id", *alike).sort("trajectory_id")
    return signed.select("trajectory_id", is_copy=pl.int_range(pl.len()).over(alike) > 0)


def _loops(data: Tables) -> pl.LazyFrame:
    return repeats.loops(data.tool_calls, data.environment_tools).group_by("trajectory_id").agg(loops=pl.len())


def qwen_tokens(data: Tables) -> pl.LazyFrame:
    """The tokens of each message, counted now or before; conforms to TOKENS."""
    return data.derive(TOKENS, partial(tokens.rows, tokenizer=""), key=vocabulary("").id)


def _tokens(data: Tables) -> pl.LazyFrame:
    return samples.wholes(qwen_tokens(data), data.trajectories).select("trajectory_id", tokens="length")


def _overlaps(data: Tables) -> pl.LazyFrame:
    """Of a task that the other set has, too.

    Raises:
        ExportError: it has no tasks, so that nothing can be said of the source's.
    """
    if data.reference.filter(pl.col("kind").cast(pl.String) == "task").limit(1).collect().is_empty():
        raise ExportError("--where: overlaps is known against a set with tasks only; name one with --against")
    found = overlap.overlapping(data.compared, data.reference)
    return found.with_columns(overlaps=pl.lit(True))


_FIND = {"is_copy": _copies, "loops": _loops, "tokens": _tokens, "overlaps": _overlaps}
