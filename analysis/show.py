"""What a notebook cell displays: charts with their definition, tables, headlines, notices, transcripts, provenance.

Every string that comes from the data is escaped here. Each output says in its metadata (`{"trajectory": {"kind": …}}`)
what it is, so that the page can lay it out anew; in JupyterLab the same HTML stands on its own, in light and dark.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl
from IPython.display import display as _display

from analysis import transcripts as transcript
from analysis.records.model import Trajectory
from analysis.schema import Table
from analysis.tables import Tables
from analysis.transcripts import clean, text

MOST_ROWS = 500
MOST_CHARS = 300

# Only for notebooks: the page takes it out and brings its own style. It has no colours of its own, so that it follows
# the theme of JupyterLab.
LAB_STYLE = """<style>
.tj table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.tj caption{text-align:start;font-weight:600;padding:.3em 0}
.tj th,.tj td{padding:.2em .7em;text-align:start;vertical-align:top;max-width:34em;overflow-wrap:anywhere}
.tj th,.tj td{unicode-bidi:isolate}
.tj .n{text-align:end;white-space:nowrap}
.tj .scroll{max-height:32em;overflow:auto}
.tj.headlines{display:grid;grid-template-columns:repeat(auto-fit,minmax(11em,1fr));gap:.8em;margin:0}
.tj.headlines .value{font-size:1.6em;font-weight:600;margin:0}
.tj.headlines .meaning,.tj .definition,p.tj.definition{font-size:.9em;margin:0;opacity:.85}
.tj.notice{border-inline-start:4px solid #c77c02;padding:.3em .8em}
.tj pre{white-space:pre-wrap;overflow-wrap:anywhere}
.tj .error{border-inline-start:4px solid #d55e00;padding-inline-start:.6em}
</style>
"""

_SHARE = re.compile(r"(^|_)(share|rate)(_|$)")
display: Callable[..., Any] = _display


@dataclass(frozen=True)
class Headline:
    """One number a reader takes away: already formatted, with its name and what it means (with the denominator)."""

    value: str
    label: str
    meaning: str


def chart(figure: alt.TopLevelMixin) -> None:
    """Display a chart and, under it, its definition; or, in place of an empty chart, the sentence that says why."""
    own = getattr(figure, "usermeta", None)
    meta: dict[str, Any] = own if isinstance(own, dict) else {}
    if "empty" in meta:
        _html(f'<p class="tj notice empty">{text(meta["empty"])}</p>', "empty")
        return
    display(figure)
    if meta.get("definition"):
        _html(f'<p class="tj definition">{text(meta["definition"])}</p>', "definition")


def table(frame: pl.DataFrame, result: Table, *, caption: str, definition: str = "", rows: int = MOST_ROWS) -> None:
    """Display a frame as a table: heads with units from `result`, numbers rounded, texts escaped.

    Args:
        frame: what to show; columns that `result` declares get its titles and meanings.
        result: the table the frame conforms to.
        caption: what the table shows.
        definition: how its numbers are defined, in a sentence under it.
        rows: the most to show; a sentence says when there are more.
    """
    if frame.is_empty():
        _html(f'<p class="tj notice empty">{text(caption)}: no rows in this source or selection.</p>', "empty")
        return
    heads = {c.name: (c.title, c.meaning) for c in result if c.name in frame.columns}
    more = f" The first {rows:,} of {frame.height:,} rows." if frame.height > rows else ""
    below = f'<p class="definition">{text(definition + more)}</p>' if definition or more else ""
    body = grid(frame.head(rows), heads, caption)
    _html(f'<div class="tj table">{body}{below}</div>', "table", caption=caption, rows=frame.height)


def headlines(numbers: Sequence[Headline]) -> None:
    """Display five to eight numbers with their meaning; the page puts them first."""
    items = "".join(
        f'<div><dt>{text(n.label)}</dt><dd class="value">{text(n.value)}</dd>'
        f'<dd class="meaning">{text(n.meaning)}</dd></div>'
        for n in numbers
    )
    _html(f'<dl class="tj headlines">{items}</dl>', "headlines")


def notice(sentence: str) -> None:
    """Say what needs attention; the page repeats it in its summary."""
    _html(f'<p class="tj notice">{text(sentence)}</p>', "notice", sentence=clean(sentence))


def transcripts(trajectories: Iterable[Trajectory], ids: Iterable[str] = (), reasons: Iterable[str] = ()) -> None:
    """Display whole trajectories, each folded: turns, reasoning, calls with their results, errors and findings marked.

    Args:
        trajectories: what `Tables.read(ids)` gives.
        ids: their trajectory ids, in the same order: charts and tables link to them. Origins stand in for none.
        reasons: why each is shown, in a few words.
    """
    shown = list(trajectories)
    names = [*ids] or [one.origin for one in shown]
    why = [*reasons] or [""] * len(shown)
    if not len(shown) == len(names) == len(why):
        raise ValueError(f"{len(shown)} trajectories, {len(names)} ids, {len(why)} reasons: give one of each")
    pieces = "".join(transcript.html(*one) for one in zip(shown, names, why, strict=True))
    _html(f'<div class="tj transcripts">{pieces}</div>', "transcripts", ids=names)


def provenance(data: Tables) -> None:
    """Last cell of every notebook: source, content hash, rows used and rejected, selection, versions."""
    facts = source_facts(data)
    items = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items())
    _html(
        f'<dl class="tj provenance">{items}</dl>',
        "provenance",
        facts=facts,
        synthetic=bool(data.manifest.get("synthetic")),
    )


def source_facts(data: Tables) -> dict[str, str]:
    """What the tables were made from, as words."""
    manifest = data.manifest
    counts = {name: manifest.get(name) for name in ("records_in", "kept", "rejected")}
    dialects = manifest.get("dialects") or {}
    versions = manifest.get("versions") or {}
    facts = {
        "source": str(manifest.get("source", data.source)) + (" (synthetic)" if manifest.get("synthetic") else ""),
        "revision": manifest.get("revision"),
        "content hash": manifest.get("content_hash"),
        "size": f"{manifest['bytes']:,} bytes" if "bytes" in manifest else None,
        "records in = kept + rejected": "{records_in:,} = {kept:,} + {rejected:,}".format(**counts)
        if None not in counts.values()
        else None,
        "dialects": ", ".join(f"{name} ({count:,})" for name, count in dialects.items()),
        "selection": ", ".join(f"{name} = {value}" for name, value in data.selection.items()),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    return {name: clean(str(value)) for name, value in facts.items() if value}


def grid(frame: pl.DataFrame, heads: dict[str, tuple[str, str]], caption: str) -> str:
    """A frame as an HTML table in a frame that scrolls by itself; raw values ride along for sorting and copying."""
    numeric = [dtype.is_numeric() for dtype in frame.dtypes]
    titles = "".join(
        f'<th scope="col" data-name="{text(name)}"{_class(is_number)} title="{text(heads.get(name, ("", ""))[1])}">'
        f"{text(heads.get(name, (name.replace('_', ' '), ''))[0])}</th>"
        for name, is_number in zip(frame.columns, numeric, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(_cell(name, value) for name, value in zip(frame.columns, row, strict=True)) + "</tr>"
        for row in frame.iter_rows()
    )
    label = text(caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table><caption>{label}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def formatted(name: str, value: Any) -> str:
    """A value as a reader wants it: shares in per cent, thousands apart, three or four digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _float(name, value)
    if isinstance(value, (list, tuple, pl.Series)):
        return ", ".join(formatted(name, item) for item in value)
    return str(value)


def _float(name: str, value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if _SHARE.search(name) and size <= 1:
        return f"{100 * value:.1f} %" if size not in (0, 1) else f"{100 * value:.0f} %"
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.05 or not value else f"{value:.2g}"


def _cell(name: str, value: Any) -> str:
    shown = formatted(name, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td class="n" data-value="{value!r}">{text(shown)}</td>'
    if value is None:
        return f'<td data-value="">{shown}</td>'
    if len(shown) > MOST_CHARS:
        shown = f"{shown[:MOST_CHARS]}… ({len(shown):,} characters)"
    return f'<td dir="auto">{text(shown)}</td>'


def _class(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _html(html: str, kind: str, **facts: Any) -> None:
    plain = re.sub(r"\s*<[^>]+>\s*", " ", html).strip()
    display(
        {"text/html": LAB_STYLE + html, "text/plain": plain[:2000]},
        raw=True,
        metadata={"trajectory": {"kind": kind, **facts}},
    )
