r"""Secrets and personal data in texts: keys and tokens, passwords, e-mail addresses, phone and card numbers.

A find is told by its form alone. `form` is `reserved` where the form itself says that nobody has it: an address under
example.com or a domain that is never given away (RFC 2606, 6761), a phone number of the ranges kept for fiction (555
in North America; those of Ofcom), a card number that payment providers publish for tests, a key or password that is a
placeholder. Everything else is `open`: it may be real, or invented by a model that took another form.

The patterns are few and our own. detect-secrets was weighed: it knows keys and no personal data but addresses of
machines, reads lines of code and not texts (2 MB in a second, where these take 13 and more), and one of its patterns
takes the square of a text's length. Every one here repeats within bounds. Letters are those of ASCII: in a script
without spaces an address stands right beside a word.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from analysis.records.model import Trajectory

# Part of the key under which the derived table is cached: raise it when the rows change.
VERSION = "2"

Row = tuple[str, str, str, int]


class Find(NamedTuple):
    """What a text holds from `start` up to `end`: its kind and form, as of `schema.PRIVATE`."""

    start: int
    end: int
    kind: str
    form: str


# A place where a word starts: not within one, nor behind a backslash but where that ends an escape of JSON. Asked of
# what was found: a pattern that begins with it is looked for at every place of a text, and takes ten times as long.
_STARTS = re.compile(r"(?<![\w.+%\\-])|(?<=\\[nrtbf])|(?<=\\u[\da-fA-F]{4})", re.A)
# A private key with what it is: up to its end, or, where that is cut off, as many lines as look like its own.
_PEM = (
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:"
    r"(?:[\w+/=\s:,.]|\\{1,4}[nr]|-(?!----)){0,8000}-----END [A-Z ]{0,30}PRIVATE KEY-----"
    r"|(?:(?:\s|\\{1,4}[nr]){1,4}[A-Za-z0-9+/=]{20,80}){0,100})"
)
# (what a text must hold to be searched, the token): prefixes that their issuers publish so that they can be found.
_TOKENS: dict[str, re.Pattern[str]] = {
    marker: re.compile(pattern, re.A)
    for marker, pattern in (
        ("AKIA", r"AKIA[0-9A-Z]{16}(?!\w)"),  # Amazon: lasting and passing access keys
        ("ASIA", r"ASIA[0-9A-Z]{16}(?!\w)"),
        ("AIza", r"AIza[\w-]{35}(?![\w-])"),  # Google
        ("gh", r"gh[pousr]_[0-9A-Za-z]{36,255}"),  # GitHub
        ("github_pat_", r"github_pat_\w{22,255}"),
        ("glpat-", r"glpat-[\w-]{20,64}"),  # GitLab
        ("xox", r"xox[abeoprs]-[0-9A-Za-z-]{10,250}"),  # Slack
        ("sk-", r"sk-[\w-]{20,250}"),  # OpenAI, Anthropic and others
        ("k_live_", r"[rs]k_live_[0-9A-Za-z]{16,250}"),  # Stripe
        ("hf_", r"hf_[0-9A-Za-z]{30,64}(?!\w)"),  # Hugging Face
        ("npm_", r"npm_[0-9A-Za-z]{36}(?!\w)"),
        ("pypi-", r"pypi-AgE[\w-]{50,1000}"),
        ("SG.", r"SG\.[\w-]{22}\.[\w-]{43}(?![\w-])"),  # SendGrid
        ("eyJ", r"eyJ[\w-]{10,400}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}"),  # JSON Web Token
        ("PRIVATE KEY", _PEM),
    )
}
# A text given under such a name; the quotes may themselves be quoted.
_PASSWORD = re.compile(
    r"""\b(?:password|passwd|api_?key|secret|client_secret|access_token)\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["']"""
    r"""(?!\[password\])([^"'\\\s]{4,200})\\{0,3}["']""",
    re.I,
)
_PASSWORD_NAMES = re.compile(r"password|passwd|api_?key|secret|client_secret|access_token", re.I)
_PASSWORD_MARKS = ("assw", "ASSW", "api", "API", "ecret", "ECRET", "access_token", "ACCESS_TOKEN")
_EMAIL = re.compile(
    r"(?:(?<![\w.+%\\-])|(?<=\\[nrtbf])|(?<=\\u[\da-fA-F]{4}))"
    r"[\w.+%-]{1,64}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,6}[A-Za-z]{2,24}(?![\w-])",
    re.A,
)
# Longer addresses are none.
_BEFORE_AT, _AFTER_AT = 65, 450
# Where a phone or card number may be.
_NUMBER = re.compile(r"\d(?:[ .()-]{0,2}\d){6,24}", re.A)
_PHONE = re.compile(
    r"(?:(?<![\w.+\\/-])|(?<=\\[nrtbf]))"
    r"(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){1,4}"  # with the code of its country
    r"|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}-\d{3}-\d{4}|\d{3}\.\d{3}\.\d{4})(?![\w-]|\.\d)",  # North American
    re.A,
)
_CARD = re.compile(r"(?:(?<![\w.\\/-])|(?<=\\[nrtbf]))\d(?:[ -]?\d){11,18}(?![\w-]|\.\d)", re.A)
# Issuers by their first digits, and how long their numbers are.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6(?:011|5\d\d)\d{12}"
)
_TEST_CARDS = {
    *("4242424242424242", "4111111111111111", "4012888888881881", "4000056655665556", "4222222222222"),
    *("5555555555554444", "5105105105105100", "5200828282828210", "2223003122003222", "378282246310005"),
    *("371449635398431", "6011111111111117", "6011000990139424", "3056930009020004", "30569309025904"),
    *("38520000023237", "3530111333300000", "3566002020360505", "6555900000604105"),
}
_RESERVED_DOMAIN = re.compile(r"(?:^|[.@])(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost)$")
_FICTION = re.compile(r"1?(?:\d{3})?555\d{4}|44(?:1632960|7700900|2079460|8081570)\d{3}")
_EXAMPLE = re.compile(r"example|placeholder|your[_-]|xxxx|redacted|dummy", re.I)
_PLACEHOLDER = re.compile(
    r"example|placeholder|changeme|your|redacted|dummy|sample|secret|password|xxxx|\*\*\*|1234|^<|^\{|^\$", re.I
)


