"""A trajectory -> safe HTML: turns, folded reasoning, arguments and results pretty-printed, errors and findings marked.

Results are other people's text. They are read with `json` or `ast.literal_eval` for display only, under a size cap, and
whatever those refuse is shown as it is.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pprint import pformat
from typing import Any

from analysis.markup import text
from analysis.records.model import Call, Finding, Message, Trajectory
from analysis.wording import count, mode, words

# Parsing and indenting more than this costs seconds and helps nobody read.
LARGEST_PARSED = 20_000
LONGEST_SHOWN = 6_000
# Of more messages the first and the last are shown, and between them errors with the calls that met them.
MOST_MESSAGES, MOST_ERRORS = 400, 200
SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Result", "other": "Other"}


def anchor(trajectory_id: str) -> str:
    """The fragment a page links to; readable where the id is, unique always."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", trajectory_id).strip("-")
    if plain == trajectory_id:
        return f"t-{plain}"
    return f"t-{plain[:40]}-{blake2b(trajectory_id.encode(errors='replace'), digest_size=4).hexdigest()}"


def html(
    trajectory: Trajectory,
    trajectory_id: str,
    reason: str = "",
    *,
    longest: int = LONGEST_SHOWN,
    most: int = MOST_MESSAGES,
    replayed: Mapping[int, str] | None = None,
) -> str:
    """One trajectory as a folded block, reached by `#anchor(trajectory_id)`.

    Args:
        trajectory: the record, texts included.
        trajectory_id: its id in the tables.
        reason: why it is shown.
        longest: characters of a text that are shown; how many more there are is said.
        most: messages that are shown, half of them the first ones and half the last, beside `MOST_ERRORS` errors; how
            many are left out stands where they would.
        replayed: what calls, numbered from 1, returned when played again, where that is not what is recorded.
    """
    errors = sum(call.outcome == "error" for call in trajectory.calls)
    facts = [
        trajectory.env_id or "no environment",
        f"scenario {trajectory.task_id}" if trajectory.task_id else "no scenario",
        mode(trajectory.traj_type),
        count(sum(m.role == "assistant" for m in trajectory.messages), "step"),
        count(len(trajectory.calls), "call"),
        count(errors, "error"),
        count(len(trajectory.findings), "finding"),
    ]
    findings: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in trajectory.findings:
        place = finding.message if finding.message is not None and finding.message < len(trajectory.messages) else None
        findings[place].append(finding)
    answered = {call.result_message: call for call in trajectory.calls if call.result_message is not None}
    anew = {call.result_message: (replayed or {}).get(number) for number, call in enumerate(trajectory.calls, start=1)}
    asked = f"trajectory_id = {json.dumps(trajectory_id)} and most = {len(trajectory.messages)}"
    turns: list[str] = []
    end = 0
    for place in _shown(trajectory, most, {place for place, result in anew.items() if place and result is not None}):
        message = trajectory.messages[place]
        turns += [
            _gap(end, place, findings, asked),
            _message(place, message, answered.get(place), findings[place], longest, anew.get(place)),
        ]
        end = place + 1
    shown = "".join(turns)
    why = f' <span class="reason">{text(reason)}</span>' if reason else ""
    whole = _findings(findings[None])
    return (
        f'<details class="transcript" id="{anchor(trajectory_id)}"><summary><b dir="auto">{text(trajectory_id)}</b>'
        f'{why} <small>{text(" · ".join(facts))}</small></summary>{whole}<ol class="turns">{shown}</ol></details>'
    )


