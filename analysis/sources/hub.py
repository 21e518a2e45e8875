"""Data sets of the hub: `hub:OWNER/NAME[@REVISION][:FILE]` -> the named file on this disk, and no other file.

`huggingface_hub` fetches, because the raw bytes are wanted: `datasets.load_dataset` would merge every file of the
repository into one Arrow copy with inferred types, in which `"{}"` and `{}` are the same arguments and an absent key
is a null. What it publishes as Parquet is read as well: name the Parquet file.

The revision is resolved to a commit first and returned, so that a manifest says exactly what was read. A download goes
on where a broken connection, or a run that was killed, left it; what has arrived is checked against the hub's own
checksum before anybody sees it.
Where the hub cannot be reached, an earlier copy is used, and said out loud.
"""

import hashlib
import logging
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from analysis.nearest import nearest as names_near
from analysis.sources import address
from analysis.sources.errors import SourceError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo, HfApi
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import RepoSibling

logger = logging.getLogger(__name__)

DATA_SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", ".json.gz", ".jsonl.gz")

# The file that holds the records. The 9K set has a second one of 4.59 GB, the same trajectories cut up for training;
# it is fetched only when it is named.
DEFAULT_FILES = {
    "XXHStudyHard/EnvScaler-SFT-Traj-9K": "envscaler_sft_traj_9k_metadata.json",
    "XXHStudyHard/EnvScaler-191-Env": "191_env_metadata_processed.json",
    "XXHStudyHard/EnvScaler-SFT-Scenario": "envscaler_sft_scenario_metadata.json",
    "XXHStudyHard/EnvScaler-RL-Scenario": "envscaler_rl_scenario_metadata.json",
}

# What the records of the release join to, and how a list of sources names it.
RELEASE = "XXHStudyHard/EnvScaler-SFT-Traj-9K"
RELEASE_ENVIRONMENTS = "hub:XXHStudyHard/EnvScaler-191-Env"
RELEASE_SCENARIOS = "hub:XXHStudyHard/EnvScaler-SFT-Scenario,hub:XXHStudyHard/EnvScaler-RL-Scenario"

# A reset connection (unlike one that merely ends) the library does not try again.
DOWNLOAD_ATTEMPTS = 3
INFO_TIMEOUT_S = 20.0
# A hub that did not answer is not waited for again at once: a source and its siblings are asked for in one breath.
SILENT_S = 10.0
_silent: dict[str, tuple[float, str]] = {}

LOG_IN = "log in with `hf auth login` or set HF_TOKEN"


class HubError(SourceError):
    """Nothing could be fetched; the message says why and what to do."""


@dataclass(frozen=True)
class Wanted:
    """A hub source taken apart. `file` may be a pattern; without it the data set's one data file is meant."""

    repository: str
    revision: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        return f"hub:{self.repository}{revision}" + (f":{self.file}" if self.file else "")

    @property
    def pattern(self) -> str | None:
        return self.file or DEFAULT_FILES.get(self.repository)

    @property
    def is_pinned(self) -> bool:
        """The revision is a full commit, which never changes what it means."""
        return re.fullmatch(r"[0-9a-f]{40}", self.revision or "") is not None


@dataclass(frozen=True)
class HubFile:
    """A file of the data set and its copy on this disk."""

    name: str
    path: Path
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Fetched:
    """What a hub source turned out to be: `revision` is the commit, `notice` says so when an earlier copy stands in."""

    repository: str
    revision: str
    files: tuple[HubFile, ...]
    notice: str = ""

    @property
    def paths(self) -> list[Path]:
        return [file.path for file in self.files]


def parse(name: str) -> Wanted:
    """Take `hub:OWNER/NAME[@REVISION][:FILE]` apart; the prefix may be left out.

    >>> parse("hub:XXHStudyHard/EnvScaler-SFT-Traj-9K@main")
    Wanted(repository='XXHStudyHard/EnvScaler-SFT-Traj-9K', revision='main', file=None)
    """
    match = re.fullmatch(r"(?:hub:)?([\w.-]+/[\w.-]+)(?:@([^:]+))?(?::(.+))?", name.strip())
    if match is None:
        raise HubError(
            f"{name}: not a hub source; write hub:OWNER/NAME, hub:OWNER/NAME@REVISION or hub:OWNER/NAME:FILE"
        )
    return Wanted(*match.groups())


