"""What a result says of the call it answers: ok, error or unknown, and the rule that decided.

The rules, in order; the first that speaks decides:

1. `success_key`: the value of the top-level `success` or `ok` key, in Python repr, JSON, or YAML-like text.
2. `error_key`: `isError` is true; a top-level `error` that is not empty, "None" or a number; or, in a result that holds
   nothing else, a `status` that says error or failure, `failed` that is true, an HTTP status from 400 to 599, or such
   a code, an `errno` or the word for an error as a code beside a message; or a list of nothing but such objects. A
   status beside other data is data.
3. `error_text`: the text opens as an error, or the only text that an object carries does: `{"result": "Error: …"}`.
4. `structured`: a well-formed object or list without any of these: ok.
5. `none`: plain text, empty, unanswered, an object that tells a shell's exit code other than 0: unknown.

What a list of one object says, or an object that only wraps another, is what the inner one says. A result is never
evaluated and its quotes are never swapped: `deciding` reads the keys, `error_text` the opening of a text.
"""

import re

from analysis.records import deciding, error_text
from analysis.records.deciding import Keys
from analysis.records.model import Outcome, OutcomeRule

ERROR_CHARS = 500
_DEEPEST = 3
_MOST_ERRORS = 60  # braces in a list that is looked at for being errors throughout

