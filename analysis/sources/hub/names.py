"""The name of a hub source, and which of a data set's files it means."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from analysis.nearest import nearest
from analysis.sources.errors import SourceError
from analysis.sources.names import FORMATS, is_archive, is_data

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


class HubError(SourceError):
    """Nothing could be fetched; the message says why and what to do."""


@dataclass(frozen=True)
class HubName:
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


def parse(name: str) -> HubName:
    """Take `hub:OWNER/NAME[@REVISION][:FILE]` apart; the prefix may be left out.

    >>> parse("hub:XXHStudyHard/EnvScaler-SFT-Traj-9K@main")
    HubName(repository='XXHStudyHard/EnvScaler-SFT-Traj-9K', revision='main', file=None)
    """
    match = re.fullmatch(r"(?:hub:)?([\w.-]+/[\w.-]+)(?:@([^:]+))?(?::(.+))?", name.strip())
    if match is None:
        raise HubError(
            f"{name}: not a hub source; write hub:OWNER/NAME, hub:OWNER/NAME@REVISION or hub:OWNER/NAME:FILE"
        )
    return HubName(*match.groups())


def is_release(source: str) -> bool:
    """Does this source name the published trajectories on the hub, at whatever revision?"""
    return source.startswith("hub:") and parse(source).repository == RELEASE


def choose(wanted: HubName, names: Collection[str]) -> list[str]:
    """The files meant among a repository's: the one named, those a pattern matches, else the only data file.

    Raises:
        HubError: none or, without a name, more than one; the message lists what there is.
    """
    data = sorted(name for name in names if (is_data(name) or is_archive(name)))
    if wanted.pattern is not None:
        files = matching(wanted, names)
        if not files:
            raise HubError(f"{wanted}: no file {wanted.pattern!r}.{near(wanted.pattern, data)} {_files(data)}")
        return files
    if not data:
        raise HubError(f"{wanted}: no data file ({', '.join(FORMATS)}) among {len(names)} files.")
    if len(data) > 1:
        raise HubError(
            f"{wanted}: {len(data)} data files; say which: hub:{wanted.repository}:FILE, or a pattern such as "
            f"hub:{wanted.repository}:*{Path(data[0]).suffix}. {_files(data)}"
        )
    return data


def matching(wanted: HubName, names: Collection[str]) -> list[str]:
    """The files of the name or pattern that is meant."""
    pattern = wanted.pattern or ""
    return [name for name in sorted(names) if name == pattern or fnmatchcase(name, pattern)]


def near(name: str, candidates: Iterable[str]) -> str:
    """A half-sentence that names the closest candidates, or nothing."""
    close = nearest(name, candidates)
    return f" Nearest: {', '.join(close)}." if close else ""


def _files(names: list[str]) -> str:
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"Data files there: {listed}." if names else "It holds no data file."
