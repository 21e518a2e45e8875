"""A chart as a small picture: drawn without a browser, on paper, since a card's page has no say in its colours."""

import re
from textwrap import wrap
from typing import Any

from analysis.markup import clean

WIDTH, INK, PAPER = 640, "#24292f", "#ffffff"
# Measured in a font that most machines have by this or another name; system-ui is a different one on each.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
# XML has no way to write them, and the engine that draws takes the process down with it when it meets one.
_NO_XML = re.compile("[\ufffe\uffff]")


def on_paper(spec: dict[str, Any], *, width: int = WIDTH) -> dict[str, Any]:
    """A chart's specification for paper: dark ink whatever theme the page has around it, its titles wrapped to fit."""
    drawn: dict[str, Any] = _drawable(spec)
    config = drawn.get("config", {})
    # The picture has one description, where it is shown; a description of each mark would be most of the file.
    marks = {**config.get("mark", {}), "aria": False}
    drawn["config"] = {**config, "mark": marks, "background": PAPER, "padding": 16, "font": FONT}
    title = drawn.get("title")
    if isinstance(title, dict):
        for part, characters in (("text", round(width * 0.14)), ("subtitle", round(width * 0.175))):
            words = title.get(part, "")
            title[part] = wrap(" ".join(words) if isinstance(words, list) else words, characters)
    if "width" in drawn and not isinstance(drawn["width"], dict):
        drawn["width"] = width
    return drawn


def svg(spec: dict[str, Any], *, width: int = WIDTH) -> str:
    """A chart's specification as SVG."""
    import vl_convert  # noqa: PLC0415  a JavaScript engine: only who draws shall load it

    return str(vl_convert.vegalite_to_svg(on_paper(spec, width=width)))


def _drawable(part: Any) -> Any:
    """The specification in ink, without characters that no picture can hold."""
    if isinstance(part, dict):
        return {name: _drawable(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_drawable(value) for value in part]
    if isinstance(part, str):
        return INK if part == "currentColor" else _NO_XML.sub("\ufffd", clean(part))
    return part