_FAST = re.compile(r"""\s*\{\s*(?:'success'|"success")\s*:\s*(True|true|False|false)\s*[,}]""")
_SUCCESS = ("{'success': True,", "{'success': True}")  # as the environments write it
_PLAIN_ERROR = re.compile(
    r"""\s*\{\s*(?:'success'|"success")\s*:\s*[Ff]alse\s*,\s*(?:'error'|"error")\s*:\s*"""
    r"""(?:'(?P<single>[^'\\]*)'|"(?P<double>[^"\\]*)")\s*\}\s*"""
)
_YAML = re.compile(r"success:[ \t]*(true|false)[ \t]*(?:\r?\n|$)", re.IGNORECASE)
_YAML_ERROR = re.compile(r"^(?:error|message):[ \t]*(.+)$", re.MULTILINE)
_NUMBER = re.compile(r"\[?\s*[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?%?|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_HTTP_ERROR = re.compile(r"[45]\d\d")
_NOTHING = {"", "none", "null", "nil", "n/a", "na", "no", "false", "ok", "success", "no error", "no errors", "-"}
# `[Command finished with exit code 1]`, `[INFO] …`: no list.
_BRACKETED_WORDS = re.compile(
    r"\s*\[\s*(?!(?:none|null|true|false|nan|inf(?:inity)?)\b)[a-z_][\w-]*\s*(?:\]|\s[a-z\d])", re.IGNORECASE
)
_EMPTY = {"{", "[", "(", "{}", "[]", "()"}
_FAILURES = {"error", "failed", "failure", "fail"}

_SUCCESS_KEYS = ("success", "ok", "issuccess", "successful", "issuccessful", "succeeded")
_FLAGS = ("iserror", "haserror")
_STATUSES = ("status", "type", "result", "outcome")
_ERRORS = ("errors", "errormessage", "exception", "traceback")
_HTTP_CODES = ("statuscode", "httpstatus", "httpcode")
# Of a shell: a code other than 0 may be a failure or, as grep's, an answer.
_EXITS = ("exitcode", "returncode", "exitstatus")
_EXIT = re.compile(r"-?[1-9]\d{0,9}")
# A code of their own beside its message; a word that is an error's.
_OWN_CODES = ("errno", "errcode", "errorcode")
_ERROR_WORD = re.compile(r"\w*(?:error|not_?found|invalid|unauthori[sz]ed|forbidden|denied|failed|failure|timeout)\w*")
# What a check finds: false is its answer.
_FINDINGS = {"valid", "isvalid", "passed", "compliant", "eligible"}
_CODES = ("code", "statuscode", "httpstatus", "httpcode", "status", "errorcode", "error")
_MESSAGES = {
    "message",
    "msg",
    "detail",
    "details",
    "reason",
    "hint",
    "statustext",
    "errordescription",
    "errmsg",
    "title",
    "error",
}
_CARRIERS = {"result", "output", "content", "message", "text", "response", "observation", "value", "msg", "detail"}
_CARRIERS |= {"data", "toolresult", "toolresponse", "return", "answer", "body"}
_ADDRESS = {"type", "role", "tool", "toolname", "toolcallid", "callid", "tooluseid"}
_ENVELOPE = {*_SUCCESS_KEYS, *_FLAGS, *_STATUSES, *_ERRORS, *_CODES, *_MESSAGES, *_ADDRESS, "failed"} - {"title"}
_ENVELOPE |= {
    *_OWN_CODES,
    "errortype",
    "timestamp",
    "requestid",
    "traceid",
    "suggestion",
    "stacktrace",
    "retryafter",
    "jsonrpc",
}
_OF_A_CODE = _ENVELOPE | {"title", "instance", "path", "description", "documentationurl"}
_OF_A_RESPONSE = _OF_A_CODE | {"body", "headers", "url", "ok"}
# Colours of a terminal.
_ANSI = re.compile(r"\x1b\[[\d;]*m")

Verdict = tuple[Outcome, OutcomeRule, str | None]

_OK: Verdict = ("ok", "success_key", None)
_STRUCTURED: Verdict = ("ok", "structured", None)
_UNKNOWN: Verdict = ("unknown", "none", None)


def judge(text: str) -> Verdict:
    """Judge a result's text.

    Returns:
        (outcome, rule, error): `error` is the error text, at most ERROR_CHARS characters; None unless outcome is error.
    """
    if text.startswith(_SUCCESS):
        return _OK
    fast = _FAST.match(text)
    if fast:
        if fast.group(1) in ("True", "true"):
            return _OK
        # The error is the only other key and holds nothing escaped: nearly every error reads so.
        plain = _PLAIN_ERROR.fullmatch(text)
        message = plain["single"] or plain["double"] if plain else None
        return _by_success(False, _clip(message) if message else _error_message(text, deciding.of_object(text).values))
    yaml = _YAML.match(text)
    if yaml:
        message = _YAML_ERROR.search(text)
        return _by_success(yaml.group(1).lower() == "true", _clip(message.group(1) if message else text))
    return _judge(text, 0)


def _judge(text: str, depth: int) -> Verdict:
    opening = text.lstrip()[:1]
    if opening == "{" or (opening == "[" and not error_text.is_bracketed(text) and not _BRACKETED_WORDS.match(text)):
        return _judge_structure(text, depth)
    if opening == '"' and depth < _DEEPEST and text.rstrip().endswith('"') and len(text.strip()) > 1:
        return _judge(deciding.unquoted(text.strip()), depth + 1)
    text = _ANSI.sub("", text) if "\x1b" in text else text
    return _judge_lines(text) or (("error", "error_text", _clip(text)) if error_text.opens(text) else _UNKNOWN)


def _by_success(is_ok: bool, error: str) -> Verdict:
    return _OK if is_ok else ("error", "success_key", error)


def _judge_structure(text: str, depth: int) -> Verdict:
    start = deciding.of_one(text)
    keys = deciding.of_object(text, start)
    is_whole = keys.end is not None and (start > 0 or not text[keys.end :].strip())
    values = keys.values
    if verdict := _by_keys(values, text, is_whole):
        return verdict
    if not is_whole or any(_EXIT.fullmatch(_word(values, key)) for key in _EXITS):
        return _UNKNOWN
    if start == 0 and text.lstrip()[:1] == "[" and (verdict := _by_all(text, depth)):
        return verdict
    return (_by_what_it_carries(keys, text, depth) if depth < _DEEPEST else None) or _STRUCTURED


def _by_all(text: str, depth: int) -> Verdict | None:
    """The first error of a list whose objects are errors, all of them; None of any other list."""
    if depth >= _DEEPEST or not 0 < text.count("{") <= _MOST_ERRORS:
        return None
    verdicts = [_judge(text[start:end], depth + 1) for start, end in deciding.of_list(text)]
    return verdicts[0] if verdicts and all(verdict[0] == "error" for verdict in verdicts) else None


def _judge_lines(text: str) -> Verdict | None:
    """What YAML-like text says; None where it is plain text, or is one line whose key does not decide."""
    head = deciding.spelling(text[:40].partition(":")[0].strip()) if ":" in text[:40] else ""
    if head not in _ENVELOPE or (keys := deciding.of_lines(text)) is None:
        return None
    if verdict := _by_keys(keys.values, text, is_whole=True):
        says = _YAML_ERROR.search(text)
        is_text = verdict[1] == "error_key" and head == "error" and error_text.opens(text)
        return "error", "error_text" if is_text else verdict[1], _clip(text if is_text or not says else says.group(1))
    return _STRUCTURED if len(keys.values) > 1 and head != "type" and "error" in keys.values else None


def _by_keys(values: dict[str, str], text: str, is_whole: bool) -> Verdict | None:
    for key in _SUCCESS_KEYS:
        if (says := _word(values, key)) in ("true", "false"):
            return _by_success(says == "true", _error_message(text, values))
        if says == "0" and is_whole and _word(values, "failed")[:1] == "" and _holds_only(values, _ENVELOPE):
            return _by_success(False, _error_message(text, values))
    flags = {_word(values, key) for key in _FLAGS}
    has_failed = "true" in flags or _is_error(values.get("error")) or (is_whole and _is_failure_alone(values))
    if has_failed and not ("false" in flags and "true" not in flags):
        return "error", "error_key", _error_message(text, values)
    return None


def _is_failure_alone(values: dict[str, str]) -> bool:
    """A failure in a result that holds nothing else: its status or code, beside a message at most, or its errors."""
    if _holds_only(values, _ENVELOPE) and (
        any(_word(values, key) in _FAILURES for key in _STATUSES)
        or any(_is_error(values.get(key)) and not _word(values, key)[:1].isdigit() for key in _ERRORS)
        or _word(values, "failed") == "true"
    ):
        return True
    if _is_code_of_an_error(values) and _holds_only(values, _ENVELOPE):
        return True
    if any(_HTTP_ERROR.fullmatch(_word(values, key)) for key in _HTTP_CODES) and _holds_only(values, _OF_A_RESPONSE):
        return True
    has_code = any(_HTTP_ERROR.fullmatch(_word(values, key)) for key in _CODES)
    return has_code and any(_word(values, key) for key in _MESSAGES & values.keys()) and _holds_only(values, _OF_A_CODE)


def _is_code_of_an_error(values: dict[str, str]) -> bool:
    """Beside a message: an `errno` other than 0, or a `code` that is the word for an error."""
    if not any(_word(values, key) for key in _MESSAGES & values.keys()):
        return False
    return any(_EXIT.fullmatch(_word(values, key)) for key in _OWN_CODES) or any(
        _ERROR_WORD.fullmatch(_word(values, key)) for key in ("code", *_OWN_CODES)
    )


def _holds_only(values: dict[str, str], names: set[str]) -> bool:
    return all(key in names or (key not in _FINDINGS and _is_nothing(held)) for key, held in values.items())


def _is_error(written: str | None) -> bool:
    """Whether the value of an `error` key is one: neither empty, nor a word for nothing, nor a number."""
    return written is not None and not _is_nothing(written) and not _NUMBER.fullmatch(_bare(written))


def _is_nothing(written: str) -> bool:
    bare = _bare(written)
    return bare in _NOTHING or (bare in _EMPTY and len(bare) == 2) or "".join(bare.split()) in ("{}", "[]", "()")


def _by_what_it_carries(keys: Keys, text: str, depth: int) -> Verdict | None:
    """An error in the only thing that an object carries: a text, or an object in it; None when there is none."""
    names = [key for key, written in keys.values.items() if key not in _ADDRESS and not _is_nothing(written)]
    if len(names) != 1 or names[0] not in _CARRIERS:
        return None
    written, start = keys.values[names[0]], keys.starts[names[0]]
    if written[:1] in ("'", '"'):
        verdict = _judge(deciding.unquoted(written), depth + 1)
    elif written[:1] in ("{", "["):
        verdict = _judge(text[start : deciding.of_object(text, start).end], depth + 1)
    else:
        return None
    return verdict if verdict[0] == "error" else None


def _word(values: dict[str, str], key: str) -> str:
    return _bare(values.get(key, ""))


def _bare(written: str) -> str:
    return written.strip("'\" ").lower()


def _error_message(text: str, values: dict[str, str]) -> str:
    written = values.get("error", "")
    return _clip(deciding.unquoted(written) if written[:1] in ("'", '"') else text)


def _clip(text: str) -> str:
    return text.strip()[:ERROR_CHARS].encode("utf-8", "replace").decode()
