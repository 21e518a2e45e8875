"""Tokens of a rendered trajectory, message by message and part by part: the rows of `schema.TOKENS`."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, get_args

from analysis.records.chat_template import MARKERS, Part, Piece, turns
from analysis.records.model import Trajectory
from analysis.records.vocabulary import Count, vocabulary

PARTS: tuple[Part, ...] = get_args(Part)
# Texts that recur: the words of the template, and the tools, which thousands of records share.
_RECURRING = frozenset({"header", "tools", "thought", "template"})


def rows(trajectory: Trajectory, *, tokenizer: str = "") -> Iterator[tuple[Any, ...]]:
    """One row a message.

    Yields:
        (message, role, step, then the tokens of each of PARTS in that order). Their sum is the number of tokens of the
        whole rendered text; without `reasoning` and `thought`, of the text with the thoughts removed.
    """
    for position, (message, pieces) in enumerate(zip(trajectory.messages, turns(trajectory), strict=True)):
        counts = tokens_of(pieces, tokenizer)
        yield (position, message.role, message.step, *(counts[part] for part in PARTS))


def tokens_of(pieces: list[Piece], tokenizer: str = "") -> dict[Part, int]:
    """Tokens of each part of a message.

    Pieces are tokenised together wherever a token could cross from one to the next. There the words of the template
    count as they count alone, and the text gets the rest, so that the parts always add up to the whole.
    """
    totals = dict.fromkeys(PARTS, 0)
    run: list[Piece] = []
    for piece in pieces:
        text = piece.text
        if run and (text in MARKERS or (text and _is_cut(run[-1].text, text))):
            _add(run, totals, tokenizer)
            run = []
        if text in MARKERS:
            totals[piece.part] += _count_recurring(text, tokenizer)
        elif text:
            run.append(piece)
    if run:
        _add(run, totals, tokenizer)
    return totals


def _is_cut(before: str, after: str) -> bool:
    """No token crosses: a line ends, and the next does not begin with white space."""
    return before[-1] == "\n" and not after[0].isspace()


def _add(run: list[Piece], totals: dict[Part, int], tokenizer: str) -> None:
    """The tokens of pieces that stand together; the text gets what the words of the template leave."""
    count = vocabulary(tokenizer).count
    if len(run) == 1:
        totals[run[0].part] += _count_piece(run[0], tokenizer, count)
        return
    whole = count("".join([piece.text for piece in run]))
    for piece in run:
        if piece.part in _RECURRING:
            share = min(_count_piece(piece, tokenizer, count), whole)
            totals[piece.part] += share
            whole -= share
    totals[next((piece.part for piece in run if piece.part not in _RECURRING), run[0].part)] += whole


def _count_piece(piece: Piece, tokenizer: str, count: Count) -> int:
    return _count_recurring(piece.text, tokenizer) if piece.part in _RECURRING else count(piece.text)


@lru_cache(maxsize=1024)
def _count_recurring(text: str, tokenizer: str) -> int:
    return vocabulary(tokenizer).count(text)
