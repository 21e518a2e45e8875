"""Trajectories -> columns of the record tables, gathered row by row and conformed once a part."""

from typing import Any

import polars as pl

from analysis.records.model import Rejected, Trajectory
from analysis.schema import RECORD_TABLES, Table

_QUESTION_MARKS = ("?", "？")


class Rows:
    """The rows of one part. `add` a record, then `frames` them.

    A table's rows stand in one list, cell after cell; of a table eight columns wide, every eighth cell is a column. A
    tuple for each row, kept until the part's end and taken apart again, took twice as long.
    """

    def __init__(self) -> None:
        self.cells: dict[str, list[Any]] = {table.name: [] for table in RECORD_TABLES}
        self.tool_sets: set[str] = set()

    def add(self, trajectory_id: str, record: Trajectory | Rejected) -> None:
        if isinstance(record, Rejected):
            self.cells["rejected"].extend((record.origin, record.byte_offset, record.reason))
            return
        self._messages(trajectory_id, record)
        self._calls(trajectory_id, record)
        self._tools(record)
        self._trajectory(trajectory_id, record)
        for finding in record.findings:
            self.cells["findings"].extend((trajectory_id, finding.rule, finding.message, finding.detail))

    def frames(self) -> dict[str, pl.DataFrame]:
        """Every record table, in its declared dtypes. The rows are ours, so dtypes are cast without a second check."""
        return {table.name: _frame(self.cells[table.name], table) for table in RECORD_TABLES}

    def _trajectory(self, trajectory_id: str, record: Trajectory) -> None:
        turns = record.shape.count
        self.cells["trajectories"].extend(
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
        extend = self.cells["messages"].extend
        for index, (message, turn) in enumerate(zip(record.messages, record.shape, strict=True)):
            extend(
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
            )

    def _calls(self, trajectory_id: str, record: Trajectory) -> None:
        extend = self.cells["tool_calls"].extend
        env_id, traj_type, messages = record.env_id, record.traj_type, record.messages
        for number, call in enumerate(record.calls, 1):
            result, text = call.result_message, call.result_text
            extend(
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
        for tool in record.tools:
            self.cells["tools"].extend(
                (record.tool_set, tool.name, len(tool.description), tool.parameters, tool.required)
            )


def _frame(cells: list[Any], table: Table) -> pl.DataFrame:
    width = len(table.names)
    return pl.DataFrame(
        [pl.Series(c.name, cells[place::width], dtype=c.dtype, strict=True) for place, c in enumerate(table)]
    )
