"""Notebooks at any address fsspec knows, for papermill: `papermill hf://datasets/me/nb.ipynb sftp://host/done.ipynb`.

papermill itself takes http, s3, gs, adl, abs and hdfs addresses, by libraries of its own; those stay as they are. The
schemes it lacks are registered as entry points `papermill.io`, in pyproject.toml. papermill loads this module while it
is being imported itself: nothing of papermill is imported here.
"""

from typing import Any

import fsspec


class FsspecHandler:
    """What papermill asks of a handler: read, write, list, and how to call a path in its log."""

    @classmethod
    def read(cls, path: str) -> str:
        with fsspec.open(path, encoding="utf-8") as file:
            text: str = file.read()
        return text

    @classmethod
    def listdir(cls, path: str) -> list[str]:
        filesystem, inside = fsspec.url_to_fs(path)
        return [filesystem.unstrip_protocol(name) for name in filesystem.ls(inside, detail=False)]

    @classmethod
    def write(cls, buf: str, path: str) -> Any:
        with fsspec.open(path, "w", encoding="utf-8", newline="\n") as file:
            return file.write(buf)

    @classmethod
    def pretty_path(cls, path: str) -> str:
        return path
