"""A card as Markdown: what stands between its marks, and a whole one for an author to fill in."""

from collections.abc import Iterator, Sequence

import polars as pl

from analysis.card import markdown, splice
from analysis.card.distribution import Described
from analysis.card.statistics import Section
from analysis.tables import Tables
from analysis.wording import count, plural

PICTURES = "statistics"
# Not .json: whoever reads a folder of records, and the hub, would take it for one of them.
CROISSANT = "croissant.jsonld"
OWN = "To be filled in by the author"


def block(data: Tables, sections: Sequence[Section], files: Sequence[Described]) -> str:
    """The statistics, without their marks.

    Args:
        data: the tables measured.
        sections: what was measured.
        files: those of the source; none where only tables are here.
    """
    return markdown.joined(_paragraphs(data, sections, files))


def new(name: str, front: str, statistics: str) -> bytes:
    """A whole card."""
    title = markdown.text(name) if name else f"{OWN}: a name"
    parts = [
        f"---\n{splice.FRONT_BEGIN}\n{front}{splice.FRONT_END}\n---",
        f"# {title}",
        f"{OWN}: what these records are, who made them and how, what they are for, and what is personal in them.",
        f"{splice.BEGIN}\n{statistics}{splice.END}",
    ]
    return ("\n\n".join(parts) + "\n").encode("utf-8")


def description(data: Tables) -> str:
    """What the records are, in a sentence of plain text."""
    manifest = data.manifest
    rows = data.trajectories.select("tool_calls", "env_id").collect()
    environments = rows["env_id"].drop_nulls().n_unique()
    synthetic = "synthetic " if manifest.get("synthetic") else ""
    part = f" Only a part of them is described; {count(manifest['kept'])} were kept." if data.is_narrowed else ""
    return (
        f"{count(rows.height)} {synthetic}tool-use {plural(rows.height, 'trajectory')} with "
        f"{count(rows['tool_calls'].sum(), 'tool call')} in {count(environments, 'environment')}; "
        f"{count(manifest['records_in'], 'record')} read, {count(manifest['rejected'])} of them rejected.{part}"
    )


def _paragraphs(data: Tables, sections: Sequence[Section], files: Sequence[Described]) -> Iterator[str]:
    manifest = data.manifest
    yield "## Statistics"
    yield (
        f"Measured by `python -m analysis card` on {_measured(files)}: {count(manifest['records_in'])} records in = "
        f"{count(manifest['kept'])} kept + {count(manifest['rejected'])} rejected. Each share has its counts beside "
        "it; for fewer than 20 there is a dash in its place. The text between the marks is replaced when the card is "
        "renewed."
    )
    if data.is_narrowed:
        # Not in the words of the handle, which name the source by its path on this machine.
        part = data.trajectories.select(pl.len()).collect().item()
        yield f"Only a part of the source is counted: {count(part)} of the {count(manifest['kept'])} records kept."
    if manifest.get("synthetic"):
        yield "The records are synthetic: scripted agents in small environments, mistakes included."
    yield markdown.items([f"{markdown.code(d['origin'])}: {markdown.text(d['reason'])}" for d in manifest["damage"]])
    for section in sections:
        yield f"### {section.title}"
        yield section.sentence
        for grid in section.grids:
            yield "There is nothing of the kind in these records." if grid.frame.is_empty() else markdown.table(grid)
        if section.chart is not None:
            yield markdown.picture(section.chart.description, f"{PICTURES}/{section.picture}.svg")
    yield "### What these numbers do not tell"
    yield (
        "Whether a task was done: no measure here is a rate of success. Licence, language, who made the records and "
        "how, and what is personal in them: that is the author's to say."
    )


def _measured(files: Sequence[Described]) -> str:
    """What was read, and how to know it again."""
    if not files:
        return "tables that were made of it"
    if len(files) > 1:
        return f"{count(len(files), 'file')}, whose checksums are in `{CROISSANT}`"
    return f"{markdown.code(files[0].name)} (SHA-256 {markdown.code(files[0].sha256)})"