def finds(text: str) -> list[Find]:
    """What a text holds, in its order; where two overlap, the one that starts first.

    >>> [(find.kind, find.form) for find in finds("Write to ann@example.com or call +49 30 901820.")]
    [('e-mail', 'reserved'), ('phone', 'open')]
    """
    made = sorted(_every(text), key=lambda find: (find.start, -find.end))
    kept: list[Find] = []
    for find in made:
        if not kept or find.start >= kept[-1].end:
            kept.append(find)
    return kept


def redacted(value: Any, changes: dict[str, int]) -> Any:
    """A JSON value with each find in its texts, reserved or not, replaced by its kind; names of members stay.

    A text that is itself JSON is opened, and written anew only where something in it was replaced.

    Args:
        value: of JSON.
        changes: is told how many finds of each kind were replaced.
    """
    if isinstance(value, str):
        return _redacted_text(value, changes)
    if isinstance(value, list):
        return [redacted(item, changes) for item in value]
    if isinstance(value, dict):
        return {key: _member(key, held, changes) for key, held in value.items()}
    if isinstance(value, int) and any(find.kind == "card" for find in finds(str(value))):
        return _redacted_text(str(value), changes)
    return value


def rows(trajectory: Trajectory) -> Iterator[Row]:
    """Finds in what is said, thought, called and returned, and in the task; not in the tools that a record declares.

    Yields:
        (kind, form, role, finds), as of `schema.PRIVATE`: distinct values.
    """
    counted: dict[tuple[str, str, str], set[str]] = {}
    for role, text in _texts(trajectory):
        for start, end, kind, form in finds(text):
            counted.setdefault((kind, form, role), set()).add(text[start:end])
    return ((*key, len(values)) for key, values in sorted(counted.items()))


