"""The contract, as data: every column's dtype, meaning and unit, and every base table's grain and key.

From this one place come validation (`conform`), empty frames, test fixtures, the data dictionary and axis titles.
It knows Polars and nothing else of the project.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from polars.datatypes import DataType

# Below this many events a percentage claims more than is known: the counts are shown in its place.
FEWEST_FOR_A_RATE = 20


class SchemaError(ValueError):
    """A frame does not fit its table; the message lists every breach at once."""


@dataclass(frozen=True)
class Column:
    """One column: its name, dtype, what it means, its unit, and whether a value may be absent."""

    name: str
    dtype: DataType
    meaning: str
    unit: str | None = None
    nullable: bool = False

    @property
    def title(self) -> str:
        """What an axis or a table's head says: the name in words, with its unit where the words do not name it."""
        words = self.name.replace("_", " ")
        return f"{words} ({self.unit})" if self.unit and self.unit not in words.split() else words


@dataclass(frozen=True)
class Table:
    """A named, ordered list of columns with a grain (one row per what) and a key (what makes a row unique)."""

    name: str
    grain: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name!r}; it has {', '.join(self.names)}")

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def schema(self) -> pl.Schema:
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def empty(self) -> pl.DataFrame:
        """No rows, all columns: what a measure returns for an empty source."""
        return pl.DataFrame(schema=self.schema)

    def select(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The table's columns, in order, cast to their dtypes, lazily: the last step of a measure."""
        return frame.select(pl.col(column.name).cast(column.dtype) for column in self.columns)


def conform(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """Order, cast and check a frame against its table.

    Args:
        frame: has at least the table's columns; others are left out.
        table: the contract.

    Returns:
        The table's columns in their order and dtypes.

    Raises:
        SchemaError: columns missing, values that do not fit the dtype, nulls where none may be, a key that repeats.
            One message names them all.
    """
    missing = [name for name in table.names if name not in frame.columns]
    if missing:
        raise SchemaError(f"{table.name}: no column {', '.join(missing)}; the frame has {', '.join(frame.columns)}")
    breaches = []
    series = []
    for column in table:
        values = frame.get_column(column.name)
        cast = values.cast(column.dtype, strict=False)
        lost = cast.null_count() - values.null_count()
        if lost:
            breaches.append(f"{column.name}: {lost:,} of {len(values):,} values are not {column.dtype}")
        if not column.nullable and values.null_count():
            breaches.append(f"{column.name}: {values.null_count():,} of {len(values):,} values are null")
        series.append(cast)
    conformed = pl.DataFrame(series)
    if table.key and not breaches:
        repeats = conformed.height - conformed.select(table.key).n_unique()
        if repeats:
            breaches.append(
                f"key ({', '.join(table.key)}): {repeats:,} of {conformed.height:,} rows repeat an earlier key"
            )
    if breaches:
        raise SchemaError(f"{table.name}: " + "; ".join(breaches))
    return conformed


_TRAJECTORY_ID = Column("trajectory_id", pl.String(), "shard and row of the record; stable for a given file")
_ENV_ID = Column(
    "env_id", pl.String(), "environment that offered the tools; null when the source names none", nullable=True
)
MODES = ("conversation", "non_conversation")
_TRAJ_TYPE = Column(
    "traj_type",
    pl.Enum(MODES),
    "mode of the rollout: with a simulated user (conversation) or without (non_conversation)",
)
_STEP = Column(
    "step", pl.UInt32(), "assistant message it belongs to, from 1; 0 stands before the first", unit="assistant messages"
)
_TOOL_SET = Column("tool_set", pl.String(), "hash of the distinct set of tools the record declares")

ROLES = ("system", "user", "assistant", "tool", "other")
END_CLASSES = (
    "completed_marker",
    "failed_marker",
    "stop_marker",
    "text_without_marker",
    "dangling_call",
    "ends_on_result",
    "exception",
    "step_cap",
    "empty",
)
OUTCOMES = ("ok", "error", "unknown")
OUTCOME_RULES = ("error_flag", "success_key", "error_key", "error_text", "structured", "none")
ARGUMENTS_FORMS = ("string", "object")
ARGUMENTS_STATES = ("object", "empty", "unparsable", "not_object")
ARGUMENTS_CLASSES = (
    "valid",
    "undeclared_tool",
    "unparsable",
    "not_an_object",
    "missing_required",
    "unknown_key",
    "wrong_type",
    "enum",
    "other_breach",
    "unchecked",
)

TRAJECTORIES = Table(
    "trajectories",
    "record",
    (
        _TRAJECTORY_ID,
        Column(
            "origin", pl.String(), "file@byte offset, or file@row for Parquet: where the record stands in the source"
        ),
        Column("dialect", pl.String(), "shape the record was read as"),
        _TRAJ_TYPE,
        _ENV_ID,
        Column("task_id", pl.String(), "scenario: initial state and task; an id as text", nullable=True),
        Column("task", pl.String(), "instruction text", nullable=True),
        Column("steps", pl.Int64(), "as the record declares it", unit="steps", nullable=True),
        Column("assistant_messages", pl.UInt32(), "assistant messages counted: one a step", unit="messages"),
        Column("user_messages", pl.UInt32(), "user messages counted, the closing one included", unit="messages"),
        Column("tool_messages", pl.UInt32(), "results counted, as messages", unit="messages"),
        Column("tool_calls", pl.UInt32(), "tool calls counted, unreadable blocks included", unit="calls"),
        Column("tools_offered", pl.UInt32(), "tools the record declares", unit="tools"),
        Column("tools_used", pl.UInt32(), "distinct offered tools called at least once", unit="tools"),
        _TOOL_SET,
        Column("end_class", pl.Enum(END_CLASSES), "how the record ends"),
        Column("reasoning_messages", pl.UInt32(), "assistant messages that carry reasoning", unit="messages"),
        Column("total_reward", pl.Float64(), "reward the runner wrote", unit="reward", nullable=True),
        Column("trial", pl.String(), "repetition of the scenario, where the source numbers them", nullable=True),
        Column("model", pl.String(), "model that acted, where the source names it", nullable=True),
        Column("record_bytes", pl.UInt64(), "size of the raw record", unit="bytes"),
    ),
    key=("trajectory_id",),
)

MESSAGES = Table(
    "messages",
    "message",
    (
        _TRAJECTORY_ID,
        Column("message", pl.UInt32(), "position in the record, from 0"),
        Column("role", pl.Enum(ROLES), "who speaks; a result is `tool` whatever role delivered it"),
        _STEP,
        Column("content_chars", pl.UInt32(), "length of the visible text", unit="characters"),
        Column(
            "reasoning_chars",
            pl.UInt32(),
            "length of the reasoning; null when the message has none",
            unit="characters",
            nullable=True,
        ),
        Column("tool_calls", pl.UInt32(), "calls the message makes", unit="calls"),
        Column("is_question", pl.Boolean(), "assistant text that ends in a question and makes no call"),
    ),
    key=("trajectory_id", "message"),
)

TOOL_CALLS = Table(
    "tool_calls",
    "tool call, with its result's outcome beside it",
    (
        _TRAJECTORY_ID,
        _ENV_ID,
        _TRAJ_TYPE,
        _STEP,
        Column("call", pl.UInt32(), "position among the trajectory's calls, from 1"),
        Column("message", pl.UInt32(), "position of the message that makes the call, from 0"),
        Column("tool_name", pl.String(), "tool called; null when the block could not be read", nullable=True),
        Column("arguments", pl.String(), "JSON text of the arguments, byte-exact", nullable=True),
        Column("arguments_form", pl.Enum(ARGUMENTS_FORMS), "how the record holds the arguments", nullable=True),
        Column("arguments_state", pl.Enum(ARGUMENTS_STATES), "what the arguments parse to"),
        Column(
            "arguments_class", pl.Enum(ARGUMENTS_CLASSES), "arguments against the record's own JSON Schema of the tool"
        ),
        Column(
            "is_offered",
            pl.Boolean(),
            "the record declares a tool of that name; null where it declares no tools",
            nullable=True,
        ),
        Column(
            "result_message", pl.UInt32(), "position of the message that answers; null when unanswered", nullable=True
        ),
        Column("result_chars", pl.UInt32(), "length of the result", unit="characters", nullable=True),
        Column("outcome", pl.Enum(OUTCOMES), "what the result says of the call"),
        Column("outcome_rule", pl.Enum(OUTCOME_RULES), "rule that decided the outcome"),
        Column(
            "error",
            pl.String(),
            "error text of the result, at most 500 characters; null unless outcome is error",
            nullable=True,
        ),
    ),
    key=("trajectory_id", "call"),
)

TOOLS = Table(
    "tools",
    "tool of a distinct tool set",
    (
        _TOOL_SET,
        Column("tool_name", pl.String(), "name the tool set declares"),
        Column("description_chars", pl.UInt32(), "length of the description", unit="characters"),
        Column("parameters", pl.UInt32(), "parameters the schema lists", unit="parameters"),
        Column("required", pl.UInt32(), "parameters the schema requires", unit="parameters"),
    ),
    key=("tool_set", "tool_name"),
)

FINDINGS = Table(
    "findings",
    "breach of the contract, in a record that was kept",
    (
        _TRAJECTORY_ID,
        Column("rule", pl.String(), "id of the rule that is broken"),
        Column("message", pl.UInt32(), "position of the message it concerns; null for the whole record", nullable=True),
        Column("detail", pl.String(), "what was found"),
    ),
)

REJECTED = Table(
    "rejected",
    "record that could not be read",
    (
        Column("origin", pl.String(), "file@byte offset, or file@row for Parquet"),
        Column(
            "byte_offset",
            pl.UInt64(),
            "where the record starts in its file; null for Parquet rows",
            unit="bytes",
            nullable=True,
        ),
        Column("reason", pl.String(), "why it could not be read"),
    ),
)

ENVIRONMENTS = Table(
    "environments",
    "environment of the sibling set",
    (
        Column("env_id", pl.String(), "environment"),
        Column("env_class_name", pl.String(), "name of the class that implements it", nullable=True),
        Column("summary", pl.String(), "one-line summary", nullable=True),
        Column("split", pl.String(), "suffix of the id: sft, rl, or null", nullable=True),
        Column("state_entities", pl.UInt32(), "entries of the state space definition", unit="entities"),
        Column("state_categories", pl.UInt32(), "attributes over all entities of the state space", unit="attributes"),
        Column("rules", pl.UInt32(), "constraint rules", unit="rules"),
        Column("query_tools", pl.UInt32(), "operations of type query", unit="tools"),
        Column("change_tools", pl.UInt32(), "operations of type state change", unit="tools"),
        Column("tools", pl.UInt32(), "tools declared to the agent", unit="tools"),
        Column(
            "code_lines",
            pl.UInt32(),
            "lines of the environment's code, which only replay runs, in its sandbox",
            unit="lines",
        ),
        Column("code_chars", pl.UInt32(), "size of the environment's code", unit="characters"),
    ),
    key=("env_id",),
)

ENVIRONMENT_TOOLS = Table(
    "environment_tools",
    "operation of an environment",
    (
        Column("env_id", pl.String(), "environment"),
        Column("tool_name", pl.String(), "operation"),
        Column("kind", pl.Enum(["query", "change", "unknown"]), "whether it reads or changes the state"),
        Column("description_chars", pl.UInt32(), "length of the description", unit="characters"),
    ),
    key=("env_id", "tool_name"),
)

SCENARIOS = Table(
    "scenarios",
    "scenario of the sibling set",
    (
        Column("env_id", pl.String(), "environment it plays in"),
        Column("task_id", pl.String(), "scenario, named within its environment"),
        Column("task_chars", pl.UInt32(), "length of the task text", unit="characters"),
        Column("config_chars", pl.UInt32(), "length of the initial state as JSON", unit="characters"),
        Column("checks", pl.UInt32(), "checks that judge the final state; 0 in the SFT set", unit="checks"),
    ),
    key=("env_id", "task_id"),
)

CHECKS = Table(
    "checks",
    "check of an RL scenario",
    (
        Column("env_id", pl.String(), "environment the scenario plays in"),
        Column("task_id", pl.String(), "scenario, named within its environment"),
        Column("check", pl.UInt32(), "position in the checklist, from 1"),
        Column("item_chars", pl.UInt32(), "length of the check's sentence", unit="characters"),
        Column(
            "code_lines", pl.UInt32(), "lines of the check's code, which only replay runs, in its sandbox", unit="lines"
        ),
    ),
    key=("env_id", "task_id", "check"),
)

# Derived tables: a second pass over the texts, made when a question needs it.

TOKENS = Table(
    "tokens",
    "message, as rendered by Qwen3's chat template",
    (
        _TRAJECTORY_ID,
        Column("message", pl.UInt32(), "position in the record, from 0"),
        Column("role", pl.Enum(ROLES), "who speaks; a result is `tool` whatever role delivered it"),
        _STEP,
        Column("header_tokens", pl.UInt32(), "opening marker and role", unit="tokens"),
        Column("tools_tokens", pl.UInt32(), "declared tools, in the system part", unit="tokens"),
        Column("content_tokens", pl.UInt32(), "visible text", unit="tokens"),
        Column("reasoning_tokens", pl.UInt32(), "text of the thought", unit="tokens"),
        Column("thought_tokens", pl.UInt32(), "tags and line breaks of the thought, removed with it", unit="tokens"),
        Column("call_tokens", pl.UInt32(), "tool calls with their tags", unit="tokens"),
        Column("result_tokens", pl.UInt32(), "text of the result", unit="tokens"),
        Column("template_tokens", pl.UInt32(), "closing marker, result tags, line breaks", unit="tokens"),
    ),
    key=("trajectory_id", "message"),
)

VALUE_SOURCES = ("result", "user", "system", "task", "echo", "agent", "none")

VALUES = Table(
    "values",
    "id-like argument value of a call",
    (
        _TRAJECTORY_ID,
        _ENV_ID,
        _TRAJ_TYPE,
        Column("call", pl.UInt32(), "position among the trajectory's calls, from 1"),
        Column("tool_name", pl.String(), "tool called", nullable=True),
        Column("path", pl.String(), "where the value stands in the arguments, e.g. /items/0/id"),
        Column("argument", pl.String(), "last name of the path"),
        Column("value", pl.String(), "the value as text, at most 64 characters"),
        Column("source", pl.Enum(VALUE_SOURCES), "where the value stood before, see records.values"),
        Column("source_call", pl.UInt32(), "call whose result first held the value", nullable=True),
        Column("distance", pl.UInt32(), "calls from there to here", unit="calls", nullable=True),
        Column(
            "nearest_distance",
            pl.UInt32(),
            "calls from the last result before that holds the value to here",
            unit="calls",
            nullable=True,
        ),
        Column(
            "chain",
            pl.UInt32(),
            "calls of the longest chain of reuse that ends with this call, itself one",
            unit="calls",
        ),
    ),
    key=("trajectory_id", "call", "path"),
)

SWAPPED_VALUES = Table(
    "swapped_values",
    "id-like argument value, taken for one of another run",
    (
        _TRAJECTORY_ID,
        _ENV_ID,
        _TRAJ_TYPE,
        VALUES["call"],
        VALUES["path"],
        VALUES["argument"],
        Column("value", pl.String(), "what another run of the environment gave to the argument"),
        Column("source", pl.Enum(VALUE_SOURCES), "where it would have stood before"),
    ),
    key=("trajectory_id", "call", "path"),
)

COMPARED_KINDS = ("task", "tool", "value")

COMPARED = Table(
    "compared",
    "task, declared tool or id-like argument value of a trajectory, or of a benchmark's record",
    (
        _TRAJECTORY_ID,
        Column("kind", pl.Enum(COMPARED_KINDS), "what is compared"),
        _ENV_ID,
        Column("name", pl.String(), "task_id, name of the tool, or name of the argument", nullable=True),
        Column("text", pl.String(), "the task's text, the tool's canonical parameters, or the value"),
    ),
)

PRIVATE_KINDS = ("key", "password", "e-mail", "phone", "card")
PRIVATE_FORMS = ("open", "reserved")

PRIVATE = Table(
    "private",
    "trajectory, kind, form and role of secrets or personal data found in texts",
    (
        _TRAJECTORY_ID,
        Column("kind", pl.Enum(PRIVATE_KINDS), "what is found, by its form alone"),
        Column("form", pl.Enum(PRIVATE_FORMS), "reserved: by its form nobody's; open: may be real or invented"),
        Column("role", pl.String(), "who says it, or task"),
        Column("finds", pl.UInt32(), "distinct values; the values themselves are not kept", unit="finds"),
    ),
    key=("trajectory_id", "kind", "form", "role"),
)

# Replay: recorded calls played again on the environments' own code, when that is asked for.

REPLAY_VERDICTS = ("reproduced", "differing", "untold")
REPLAY_KINDS = (
    *("text", "value", "ids and times", "exception", "refused"),
    *("content", "outcome", "ids", "no such tool"),
    *("no result", "unreadable", "clock or chance", "order", "sandbox"),
)

REPLAYS = Table(
    "replays",
    "trajectory, when replay was asked for",
    (
        _TRAJECTORY_ID,
        Column("is_replayable", pl.Boolean(), "its environment ran in the sandbox, from its scenario's initial state"),
        Column("reason", pl.String(), "why it could not be replayed", nullable=True),
        Column("calls", pl.UInt32(), "tool calls of the record, replayed or not", unit="calls"),
        Column("reproduced", pl.UInt32(), "calls whose result came out as recorded", unit="calls"),
        Column("differing", pl.UInt32(), "calls whose result came out otherwise", unit="calls"),
        Column("untold", pl.UInt32(), "calls played, of which neither can be told", unit="calls"),
        Column("first_difference", pl.UInt32(), "the first call that differs, from 1", nullable=True),
        Column("changes", pl.UInt32(), "calls that changed the state", unit="calls"),
        Column(
            "changes_read_back",
            pl.UInt32(),
            "of these, followed by a call that returns one of the entities and changes nothing",
            unit="calls",
        ),
        Column(
            "final_state_hash",
            pl.String(),
            "of the state after the last call, without generated ids and times; equal states have equal hashes",
            nullable=True,
        ),
        Column("checks", pl.UInt32(), "checks of the scenario; 0 in the SFT set", unit="checks"),
        Column("checks_passed", pl.UInt32(), "checks that the final state passes", unit="checks"),
        Column("checks_untold", pl.UInt32(), "checks that could not be asked in the sandbox", unit="checks"),
        Column(
            "reward",
            pl.Float64(),
            "checks_passed over checks; null without checks, or where one could not be asked",
            unit="reward",
            nullable=True,
        ),
        Column("reward_recorded", pl.Float64(), "reward the runner wrote", unit="reward", nullable=True),
    ),
    key=("trajectory_id",),
)

REPLAYED_CALLS = Table(
    "replayed_calls",
    "tool call of a trajectory that could be replayed",
    (
        _TRAJECTORY_ID,
        TOOL_CALLS["call"],
        TOOL_CALLS["tool_name"],
        Column("verdict", pl.Enum(REPLAY_VERDICTS), "replayed result against the recorded one"),
        Column("kind", pl.Enum(REPLAY_KINDS), "in which way they agree or differ, or why that cannot be told"),
        Column("made", pl.UInt32(), "entities of the state that the call made", unit="entities"),
        Column("changed", pl.UInt32(), "entities that it changed", unit="entities"),
        Column("removed", pl.UInt32(), "entities that it removed", unit="entities"),
        Column("entities", pl.String(), "these entities, as attribute/key, at most 500 characters", nullable=True),
        Column("is_read_back", pl.Boolean(), "a later call that changes nothing returns one of these entities"),
        Column(
            "replayed_result",
            pl.String(),
            "what the call returned or raised in the sandbox, at most 2,000 characters; null where it is as recorded",
            nullable=True,
        ),
    ),
    key=("trajectory_id", "call"),
)

REPLAYED_CHECKS = Table(
    "replayed_checks",
    "check of a trajectory that could be replayed",
    (
        _TRAJECTORY_ID,
        CHECKS["check"],
        Column("item", pl.String(), "the check's sentence"),
        Column("is_passed", pl.Boolean(), "the final state passes it; null where it could not be asked", nullable=True),
        Column("reason", pl.String(), "the exception that it raised, or why it could not be asked", nullable=True),
    ),
    key=("trajectory_id", "check"),
)

RECORD_TABLES = (TRAJECTORIES, MESSAGES, TOOL_CALLS, TOOLS, FINDINGS, REJECTED)
SIBLING_TABLES = (ENVIRONMENTS, ENVIRONMENT_TOOLS, SCENARIOS, CHECKS)
DERIVED_TABLES = (TOKENS,)
REPLAY_TABLES = (REPLAYS, REPLAYED_CALLS, REPLAYED_CHECKS)
BASE_TABLES = RECORD_TABLES + SIBLING_TABLES
