"""Pairs for preference training: what was `chosen` is read behind the prompt, what was `rejected` is told."""

from analysis.records import facts
from analysis.records.chat import number, read_items
from analysis.records.conversation import finish, system_text
from analysis.records.dialects.dialect import Dialect
from analysis.records.members import list_of
from analysis.records.model import Finding, Message, Trajectory
from analysis.records.record import Record
from analysis.records.roles import ALL_WORDS
from analysis.records.shape import CONVERSATIONS

NAME = "dpo"
PROMPTS = ("prompt", "question", *CONVERSATIONS)


def matches(record: Record) -> bool:
    return record.has("chosen", "rejected")


def read(record: Record) -> Trajectory:
    messages = system_text(record)
    prompt = next((key for key in PROMPTS if record.has(key)), None)
    chosen = _said(record, "chosen", "assistant")
    asked = _said(record, prompt, "user") if prompt else []
    if not _repeats(chosen, asked):
        messages += asked
    trajectory = finish(record, NAME, number([*messages, *chosen]))
    trajectory.findings.append(Finding("rejected_answer", None, _told(record)))
    return trajectory


def _said(record: Record, key: str, role: str) -> list[Message]:
    """The messages of a member that is a list of them, one of them, or a text."""
    raw = _bytes(record.inner(key)).strip()
    items = list_of(raw) if raw.startswith(b"[") else None
    if items is None and raw.startswith(b"{"):
        items = [raw]
    if items is None:
        items = [b'{"role":"%s","content":%s}' % (role.encode(), record.raw(key))]
    return read_items(record, key, items, ALL_WORDS)


def _repeats(chosen: list[Message], asked: list[Message]) -> bool:
    """Does the chosen answer open with the prompt?"""
    return [(m.role, m.content) for m in chosen[: len(asked)]] == [(m.role, m.content) for m in asked]


def _told(record: Record) -> str:
    raw = record.raw("rejected")
    items = list_of(raw)
    return f"{len(items)} messages were rejected" if items is not None else f"{len(raw):,} bytes were rejected"


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else text


DIALECT = Dialect(
    names=(NAME,),
    origin="Pairs for preference training (DPO)",
    mark="`chosen` beside `rejected`; only the chosen answer is read",
    needs=("chosen", "rejected"),
    example='{"prompt": [{"role": "user", "content": "Go."}], "chosen": [{"role": "assistant", "content": "Done."}], '
    '"rejected": [{"role": "assistant", "content": "No."}]}',
    keys=facts.KEYS | {"prompt", "question", "chosen", "rejected", "system", "margin", *CONVERSATIONS},
    bodies=frozenset({"prompt", "question", "chosen", "system", *CONVERSATIONS}),
    matches=matches,
    read=read,
)