def pretty(string: str) -> str:
    """Arguments or a result, indented: JSON, then a Python literal, then as it stands."""
    if len(string) > LARGEST_PARSED or not string.strip():
        return string
    try:
        return json.dumps(json.loads(string), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        pass
    try:
        value: Any = ast.literal_eval(string.strip())
        # A bare number or word gains nothing, and sets print in no stable order.
        return pformat(value, width=100, sort_dicts=False) if isinstance(value, (dict, list, tuple)) else string
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return string


def _shown(trajectory: Trajectory, most: int, besides: set[int]) -> list[int]:
    """Positions of the messages to show, in their order: some at either end, errors, and what is asked for besides."""
    total = len(trajectory.messages)
    if total <= most:
        return list(range(total))
    edge = most // 2
    errors = [call for call in trajectory.calls if call.outcome == "error"][:MOST_ERRORS]
    met = {place for call in errors for place in (call.message, call.result_message) if place is not None}
    return sorted({*range(edge), *met, *besides, *range(total - edge, total)})


def _gap(start: int, end: int, findings: Mapping[int | None, list[Finding]], asked: str) -> str:
    """What is left out between two messages, counted, and how to see it."""
    if start == end:
        return ""
    among = sum(len(held) for place, held in findings.items() if place is not None and start <= place < end)
    left = f"{count(end - start, 'message')}, {start:,} to {end - 1:,}"
    found = f" and {count(among, 'finding')} on them" if among else ""
    return (
        f'<li class="turn"><em>… {left}{found}: not shown here. 85_transcripts shows them with {text(asked)}.</em></li>'
    )


def _message(
    position: int,
    message: Message,
    answers: Call | None,
    findings: Iterable[Finding],
    longest: int,
    anew: str | None = None,
) -> str:
    failed = answers is not None and answers.outcome == "error"
    head = SPEAKERS[message.role]
    if message.role == "assistant" and message.step:
        head += f" · step {message.step}"
    if answers is not None:
        head += f" · {answers.name or 'unreadable call'} · {answers.outcome}"
    if message.delivered_as and message.delivered_as != message.role:
        head += f" · delivered as {message.delivered_as}"
    calls = "".join(_call(call, longest) for call in message.calls)
    body = _reasoning(message.reasoning, longest) + _content(message, longest) + _anew(anew, longest) + calls
    kind = f"turn {message.role}" + (" error" if failed else "")
    return (
        f'<li class="{kind}"><span class="speaker" dir="auto">{text(head)}</span> '
        f'<small class="position">message {position}</small>{body or "<p><i>empty</i></p>"}{_findings(findings)}</li>'
    )


def _content(message: Message, longest: int) -> str:
    if not message.content:
        return ""
    if message.role == "tool":
        return _code(pretty(message.content), longest)
    if message.role == "system":
        size = f"System text, {count(len(message.content), 'character')}"
        return f"<details><summary>{size}</summary>{_prose(message.content, longest)}</details>"
    return _prose(message.content, longest)


def _anew(result: str | None, longest: int) -> str:
    """Another result beside the recorded one."""
    if result is None:
        return ""
    return f'<p><em class="mark">played again, otherwise</em></p>{_code(pretty(result), longest)}'


def _reasoning(reasoning: str | None, longest: int) -> str:
    if not reasoning:
        return ""
    size = f"Reasoning, {count(len(reasoning), 'character')}"
    return f'<details class="reasoning"><summary>{size}</summary>{_prose(reasoning, longest)}</details>'


def _call(call: Call, longest: int) -> str:
    unanswered = "" if call.result_message is not None else ' <em class="mark">no result</em>'
    failed = ' <em class="mark">error</em>' if call.outcome == "error" else ""
    return (
        f'<div class="call"><code dir="auto">{text(call.name or "unreadable call")}</code>{failed}{unanswered}'
        f"{_code(pretty(call.arguments), longest) if call.arguments else ''}</div>"
    )


def _findings(findings: Iterable[Finding]) -> str:
    items = "".join(f"<li><b>{text(words(f.rule))}</b> {text(f.detail)}</li>" for f in findings)
    return f'<div class="findings"><p>Findings</p><ul>{items}</ul></div>' if items else ""


def _prose(string: str, longest: int) -> str:
    return f'<div class="prose" dir="auto">{_cut(string, longest)}</div>'


def _code(string: str, longest: int) -> str:
    return f'<pre dir="auto">{_cut(string, longest)}</pre>'


def _cut(string: str, longest: int) -> str:
    if len(string) <= longest:
        return text(string)
    return f"{text(string[:longest])} <em>… {count(len(string) - longest, 'more character')} in the source</em>"
