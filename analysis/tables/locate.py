"""What a source is: tables that were written before, or records, whose files are located; with its sibling sets."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis import schema, sources
from analysis.files import equal_folder
from analysis.sources import address, several
from analysis.tables import cache, places
from analysis.tables.manifest import is_unfinished, manifest_of

SAMPLE = "sample"
# Files that are not read, by name in the manifest; the rest is a number.
MOST_SKIPPED = 200


@dataclass(frozen=True)
class Located:
    """A source of records: where it is, and where its sibling sets are; "" for none."""

    path: str
    environments: str
    scenarios: str

    def survey(self) -> sources.Survey:
        """The files of its records, and what beside them is not read.

        Raises:
            sources.SourceError: there is nothing to read.
        """
        return sources.survey(self.path)


def locate(source: str, environments: str = "", scenarios: str = "") -> Located:
    """Where the records of a source are; the sample brings its own siblings, unless others are named."""
    if source != SAMPLE:
        return Located(source, environments, scenarios)
    folder = _sample_folder()
    theirs = f"{folder / 'scenarios.json'},{folder / 'rl_scenarios.json'}"
    return Located(
        str(folder / "trajectories.json"), environments or str(folder / "environments.json"), scenarios or theirs
    )


def passed_over(survey: sources.Survey, manifest: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of files that are not read: those that only look like data, and data that is lost."""
    lost = [{"origin": name, "reason": reason} for name, reason in survey.lost]
    skipped = [{"name": name, "reason": reason} for name, reason in survey.skipped[:MOST_SKIPPED]]
    return {
        "skipped_files": len(survey.skipped),
        "skipped": skipped,
        "damage": [*manifest.get("damage", []), *(each for each in lost if each not in manifest.get("damage", []))],
    }


def tables_at(source: str) -> dict[str, Any] | None:
    """The manifest of a folder that `write_tables` wrote; None when the source is anything else.

    Raises:
        sources.SourceError: the run that wrote it did not finish, or another version wrote it.
    """
    folder = address.plain(source)
    if several.apart(source):
        return None
    if not (Path(folder).is_dir() or (address.is_remote(folder) and not folder.endswith(sources.SUFFIXES))):
        return None
    manifest = manifest_of(folder)
    if manifest is None:
        if is_unfinished(folder):
            raise sources.SourceError(f"{source}: unfinished tables; write them again, which goes on where it stopped")
        return None
    for table in schema.RECORD_TABLES:
        with address.reading(source):
            columns = places.scan(f"{folder}/{table.name}").collect_schema()
        if columns != table.schema:
            raise sources.SourceError(f"{source}: {table.name} has not today's columns; write the tables again")
    origin = str(manifest.get("source") or "")
    # Texts are read from the records again. Only on this machine: a manifest that came from elsewhere opens no address.
    is_here = origin and not address.is_remote(origin) and not origin.startswith("hub:")
    named = {"tables_of": origin or manifest["files"][0]["name"], "located": locate(origin).path if is_here else ""}
    return manifest | {"source": source} | named


def _sample_folder() -> Path:
    """The folder of the sample's files, which are played on first use and kept."""
    from analysis import sample  # noqa: PLC0415  the sample's players are nothing to whoever has records

    size = sample.DEFAULT
    folder = cache.root() / "sample" / f"{sample.VERSION}-{size['trajectories']}-{size['environments']}-{size['seed']}"
    if not folder.exists():
        with equal_folder(folder) as beside:
            sample.write(beside / "trajectories.json", **size)
            sample.write_siblings(beside, **size)
    return folder
