"""What a gate can put a bound on: a number of the whole set, with what it is counted of.

Each is made of the measures that the notebooks draw, so that a gate and a page cannot disagree.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import polars as pl

from analysis.measures import (
    arguments,
    coverage,
    dialogue,
    duplicates,
    outcomes,
    overlap,
    overview,
    private,
    reasoning,
    recovery,
    repeats,
    replay,
    tool_usage,
    training_budget,
)
from analysis.records import tokens
from analysis.records.vocabulary import vocabulary
from analysis.schema import TOKENS
from analysis.tables import Tables


class Options(Protocol):
    """The settings of a gate that quantities depend on."""

    @property
    def cutoff(self) -> int: ...
    @property
    def tokenizer(self) -> str: ...
    @property
    def near_duplicate(self) -> float: ...
    @property
    def near_task(self) -> float: ...
    @property
    def near_tool(self) -> float: ...


class Measurement(NamedTuple):
    """A value and what it is counted of; None where there is nothing to count, with the reason."""

    value: float | None
    events: float | None = None
    of: float | None = None
    reason: str = ""


class Quantity(NamedTuple):
    """One number of a data set: what it says, whether less or more is better, and how it is found."""

    meaning: str
    is_less_better: bool
    is_share: bool
    find: Callable[[Tables, Options], Measurement]


def _share(events: float | None, of: float | None, nothing: str) -> Measurement:
    if not of or events is None:
        return Measurement(None, events, of, f"there are no {nothing}")
    return Measurement(events / of, events, of)


def _sums(frame: pl.LazyFrame, **columns: Any) -> dict[str, float]:
    row: dict[str, float] = frame.select(**columns).collect().row(0, named=True)
    return row


def _rejected(data: Tables, options: Options) -> Measurement:
    return _share(data.manifest["rejected"], data.manifest["records_in"], "records")


def _sound(data: Tables, options: Options) -> Measurement:
    sound = overview.sound(data.trajectories, data.findings)
    row = _sums(sound, events=pl.col("sound_records").sum(), of=pl.col("records").sum())
    return _share(row["events"], row["of"], "records kept")


def _closed(data: Tables, options: Options) -> Measurement:
    is_marked = pl.col("end_class").cast(pl.String).is_in(["completed_marker", "stop_marker"])
    counted = pl.col("trajectories")
    row = _sums(dialogue.end_classes(data.trajectories), events=counted.filter(is_marked).sum(), of=counted.sum())
    return _share(row["events"], row["of"], "trajectories")


def _outcome(data: Tables, options: Options, *, events: str, of: str, nothing: str) -> Measurement:
    row = _sums(outcomes.by_mode(data.tool_calls), events=pl.col(events).sum(), of=pl.col(of).sum())
    return _share(row["events"], row["of"], nothing)


def _arguments(data: Tables, options: Options, *, verdicts: tuple[str, ...]) -> Measurement:
    verdict, calls = pl.col("verdict").cast(pl.String), pl.col("calls")
    row = _sums(
        arguments.classes(data.tool_calls),
        events=calls.filter(verdict.is_in(verdicts)).sum(),
        of=calls.filter(verdict != "unchecked").sum(),
    )
    return _share(row["events"], row["of"], "calls that can be held against a schema")


def _unanswered(data: Tables, options: Options) -> Measurement:
    row = _sums(data.tool_calls, events=pl.col("result_message").is_null().sum(), of=pl.len())
    return _share(row["events"], row["of"], "calls")


def _reasoned(data: Tables, options: Options) -> Measurement:
    row = _sums(
        reasoning.summary(data.messages, data.trajectories),
        without=pl.col("without_reasoning").sum(),
        of=pl.col("assistant_messages").sum(),
    )
    return _share(row["of"] - row["without"], row["of"], "assistant messages")


def _recovered(data: Tables, options: Options, *, events: str) -> Measurement:
    row = _sums(recovery.summary(data.tool_calls), events=pl.col(events).sum(), of=pl.col("errors").sum())
    return _share(row["events"], row["of"], "calls that fail and name a tool")


def _repeated(data: Tables, options: Options) -> Measurement:
    shares = repeats.shares(data.tool_calls, data.environment_tools)
    row = _sums(shares, events=pl.col("repeats").sum(), of=pl.col("calls").sum())
    return _share(row["events"], row["of"], "calls that name a tool")


def _looping(data: Tables, options: Options) -> Measurement:
    loops = repeats.loops(data.tool_calls, data.environment_tools)
    any_period = pl.col("period") == 0
    row = _sums(
        repeats.looping(loops, data.tool_calls).filter(any_period),
        events=pl.col("trajectories").sum(),
        of=pl.col("mode_trajectories").sum(),
    )
    return _share(row["events"], row["of"], "trajectories with a call")


def _tools_used(data: Tables, options: Options) -> Measurement:
    offered = tool_usage.by_tool(data.tool_calls, data.trajectories, data.tools)
    row = _sums(tool_usage.across(offered), events=pl.col("used_tools").sum(), of=pl.col("offered_tools").sum())
    return _share(row["events"], row["of"], "tools offered")


def _balance(data: Tables) -> dict[str, Any] | None:
    counted = coverage.environments(data.trajectories, data.environments, data.scenarios)
    rows = coverage.balance(counted).filter(pl.col("grain").cast(pl.String) == "trajectories").collect()
    return rows.row(0, named=True) if rows.height else None


def _environments(data: Tables, options: Options) -> Measurement:
    found = _balance(data)
    if found is None or not found["has_catalogue"]:
        return Measurement(None, reason="no catalogue of environments was given; name it with --environments")
    return _share(found["seen"], found["environments"], "environments")


def _scenarios(data: Tables, options: Options) -> Measurement:
    found = coverage.scenario_summary(data.trajectories, data.scenarios).collect()
    if found.is_empty() or not found["has_catalogue"][0]:
        return Measurement(None, reason="no catalogue of scenarios was given; name it with --scenarios")
    return _share(found["present"][0], found["scenarios"][0], "scenarios")


def _of_balance(data: Tables, options: Options, *, column: str) -> Measurement:
    found = _balance(data)
    if found is None or found[column] is None:
        return Measurement(None, reason="there are no environments to be even over")
    return Measurement(found[column], None, found["environments"])


def _copies(data: Tables, options: Options) -> Measurement:
    summary = duplicates.exact_summary(data.trajectories, data.tool_calls)
    row = _sums(summary, extra_copies=pl.col("extra_copies").sum(), trajectories=pl.col("trajectories").sum())
    return _share(row["extra_copies"], row["trajectories"], "trajectories")


def _near_tasks(data: Tables, options: Options) -> Measurement:
    summary = duplicates.tasks_summary(data.trajectories, threshold=options.near_duplicate)
    row = _sums(summary, tasks_in_pairs=pl.col("tasks_in_pairs").sum(), tasks=pl.col("tasks").sum())
    return _share(row["tasks_in_pairs"], row["tasks"], "scenarios with a task text")


def _tokens(data: Tables, options: Options) -> pl.LazyFrame:
    counted_by = vocabulary(options.tokenizer)
    return data.derive(TOKENS, partial(tokens.rows, tokenizer=options.tokenizer), key=counted_by.id)


def _cut(data: Tables, options: Options, *, layout: str, events: str, of: str) -> Measurement:
    loss = training_budget.cutoff_loss(_tokens(data, options), data.trajectories, cutoff=options.cutoff)
    chosen = loss.filter(pl.col("layout").cast(pl.String) == layout)
    row = _sums(chosen, events=pl.col(events).sum(), of=pl.col(of).sum())
    return _share(row["events"], row["of"], "training samples")


def _expansion(data: Tables, options: Options) -> Measurement:
    expansion = training_budget.expansion(_tokens(data, options), data.trajectories)
    row = _sums(
        expansion,
        events=(pl.col("prefix_tokens") + pl.col("output_tokens")).sum(),
        of=pl.col("trajectory_tokens").sum(),
    )
    return _share(row["events"], row["of"], "tokens")


def _replayed(data: Tables, options: Options, *, events: str, of: str, nothing: str) -> Measurement:
    summary = replay.summary(data.replays).collect()
    if summary.is_empty():
        return Measurement(None, reason="the source was not replayed; ask with --replay")
    row = summary.row(0, named=True)
    return _share(row[events], row[of], nothing)


def _agreement(data: Tables, options: Options) -> Measurement:
    if data.replays.limit(1).collect().is_empty():
        return Measurement(None, reason="the source was not replayed; ask with --replay")
    both = replay.agreement(data.replays, data.trajectories).filter(pl.col("mode").cast(pl.String) == "both")
    row = _sums(both, events=pl.col("agreeing").sum(), of=pl.col("scenarios").sum())
    return _share(row["events"], row["of"], "scenarios that several trajectories played")


def _overlap(data: Tables, options: Options, *, kind: str) -> Measurement:
    if "against" not in data.manifest:
        return Measurement(None, reason="the source was held against no other set; name one with --against")
    thresholds = {"threshold": options.near_task, "tool_threshold": options.near_tool}
    counts = overlap.summary(data.compared, data.reference, **thresholds).filter(pl.col("kind").cast(pl.String) == kind)
    row = counts.collect()
    if row.is_empty():
        return Measurement(None, reason=f"the other set has no {kind}")
    return _share(row["same"][0] + row["near"][0], row["items"][0], kind)


def _private(data: Tables, options: Options, *, column: str) -> Measurement:
    if not data.manifest["located"]:
        return Measurement(None, reason="only tables are here, without the texts to scan")
    row = private.summary(data.private, data.trajectories).collect().row(0, named=True)
    return _share(row[column], row["trajectories"], "trajectories")


QUANTITIES: dict[str, Quantity] = {
    "rejected_share": Quantity("records that could not be read, of all", True, True, _rejected),
    "sound_share": Quantity("records without any finding, of those kept", False, True, _sound),
    "closing_marker_share": Quantity("trajectories that close with their marker", False, True, _closed),
    "error_rate": Quantity(
        "calls that fail, of those whose result says ok or error",
        True,
        True,
        partial(_outcome, events="errors", of="judged", nothing="calls whose result says ok or error"),
    ),
    "unknown_share": Quantity(
        "calls whose result says neither ok nor error, of all",
        True,
        True,
        partial(_outcome, events="unknown", of="calls", nothing="calls"),
    ),
    "unanswered_share": Quantity("calls without a result, of all", True, True, _unanswered),
    "valid_arguments_share": Quantity(
        "calls whose arguments fit the record's own schema, of those that can be held against one",
        False,
        True,
        partial(_arguments, verdicts=("valid",)),
    ),
    "accepted_arguments_share": Quantity(
        "calls whose arguments fit, or leave out only what the tool did without",
        False,
        True,
        partial(_arguments, verdicts=("valid", "over_required")),
    ),
    "reasoning_share": Quantity("assistant messages that carry reasoning", False, True, _reasoned),
    "recovered_share": Quantity(
        "errors after which the same tool succeeds", False, True, partial(_recovered, events="recovered")
    ),
    "identical_retry_share": Quantity(
        "errors whose next call repeats them", True, True, partial(_recovered, events="identical_retries")
    ),
    "repeat_share": Quantity("calls that repeat an earlier one of their trajectory", True, True, _repeated),
    "looping_share": Quantity("trajectories that call in a loop, of those with a call", True, True, _looping),
    "tools_used_share": Quantity("tools called at least once, of those offered", False, True, _tools_used),
    "environment_coverage": Quantity("environments of the catalogue with a trajectory", False, True, _environments),
    "scenario_coverage": Quantity("scenarios of the catalogue with a trajectory", False, True, _scenarios),
    "environment_evenness": Quantity(
        "entropy of trajectories over environments / its largest value: 1 = all alike",
        False,
        True,
        partial(_of_balance, column="evenness"),
    ),
    "fewest_per_environment": Quantity(
        "trajectories of the environment that has fewest", False, False, partial(_of_balance, column="minimum")
    ),
    "exact_copies_share": Quantity("trajectories that do what an earlier one does", True, True, _copies),
    "near_duplicate_tasks_share": Quantity("scenarios whose task nearly repeats another's", True, True, _near_tasks),
    "cut_share": Quantity(
        "trajectories longer than the cutoff, rendered once",
        True,
        True,
        partial(_cut, layout="whole", events="samples_cut", of="samples"),
    ),
    "supervised_lost_share": Quantity(
        "supervised tokens that the cutoff takes, one sample a turn",
        True,
        True,
        partial(_cut, layout="per_turn", events="supervised_lost", of="supervised_tokens"),
    ),
    "reproduced_share": Quantity(
        "calls played again whose result is the recorded one, of those played",
        False,
        True,
        partial(_replayed, events="reproduced", of="calls", nothing="calls played"),
    ),
    "checks_passed_share": Quantity(
        "checks that the replayed final states pass",
        False,
        True,
        partial(_replayed, events="checks_passed", of="checks", nothing="checks"),
    ),
    "agreement_share": Quantity(
        "scenarios whose trajectories all end in the same state, of those that several played",
        False,
        True,
        _agreement,
    ),
    "secrets_share": Quantity(
        "trajectories with what may be a key or password", True, True, partial(_private, column="secret")
    ),
    "personal_data_share": Quantity(
        "trajectories with what may be an e-mail address, phone or card number of a person",
        True,
        True,
        partial(_private, column="personal"),
    ),
    "overlap_tasks_share": Quantity(
        "tasks that the set of --against has, too, or nearly", True, True, partial(_overlap, kind="tasks")
    ),
    "overlap_tools_share": Quantity(
        "tools that the set of --against has, too, or nearly", True, True, partial(_overlap, kind="tools")
    ),
    "expansion_factor": Quantity("tokens of training turn by turn / tokens rendered once", True, False, _expansion),
}