def _texts(trajectory: Trajectory) -> Iterable[tuple[str, str]]:
    if trajectory.task:
        yield "task", trajectory.task
    for message in trajectory.messages:
        yield message.role, message.content
        if message.reasoning:
            yield message.role, message.reasoning
    for call in trajectory.calls:
        yield "assistant", call.arguments or ""


def _every(text: str) -> Iterator[Find]:
    for marker, pattern in _TOKENS.items():
        for found in pattern.finditer(text) if marker in text else ():
            if _STARTS.match(text, found.start()):
                yield Find(*found.span(), "key", _form(_EXAMPLE.search(found[0])))
    for found in _PASSWORD.finditer(text) if any(mark in text for mark in _PASSWORD_MARKS) else ():
        yield Find(*found.span(1), "password", _form(_PLACEHOLDER.search(found[1])))
    yield from _addresses(text)
    for found in _NUMBER.finditer(text):
        yield from _numbers(text, max(0, found.start() - 2), found.end() + 3)


def _addresses(text: str) -> Iterator[Find]:
    at, end = text.find("@"), 0
    while at >= 0:
        found = _EMAIL.search(text, max(end, at - _BEFORE_AT), at + _AFTER_AT)
        if found and found.start() < at < found.end():
            end = found.end()
            yield Find(*found.span(), "e-mail", _form(_RESERVED_DOMAIN.search(found[0].lower())))
        at = text.find("@", at + 1)


def _numbers(text: str, start: int, end: int) -> Iterator[Find]:
    """Card and phone numbers in a part of a text."""
    for found in _CARD.finditer(text, start, end):
        digits = _digits(found[0])
        if _ISSUERS.fullmatch(digits) and is_checked(digits):
            yield Find(*found.span(), "card", _form(digits in _TEST_CARDS))
    for found in _PHONE.finditer(text, start, end):
        digits = _digits(found[0])
        if 8 <= len(digits) <= 15:
            yield Find(*found.span(), "phone", _form(_FICTION.fullmatch(digits)))


def is_checked(digits: str) -> bool:
    """Does a number end in the digit that the Luhn algorithm asks for? One in ten does by chance.

    >>> is_checked("4111111111111111"), is_checked("4111111111111112")
    (True, False)
    """
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign in "0123456789")


def _form(is_reserved: object) -> str:
    return "reserved" if is_reserved else "open"


def _member(key: str, value: Any, changes: dict[str, int]) -> Any:
    """A password is one by the name that it is given under."""
    if isinstance(value, str) and len(value) >= 4 and _PASSWORD_NAMES.fullmatch(key) and value != "[password]":
        changes["password"] = changes.get("password", 0) + 1
        return "[password]"
    return redacted(value, changes)


def _redacted_text(text: str, changes: dict[str, int]) -> str:
    found = finds(text)
    if not found and not any(mark in text for mark in _PASSWORD_MARKS):
        return text
    if text.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _redacted_json(text, changes)
    parts, place = [], 0
    for find in found:
        parts += [text[place : find.start], _word(text, find)]
        place = find.end
        changes[find.kind] = changes.get(find.kind, 0) + 1
    return "".join([*parts, text[place:]])


def _redacted_json(text: str, changes: dict[str, int]) -> str:
    """The same of a text that is JSON.

    Raises:
        ValueError: it is not.
    """
    read = json.loads(text)
    before = sum(changes.values())
    made = redacted(read, changes)
    return json.dumps(made, ensure_ascii=False) if sum(changes.values()) > before else text


def _word(text: str, find: Find) -> str:
    """What stands for a find; in quotes where it was a bare number of JSON, which would be none any more."""
    before = text[max(0, find.start - 8) : find.start].rstrip(" ")
    if not before.endswith('":'):
        return f"[{find.kind}]"
    quote = '\\"' if before.endswith('\\":') else '"'
    return f"{quote}[{find.kind}]{quote}"
