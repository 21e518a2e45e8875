"""Strings, rows and sections as Markdown: whatever a data set calls its tools, it is read as text.

Backslashes would do for most renderers and not for all: within a table's cell, and before what looks like an address,
they are taken differently. Character references are read alike everywhere.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from analysis.markup import classes, clean, shares
from analysis.wording import GAP, cell, count

# Nobody reads more of a name in a table; how long it is is said.
MOST_CHARS = 120
# Not needed to read a name, and able to turn what stands after it around.
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BREAKING = re.compile("[ \t\n\r\u2028\u2029]+")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_PROSE = re.compile(r"[\\`*_{}\[\]<>#|&~$^@]|:(?=//)|(?<=www)\.")
_NO_CODE = re.compile(r"[`|\\<>&]")


class Grid(NamedTuple):
    """Rows to show: the columns that `heads` names, in its order; texts in `prose` are ours, others are data."""

    frame: pl.DataFrame
    heads: Mapping[str, str]
    prose: frozenset[str] = frozenset()


def text(words: Any) -> str:
    """A string within a sentence or a picture's description.

    >>> text("runs from 1 % (<b>x_y</b>) to 2 %")
    'runs from 1 % (&#60;b&#62;x&#95;y&#60;/b&#62;) to 2 %'
    """
    return _PROSE.sub(_reference, _line(words))


def code(words: Any) -> str:
    """A name out of the data, set as code.

    >>> code("get_user")
    '`get_user`'
    >>> code("a|b")
    '<code>a&#124;b</code>'
    """
    line = _line(words)
    if len(line) > MOST_CHARS:
        line = f"{line[:MOST_CHARS]}… ({count(len(line), 'character')})"
    if not line:
        return "(empty)"
    return f"<code>{_PUNCTUATION.sub(_reference, line)}</code>" if _NO_CODE.search(line) else f"`{line}`"


def table(grid: Grid) -> str:
    """Rows as a table; numbers stand at the right, parts of a whole in per cent."""
    names = list(grid.heads)
    rule = ["---:" if grid.frame.schema[name].is_numeric() else "---" for name in names]
    parts, kinds = shares(names), classes(grid.frame)
    body = [
        [
            text(cell(value, is_class=True)) if name in kinds else _cell(value, name in parts, name in grid.prose)
            for name, value in zip(names, row, strict=True)
        ]
        for row in grid.frame.select(names).iter_rows()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [[text(head) for head in grid.heads.values()], rule, *body])


def picture(words: str, path: str) -> str:
    """A picture with its description; the path is ours."""
    return f"![{text(words)}]({path})"


def items(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def joined(parts: Iterator[str]) -> str:
    """Paragraphs, tables and headings as one text that ends in a line break."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(value: Any, is_share: bool, is_prose: bool) -> str:
    if not isinstance(value, str):
        return cell(value, is_share=is_share).replace(" ", GAP)
    return text(value) if is_prose else code(value)


def _line(words: Any) -> str:
    """Without line breaks: a cell, a heading and a description are one line each."""
    return _BREAKING.sub(" ", _TURNING.sub("\ufffd", clean(str(words)))).strip()


def _reference(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
