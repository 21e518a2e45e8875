"""A trajectory to read, with words searched in it: every hit marked, unfolded, and listed with its surroundings.

Search runs over the finished HTML's texts, so that what is found is what is shown. Everything that is not a tag was
escaped by `transcripts`, and is escaped again here.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from analysis import transcripts
from analysis.markup import text
from analysis.records.model import Trajectory
from analysis.wording import count

# Searched in full: what is cut off cannot be found. A longer text than this makes a page no browser likes.
LONGEST = 200_000
MOST_MESSAGES = 4_000
# Characters shown on either side of a hit, and how many hits are listed.
AROUND = 50
MOST_LISTED = 100

_TAG = re.compile(r"(<[^<>]*>)")


class Hit(NamedTuple):
    """One place where the words stand, and what stands around it."""

    anchor: str
    before: str
    found: str
    after: str


def page(trajectory: Trajectory, trajectory_id: str) -> str:
    """The whole transcript, unfolded at its outermost."""
    html = transcripts.html(trajectory, trajectory_id, longest=LONGEST, most=MOST_MESSAGES)
    return html.replace("<details", "<details open", 1)


def find(html: str, words: str, prefix: str) -> tuple[str, list[Hit]]:
    """Mark words in a transcript's HTML and unfold what holds them.

    Args:
        html: as `page` gives it.
        words: looked for whatever the case; a space stands for any white space.
        prefix: of the anchors, such as `hit-1`, `hit-2`; unlike those of other pages shown.

    Returns:
        The HTML, and the hits in their order.
    """
    wanted = words.split()
    if not wanted:
        return html, []
    pattern = re.compile(r"\s+".join(map(re.escape, wanted)), re.IGNORECASE)
    pieces = _TAG.split(html)
    folded: list[int] = []
    hits: list[Hit] = []
    for place, piece in enumerate(pieces):
        if piece.startswith("<details"):
            folded.append(place)
        elif piece == "</details>":
            folded.pop()
        elif not place % 2 and piece:
            found = list(_hits(unescape(piece), pattern, f"{prefix}-", len(hits)))
            if found:
                pieces[place] = _marked(unescape(piece), pattern, found)
                hits += found
                for outer in folded:
                    pieces[outer] = re.sub(r"^<details(?! open)", "<details open", pieces[outer])
    return "".join(pieces), hits


def listed(hits: list[Hit], words: str) -> str:
    """The hits as a list of links into the transcript, for above it."""
    if not words.split():
        return ""
    if not hits:
        return f"<p>“{text(words)}” is nowhere in this trajectory.</p>"
    items = "".join(
        f'<li><a href="#{hit.anchor}">{text(hit.before)}<b>{text(hit.found)}</b>{text(hit.after)}</a></li>'
        for hit in hits[:MOST_LISTED]
    )
    more = f" The first {MOST_LISTED} are listed." if len(hits) > MOST_LISTED else ""
    summary = f"<summary>“{text(words)}” found {count(len(hits), 'time')}.{more}</summary>"
    return f'<details open>{summary}<ol class="hits">{items}</ol></details>'


def _hits(words: str, pattern: re.Pattern[str], prefix: str, before: int) -> Iterator[Hit]:
    for number, match in enumerate(pattern.finditer(words), before + 1):
        start, end = match.span()
        lead, tail = words[max(start - AROUND, 0) : start], words[end : end + AROUND]
        yield Hit(
            f"{prefix}{number}",
            ("…" if start > AROUND else "") + " ".join(lead.split()) + " " * lead[-1:].isspace(),
            match[0],
            " " * tail[:1].isspace() + " ".join(tail.split()) + ("…" if end + AROUND < len(words) else ""),
        )


def _marked(words: str, pattern: re.Pattern[str], hits: list[Hit]) -> str:
    shown, end = "", 0
    for match, hit in zip(pattern.finditer(words), hits, strict=True):
        shown += f'{text(words[end : match.start()])}<mark id="{hit.anchor}">{text(match[0])}</mark>'
        end = match.end()
    return shown + text(words[end:])
