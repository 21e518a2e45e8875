"""The output folder: pages, written beside and renamed, and an index that says what is there, what is not, and why."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
from filelock import FileLock

from analysis.report import assets

State = Literal["pending", "made", "failed", "skipped"]


class Entry(msgspec.Struct, frozen=True):
    """One page, as the index and manifest.json tell it; source, hash and date are of the run that made it.

    `key` names everything the page depends on: a page with the same key need not be made again.
    """

    name: str
    title: str
    description: str
    page: str
    group: str = ""
    state: State = "pending"
    message: str = ""
    parameters: dict[str, str] = {}
    source: str = ""
    content_hash: str = ""
    date: str = ""
    key: str = ""


@dataclass(frozen=True)
class Group:
    """A value of the column that pages are made for."""

    value: str
    trajectories: int
    tool_calls: int
    steps: float
    bars: list[int]

    @property
    def spark(self) -> list[tuple[int, float]]:
        """Position and height of each bar, the highest 1."""
        top = max(self.bars, default=0) or 1
        return [(position, round(count / top, 3)) for position, count in enumerate(self.bars) if count]


@dataclass(frozen=True)
class Overview:
    """The table over the pages of `--each`."""

    column: str
    spread: str
    groups: list[Group]


class _Told(msgspec.Struct):
    pages: list[Entry]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that under its name there is all of it or nothing, even after a power cut.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@dataclass
class Folder:
    """The output folder during one run. What other runs left or are making here stays listed, apart."""

    path: Path
    provenance: dict[str, Any]
    entries: list[Entry]
    overview: Overview | None = None
    has_ended: bool = field(default=False, init=False)

    @property
    def index(self) -> Path:
        return self.path / "index.html"

    @property
    def pending(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.state == "pending"]

    def begin(self, *, keep: bool = False) -> None:
        """Remove what this run is about to make: until it is made there is nothing, rather than yesterday's.

        Args:
            keep: count a page as made that an earlier run made of the very same.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        made = {one.page: one for one in self._told() if one.state == "made" and self._is_there(one)} if keep else {}
        for position, entry in enumerate(self.entries):
            earlier = made.get(entry.page)
            if earlier is not None and entry.key and earlier.key == entry.key:
                self.entries[position] = earlier
            else:
                (self.path / entry.page).unlink(missing_ok=True)
        self._tell()

    def update(self, name: str, *, state: State, message: str = "") -> None:
        """Say what became of a page; one that failed is not there."""
        for position, entry in enumerate(self.entries):
            if entry.name == name:
                self.entries[position] = msgspec.structs.replace(entry, state=state, message=message)
                if state == "failed":
                    (self.path / entry.page).unlink(missing_ok=True)
        self._tell()

    def end(self) -> None:
        self.has_ended = True
        self._tell()

    def write(self, name: str, text: str) -> None:
        write_whole(self.path / name, text)

    def _tell(self) -> None:
        # Two runs at once on one folder: each reads what the other has told, and adds its own.
        with FileLock(self.path / ".lock"):
            others = self._others()
            manifest = {
                "state": "finished" if self.has_ended and not self.pending else "unfinished",
                **self.provenance,
                "pages": [*self.entries, *others],
            }
            self.write("manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode() + "\n")
            self.write("index.html", render(self, others))

    def _told(self) -> list[Entry]:
        """What manifest.json lists. A page is whole before it is listed as made."""
        try:
            return msgspec.json.decode((self.path / "manifest.json").read_bytes(), type=_Told).pages
        except (OSError, msgspec.MsgspecError):
            return []

    def _others(self) -> list[Entry]:
        """Pages that other runs left here, or are making at this moment."""
        own = {entry.page for entry in self.entries}
        others = [entry for entry in self._told() if entry.page not in own]
        return [entry for entry in others if entry.state in ("pending", "made") and self._is_there(entry)]

    def _is_there(self, entry: Entry) -> bool:
        is_inside = Path(entry.page).name == entry.page  # The manifest is a file that anybody may have edited.
        return is_inside and (entry.state == "pending" or (self.path / entry.page).is_file())


def render(folder: Folder, others: list[Entry]) -> str:
    """The index page; the template engine escapes every text in it."""
    groups = folder.overview.groups if folder.overview else []
    html: str = (
        assets.environment()
        .get_template("index.html.j2")
        .render(
            style=assets.style(),
            entries=folder.entries,
            others=others,
            overview=folder.overview,
            by_group={group.value: [one for one in folder.entries if one.group == group.value] for group in groups},
            failed=[entry for entry in folder.entries if entry.state == "failed"],
            pending=folder.pending,
            provenance=folder.provenance,
        )
    )
    return html
