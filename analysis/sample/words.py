"""Words all environments share, and the forms in which agents and users speak: two TOML files beside the code."""

from functools import cache
from importlib.resources import files

import msgspec

from analysis.sample.description import Style


class Vocabulary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words every environment shares: pools of values, styles, and other words for a verb, a field, a title."""

    pools: dict[str, tuple[str, ...]]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    qualifiers: tuple[str, ...]
    verbs: dict[str, tuple[str, ...]]
    fields: dict[str, tuple[str, ...]]
    styles: tuple[Style, ...]


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What agents and simulated users say, as forms to be filled in."""

    worker_prompt: str
    partner_prompt: str
    user_prompt: str
    greeting: str
    musings: tuple[str, ...]
    fillers: tuple[str, ...]
    openings: dict[str, tuple[str, ...]]
    plans: dict[str, tuple[str, ...]]
    replies: dict[str, tuple[str, ...]]
    turns: dict[str, tuple[str, ...]]
    thoughts: dict[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """The shared words of `vocabulary.toml`."""
    text = files("analysis.sample").joinpath("vocabulary.toml").read_bytes()
    return msgspec.toml.decode(text, type=Vocabulary)


@cache
def phrases() -> Phrases:
    """The forms of `phrases.toml`."""
    text = files("analysis.sample").joinpath("phrases.toml").read_bytes()
    return msgspec.toml.decode(text, type=Phrases)
