"""Which result answers which call.

By id where ids are unique, then by the tool's name, then by position where that is unambiguous, else unpaired and
shown. A window is consecutive messages of the assistant, up to the next one behind something else:

1. within a window, a result whose id names exactly one of its calls;
2. within a window, results that name a tool, in order, when as many calls of that tool are open;
3. within a window, results (or calls) without an id, in order, when as many calls are open as results are left;
4. a result whose id names exactly one call still open anywhere before it: results may arrive late;
5. an error that a user message delivers right after a window answers its first open call: the runner runs no other;
6. the rest: `orphan_result`, `unanswered_call`.
"""

from collections import Counter, defaultdict

from analysis.records.model import Call, Finding, Message, ResultFacts, Trajectory
from analysis.records.outcome import ERROR_CHARS, Verdict, judge


def pair(trajectory: Trajectory) -> None:
    """Set `result_message` and the outcome of every call, and add the findings of pairing."""
    messages = trajectory.messages
    calls = trajectory.calls
    if not calls and "T" not in trajectory.shape:
        return
    # Every call alone in its message and followed by one result, every result by a call: what nearly every record is.
    is_plain = not trajectory.shape.replace("CT", "").strip("SUAO")
    if not (is_plain and _pair_plainly(messages, calls)):
        _pair(messages, calls, trajectory.findings)
    _repeated_ids(calls, trajectory.findings)
    for call in calls:
        if call.result_message is not None:
            text = messages[call.result_message].content if call.result_text is None else call.result_text
            answer = messages[call.result_message]
            verdict = judge(text) if answer.facts is None else _by_flag(answer.facts, text)
            call.outcome, call.outcome_rule, call.error = verdict


def _by_flag(facts: ResultFacts, text: str) -> Verdict:
    """What a result's own fields say goes before its text; that it did not fail, only where its text says nothing."""
    if facts.has_failed:
        return "error", "error_flag", (facts.error or text).strip()[:ERROR_CHARS]
    verdict = judge(text)
    return ("ok", "error_flag", None) if facts.has_failed is False and verdict[0] == "unknown" else verdict


def _pair_plainly(messages: list[Message], calls: list[Call]) -> bool:
    """Give each call the message behind it, unless some ids disagree or a reader has paired already."""
    for call in calls:
        if call.result_message is not None or (call.id and not _agree(call.id, messages[call.message + 1].answers)):
            return False
    for call in calls:
        call.result_message = call.message + 1
    return True


def _pair(messages: list[Message], calls: list[Call], findings: list[Finding]) -> None:
    left: list[int] = []
    for start, end in _windows(messages):
        results = [index for index in range(start, end) if messages[index].role == "tool"]
        window = [call for message in messages[start:end] for call in message.calls]
        if not window or any(call.result_message is not None for call in window):
            results = [index for index in results if all(call.result_message != index for call in window)]
            left.extend(results)
            continue
        results = _by_id(window, results, messages)
        results = _by_name(window, results, messages)
        results = _by_position(window, results, messages, findings)
        behind = next((index for index in range(start, end) if messages[index].role != "assistant"), end)
        if not results and behind < end:
            _by_user_error(window, behind, messages, findings)
        left.extend(results)
    if left:
        _late(calls, left, messages)
    answered = {call.result_message for call in calls}
    findings.extend(
        Finding("orphan_result", index, "a result that answers no call") for index in left if index not in answered
    )
    findings.extend(
        Finding("unanswered_call", call.message, f"{(call.name or 'unreadable block')[:200]} has no result")
        for call in calls
        if call.result_message is None
    )


def _repeated_ids(calls: list[Call], findings: list[Finding]) -> None:
    ids = [call.id for call in calls if call.id]
    if len(set(ids)) < len(ids):
        repeated = [id_ for id_, count in Counter(ids).items() if count > 1]
        findings.append(
            Finding("duplicate_call_id", None, f"{len(repeated)} ids name more than one call: {repeated[0][:100]}")
        )


def _windows(messages: list[Message]) -> list[tuple[int, int]]:
    speaks = [message.role == "assistant" for message in messages]
    starts = [index for index, is_agent in enumerate(speaks) if is_agent and not (index and speaks[index - 1])]
    starts = starts if starts[:1] == [0] else [0, *starts]
    return list(zip(starts, [*starts[1:], len(messages)], strict=True))


def _agree(call_id: str, answers: str) -> bool:
    return not call_id or not answers or call_id == answers


def _by_id(window: list[Call], results: list[int], messages: list[Message]) -> list[int]:
    names = Counter(call.id for call in window if call.id)
    answers = Counter(messages[index].answers for index in results if messages[index].answers)
    open_calls = {call.id: call for call in window if names[call.id] == 1}
    left = []
    for index in results:
        id_ = messages[index].answers
        if id_ in open_calls and answers[id_] == 1:
            open_calls[id_].result_message = index
        else:
            left.append(index)
    return left


def _by_name(window: list[Call], results: list[int], messages: list[Message]) -> list[int]:
    """Pair the results that name a tool with the calls of it, in order, where there are as many of both."""
    named, open_calls = defaultdict(list), defaultdict(list)
    for index in results:
        named[_name(messages[index])].append(index)
    for call in window:
        if call.result_message is None and call.name is not None and call.name in named:
            open_calls[call.name].append(call)
    for name, calls in open_calls.items():
        pairs = list(zip(calls, named[name], strict=False))
        is_whole = len(calls) == len(named[name])
        if is_whole and all(_agree(call.id, messages[index].answers) for call, index in pairs):
            for call, index in pairs:
                call.result_message = index
    answered = {call.result_message for call in window}
    return [index for index in results if index not in answered]


def _name(message: Message) -> str:
    return message.facts.name if message.facts is not None else ""


def _by_position(window: list[Call], results: list[int], messages: list[Message], findings: list[Finding]) -> list[int]:
    open_calls = [call for call in window if call.result_message is None]
    if not open_calls or not results:
        return results
    last = [call for call in open_calls if call.message == window[-1].message]
    # Not all of them were answered: then it is the last message that was.
    open_calls = last if len(last) == len(results) else open_calls
    has_ids = all(call.id for call in open_calls) and all(messages[index].answers for index in results)
    if has_ids or len(open_calls) != len(results):
        if not has_ids:
            detail = f"{len(open_calls)} calls and {len(results)} results without usable ids"
            findings.append(Finding("ambiguous_pairing", results[0], detail))
        return results
    pairs = list(zip(open_calls, results, strict=True))
    is_of_others = len(pairs) > 1 and any(_name(messages[i]) not in ("", call.name) for call, i in pairs)
    if not is_of_others and all(_agree(call.id, messages[index].answers) for call, index in pairs):
        for call, index in zip(open_calls, results, strict=True):
            call.result_message = index
        return []
    return results


def _by_user_error(window: list[Call], index: int, messages: list[Message], findings: list[Finding]) -> None:
    open_calls = [call for call in window if call.result_message is None]
    if messages[index].role == "user" and open_calls and judge(messages[index].content)[1] == "error_text":
        open_calls[0].result_message = index
        findings.append(
            Finding("answered_by_user", index, "an error text, delivered as a user message, answers the call")
        )


def _late(calls: list[Call], left: list[int], messages: list[Message]) -> None:
    names = Counter(call.id for call in calls if call.id)
    answers = Counter(messages[index].answers for index in left if messages[index].answers)
    by_id = {call.id: call for call in calls if names[call.id] == 1 and call.result_message is None}
    for index in left:
        id_ = messages[index].answers
        if id_ in by_id and answers[id_] == 1 and by_id[id_].message < index:
            by_id[id_].result_message = index
