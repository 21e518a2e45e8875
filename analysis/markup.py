"""Strings, numbers and rows as HTML: what a notebook's cell and a report's page have in common.

Every string is escaped here, whoever wrote it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import polars as pl

from analysis.wording import cell, chance, count, words

# JupyterLab 4 draws Vega-Lite 6 specifications under this type and none under version 6's own.
CHART_TYPE = "application/vnd.vegalite.v5+json"
# A longer text makes a table unreadable; how much is left out is said.
MOST_CHARS = 300

# Only for notebooks: the page takes it out and brings its own style. It has no colours of its own, so that it follows
# the theme of JupyterLab, which sets every cell of a table to the right by a selector of two classes.
LAB_STYLE = """<style>
.tj table{border-collapse:collapse;table-layout:auto;font-variant-numeric:tabular-nums}
.tj caption{text-align:start;font-weight:600;padding:.3em 0}
.tj th,.tj td{padding:.2em .7em;text-align:start;vertical-align:top;max-width:34em}
.tj th,.tj td{word-break:normal;overflow-wrap:break-word;unicode-bidi:isolate}
.tj details{padding:.15em 0}
.tj summary{cursor:pointer}
.tj .scroll th:not(.n),.tj .scroll td:not(.n){text-align:start}
.tj .n{text-align:end;white-space:nowrap}
.tj .scroll{max-height:32em;overflow:auto}
.tj dt,.tj dd{padding:0;overflow-wrap:anywhere}
.tj.headlines{display:grid;grid-template-columns:repeat(auto-fit,minmax(11em,1fr));gap:.8em;margin:0}
.tj.headlines .value{font-size:1.6em;line-height:1.3;font-weight:600;margin:0}
.tj.headlines .meaning,.tj .definition,p.tj.definition{font-size:.9em;margin:0;opacity:.85}
.tj.provenance>div{display:grid;grid-template-columns:minmax(7em,14em) minmax(0,1fr);gap:1em;padding:.15em 0}
.tj.notice{border-inline-start:4px solid #c77c02;padding:.3em .8em}
.tj pre{white-space:pre-wrap;overflow-wrap:anywhere}
.tj .error{border-inline-start:4px solid #d55e00;padding-inline-start:.6em}
</style>
"""
# JupyterLab takes the sheet out of what is not trusted, and sets its terms afloat: labels would lie over numbers.
LAB_TERM = ' style="float:none;width:auto;margin:0"'

# C0 and C1 controls but tab and line feed, and what no encoder takes: a lone half of a surrogate pair.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SHARE = re.compile(r"(^|_)(share|rate)(_|$)")
_BOUND = re.compile(r"_(low|high)$")


class Kinds(NamedTuple):
    """How the columns of a table are shown."""

    numeric: set[str]
    shares: set[str]
    classes: set[str]


def clean(string: str) -> str:
    """A string that every encoder takes: what has no glyph or no meaning becomes U+FFFD."""
    return _UNSEEN.sub("\ufffd", string)


def text(value: Any) -> str:
    """A string from anywhere, safe between tags and in quoted attributes."""
    return escape(clean(str(value)))


def shares(names: Sequence[str]) -> set[str]:
    """The columns that hold parts of a whole, by the schema's suffixes: `_share`, `_rate`, and the bounds of these.

    `coverage_low` is a bound of `coverage_rate` where that stands beside it; `difference_low` is of no share.
    """
    parts = {name for name in names if _SHARE.search(name)}
    stems = {_SHARE.sub("", name) for name in parts}
    return parts | {name for name in names if _BOUND.search(name) and _BOUND.sub("", name) in stems}


def classes(frame: pl.DataFrame) -> set[str]:
    """The columns that hold names of rules, classes and modes, which are shown as words."""
    return {name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Enum) or name in ("traj_type", "rule")}


def grid(frame: pl.DataFrame, heads: Mapping[str, tuple[str, str]], caption: str, *, exact: bool = True) -> str:
    """A frame as a table that scrolls by itself.

    Args:
        frame: what to show, every row of it.
        heads: title and meaning of the columns that have them.
        caption: what the table shows; the region that scrolls is named after it.
        exact: what was rounded carries its exact value, to sort and to copy by.
    """
    names = frame.columns
    numeric = {name for name, dtype in frame.schema.items() if dtype.is_numeric()}
    kinds = Kinds(numeric, shares(names), classes(frame))
    titles = "".join(_head(name, *heads.get(name, (words(name), "")), name in numeric) for name in names)
    body = "\n".join("<tr>" + "".join(_cells(names, row, kinds, exact)) + "</tr>" for row in frame.iter_rows())
    label = text(caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table><caption>{label}</caption>'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _head(name: str, title: str, meaning: str, numeric: bool) -> str:
    tip = f' title="{text(meaning)}"' if meaning else ""
    kind = ' class="n"' if numeric else ""
    return f'<th scope="col" data-name="{text(name)}"{kind}{tip}>{text(title)}</th>'


def _cells(names: Sequence[str], row: Sequence[Any], kinds: Kinds, exact: bool) -> Iterator[str]:
    for name, value in zip(names, row, strict=True):
        is_chance = name == "p_value" and value is not None
        shown = (
            chance(value) if is_chance else cell(value, is_share=name in kinds.shares, is_class=name in kinds.classes)
        )
        if name in kinds.numeric:
            is_rounded = exact and value is not None and shown != str(value)
            kept = f' data-value="{value!r}"' if is_rounded else ""
            yield f'<td class="n"{kept}>{shown}</td>'
        elif len(shown) > MOST_CHARS:
            yield f'<td dir="auto">{text(shown[:MOST_CHARS])}… ({count(len(shown), "character")})</td>'
        else:
            yield f'<td dir="auto">{text(shown)}</td>'
