"""Counting tokens: by the real Qwen vocabulary, by a tokenizer the user names, or by a labelled estimate.

The Qwen vocabulary comes with the extra `tokens`: 151,643 byte-level merges that Qwen, Qwen2, Qwen2.5 and Qwen3 share.
Qwen3 adds 26 tokens of its own (`<|im_start|>`, `<think>`, `<tool_call>`, ...), which stand below. quicktok counts them
at several times the speed of tiktoken, with the same counts: a test holds the two together over every code point. They
may differ beside a character that Unicode assigned only lately: a letter to one, and not yet to the other.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

Count = Callable[[str], int]

FIRST_ADDED = 151_643
ADDED = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
)

_ADDED = re.compile("|".join(map(re.escape, ADDED)))

# One match is about one token: see ESTIMATE_ERROR.
_ESTIMATE = re.compile(
    "|".join(re.escape(token) for token in ADDED)
    + r"| ?[A-Za-z]{1,12}|\d|[^\W\d_a-zA-Z]{1,2}|_| ?(?:[^\w\s]|_){1,2}\n*|\s*\n+|[^\S\n]{2,}"
)
ESTIMATE_ERROR = 0.06
"""Largest relative error of the estimate over a trajectory, on the sample and on real ones; a test measures it anew."""


class VocabularyError(ValueError):
    """The tokenizer that was asked for is not there; the message says what would bring it."""


class Vocabulary(msgspec.Struct, frozen=True):
    """A way to count tokens: `id` tells cached counts apart, `label` stands in reports."""

    id: str
    label: str
    count: Count
    is_estimate: bool = False


def vocabulary(name: str = "") -> Vocabulary:
    """Find a vocabulary.

    Args:
        name: "qwen" (the extra `tokens`), "estimate", a tokenizer.json or the folder that holds one, or OWNER/NAME on
            the hub; "" takes "qwen" where it is installed, else the estimate.

    Raises:
        VocabularyError: it cannot be loaded.
    """
    if name == "":
        return vocabulary("qwen" if has_qwen() else "estimate")
    if name == "estimate":
        label = f"an estimate, not a tokenizer: within {ESTIMATE_ERROR:.0%} of Qwen's count on the sample"
        return Vocabulary("estimate", label, estimate, is_estimate=True)
    return _qwen() if name == "qwen" else _named(name)


def has_qwen() -> bool:
    """Whether the extra `tokens` is installed."""
    return find_spec("quicktok") is not None


def estimate(text: str) -> int:
    """Tokens by a regular expression whose matches are about as long as tokens."""
    return len(_ESTIMATE.findall(text))


@lru_cache(maxsize=1)
def _qwen() -> Vocabulary:
    if not has_qwen():
        raise VocabularyError("the Qwen vocabulary is not installed; pip install 'trajectory-notebooks[tokens]'")
    import quicktok  # noqa: PLC0415  only who counts tokens pays for it

    merged: Count = quicktok.get_encoding("qwen3").count

    def count(text: str) -> int:
        text = text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
        if "<" in text and (added := len(_ADDED.findall(text))):
            return added + sum(map(merged, _ADDED.split(text)))
        return merged(text)

    label = f"Qwen2/Qwen3 vocabulary ({FIRST_ADDED:,} merges and {len(ADDED)} added tokens)"
    return Vocabulary("qwen3-1", label, count)


@lru_cache(maxsize=4)
def _named(name: str) -> Vocabulary:
    try:
        import tokenizers  # noqa: PLC0415
    except ImportError as error:
        raise VocabularyError("a tokenizer by name needs pip install 'trajectory-notebooks[tokens]'") from error
    path = Path(name).expanduser()
    path = path / "tokenizer.json" if path.is_dir() else path
    try:
        loaded = tokenizers.Tokenizer
        tokenizer = loaded.from_file(str(path)) if path.is_file() else loaded.from_pretrained(name)
    except Exception as error:  # the Rust side raises bare Exception for all it meets
        message = f"no tokenizer {name!r}: neither a tokenizer.json nor readable from the hub ({error})"
        raise VocabularyError(message) from error
    tokenizer.no_truncation()
    digest = hashlib.sha256(tokenizer.to_str().encode()).hexdigest()[:12]

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return Vocabulary(f"tokenizer-{digest}", f"{path.parent.name if path.is_file() else name} (tokenizer.json)", count)
