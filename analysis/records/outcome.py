"""What a result says of the call it answers: ok, error or unknown, and the rule that decided.

The rules, in order; the first that speaks decides:

1. `success_key`: the value of the top-level `success` key, in Python repr, JSON, or YAML-like text.
2. `error_key`: a top-level `error` that is not empty, or a `status` that says error or failure.
3. `error_text`: the text opens as an error.
4. `structured`: a well-formed object or list without any of these: ok.
5. `none`: plain text, empty, unanswered: unknown.

A result is never evaluated and its quotes are never swapped: one scanner reads keys at the top level of a repr or of a
JSON text alike, so `nan`, sets, `<object at 0x…>` and a *datum* that contains `'success': False` do not mislead it.
Where a text is cut off inside a string, nothing behind that string's quote is read: it may be the string's own words.
"""

import ast
import re

from analysis.records.model import Outcome, OutcomeRule

ERROR_CHARS = 500

_FAST = re.compile(r"""\s*\{\s*(?:'success'|"success")\s*:\s*(True|true|False|false)\s*[,}]""")
_SUCCESS = ("{'success': True,", "{'success': True}")  # as the environments write it
_PLAIN_ERROR = re.compile(
    r"""\s*\{\s*(?:'success'|"success")\s*:\s*[Ff]alse\s*,\s*(?:'error'|"error")\s*:\s*"""
    r"""(?:'(?P<single>[^'\\]*)'|"(?P<double>[^"\\]*)")\s*\}\s*"""
)
_YAML = re.compile(r"success:[ \t]*(true|false)[ \t]*(?:\r?\n|$)", re.IGNORECASE)
_YAML_ERROR = re.compile(r"^(?:error|message):[ \t]*(.+)$", re.MULTILINE)
_ERROR_TEXT = re.compile(
    r"\s*(?:error\b|exception\b|traceback \(most recent call last\)|[A-Za-z_.]*(?:Error|Exception)\b\s*[:(]"
    r"|failed to\b|failure\b|invalid (?:action|tool|argument|function|parameter)|unknown (?:action|tool|function)"
    r"|tool \S+ (?:not found|does not exist))",
    re.IGNORECASE,
)
_QUOTED = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
# A quote that begins no whole string begins one that is cut off.
_TOKEN = re.compile(rf"(?P<text>{_QUOTED})|(?P<cut>['\"].*)|(?P<open>[\[{{(])|(?P<close>[\]}})])", re.DOTALL)
_VALUE = re.compile(rf"\s*:\s*(?P<value>{_QUOTED}|[^\s,}}\]'\"][^\s,}}\]]*)", re.DOTALL)
_KEYS = {"success", "error", "status"}
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_FALSY = {"None", "null", "False", "false", "''", '""', "{}", "[]", "0"}
_FAILURES = {"error", "failed", "failure", "fail"}

Verdict = tuple[Outcome, OutcomeRule, str | None]


_OK: Verdict = ("ok", "success_key", None)


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
        return _by_success(False, _clip(message) if message else _error_message(text, _top_level(text)[0]))
    yaml = _YAML.match(text)
    if yaml:
        message = _YAML_ERROR.search(text)
        return _by_success(yaml.group(1).lower() == "true", _clip(message.group(1) if message else text))
    if text.lstrip()[:1] in ("{", "["):
        return _judge_structure(text)
    return ("error", "error_text", _clip(text)) if _ERROR_TEXT.match(text) else ("unknown", "none", None)


def _by_success(is_ok: bool, error: str) -> Verdict:
    return _OK if is_ok else ("error", "success_key", error)


def _judge_structure(text: str) -> Verdict:
    keys, whole = _top_level(text)
    success = keys.get("success", "").strip("'\"").lower()
    if success in ("true", "false"):
        return _by_success(success == "true", _error_message(text, keys))
    has_error = keys.get("error", "None") not in _FALSY
    has_failed = keys.get("status", "").strip("'\"").lower() in _FAILURES
    if has_error or has_failed:
        return "error", "error_key", _error_message(text, keys)
    return ("ok", "structured", None) if whole else ("unknown", "none", None)


def _top_level(text: str) -> tuple[dict[str, str], bool]:
    """Values (as written) of the deciding keys at depth 1 of an object; whether the brackets close at the end."""
    stack: list[str] = []
    keys: dict[str, str] = {}
    end = 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            stack.append(_PAIRS[token["open"]])
        elif token["close"]:
            if not stack or stack.pop() != token["close"]:
                return keys, False
            if not stack:
                end = token.end()
                break
        elif token["cut"]:
            return keys, False  # what follows is the inside of a string, whatever it looks like
        elif stack == ["}"] and token["text"][1:-1] in _KEYS:
            value = _VALUE.match(text, token.end())
            if value:
                keys.setdefault(token["text"][1:-1], value["value"])
    return keys, not stack and end > 0 and not text[end:].strip()


def _error_message(text: str, keys: dict[str, str]) -> str:
    written = keys.get("error", "")
    if written[:1] in ("'", '"'):
        return _clip(_unquoted(written))
    return _clip(text)


def _unquoted(literal: str) -> str:
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return literal[1:-1]
    return str(value)


def _clip(text: str) -> str:
    return text.strip()[:ERROR_CHARS].encode("utf-8", "replace").decode()
