"""The page: an executed notebook as one HTML file that fetches nothing, runs no foreign script and needs no server."""

import json
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from analysis.markup import clean
from analysis.report import assets
from analysis.report.pieces import Content, read, slug
from analysis.wording import cell

# `show.provenance` says these in words of its own.
SAID_BY_THE_NOTEBOOK = {"source", "revision", "content_hash", "bytes", "dialects", "records_in", "kept", "rejected"}
# nbformat sorts what a notebook says; this is the order in which a reader asks.
FACTS: tuple[str, ...] = (
    "source",
    "revision",
    "content hash",
    "size",
    "records in = kept + rejected",
    "dialects",
    "selection",
)
FACTS += ("parameters", "command", "date", "commit", "versions")


def render(notebook: Any, given: dict[str, Any] | None = None) -> str:
    """The page of an executed notebook.

    Args:
        notebook: as nbformat reads it.
        given: what the notebook cannot know, over what its metadata say under `trajectory_report`; all optional: `name`
            (of files to save, and to mark the page in the suite), `title`, `description`, `suite` (name, title and href
            of each page), `parameters`, `facts` (`synthetic` puts the banner up), `key` (kept in the head).
    """
    about = dict(notebook.metadata.get("trajectory_report", {})) | (given or {})
    content = read(notebook.cells)
    store = content.store
    name, known = str(about.get("name", "")), dict(about.get("facts", {}))
    heading = clean(str(about.get("title") or content.title or name or "Report"))
    style, script = assets.style(), assets.script()
    bundle = assets.bundle() if store.charts else None
    hashes = [assets.csp_hash(script.encode()), *([bundle.csp_hash] if bundle else [])]
    data = {"name": slug(name or heading), "charts": store.charts, "data": store.data, "configs": store.configs}
    html: str = (
        assets.environment()
        .get_template("page.html.j2")
        .render(
            title=heading,
            description=clean(str(about.get("description", ""))),
            key=about.get("key", ""),
            content=content,
            synthetic=content.synthetic or known.pop("synthetic", False),
            unread=clean(content.unread),
            suite=[_link(other, {name, heading}) for other in about.get("suite", ())],
            facts=facts(content, about.get("parameters") or content.parameters, known),
            policy=assets.policy(*hashes),
            style=Markup(style),
            script=Markup(script),
            bundle=bundle,
            store=Markup(block(data)),
        )
    )
    return html


def title(notebook: Any) -> str:
    """What the notebook calls itself: its first heading."""
    return read(cell for cell in notebook.cells if cell.cell_type == "markdown").title


def facts(content: Content, parameters: dict[str, Any], known: dict[str, Any]) -> dict[str, str]:
    """What the foot of the page says: of the source by the notebook's last cell, of the run by whoever ran it."""
    said = SAID_BY_THE_NOTEBOOK if content.facts else set()
    more = {
        fact.replace("_", " "): versions(value) if fact == "versions" else sentence(value)
        for fact, value in known.items()
        if fact not in said | {"synthetic"}
    }
    found = content.facts | {"parameters": sentence(parameters) or "none"} | more
    order = {fact: place for place, fact in enumerate(FACTS)}
    return {fact: clean(found[fact]) for fact in sorted(found, key=lambda fact: order.get(fact, 99)) if found[fact]}


def block(value: Any) -> str:
    """JSON that no text in it can end: in a script element only `<` could."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return clean(text).replace("<", "\\u003c")


def sentence(value: Any) -> str:
    """A fact of the provenance as words; "" for none."""
    if isinstance(value, dict):
        return ", ".join(f"{key} = {one!r}" if isinstance(one, str) else f"{key} = {one}" for key, one in value.items())
    return "" if value is None else cell(value)


def versions(value: Any) -> str:
    """Packages with their versions as one writes them: "polars 2.1.0, altair 6.3.0"."""
    return ", ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, dict) else sentence(value)


def _link(other: dict[str, str], own: set[str]) -> dict[str, Any]:
    """A page of the suite. Quoted, an address cannot name a scheme or a host: it stays a file of the suite's folder."""
    is_current = bool({other["name"], other["title"]} & own)
    return {"title": clean(other["title"]), "href": quote(other["href"], safe="/#%.-_~"), "is_current": is_current}