def is_release(source: str) -> bool:
    """Does this source name the published trajectories on the hub, at whatever revision?"""
    return source.startswith("hub:") and parse(source).repository == RELEASE


def choose(wanted: Wanted, names: Collection[str]) -> list[str]:
    """The files meant among a repository's: the one named, those a pattern matches, else the only data file.

    Raises:
        HubError: none or, without a name, more than one; the message lists what there is.
    """
    data = sorted(name for name in names if name.endswith(DATA_SUFFIXES))
    if wanted.pattern is not None:
        matching = [name for name in sorted(names) if name == wanted.pattern or fnmatchcase(name, wanted.pattern)]
        if not matching:
            raise HubError(f"{wanted}: no file {wanted.pattern!r}.{nearest(wanted.pattern, data)} {_files(data)}")
        return matching
    if not data:
        raise HubError(f"{wanted}: no data file ({', '.join(DATA_SUFFIXES)}) among {len(names)} files.")
    if len(data) > 1:
        raise HubError(
            f"{wanted}: {len(data)} data files; say which: hub:{wanted.repository}:FILE, or a pattern such as "
            f"hub:{wanted.repository}:*{Path(data[0]).suffix}. {_files(data)}"
        )
    return data


def fetch(name: str, *, progress: bool = True, endpoint: str | None = None, cache_dir: Path | None = None) -> Fetched:
    """Bring the file a hub source names to this disk, or find it there.

    Args:
        name: `hub:OWNER/NAME[@REVISION][:FILE]`; FILE may be a pattern, for data sets in several parts.
        progress: show bytes and time left on standard error.
        endpoint: the hub's address; without it HF_ENDPOINT or the public hub.
        cache_dir: where copies are kept; without it the library's own cache, shared with other tools.

    Raises:
        HubError: no such data set, revision or file; no access; no network and no earlier copy; a wrong checksum.
    """
    import httpx2  # noqa: PLC0415
    from huggingface_hub import HfApi  # noqa: PLC0415
    from huggingface_hub.errors import (  # noqa: PLC0415
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        XetDownloadError,
    )

    wanted = parse(name)
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
        chosen = choose(wanted, siblings)
        files = tuple(
            _download(wanted, info, siblings[file], api, cache_dir=cache_dir, progress=progress) for file in chosen
        )
        return Fetched(wanted.repository, _commit(info), files)
    except LocalEntryNotFoundError as error:
        reason = _trouble(error.__cause__ or error)
    except HfHubHTTPError as error:
        if error.response.status_code < 500 and error.response.status_code != 429:
            raise HubError(_refusal(error, wanted, api)) from error
        reason = _trouble(error)
    except httpx2.TransportError as error:
        reason = _trouble(error)
        _silent[api.endpoint] = time.monotonic(), reason
    except (OfflineModeIsEnabled, XetDownloadError) as error:
        reason = _trouble(error)
    except OSError as error:
        raise HubError(f"{wanted}: the download failed: {error}") from error
    return _stand_in(wanted, cache_dir, reason)


def nearest(name: str, candidates: Iterable[str]) -> str:
    """A half-sentence that names the closest candidates, or nothing."""
    close = names_near(name, candidates)
    return f" Nearest: {', '.join(close)}." if close else ""


