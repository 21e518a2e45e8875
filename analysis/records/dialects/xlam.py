"""Single turns of xLAM and APIGen: a `query`, the calls that answer it, the tools. No call is ever run."""

from analysis.records import facts
from analysis.records.calls import read_call
from analysis.records.conversation import finish
from analysis.records.dialects.dialect import Dialect
from analysis.records.members import flagged_list
from analysis.records.model import Finding, Message, Trajectory
from analysis.records.record import Record, UnreadableError

NAME = "xlam"


def matches(record: Record) -> bool:
    return record.has("query", "answers")


def read(record: Record) -> Trajectory:
    query = record.value("query")
    if not isinstance(query, str):
        raise UnreadableError(f"query: {type(query).__name__}, not a text")
    answers = flagged_list(record, "answers", record.inner("answers"))
    calls = [read_call(record, 1, raw) for raw in answers]
    messages = [Message("user", query, delivered_as="query"), Message("assistant", "", calls=calls)]
    messages[1].delivered_as = "answers"
    trajectory = finish(record, NAME, messages)
    trajectory.findings[:] = [finding for finding in trajectory.findings if finding.rule != "unanswered_call"]
    if calls:
        detail = f"{len(calls)} calls; a record of {NAME} ends with them"
        trajectory.findings.append(Finding("unanswered_by_design", 1, detail))
    return trajectory


DIALECT = Dialect(
    names=(NAME,),
    origin="xLAM and APIGen, single turns",
    mark="`query` and `answers`",
    needs=("query", "answers"),
    example='{"query": "Go.", "answers": "[{\\"name\\": \\"f\\", \\"arguments\\": {}}]", "tools": "[]"}',
    keys=facts.KEYS | {"query", "answers"},
    bodies=frozenset({"query", "answers"}),
    matches=matches,
    read=read,
)
