"""Write a card: measure, draw, and put each file in its place whole, the card itself last."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from analysis.card import croissant, distribution, page, pictures, splice, statistics
from analysis.card.croissant import Given
from analysis.card.metadata import metadata, written
from analysis.card.splice import CardError
from analysis.tables import Tables, load
from analysis.tables.places import read_bytes, remove, write_bytes
from analysis.wording import count


@dataclass(frozen=True)
class CardRequest:
    """What to measure, where the card stands, and what only its author knows; an empty text for what was not said."""

    source: str = "sample"
    card: Path = Path("card/README.md")
    tables: str = ""
    environments: str = ""
    scenarios: str = ""
    name: str = ""
    license: str = ""
    languages: tuple[str, ...] = ()
    url: str = ""
    creator: str = ""
    published: str = ""
    version: str = ""
    citation: str = ""
    jobs: int = 0
    progress: bool = True

    def given(self, front: Mapping[str, Any]) -> Given:
        """What the options say, else what the front matter of the card already does."""
        linked = front.get("license_link") if front.get("license") == "other" else None
        return Given(
            name=self.name or " ".join(_texts(front.get("pretty_name"))),
            license=self.license or " ".join(_texts(linked or front.get("license"))),
            languages=self.languages or _texts(front.get("language")),
            url=self.url,
            creator=self.creator,
            published=self.published,
            version=self.version,
            citation=self.citation,
        )


class Written(NamedTuple):
    """What was written, what is left to the author, and what else there is to say."""

    card: Path
    files: tuple[Path, ...]
    left: tuple[str, ...]
    notes: tuple[str, ...]
    manifest: dict[str, Any]


def write(request: CardRequest) -> Written:
    """Write or renew a card, its pictures and its Croissant file; what was given once is kept.

    Args:
        request: what to write; a folder in the card's place stands for README.md in it.

    Raises:
        CardError: there is no record, the card that stands there has no place for statistics, or tables cannot be
            referred to from it.
        sources.SourceError: there is nothing to read.
        OSError: something cannot be written.
    """
    card = request.card / "README.md" if request.card.is_dir() else request.card
    before = read_bytes(str(card)) if card.exists() else None
    theirs, ours = _front(before, card) if before is not None else ({}, {})
    data = load(
        request.source,
        environments=request.environments,
        scenarios=request.scenarios,
        jobs=request.jobs,
        progress=request.progress,
    )
    if data.trajectories.head(1).collect().is_empty():
        read = data.manifest["records_in"]
        raise CardError(
            f"{request.source}: none of {count(read, 'record')} was kept; there is nothing to write a card of"
        )
    folder, tables = distribution.tables_from(data, request.tables, card.parent)
    files = distribution.described(data, card.parent)
    away = distribution.elsewhere(data, card.parent)
    sections = [*statistics.sections(data)]
    drawn = {section.picture: section.chart for section in sections if section.chart is not None}
    given = request.given({**ours, **theirs})
    own = metadata(
        data,
        name=given.name,
        license=given.license,
        languages=given.languages,
        files=() if away else [file.path for file in files if file.path],
        taken=theirs,
    )
    block = page.block(data, sections, files)
    place = card.parent / page.CROISSANT
    about = croissant.document(
        given.name or own_name(data), page.description(data), files, tables, folder, given, _written_before(place)
    )
    outputs = {
        card.parent / page.PICTURES / f"{name}.svg": pictures.svg(chart.to_dict()).encode()
        for name, chart in drawn.items()
    }
    outputs[place] = (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode()
    outputs[card] = (
        page.new(request.name, own, block)
        if before is None
        else splice.renewed(splice.with_metadata(before, own), block)
    )
    for path, content in outputs.items():
        write_bytes(str(path.absolute()), content)
    for section in sections:
        if section.picture and section.chart is None:
            remove(str(card.parent / page.PICTURES / f"{section.picture}.svg"))
    return Written(
        card, tuple(outputs), croissant.missing(about, given), tuple(_notes(data, card, before, away)), data.manifest
    )


def own_name(data: Tables) -> str:
    """What the source is called where it lies: the set on the hub, the file or the folder."""
    source = str(data.manifest.get("tables_of") or data.source)
    if found := distribution.HUB.match(source):
        return found[1].rpartition("/")[2]
    return PurePosixPath(source.rstrip("/")).name.partition(".")[0] or "trajectories"


def _front(card: bytes, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the author wrote into the front matter of a card that can be renewed, and what stands between its marks.

    Looked at before anything is measured: that may take minutes.
    """
    try:
        splice.renewed(splice.with_metadata(card, ""), "")
        theirs, ours = splice.front_matter(card)
        return written(theirs), written(ours)
    except CardError as error:
        raise CardError(f"{path}: {error}") from None


def _written_before(path: Path) -> dict[str, Any]:
    """The Croissant file that stands there, as far as it can be read: it is replaced."""
    try:
        found = json.loads(read_bytes(str(path)))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    """One text or several, as YAML may hold either."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(str(one) for one in values)


def _notes(data: Tables, card: Path, before: bytes | None, away: list[str]) -> list[str]:
    notes = []
    if before is not None and not splice.has_metadata(before):
        notes.append(f"{card}: the front matter was left as it is; it has no lines {splice.FRONT_BEGIN!r} and -end")
    if away:
        others = f" and {count(len(away) - 1, 'other')}" if len(away) > 1 else ""
        notes.append(f"{away[0]}{others}: not below {card.parent}; the card tells of it as if it lay there")
    if "tables_of" in data.manifest and not data.manifest["located"]:
        notes.append(f"{data.source}: tables only; the records they were made of are not described")
    return notes
