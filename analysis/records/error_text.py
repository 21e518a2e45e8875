"""Whether a text opens as an error: the word with punctuation or an error phrase behind it, never as part of a name.

`Error: no such user`, `Error 404`, `Error while parsing` and `Tool error: …` open so. `Error rate: 0.2 %`,
`Error handling is …`, `Errors: 0` and any label before a bare number do not.
"""

import re

_KIND = (
    r"(?:(?:an?|the|there was an|tool|api|mcp|http|https|server|internal|client|runtime|validation|fatal|critical"
    r"|system"
    r"|database|connection|network|execution|function|parse|parsing|syntax|type|value|key|unexpected|unknown|request"
    r"|authentication|authorization|permission|timeout|environment|python|json)[ \t]+){0,3}+"
)
_PHRASE = (
    r"(?:\d{3,5}\b(?!\s*%)|codes?\s*[:=]?\s*(?!0\b)-?\w+|(?:message|details?|type|description|reason|response)\s*[:=]"
    r"|(?:has )?occurred|happened|was (?:encountered|raised|thrown)|while|when|during|in|on|at|from|with|within"
    r"|trying to"
    r"|(?!(?:handl|report|logg|track|correct|check|monitor|test|rat|pric|recover|cod)ing\b)[a-z]+ing\b(?!\s*[:=])"
    r"|invalid|unknown|no such|cannot|can't|could not|couldn't|unable|failed|missing|undefined|unexpected|not\b"
    r"|(?!(?:rate|margin|bar|log|budget|message|handling|report)s?\b)"
    r"[^\n.:]{0,60}?\b(?:not found|does not exist|failed|denied|refused|timed out)\b)"
)
_AFTER = rf"(?=[\])*_>`]*\s*(?:[:!,;.\n(–—]|- |\Z)|[\])*_>`]+\s|\s+{_PHRASE}(?!\w))"
_NUMBER = r"[±~<>=+-]*\s*(?!(?:[45]\d\d)\s*\Z)[\d.,]*\d(?:e[-+]?\d+)?\s*(?:%|[a-zµ°]{1,3}|\([^)\n]*\))?"
_NOTHING = r"['\"]?(?:none|null|nil|n/?a|no|false|ok|no errors?(?: found| detected)?)?['\"]?"
_LABEL = rf"(?![^\n:]{{0,80}}(?<!code):[*_` \t]*(?:{_NUMBER}|{_NOTHING})[.\s]*\Z)"
# What stands behind the code in a line of status.
_HTTP = (
    r"client error|server error|bad request|unauthorized|payment required|forbidden|not found|method not allowed"
    r"|request timeout|conflict for url|gone for url|unprocessable|too many requests|internal server error|bad gateway"
    r"|service unavailable|gateway time-?out"
)
_OPENING = re.compile(
    r"\s*(?-i:(?:[a-z_]+\.)*[A-Z][A-Za-z_]*(?:Error|Exception)\b\s*[:(])"
    rf"|[\s*_#>`\[(❌⚠️🚫🛑-]*+{_LABEL}"
    rf"(?:{_KIND}(?:error|exception){_AFTER}|<\w*error\w*>|traceback \(most recent call last\)"
    r"|[A-Za-z_][A-Za-z_.]*(?:Error|Exception)\b\s*(?:[:(]|\Z)|internal server error\b|fatal: "
    r"|failed\s+to\b|failed\s*(?:!|:(?!\s*\d+\s*(?:[,;|/\n]|\Z)))|failure(?=\s*(?:[:!.(]|\Z)|\s+(?:to|while|during|in)\b)"
    r"|invalid (?:action|tool|argument|function|parameter)(?:s|s? \w+)?\b|unknown (?:action|tool|function)\b"
    r"|tool \S+ (?:not found|does not exist)"
    rf"|(?:http(?:/\d(?:\.\d)?)?[ \t:]+)?(?:status[ \t]*(?:code)?[ \t:]*)?[45]\d\d[ \t:,-]+(?:{_HTTP})\b)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\s*\[[\s*]*(?:\w+ )?(?:error|exception|failed|failure)\b[^\[\]{}\n]{0,200}\]?", re.IGNORECASE)


def opens(text: str) -> bool:
    """Whether it does."""
    return _OPENING.match(text) is not None


def is_bracketed(text: str) -> bool:
    """Whether a text that begins as a list does is none, but `[ERROR] …`."""
    return _BRACKETED.match(text) is not None and opens(text)
