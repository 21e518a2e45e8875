"""Where the numbers of a page come from, and how to get them again."""

import hashlib
import os
import shlex
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis.parameters import ParameterError
from analysis.report.jobs import Job
from analysis.report.request import ReportRequest
from analysis.report.suite import HOME, ROOT
from analysis.tables import Tables

# What decides how a page looks, beside the project itself.
PACKAGES = ("altair", "nbconvert", "papermill", "polars", "vl-convert-python")


def provenance(request: ReportRequest, data: Tables) -> dict[str, Any]:
    """Where the numbers come from and how to get them again: what every page and the index carry."""
    names = ("revision", "content_hash", "bytes", "dialects", "records_in", "kept", "rejected")
    return {
        "source": request.source,
        **{name: data.manifest.get(name) for name in names},
        "kept_unread": data.manifest.get("kept_unread") or None,
        "synthetic": bool(data.manifest.get("synthetic")),
        "parameters": dict(request.parameters),
        "versions": dict(data.manifest.get("versions", {})) | {name: version(name) for name in PACKAGES},
        "commit": _commit(),
        "date": _date(),
        "command": command(request),
    }


def page_key(job: Job, contents: str, code: str) -> str:
    """What names all that a page depends on: one with the same key need not be made again."""
    parts = [contents, code, job.report.notebook.read_bytes().hex(), repr((job.name, job.title, job.parameters))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def code_hash(versions: Mapping[str, str]) -> str:
    """A hash of all that turns a notebook and tables into a page."""
    digest = hashlib.sha256(repr(sorted(versions.items())).encode())
    for path in sorted([*(HOME / "reports" / "template").iterdir(), *Path(__file__).parents[1].rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def command(request: ReportRequest, job: Job | None = None) -> str:
    """The command line that makes these reports, or one page, again."""
    words = ["python", "-m", "analysis", "report", request.source]
    for name in [job.report.name] if job else request.only:
        words += ["--only", name]
    chosen = dict(request.parameters) | ({request.each: job.group} if job and job.group is not None else {})
    for name, value in chosen.items():
        words += ["-p", name, value]
    beside = ("environments", "scenarios", "against")
    for option in beside if job else (*beside, "each"):
        if getattr(request, option):
            words += [f"--{option}", getattr(request, option)]
    return shlex.join(words)


def _date() -> str:
    """Now, or the time SOURCE_DATE_EPOCH names, for pages that are to be the same byte for byte."""
    asked = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(int(asked or time.time()), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        raise ParameterError(f"SOURCE_DATE_EPOCH is {asked!r:.80}, not seconds since 1970 as a whole number") from None


def _commit() -> str:
    """The checkout's commit, marked when files differ from it; empty outside of one."""
    if not (ROOT / ".git").exists():
        return ""
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
