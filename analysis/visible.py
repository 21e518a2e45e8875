"""Text of anybody's for a terminal: what would move its cursor, colour it or reorder it is shown instead.

Names of files, data and messages made of them reach a terminal by `visible`, or by a logger from here.
"""

import logging
import re
from collections.abc import MutableMapping
from os import PathLike
from typing import Any

# Controls but tab and line feed, what reorders lines of other scripts, and lone halves of a surrogate pair.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PICTURES = 0x2400  # Unicode has a picture of each control below the space
_DELETE, _PICTURE_OF_DELETE = 0x7F, "\u2421"


def visible(text: object) -> str:
    """A text with every unseen character shown: a picture of it, or its number.

    >>> visible("a\\x1b[31mb\\x9b")
    'a␛[31mb<9B>'
    """
    return _UNSEEN.sub(_shown, str(text))


def one_line(text: object) -> str:
    """The same on one line: every stretch of white space is one space."""
    return visible(" ".join(re.split(r"[ \t\n\r\f\v]+", str(text).strip())))


def visible_json(text: str) -> str:
    """JSON text with unseen characters as escapes, so that it says the same."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == _DELETE:
        return _PICTURE_OF_DELETE
    return chr(_PICTURES + code) if code < 0x20 else f"<{code:02X}>"


class _Logger(logging.LoggerAdapter[logging.Logger]):
    """Texts among the arguments of a message are made visible."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        return msg, kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        super().log(level, msg, *(one_line(a) if isinstance(a, _TEXTS) else a for a in args), **kwargs)


_TEXTS = (str, PathLike, BaseException)


def logger(name: str) -> _Logger:
    """The logger of a module, by its name."""
    return _Logger(logging.getLogger(name), {})
