"""The bundled sample: small stateful environments, described as data and really played.

    records(420, 14, seed=7)     one record after the other, in the release's shape
    write(path, **DEFAULT)       one JSON array, or JSON Lines
    siblings(14, seed=7)         the environments and scenarios behind them, in the sibling sets' shape
    write_siblings(folder, ...)  the same as three files

The same numbers give the same bytes, whatever else is asked for. The players are imported when they play: every command
line knows the usual numbers.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

# Changes whenever the output changes, the siblings included; a test holds it against the hash of a small sample.
VERSION = "2"


class Size(TypedDict):
    trajectories: int
    environments: int
    seed: int


DEFAULT: Size = {"trajectories": 420, "environments": 14, "seed": 7}


def records(trajectories: int, environments: int, seed: int, release_sizes: bool = False) -> Iterator[dict[str, Any]]:
    """Play trajectories, one record at a time.

    Args:
        trajectories: how many.
        environments: over how many different environments; beyond the descriptions they are varied ones.
        seed: the same seed gives the same records.
        release_sizes: reasoning as long as the release's, about 75 KB a record.

    Raises:
        ValueError: if an environment would be left without a trajectory.
    """
    from analysis.sample.catalogue import order  # noqa: PLC0415
    from analysis.sample.play import record  # noqa: PLC0415
    from analysis.sample.scenarios import scenario  # noqa: PLC0415

    for index, number, mode in order(trajectories, environments, seed):
        yield record(scenario(index, seed, number), mode, release_sizes=release_sizes)


def write(path: str | Path, *, trajectories: int, environments: int, seed: int, release_sizes: bool = False) -> None:
    """Write a sample to a file: JSON Lines where its name ends in .jsonl, else one JSON array."""
    from analysis.sample.files import write_records  # noqa: PLC0415

    write_records(path, records(trajectories, environments, seed, release_sizes))


def siblings(
    environments: int, seed: int, trajectories: int = DEFAULT["trajectories"]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The environments, the scenarios and the scenarios with checks that belong to `records` of the same numbers."""
    from analysis.sample.family import siblings as rows  # noqa: PLC0415

    return rows(environments, seed, trajectories)


def write_siblings(
    folder: str | Path, *, environments: int, seed: int, trajectories: int = DEFAULT["trajectories"]
) -> None:
    """Write `siblings` as `environments.json`, `scenarios.json` and `rl_scenarios.json`, one JSON array each."""
    from analysis.sample.files import write_records  # noqa: PLC0415

    names = ("environments.json", "scenarios.json", "rl_scenarios.json")
    for name, rows in zip(names, siblings(environments, seed, trajectories), strict=True):
        write_records(Path(folder) / name, rows)
