"""Trajectories -> columns of the record tables, gathered row by row and conformed once a part."""

from typing import Any

import polars as pl

from analysis.records.model import Rejected, Trajectory
from analysis.schema import RECORD_TABLES, Table

_QUESTION_MARKS = ("?", "？")


class Rows:
    """The rows of one part. `add` a record, then `frames` them."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = {table.name: [] for table in RECORD_TABLES}
        self.tool_sets: set[str] = set()

    def add(self, trajectory_id: str, record: Trajectory | Rejected) -> None:
        if isinstance(record, Rejected):
            self.rows["rejected"].append((record.origin, record.byte_offset, record.reason))
            return
        self._messages(trajectory_id, record)
        self._calls(trajectory_id, record)
        self._tools(record)
        self._trajectory(trajectory_id, record)
        self.rows["findings"].extend([(trajectory_id, f.rule, f.message, f.detail) for f in record.findings])

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every record table, in its declared dtypes. The rows are ours, so dtypes are cast without a second check."""
        return {table.name: _frame(self.rows[table.name], table) for table in RECORD_TABLES}

    def _trajectory(self, trajectory_id: str, record: Trajectory) -> None:
        turns = record.shape.count
        self.rows["trajectories"].append(
            (
                trajectory_id,
                record.origin,
                record.dialect,
                record.traj_type,
                record.env_id,
                record.task_id,
                record.task,
                record.steps,
                turns("A") + turns("C") + turns("M"),
                turns("U"),
                turns("T"),
                len(record.calls),
                len(record.tools),
                len({call.name for call in record.calls if call.is_offered}),
                record.tool_set,
                record.end_class,
                len([None for message in record.messages if message.reasoning and message.role == "assistant"]),
                record.total_reward,
                record.trial,
                record.model,
                record.record_bytes,
            )
        )

    def _messages(self, trajectory_id: str, record: Trajectory) -> None:
        self.rows["messages"].extend(
            [
                (
                    trajectory_id,
                    index,
                    message.role,
                    message.step,
                    len(message.content),
                    None if message.reasoning is None else len(message.reasoning),
                    len(message.calls),
                    turn == "A" and message.content.rstrip()[-1:] in _QUESTION_MARKS,
                )
                for index, (message, turn) in enumerate(zip(record.messages, record.shape, strict=True))
            ]
        )

    def _calls(self, trajectory_id: str, record: Trajectory) -> None:
        append = self.rows["tool_calls"].append
        env_id, traj_type, messages = record.env_id, record.traj_type, record.messages
        for number, call in enumerate(record.calls, 1):
            result, text = call.result_message, call.result_text
            append(
                (
                    trajectory_id,
                    env_id,
                    traj_type,
                    call.step,
                    number,
                    call.message,
                    call.name,
                    call.arguments,
                    call.form,
                    call.arguments_state,
                    call.arguments_class,
                    call.is_offered,
                    result,
                    None if result is None else len(messages[result].content if text is None else text),
                    call.outcome,
                    call.outcome_rule,
                    call.error,
                )
            )

    def _tools(self, record: Trajectory) -> None:
        if record.tool_set in self.tool_sets:
            return
        self.tool_sets.add(record.tool_set)
        self.rows["tools"].extend(
            (record.tool_set, tool.name, len(tool.description), tool.parameters, tool.required) for tool in record.tools
        )


def _frame(rows: list[tuple[Any, ...]], table: Table) -> pl.DataFrame:
    columns = list(zip(*rows, strict=True)) or [()] * len(table.names)
    return pl.DataFrame(
        [pl.Series(c.name, values, dtype=c.dtype, strict=True) for c, values in zip(table, columns, strict=True)]
    )
