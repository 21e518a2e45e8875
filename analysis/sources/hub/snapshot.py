"""The files a hub source names, as they are on this disk: fetched, or an earlier copy."""

import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from analysis import visible
from analysis.sources.hub.answers import refusal, trouble
from analysis.sources.hub.download import HubFile, commit, described, download
from analysis.sources.hub.names import HubError, HubName, choose, matching, parse
from analysis.sources.hub.splits import files_of
from analysis.sources.names import is_data

logger = visible.logger(__name__)

INFO_TIMEOUT_S = 20.0
# A hub that did not answer is not waited for again at once: a source and its siblings are asked for in one breath.
SILENT_S = 10.0
_silent: dict[str, tuple[float, str]] = {}


@dataclass(frozen=True)
class Snapshot:
    """What a hub source turned out to be: `revision` is the commit, `notice` says so when an earlier copy stands in."""

    repository: str
    revision: str
    files: tuple[HubFile, ...]
    notice: str = ""

    @property
    def paths(self) -> list[Path]:
        return [file.path for file in self.files]


def _upset() -> tuple[type[Exception], ...]:
    """Each setting upsets another library in its own way."""
    import httpx2  # noqa: PLC0415

    return ImportError, TypeError, ValueError, httpx2.InvalidURL


def fetch(name: str, *, progress: bool = True, endpoint: str | None = None, cache_dir: Path | None = None) -> Snapshot:
    """Bring the file a hub source names to this disk, or find it there.

    Args:
        name: `hub:OWNER/NAME[@REVISION][:FILE]`; FILE may be a pattern, for data sets in several parts, or what the
            data set's card calls its parts: CONFIG, SPLIT or CONFIG/SPLIT.
        progress: show bytes and time left on standard error.
        endpoint: the hub's address; without it HF_ENDPOINT or the public hub.
        cache_dir: where copies are kept; without it the library's own cache, shared with other tools.

    Raises:
        HubError: no such data set, revision or file; no access; no network and no earlier copy; a wrong checksum.
    """
    wanted = parse(name)
    try:
        return _fetched(wanted, progress=progress, endpoint=endpoint, cache_dir=cache_dir)
    except HubError:
        raise
    except _upset() as error:
        settings = "ALL_PROXY, HTTPS_PROXY or a variable that begins with HF_"
        raise HubError(
            f"{wanted}: the hub cannot be asked with this machine's settings ({settings}): {error}"
        ) from error


def _fetched(wanted: HubName, *, progress: bool, endpoint: str | None, cache_dir: Path | None) -> Snapshot:
    import httpx2  # noqa: PLC0415
    import huggingface_hub.constants  # noqa: F401, PLC0415  first: of a setting it cannot read others print a line
    from huggingface_hub import HfApi  # noqa: PLC0415
    from huggingface_hub.errors import (  # noqa: PLC0415
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        XetDownloadError,
    )

    api = HfApi(endpoint=endpoint)
    if wanted.is_pinned and wanted.pattern is not None and not re.search(r"[*?[]", wanted.pattern):
        copy = _earlier_copy(wanted, cache_dir)
        if copy is not None and wanted.pattern in copy[1]:
            return _from_copy(wanted, copy, notice="")
    since, reason = _silent.get(api.endpoint, (-SILENT_S, ""))
    if time.monotonic() - since < SILENT_S:
        return _stand_in(wanted, cache_dir, reason)
    try:
        info = api.dataset_info(
            wanted.repository, revision=wanted.revision, files_metadata=True, timeout=INFO_TIMEOUT_S
        )
        siblings = {sibling.rfilename: sibling for sibling in info.siblings or []}
        chosen = _chosen(wanted, siblings, commit(info))
        files = tuple(
            download(wanted, info, siblings[file], api, cache_dir=cache_dir, progress=progress) for file in chosen
        )
        return Snapshot(wanted.repository, commit(info), files)
    except LocalEntryNotFoundError as error:
        reason = trouble(error.__cause__ or error)
    except HfHubHTTPError as error:
        if error.response.status_code < 500 and error.response.status_code != 429:
            raise HubError(refusal(error, wanted, api)) from error
        reason = trouble(error)
    except httpx2.TransportError as error:
        reason = trouble(error)
        _silent[api.endpoint] = time.monotonic(), reason
    except (OfflineModeIsEnabled, XetDownloadError) as error:
        reason = trouble(error)
    except OSError as error:
        raise HubError(f"{wanted}: the download failed: {error}") from error
    return _stand_in(wanted, cache_dir, reason)


def _chosen(wanted: HubName, names: Collection[str], commit: str) -> list[str]:
    """The files meant: by name or pattern, else by configuration and split."""
    if wanted.file is None or matching(wanted, names):
        return choose(wanted, names)
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)?", wanted.file) is None or is_data(wanted.file):
        return choose(wanted, names)
    return files_of(wanted, commit)


def _earlier_copy(wanted: HubName, cache_dir: Path | None) -> tuple[str, dict[str, Path]] | None:
    """Commit and files fetched before for this revision, without a word to the hub."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    try:
        folder = Path(
            snapshot_download(
                wanted.repository,
                repo_type="dataset",
                revision=wanted.revision,
                cache_dir=cache_dir,
                local_files_only=True,
            )
        )
    except LocalEntryNotFoundError:
        return None
    return folder.name, {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}


def _from_copy(wanted: HubName, copy: tuple[str, dict[str, Path]], notice: str) -> Snapshot:
    commit, paths = copy
    files = tuple(described(name, paths[name]) for name in choose(wanted, paths))
    return Snapshot(wanted.repository, commit, files, notice)


def _stand_in(wanted: HubName, cache_dir: Path | None, reason: str) -> Snapshot:
    """The earlier copy in place of what the hub would have given, said out loud."""
    copy = _earlier_copy(wanted, cache_dir)
    if copy is None:
        raise HubError(
            f"{wanted}: {reason}, and this machine has no earlier copy of it. Try again later, or name a file."
        )
    try:
        snapshot = _from_copy(wanted, copy, notice="")
    except HubError as error:
        raise HubError(f"{wanted}: {reason}, and the earlier copy does not help. {error}") from error
    names = ", ".join(file.name for file in snapshot.files)
    notice = f"{wanted}: {reason}; using the copy fetched earlier: {names} of commit {snapshot.revision}."
    logger.warning(notice)
    return Snapshot(snapshot.repository, snapshot.revision, snapshot.files, notice)
