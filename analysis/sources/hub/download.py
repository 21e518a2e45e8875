"""One file of a data set, brought to this disk and checked."""

import hashlib
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from analysis import visible
from analysis.sources import address
from analysis.sources.hub.names import HubError, HubName

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo, HfApi
    from huggingface_hub.hf_api import RepoSibling

logger = visible.logger(__name__)

# A reset connection (unlike one that merely ends) the library does not try again.
DOWNLOAD_ATTEMPTS = 3


@dataclass(frozen=True)
class HubFile:
    """A file of the data set and its copy on this disk."""

    name: str
    path: Path
    bytes: int
    sha256: str


def download(
    wanted: HubName,
    info: "DatasetInfo",
    sibling: "RepoSibling",
    api: "HfApi",
    *,
    cache_dir: Path | None,
    progress: bool,
) -> HubFile:
    """Fetch one file at the commit of `info`, unless this disk has it, and check what arrived."""
    import httpx2  # noqa: PLC0415
    from huggingface_hub import hf_hub_download, try_to_load_from_cache  # noqa: PLC0415
    from tqdm.auto import tqdm  # noqa: PLC0415

    # Not the library's own class, which keeps silent wherever standard error is no terminal.
    bar = cast("type[Any]", partial(tqdm, disable=None if progress else True))

    def copy() -> Path | None:
        found = try_to_load_from_cache(
            wanted.repository, sibling.rfilename, cache_dir=cache_dir, revision=commit(info), repo_type="dataset"
        )
        return Path(found) if isinstance(found, str) else None

    path = copy()
    if path is None:
        for attempt in range(1, DOWNLOAD_ATTEMPTS + 1):
            try:
                if sibling.lfs is not None:
                    _fetch_large(wanted, commit(info), sibling, api, cache_dir, bar)
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
    return described(sibling.rfilename, path)


def _fetch_large(
    wanted: HubName, commit: str, sibling: "RepoSibling", api: "HfApi", cache_dir: Path | None, bar: "type[Any]"
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


def _verify(wanted: HubName, path: Path, sibling: "RepoSibling") -> None:
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


def commit(info: "DatasetInfo") -> str:
    if info.sha is None:
        raise HubError(f"hub:{info.id}: the hub names no commit for this revision")
    return info.sha


def described(name: str, path: Path) -> HubFile:
    # The library's cache names a large file by its SHA-256, which was verified when it came.
    blob = path.resolve().name
    sha256 = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else address.sha256(str(path))
    return HubFile(name, path, path.stat().st_size, sha256)
