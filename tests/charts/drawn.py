"""What is asked of every chart: fields that its table declares, marks that are drawn, texts that stay texts."""

import re
from collections.abc import Iterator
from typing import Any

import vl_convert


def spec(chart: Any) -> dict[str, Any]:
    found: dict[str, Any] = chart.to_dict()
    return found


def fields(node: Any) -> set[str]:
    """Every data field an encoding names, in whatever layer or facet."""
    return {entry["field"] for entry in _walk(node) if isinstance(entry.get("field"), str)}


def calculated(node: Any) -> set[str]:
    folded = (name for entry in _walk(node) if "fold" in entry for name in entry["as"])
    return {entry["as"] for entry in _walk(node) if "calculate" in entry} | set(folded)


def marks(found: dict[str, Any]) -> int:
    """Bars, points, rules, lines and texts in the drawn picture, axes and legends left out."""
    svg = vl_convert.vegalite_to_svg(_fixed(found))
    drawn = re.findall(
        r'<g class="mark-(?:rect|symbol|rule|line|area|text)[^"]*"[^>]*role="graphics-object"[^>]*>(.*?)</g>', svg
    )
    return sum(group.count("<path") + group.count("<line") + group.count("<text") for group in drawn)


def title(chart: Any) -> str:
    text = spec(chart)["title"]["text"]
    return (text if isinstance(text, str) else " ".join(text)).replace("\u00a0", " ")


def subtitle(chart: Any) -> str:
    return " ".join(spec(chart)["title"]["subtitle"]).replace("\u00a0", " ")


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for key, value in node.items():
            if key not in ("datasets", "data", "usermeta"):
                yield from _walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value)


def _fixed(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: 600 if key == "width" and value == "container" else _fixed(value) for key, value in found.items()}
    return [_fixed(value) for value in found] if isinstance(found, list) else found
