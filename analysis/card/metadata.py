"""A card's metadata as YAML: what the records themselves say, and what the author gave. Nothing is guessed."""

import glob
from collections.abc import Collection, Sequence
from typing import Any

import polars as pl
import yaml

from analysis.card.splice import CardError
from analysis.tables import Tables

# What a card should tell and no measure can: the key, and the option that gives it.
AUTHORS = {"pretty_name": "--name", "license": "--license", "language": "--language"}


def metadata(
    data: Tables,
    *,
    name: str = "",
    license: str = "",
    languages: Sequence[str] = (),
    files: Sequence[str] = (),
    taken: Collection[str] = (),
) -> str:
    """The lines between the marks of a card's front matter.

    Args:
        data: the tables measured.
        name, license, languages: as the author gave them; an address of a license becomes `license_link`.
        files: paths of the data files from the card, where they are known. Named, so that the hub takes no other file
            for data.
        taken: keys that the author wrote into the front matter: a key stands there once.

    Returns:
        YAML that `huggingface_hub.DatasetCardData` takes, and a comment that names what is left to the author.
    """
    given: dict[str, Any] = {"pretty_name": name, "license": license, "language": list(languages)}
    if "://" in license:
        given |= {"license": "other", "license_link": license}
    kept: int = data.trajectories.select(pl.len()).collect().item()
    given |= {"size_categories": [size_category(kept)], "tags": ["tool-use", "trajectories"]}
    if data.manifest.get("synthetic"):
        given["tags"].append("synthetic")
    if files:
        given["configs"] = [{"config_name": "default", "data_files": [glob.escape(path) for path in files]}]
    own = {key: value for key, value in given.items() if value and key not in taken}
    left = missing(own, taken)
    comment = f"# To be filled in by the author: {', '.join(left)}\n" if left else ""
    written: str = yaml.safe_dump(own, sort_keys=False, allow_unicode=True, width=1 << 16) if own else ""
    return comment + written


def written(front: bytes) -> dict[str, Any]:
    """What the author wrote into the front matter; nothing where that is no list of keys.

    >>> written(b"license: mit\\nlanguage: [en]\\n")
    {'license': 'mit', 'language': ['en']}

    Raises:
        CardError: it is no YAML.
    """
    try:
        found = yaml.safe_load(front)
    except (yaml.YAMLError, UnicodeError) as error:
        raise CardError(f"its front matter is no YAML: {error}") from None
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def missing(own: Collection[str], taken: Collection[str]) -> list[str]:
    """What neither the author's lines nor the options tell."""
    return [key for key in AUTHORS if key not in own and key not in taken]


def size_category(records: int) -> str:
    """The hub's name for so many records.

    >>> [size_category(n) for n in (0, 999, 1_000, 9_022, 10**12)]
    ['n<1K', 'n<1K', '1K<n<10K', '1K<n<10K', 'n>1T']
    """
    names = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
    for place, name in enumerate(names):
        if records < 10 ** (place + 3):
            return f"{names[place - 1]}<n<{name}" if place else f"n<{name}"
    return f"n>{names[-1]}"
