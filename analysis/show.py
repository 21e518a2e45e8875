"""What a notebook cell displays: charts with their definition, tables, headlines, notices, transcripts, provenance.

Every string that comes from the data is escaped here or in `markup`. Each output says what it is in its metadata
(`{"trajectory": {"kind": …}}`), so that the page can lay it out anew; in JupyterLab the same HTML stands on its own, in
light and dark.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import unescape
from typing import Any

import analysis.imports  # noqa: F401  # isort: skip  (before Altair, whose import it shortens)
import altair as alt
import polars as pl
from IPython.display import display as _display

from analysis import transcripts as transcript
from analysis.brief import Headline
from analysis.charts import theme
from analysis.charts.figure import around
from analysis.markup import CHART_TYPE, LAB_STYLE, LAB_TERM, clean, grid, text
from analysis.records.model import Trajectory
from analysis.schema import Table
from analysis.tables import Tables
from analysis.wording import count, unbroken

# A tag with the white space around it. What begins in the middle of white space would be tried from each of its places.
_TAG = re.compile(r"(?:(?<!\s)\s++)?<[^<>]+>\s*")
MOST_ROWS = 500

SYNTHETIC = (
    "Synthetic sample: these records were played by scripts in made-up environments. They show what the reports look "
    "like; no number here says anything about a real data set."
)

display: Callable[..., Any] = _display


def use_altair() -> None:
    """Show every chart of this notebook, also those of your own, in the suite's look and where JupyterLab draws it."""
    alt.theme.enable(theme.NAME)
    alt.renderers.enable(theme.NAME)


def chart(figure: Any) -> None:
    """Display a chart and, under it, its definition; or, in place of an empty chart, the sentence that says why."""
    facts = around(figure)
    if facts and facts.empty:
        _html(f'<p class="tj notice empty">{text(facts.empty)}</p>', "empty")
        return
    spec = figure.to_dict()
    is_fluid = facts is not None and spec.get("width") == theme.WIDTH
    bundle, metadata = _bundle({**spec, "usermeta": facts.meta()} if facts else spec, is_fluid=is_fluid)
    display(bundle, raw=True, metadata=metadata)
    if facts:
        _html(f'<p class="tj definition">{text(facts.declared.definition)}</p>', "definition")


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
    more = f" The first {count(rows)} of {count(frame.height, 'row')}." if frame.height > rows else ""
    below = f'<p class="definition">{text(definition + more)}</p>' if definition or more else ""
    body = grid(frame.head(rows), heads, caption)
    _html(f'<div class="tj table">{body}{below}</div>', "table", caption=caption, rows=frame.height)


def headlines(numbers: Sequence[Headline]) -> None:
    """Display five to eight numbers with their meaning, then what needs attention; the page puts both first."""
    items = "".join(
        f'<div><dt{LAB_TERM}>{text(n.label)}</dt><dd class="value"{LAB_TERM}>{text(unbroken(n.value))}</dd>'
        f'<dd class="meaning"{LAB_TERM}>{text(n.meaning)}</dd></div>'
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


def transcripts(
    trajectories: Iterable[Trajectory],
    ids: Iterable[str] = (),
    reasons: Iterable[str] = (),
    *,
    most: int = transcript.MOST_MESSAGES,
    replayed: pl.DataFrame | None = None,
) -> None:
    """Display whole trajectories, each folded: turns, reasoning, calls with their results, errors and findings marked.

    Args:
        trajectories: what `Tables.read(ids)` gives.
        ids: their trajectory ids, in the same order: charts and tables link to them. Origins stand in for none.
        reasons: why each is shown, in a few words.
        most: messages shown of each, its first and last ones; errors between them are shown, too.
        replayed: rows of REPLAYED_CALLS: where a result came out otherwise, it stands beside the recorded one.
    """
    shown = list(trajectories)
    names = [*ids] or [one.origin for one in shown]
    why = [*reasons] or [""] * len(shown)
    if not len(shown) == len(names) == len(why):
        raise ValueError(f"{len(shown)} trajectories, {len(names)} ids, {len(why)} reasons: give one of each")
    anew = _results_by_id(replayed)
    pieces = "".join(
        transcript.html(*one, most=most, replayed=anew.get(one[1])) for one in zip(shown, names, why, strict=True)
    )
    _html(f'<div class="tj transcripts">{pieces}</div>', "transcripts", ids=names)


def _results_by_id(replayed: pl.DataFrame | None) -> dict[str, dict[int, str]]:
    results: dict[str, dict[int, str]] = {}
    if replayed is not None:
        for id_, call, result in replayed.select("trajectory_id", "call", "replayed_result").drop_nulls().iter_rows():
            results.setdefault(id_, {})[call] = result
    return results


def provenance(data: Tables) -> None:
    """Last cell of every notebook: source, content hash, rows used and rejected, selection, versions."""
    facts = source_facts(data)
    is_synthetic = bool(data.manifest.get("synthetic"))
    items = "".join(
        f"<div><dt{LAB_TERM}>{text(name)}</dt><dd{LAB_TERM}>{text(value)}</dd></div>" for name, value in facts.items()
    )
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
        f"Kept because --keep-unread asked for it, and not read whole: {count(unread)} of {count(kept, 'record')}. "
        "Calls and texts that were not read are counted nowhere."
    )


