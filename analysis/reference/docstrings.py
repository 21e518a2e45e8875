"""A docstring of this project, taken apart: what it says first, what follows, and its sections.

Libraries for this read `Returns` as `type: meaning`, and would take "Conforms to COUNTS: trajectories, scenarios" for
a type; here a section's text is kept as it stands.
"""

import inspect
import re
from dataclasses import dataclass, field
from typing import Any

_SECTION = re.compile(r"^(Args|Returns|Raises):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Doc:
    """The parts of a docstring, each text with its line breaks taken out, paragraphs kept apart by an empty line."""

    summary: str = ""
    text: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def of(documented: Any) -> Doc:
    """The docstring of a module, function or class, taken apart; empty parts where it has none."""
    return parse(inspect.getdoc(documented) or "")


def parse(docstring: str) -> Doc:
    """Take a docstring apart.

    >>> doc = parse("Count calls.\\n\\nArgs:\\n    calls: the\\n        calls.\\n\\nReturns:\\n    One row.")
    >>> doc.summary, doc.arguments, doc.returns
    ('Count calls.', {'calls': 'the calls.'}, 'One row.')
    """
    first, *rest = _SECTION.split(inspect.cleandoc(docstring))
    sections = dict(zip(rest[::2], map(inspect.cleandoc, rest[1::2]), strict=True))
    summary, _, text = first.strip().partition("\n\n")
    _, *arguments = _ARGUMENT.split(sections.get("Args", ""))
    return Doc(
        summary=_flow(summary),
        text=_flow(text),
        arguments={name: _flow(words) for name, words in zip(arguments[::2], arguments[1::2], strict=True)},
        returns=_flow(sections.get("Returns", "")),
    )


def _flow(text: str) -> str:
    """Paragraphs as one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip()) if paragraph)
