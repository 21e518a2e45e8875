"""Calls in their order, as numbers: what sequences are counted over."""

from typing import Literal

import polars as pl

from analysis.measures.calls import offer_key, trajectory_key, verb, with_kind

Unit = Literal["tool_name", "verb", "kind"]


START, END = "(start)", "(end)"


UNREADABLE = "(unreadable)"


def names_of(tool_calls: pl.LazyFrame, environment_tools: pl.LazyFrame, unit: Unit) -> pl.LazyFrame:
    """`token` and `code` of each (env_id, tool_name): text is handled once a tool, calls carry the number."""
    tools = tool_calls.select("env_id", "tool_name").unique()
    if unit == "kind":
        named = with_kind(tools, environment_tools).with_columns(token=pl.col("kind").cast(pl.String))
    else:
        spelled = verb() if unit == "verb" else pl.col("tool_name")
        named = tools.with_columns(token=spelled.fill_null(UNREADABLE))
    code = pl.col("token").rank("dense").cast(pl.UInt32)
    return named.sort("token").select(tool=offer_key(), token=pl.col("token"), code=code).cache()


def in_order(tool_calls: pl.LazyFrame, names: pl.LazyFrame, *carried: str) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Messages that make a call, in order, each with its `code`, and the `token` of each code; codes count from 1.

    Calls of one message are made at once: they are one place in a sequence, named by the set of them, as `a + b`.
    """
    tokens = names.select("code", "token").unique()
    calls = tool_calls.select("call", "message", *carried, key=trajectory_key(), tool=offer_key()).join(
        names.select("tool", "code"), on="tool", how="left"
    )
    messages = calls.group_by("key", "message").agg(
        *(pl.col(name).first() for name in carried),
        pl.col("code").first(),
        codes=pl.col("code").unique().sort(),
    )
    messages = messages.with_columns(set_key=pl.when(pl.col("codes").list.len() > 1).then(pl.col("codes").hash(seed=8)))
    sets = (
        messages.filter(pl.col("set_key").is_not_null())
        .unique("set_key")
        .select("set_key", "codes")
        .explode("codes", empty_as_null=False, keep_nulls=False)
        .join(tokens, left_on="codes", right_on="code")
        .sort("set_key", "token")
        .group_by("set_key", maintain_order=True)
        .agg(token=pl.col("token").str.join(" + "))
        .sort("token")
        .join(tokens.select(last=pl.col("code").max()), how="cross")
        .with_columns(set_code=pl.col("last") + 1 + pl.int_range(pl.len(), dtype=pl.UInt32))
    )
    ordered = (
        messages.join(sets.select("set_key", "set_code"), on="set_key", how="left")
        .select("key", "message", *carried, code=pl.coalesce("set_code", "code"))
        .sort("key", "message")
        .cache()
    )
    return ordered, pl.concat([tokens, sets.select(code="set_code", token="token")])


def transition_pairs(ordered: pl.LazyFrame, *by: str) -> pl.LazyFrame:
    """`before` and `after` of every transition: each call and what follows it; 0 stands for the start and the end."""
    key, code, edge = pl.col("key"), pl.col("code"), pl.lit(0, pl.UInt32)
    is_first = key.ne_missing(key.shift(1))
    is_last = key.ne_missing(key.shift(-1))
    following = ordered.select(*by, before=code, after=pl.when(is_last).then(edge).otherwise(code.shift(-1)))
    starts = ordered.filter(is_first).select(*by, before=edge, after=code)
    return pl.concat([following, starts])


def spell(pairs: pl.LazyFrame, tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Replace the codes of `before` and `after` by their names."""
    return (
        pairs.join(tokens.rename({"code": "before", "token": "before_name"}), on="before", how="left", validate="m:1")
        .join(tokens.rename({"code": "after", "token": "after_name"}), on="after", how="left", validate="m:1")
        .with_columns(before=pl.col("before_name").fill_null(START), after=pl.col("after_name").fill_null(END))
    )