def source_facts(data: Tables) -> dict[str, str]:
    """What the tables were made from, as words."""
    manifest = data.manifest
    records_in, kept, rejected = (manifest.get(name) for name in ("records_in", "kept", "rejected"))
    dialects = manifest.get("dialects") or {}
    versions = manifest.get("versions") or {}
    facts = {
        "source": str(manifest.get("source", data.source)) + (" (synthetic)" if manifest.get("synthetic") else ""),
        "revision": manifest.get("revision"),
        "content hash": manifest.get("content_hash"),
        "size": count(manifest["bytes"], "byte") if "bytes" in manifest else None,
        "records in = kept + rejected": None
        if None in (records_in, kept, rejected)
        else f"{count(records_in)} = {count(kept)} + {count(rejected)}",
        "dialects": ", ".join(f"{name} ({count(records)})" for name, records in dialects.items()),
        "selection": data.narrowing,
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }
    return {name: clean(str(value)) for name, value in facts.items() if value}


def _bundle(spec: dict[str, Any], *, is_fluid: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """The mime bundle of a chart, and what the page needs to undo for its own sake."""
    # Marks would be described one by one, by an expression that a backslash in an axis title breaks. A chart has one
    # description that tells the finding, and its numbers as a table.
    config = {**spec.get("config", {}), "mark": {**spec.get("config", {}).get("mark", {}), "aria": False}}
    spec = {**_quoted(spec), "config": config}
    meta: dict[str, Any] = {"kind": "chart"}
    # JupyterLab's Vega never settles on a width of "container"; the page puts it back.
    if is_fluid or spec.get("width") == "container":
        spec["width"] = theme.WIDTH
        meta["width"] = "container"
    words = spec.get("description") or _title_text(spec)
    # As SVG the text takes the colour of the theme it stands in; JupyterLab's own choice would be a canvas.
    embedding = {CHART_TYPE: {"embed_options": {"renderer": "svg"}}}
    return {CHART_TYPE: spec, "text/plain": words or "A chart"}, {"trajectory": meta, **embedding}


alt.renderers.register(theme.NAME, lambda spec, **_: _bundle(spec))


def _quoted(part: Any, inside: str = "") -> Any:
    """The specification with backslashes in the headings of tooltips doubled.

    Vega-Lite writes a heading into an expression between quotes and escapes the quotes in it, not backslashes and
    ends of lines.
    """
    if isinstance(part, list):
        return [_quoted(one, inside) for one in part]
    if not isinstance(part, dict) or inside == "datasets":
        return part
    if inside == "tooltip" and isinstance(part.get("title"), str):
        part = {**part, "title": part["title"].replace("\\", "\\\\").replace("\n", " ")}
    return {name: _quoted(one, name) for name, one in part.items()}


def _title_text(spec: dict[str, Any]) -> str:
    """A specification's title as one line, however it was wrapped for drawing."""
    title = spec.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    return " ".join(words) if isinstance(words, list) else str(words)


def _html(html: str, kind: str, **facts: Any) -> None:
    plain = unescape(_TAG.sub(" ", html)).strip()
    display(
        {"text/html": LAB_STYLE + html, "text/plain": plain[:2000]},
        raw=True,
        metadata={"trajectory": {"kind": kind, **facts}},
    )
