"""What a notebook cell displays: charts with their definition, tables, headlines, notices, transcripts, provenance.

Every string that comes from the data is escaped here or in `markup`. Each output says what it is in its metadata
(`{"trajectory": {"kind": …}}`), so that the page can lay it out anew; in JupyterLab the same HTML stands on its own, in
light and dark.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import analysis.imports  # noqa: F401  # isort: skip  (before Altair, whose import it shortens)
import altair as alt
import polars as pl
from IPython.display import display as _display

from analysis import transcripts as transcript
from analysis.markup import LAB_STYLE, clean, grid, text
from analysis.records.model import Trajectory
from analysis.schema import Table
from analysis.tables import Tables

MOST_ROWS = 500

SYNTHETIC = (
    "Synthetic sample: these records were played by scripts in made-up environments. They show what the reports look "
    "like; no number here says anything about a real data set."
)

display: Callable[..., Any] = _display


@dataclass(frozen=True)
class Headline:
    """One number a reader takes away, formatted: with its name, what it means, and what of it needs attention."""

    value: str
    label: str
    meaning: str
    attention: str | None = None


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
    """Display five to eight numbers with their meaning, then what needs attention; the page puts both first."""
    items = "".join(
        f'<div><dt>{text(n.label)}</dt><dd class="value">{text(n.value)}</dd>'
        f'<dd class="meaning">{text(n.meaning)}</dd></div>'
        for n in numbers
    )
    if items:
        _html(f'<dl class="tj headlines">{items}</dl>', "headlines")
    for sentence in filter(None, (n.attention for n in numbers)):
        _html(f'<p class="tj notice">{text(sentence)}</p>', "attention", sentence=clean(sentence))


def notice(sentence: str) -> None:
    """Say what needs attention; the page repeats it in its summary."""
    _html(f'<p class="tj notice">{text(sentence)}</p>', "notice", sentence=clean(sentence))


def prose(markdown: str) -> None:
    """Display text that a cell composed of the project's own words; the page reads it like a cell of Markdown.

    Nothing of a source belongs in it: Markdown has no escape that holds everywhere.
    """
    display({"text/markdown": markdown, "text/plain": markdown}, raw=True, metadata={"trajectory": {"kind": "prose"}})


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
    is_synthetic = bool(data.manifest.get("synthetic"))
    items = "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items())
    warning = f'<p class="tj notice synthetic"><strong>{SYNTHETIC}</strong></p>' if is_synthetic else ""
    unread = kept_unread(data)
    warning += f'<p class="tj notice unread"><strong>{text(unread)}</strong></p>' if unread else ""
    _html(
        f'{warning}<dl class="tj provenance">{items}</dl>',
        "provenance",
        facts=facts,
        synthetic=is_synthetic,
        unread=unread,
    )


def kept_unread(data: Tables) -> str:
    """What is said of records that --keep-unread kept; "" without any."""
    unread, kept = data.manifest.get("kept_unread") or 0, data.manifest.get("kept") or 0
    if not unread:
        return ""
    return (
        f"{unread:,} of the {kept:,} records were not read whole and are kept because --keep-unread asked for it: "
        "calls and texts that were not read are counted nowhere."
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
        "selection": data.narrowing,
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    return {name: clean(str(value)) for name, value in facts.items() if value}


def _html(html: str, kind: str, **facts: Any) -> None:
    plain = unescape(re.sub(r"\s*<[^>]+>\s*", " ", html)).strip()
    display(
        {"text/html": LAB_STYLE + html, "text/plain": plain[:2000]},
        raw=True,
        metadata={"trajectory": {"kind": kind, **facts}},
    )
