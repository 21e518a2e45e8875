"""A card's own part of a file: found between marks and replaced, every other byte left as it is.

The statistics stand between two HTML comments, the metadata made of them between two YAML comments of the front
matter. An author may move either, write around both, and take the second out.
"""

import re

BEGIN, END = "<!-- trajectory-notebooks:begin -->", "<!-- trajectory-notebooks:end -->"
FRONT_BEGIN, FRONT_END = "# trajectory-notebooks:begin", "# trajectory-notebooks:end"

_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


class CardError(ValueError):
    """A card cannot be renewed; the message says what is missing in it."""


def renewed(card: bytes, block: str) -> bytes:
    """A card with the text between its marks replaced.

    >>> card = f"Mine.\\n{BEGIN}\\nold\\n{END}\\nMine, too."
    >>> renewed(card.encode(), "new\\n").decode().splitlines()[2:]
    ['new', '<!-- trajectory-notebooks:end -->', 'Mine, too.']

    Raises:
        CardError: it has not exactly one place for it.
    """
    start, end = _inside(card, BEGIN, END)
    return card[:start] + _as_here(block, card) + card[end:]


def with_metadata(card: bytes, metadata: str) -> bytes:
    """A card with the metadata between the marks of its front matter replaced; as it is, where it has no such marks.

    Raises:
        CardError: one of the marks is missing, or stands there twice.
    """
    offset, front = _front(card)
    if not _is_marked(front):
        return card
    start, end = _inside(front, FRONT_BEGIN, FRONT_END)
    return card[: offset + start] + _as_here(metadata, card) + card[offset + end :]


def front_matter(card: bytes) -> tuple[bytes, bytes]:
    """The front matter in two: what the author wrote, and what stands between the marks."""
    _, front = _front(card)
    if not _is_marked(front):
        return front, b""
    start, end = _inside(front, FRONT_BEGIN, FRONT_END)
    return front[:start] + front[end:], front[start:end]


def has_metadata(card: bytes) -> bool:
    """Whether its front matter has a place for what is measured."""
    return _is_marked(_front(card)[1])


def _front(card: bytes) -> tuple[int, bytes]:
    """Where the front matter starts, and what stands in it."""
    found = _FRONT.match(card)
    return (found.start(1), found[1]) if found else (0, b"")


def _is_marked(front: bytes) -> bool:
    return FRONT_BEGIN.encode() in front or FRONT_END.encode() in front


def _inside(card: bytes, begin: str, end: str) -> tuple[int, int]:
    """Where the text between two marks starts and ends; a mark is a line of its own."""
    places = []
    for mark in (begin, end):
        found = [*re.finditer(rb"^[ \t]*" + re.escape(mark.encode()) + rb"[ \t]*\r?$\n?", card, re.MULTILINE)]
        if len(found) != 1:
            often = "no line" if not found else f"{len(found)} lines"
            raise CardError(f"{often} {mark!r}; put one line {begin!r} and below it one {end!r} where it shall stand")
        places.append(found[0])
    first, last = places
    if first.end() > last.start():
        raise CardError(f"{end!r} stands above {begin!r}; exchange them")
    return first.end(), last.start()


def _as_here(block: str, card: bytes) -> bytes:
    """The block with the line breaks that the card has."""
    written = block.encode("utf-8")
    return written.replace(b"\n", b"\r\n") if b"\r\n" in card else written
