"""The output folder: pages, written beside and renamed, and an index that says what is there, what is not, and why."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
from filelock import FileLock
from markupsafe import Markup

from analysis import files
from analysis.report import assets
from analysis.report.verdict import Front
from analysis.schema import FEWEST_FOR_A_RATE
from analysis.wording import decimal

VERDICT = "verdict.json"
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
    """A value of the column that pages are made for; steps as (least, lower quartile, median, upper quartile, most)."""

    value: str
    trajectories: int
    with_findings: int
    tool_calls: int
    judged: int
    errors: int
    quantiles: tuple[float, float, float, float, float]
    bars: list[int]

    @property
    def error_rate(self) -> float | None:
        return self.errors / self.judged if self.judged >= FEWEST_FOR_A_RATE else None

    @property
    def steps(self) -> float:
        return self.quantiles[2]

    @property
    def spark(self) -> list[tuple[int, float]]:
        """Position and height of each bar, the highest 1."""
        top = max(self.bars, default=0) or 1
        return [(position, round(count / top, 3)) for position, count in enumerate(self.bars) if count]

    @property
    def spread(self) -> str:
        """The bars in words."""
        least, lower, median, upper, most = map(decimal, self.quantiles)
        return f"{least} to {most} steps, median {median}, the middle half {lower} to {upper}"


@dataclass(frozen=True)
class Overview:
    """The table over the pages of `--each`."""

    column: str
    spread: str
    groups: list[Group]
    fewest: int = FEWEST_FOR_A_RATE


class _Told(msgspec.Struct):
    """`pages` are of the run that wrote it last, as is the state; `others` of runs that may never have ended."""

    pages: list[Entry] = []
    others: list[Entry] = []


@dataclass
class Folder:
    """The output folder during one run. What other runs left or are making here stays listed, apart.

    "finished" is said of the run's own pages: those of a run that was killed stay pending among the others. Two runs at
    once may even make the same pages: of each page the manifest tells what became of it last, by whomever.
    """

    path: Path
    provenance: dict[str, Any]
    entries: list[Entry]
    overview: Overview | None = None
    has_ended: bool = field(default=False, init=False)
    front: Front | None = field(default=None, init=False)
    rows: dict[str, Any] | None = field(default=None, init=False)
    _said: dict[str, Entry] = field(default_factory=dict, init=False)
    _drawn: float = field(default=0.0, init=False)
    _drawing: float = field(default=0.0, init=False)
    _lock: FileLock = field(init=False)

    def __post_init__(self) -> None:
        self._lock = FileLock(self.path / ".lock")

    @property
    def index(self) -> Path:
        return self.path / "index.html"

    @property
    def pending(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.state == "pending"]

    def begin(self, *, keep: bool = False) -> None:
        """Say that nothing is made yet, and remove what is about to be made: rather nothing than yesterday's.

        Args:
            keep: count a page as made that an earlier run made of the very same.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        files.sweep(self.path)
        with self._lock:
            made = {one.page: one for one in self._told() if one.state == "made" and self._is_there(one)}
            for position, entry in enumerate(self.entries):
                earlier = made.get(entry.page)
                if keep and earlier is not None and entry.key and earlier.key == entry.key:
                    self.entries[position] = earlier
            (self.path / VERDICT).unlink(missing_ok=True)
            self._tell({entry.page for entry in self.entries})
            for entry in self.entries:
                if entry.state != "made":
                    (self.path / entry.page).unlink(missing_ok=True)

    def make(self, name: str, html: str) -> None:
        """Write a page and say so."""
        with self._lock:
            _write(self.path / self._entry(name).page, html)
            self._become(name, state="made")

    def fail(self, name: str, message: str) -> None:
        """Say why there is no page; there is none."""
        with self._lock:
            (self.path / self._entry(name).page).unlink(missing_ok=True)
            self._become(name, state="failed", message=message)

    def judge(self, front: Front, rows: dict[str, Any] | None) -> None:
        """Write what the index opens with, for machines, too; the rows are those of its switches."""
        self.front, self.rows = front, rows
        _write(self.path / VERDICT, msgspec.json.format(msgspec.json.encode(front), indent=2).decode() + "\n")

    def end(self) -> None:
        self.has_ended = True
        self._tell(set())

    def _entry(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry.name == name)

    def _become(self, name: str, *, state: State, message: str = "") -> None:
        position = self.entries.index(self._entry(name))
        self.entries[position] = msgspec.structs.replace(self.entries[position], state=state, message=message)
        self._tell({self.entries[position].page})

    def _tell(self, changed: set[str]) -> None:
        with self._lock:
            told = {entry.page: entry for entry in self._told()}
            latest = [self._latest(entry, told.get(entry.page), entry.page in changed) for entry in self.entries]
            others = self._others(told)
            is_finished = self.has_ended and not any(entry.state == "pending" for entry in latest)
            manifest = {
                "state": "finished" if is_finished else "unfinished",
                **self.provenance,
                "pages": latest,
                "others": others,
            }
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode()
            _write(self.path / "manifest.json", text + "\n")
            # Drawing the index of a thousand pages takes a moment: it costs a run a tenth of its time at most. Until it
            # is drawn anew the index tells of less than there is.
            if self.has_ended or len(changed) != 1 or time.monotonic() - self._drawn > 10 * self._drawing:
                start = time.monotonic()
                _write(self.index, render(self, latest, others))
                self._drawn = time.monotonic()
                self._drawing = self._drawn - start

    def _latest(self, own: Entry, told: Entry | None, has_changed: bool) -> Entry:
        """What is true of a page: our own word, unless another run at the same time has had the last."""
        if has_changed or told is None or told == self._said.get(own.page):
            self._said[own.page] = own
            return own
        return told if self._is_there(told) else msgspec.structs.replace(told, state="pending")

    def _told(self) -> list[Entry]:
        """What manifest.json lists. A page is whole before it is listed as made."""
        try:
            told = msgspec.json.decode((self.path / "manifest.json").read_bytes(), type=_Told)
        except (OSError, msgspec.MsgspecError):
            return []
        return told.pages + told.others

    def _others(self, told: dict[str, Entry]) -> list[Entry]:
        """Pages that other runs left here, or are making at this moment."""
        own = {entry.page for entry in self.entries}
        others = [entry for page, entry in told.items() if page not in own]
        return [entry for entry in others if entry.state in ("pending", "made") and self._is_there(entry)]

    def _is_there(self, entry: Entry) -> bool:
        is_inside = Path(entry.page).name == entry.page  # The manifest is a file that anybody may have edited.
        return is_inside and (entry.state != "made" or (self.path / entry.page).is_file())