def _download(
    wanted: Wanted, info: "DatasetInfo", sibling: "RepoSibling", api: "HfApi", *, cache_dir: Path | None, progress: bool
) -> HubFile:
    """Fetch one file at the commit of `info`, unless this disk has it, and check what arrived."""
    import httpx2  # noqa: PLC0415
    from huggingface_hub import hf_hub_download, try_to_load_from_cache  # noqa: PLC0415
    from tqdm.auto import tqdm  # noqa: PLC0415

    # Not the library's own class, which keeps silent wherever standard error is no terminal.
    bar = cast("type[Any]", partial(tqdm, disable=not progress))

    def copy() -> Path | None:
        found = try_to_load_from_cache(
            wanted.repository, sibling.rfilename, cache_dir=cache_dir, revision=_commit(info), repo_type="dataset"
        )
        return Path(found) if isinstance(found, str) else None

    path = copy()
    if path is None:
        for attempt in range(1, DOWNLOAD_ATTEMPTS + 1):
            try:
                if sibling.lfs is not None:
                    _fetch_large(wanted, _commit(info), sibling, api, cache_dir, bar)
                # By the revision's name, not its commit: so the library notes what the name stood for, which is what
                # a later run without a network goes by.
                hf_hub_download(
                    wanted.repository,
                    sibling.rfilename,
                    repo_type="dataset",
                    revision=wanted.revision,
                    cache_dir=cache_dir,
                    endpoint=api.endpoint,
                    tqdm_class=bar,
                )
                break
            except httpx2.ReadError:
                if attempt == DOWNLOAD_ATTEMPTS:
                    raise
                logger.warning("%s: the connection was reset; %s goes on", wanted, sibling.rfilename)
        path = copy()
        if path is None:
            raise HubError(f"{wanted}: the revision moved while it was being fetched; run again.")
        _verify(wanted, path, sibling)
    return _described(sibling.rfilename, path)


def _fetch_large(
    wanted: Wanted, commit: str, sibling: "RepoSibling", api: "HfApi", cache_dir: Path | None, bar: "type[Any]"
) -> None:
    """Fetch a large file into the library's cache, going on with what an earlier run left there.

    The library itself downloads under a name that no other process finds again; it finds what is put here, under the
    file's checksum, and only links it.
    """
    from huggingface_hub import constants, hf_hub_url  # noqa: PLC0415
    from huggingface_hub.file_download import http_get, repo_folder_name  # noqa: PLC0415
    from huggingface_hub.utils import WeakFileLock, build_hf_headers  # type: ignore[attr-defined]  # noqa: PLC0415

    large = sibling.lfs
    if large is None or large.size > constants.MAX_HTTP_DOWNLOAD_SIZE:
        return
    folder = repo_folder_name(repo_id=wanted.repository, repo_type="dataset")
    cache = Path(cache_dir or constants.HF_HUB_CACHE)
    whole = cache / folder / "blobs" / large.sha256
    part = whole.with_name(f"{large.sha256}.incomplete")
    lock = cache / ".locks" / folder / f"{large.sha256}.lock"
    for place in (part, lock):
        place.parent.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(lock):
        if whole.exists():
            return
        with part.open("ab") as stream:
            if stream.tell() > large.size:
                stream.truncate(0)
            if stream.tell():
                logger.info("%s: %s goes on after %d bytes", wanted, sibling.rfilename, stream.tell())
            http_get(
                hf_hub_url(
                    wanted.repository, sibling.rfilename, repo_type="dataset", revision=commit, endpoint=api.endpoint
                ),
                stream,
                resume_size=stream.tell(),
                headers=build_hf_headers(),
                expected_size=large.size,
                displayed_filename=sibling.rfilename,
                tqdm_class=bar,
            )
        _verify(wanted, part, sibling)
        part.replace(whole)


def _verify(wanted: Wanted, path: Path, sibling: "RepoSibling") -> None:
    """Compare a fresh download with the checksum the hub lists for it; a file that differs is removed."""
    if sibling.lfs is not None:
        expected = sibling.lfs.sha256
        # The library's cache names a large file by its checksum, and what has that name was compared already.
        found = expected if path.resolve().name == expected else address.sha256(str(path))
    elif sibling.blob_id is not None:
        content = path.read_bytes()
        expected = sibling.blob_id
        found = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    else:
        return
    if found != expected:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise HubError(
            f"{wanted}: checksum mismatch: {sibling.rfilename} should be {expected}, what arrived is {found}. "
            "It was removed; run again, and if this repeats, something between the hub and this machine alters it."
        )


def _earlier_copy(wanted: Wanted, cache_dir: Path | None) -> tuple[str, dict[str, Path]] | None:
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


