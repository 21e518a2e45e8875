"""Markdown as a CommonMark parser reads it."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable("table")
# What only a string that was taken for Markdown can bring into a card.
FOREIGN = {"html_block", "link_open", "em_open", "strong_open", "hardbreak", "softbreak", "fence", "code_block"}


def tokens(markdown: str) -> list[Token]:
    """Every token, those inside paragraphs and cells included."""
    return [inner for token in PARSER.parse(markdown) for inner in (token, *(token.children or ()))]


def text(inline: Token) -> str:
    """What a reader sees of a paragraph or a cell."""
    return "".join(child.content for child in inline.children or () if child.type != "html_inline")


def tables(markdown: str) -> dict[str, list[list[list[str]]]]:
    """The tables below each heading: rows of texts, the head first."""
    found: dict[str, list[list[list[str]]]] = {}
    heading = ""
    parsed = PARSER.parse(markdown)
    for token, following in zip(parsed, [*parsed[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            heading = text(following)
        elif token.type == "table_open":
            found.setdefault(heading, []).append([])
        elif token.type == "tr_open":
            found[heading][-1].append([])
        elif token.type in ("td_open", "th_open") and following is not None:
            found[heading][-1][-1].append(text(following))
    return found


def rows(markdown: str, heading: str) -> list[dict[str, str]]:
    """The rows of the table below a heading, by the titles of its columns."""
    (table,) = tables(markdown)[heading]
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]