def _write(path: Path, text: str) -> None:
    files.write_whole(path, text, is_durable=True)


def _whole(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """What the switches count of all rows."""
    rewards = [reward for reward in columns["reward"] if reward is not None]
    return {
        "trajectories": len(columns["copy"]),
        "calls": sum(columns["calls"]),
        "tokens": sum(tokens or 0 for tokens in columns["tokens"]),
        "environments": len({one for one in columns["environment"] if one is not None}),
        "modes": len(set(columns["mode"])),
        "rewarded": len(rewards),
        "reward": sum(rewards) / len(rewards) if len(rewards) >= FEWEST_FOR_A_RATE else None,
    }


def render(folder: Folder, entries: list[Entry], others: list[Entry]) -> str:
    """The index page; the template engine escapes every text in it."""
    groups = folder.overview.groups if folder.overview else []
    style, own_style = assets.style(), assets.template("index.css").strip()
    # Only the overview is sorted; there are no switches beside it.
    script = assets.template("index.js" if groups else "switches.js").strip() if groups or folder.rows else ""
    by_group: dict[str, list[Entry]] = {group.value: [] for group in groups}
    for entry in entries:
        by_group.setdefault(entry.group, []).append(entry)
    html: str = (
        assets.environment()
        .get_template("index.html.j2")
        .render(
            policy=(
                f"default-src 'none'; script-src {assets.csp_hash(script.encode())}; "
                f"style-src {assets.csp_hash(style.encode())} {assets.csp_hash(own_style.encode())}; "
                "img-src data:; base-uri 'none'; form-action 'none'"
            ),
            style=Markup(style),
            own_style=Markup(own_style),
            script=Markup(script),
            made=[entry for entry in entries if entry.state == "made"],
            entries=entries,
            others=others,
            overview=folder.overview,
            by_group=by_group,
            failed=[entry for entry in entries if entry.state == "failed"],
            pending=[entry for entry in entries if entry.state == "pending"],
            provenance=folder.provenance,
            front=folder.front,
            rows=Markup(msgspec.json.encode(folder.rows).decode().replace("<", "\\u003c")) if folder.rows else "",
            whole=folder.rows and _whole(folder.rows["columns"]),
            fewest=FEWEST_FOR_A_RATE,
        )
    )
    return html