def _from_copy(wanted: Wanted, copy: tuple[str, dict[str, Path]], notice: str) -> Fetched:
    commit, paths = copy
    files = tuple(_described(name, paths[name]) for name in choose(wanted, paths))
    return Fetched(wanted.repository, commit, files, notice)


def _stand_in(wanted: Wanted, cache_dir: Path | None, reason: str) -> Fetched:
    """The earlier copy in place of what the hub would have given, said out loud."""
    copy = _earlier_copy(wanted, cache_dir)
    if copy is None:
        raise HubError(
            f"{wanted}: {reason}, and this machine has no earlier copy of it. Try again later, or name a file."
        )
    try:
        fetched = _from_copy(wanted, copy, notice="")
    except HubError as error:
        raise HubError(f"{wanted}: {reason}, and the earlier copy does not help. {error}") from error
    names = ", ".join(file.name for file in fetched.files)
    notice = f"{wanted}: {reason}; using the copy fetched earlier: {names} of commit {fetched.revision}."
    logger.warning(notice)
    return Fetched(fetched.repository, fetched.revision, fetched.files, notice)


def _trouble(error: BaseException) -> str:
    """Why the hub gave no answer that counts, as half a sentence."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled  # noqa: PLC0415

    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE forbids asking the hub"
    if not isinstance(error, HfHubHTTPError):
        return f"the hub cannot be reached ({type(error).__name__}: {error})"
    status = error.response.status_code
    if status == 429:
        wait = error.response.headers.get("Retry-After")
        return "the hub asks for a pause (429, too many requests" + (f"; try again in {wait} s)" if wait else ")")
    return f"the hub is out of order ({status})"


def _refusal(error: "HfHubHTTPError", wanted: Wanted, api: "HfApi") -> str:
    """What a 4xx answer means for the one who asked, with the nearest names that would have worked."""
    from huggingface_hub import errors  # noqa: PLC0415

    status = error.response.status_code
    had_token = "authorization" in error.response.request.headers
    match error:
        case errors.GatedRepoError():
            says = f"gated ({status}): its owner grants access on the data set's page; ask there, then {LOG_IN}."
        case errors.DisabledRepoError():
            says = f"the hub has disabled this data set ({status})."
        case errors.RevisionNotFoundError():
            says = f"no revision {wanted.revision!r} ({status}).{_revisions(wanted, api)}"
        case errors.RemoteEntryNotFoundError():
            says = f"the hub lists the file and does not have it ({status}); tell the owner of the data set."
        case _ if status == 401 and had_token:
            says = f"the hub refused the token (401); {LOG_IN} anew."
        case _ if status in (401, 404):
            near = _nearest_repository(wanted, api)
            says = f"no public data set of this name ({status}).{near} If it is private, {LOG_IN}."
        case _ if status == 403:
            says = f"access denied (403): the token in use does not permit reading it; {LOG_IN} with one that does."
        case _:
            says = f"the hub answered {status}: {error.server_message or error}"
    return f"{wanted}: {says}"


def _nearest_repository(wanted: Wanted, api: "HfApi") -> str:
    owner, name = wanted.repository.split("/")
    try:
        others = [dataset.id.split("/")[1] for dataset in api.list_datasets(author=owner, limit=200)]
    except Exception:  # a courtesy inside a message must not replace the message
        return ""
    return nearest(name, others)


def _revisions(wanted: Wanted, api: "HfApi") -> str:
    try:
        refs = api.list_repo_refs(wanted.repository, repo_type="dataset")
    except Exception:  # as above
        return ""
    names = [ref.name for ref in [*refs.branches, *refs.tags]]
    return f" There are: {', '.join(names[:20])}." if names else ""


def _commit(info: "DatasetInfo") -> str:
    if info.sha is None:
        raise HubError(f"hub:{info.id}: the hub names no commit for this revision")
    return info.sha


def _described(name: str, path: Path) -> HubFile:
    # The library's cache names a large file by its SHA-256, which was verified when it came.
    blob = path.resolve().name
    sha256 = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else address.sha256(str(path))
    return HubFile(name, path, path.stat().st_size, sha256)


def _files(names: list[str]) -> str:
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"Data files there: {listed}." if names else "It holds no data file."
