"""Tokens: the real vocabulary against two other implementations, and parts that add up to the whole text."""

import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from analysis.records import vocabulary as vocabularies
from analysis.records.chat_template import render, turns
from analysis.records.model import Call, Message, Tool, Trajectory
from analysis.records.tokens import PARTS, rows
from analysis.records.vocabulary import ADDED, ESTIMATE_ERROR, FIRST_ADDED, VocabularyError, vocabulary
from analysis.sample import DEFAULT, records

needs_qwen = pytest.mark.skipif(
    not vocabularies.has_qwen(), reason="the extra `tokens` is not installed: the real vocabulary was not tested"
)

# Qwen2's pre-tokenizer: digits one by one, line breaks swallowed by the punctuation before them.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

HARD = [
    "",
    " ",
    "\n\n\n",
    "Hello world",
    "don't I'LL we've",
    "12345 67.89",
    "a" * 300,
    "  indented\n    more\r\n\r\nend  ",
    '{"name": "get_user", "arguments": {"id": "U-001"}}\n',
    "{'success': True, 'data': [{'x': nan}]}",
    "日本語のテキスト、中文 한국어",
    "naïve café e\u0301",
    "🙂👩\u200d👩\u200d👧 \u2011 “quoted”",
    "<think>\nhm\n</think>\n\n<tool_call>x</tool_call><|im_end|>\n",
    "مرحبا بالعالم ١٢٣",
    "\u00a0\u2003tabs\t\tand\x0bmore\u2028line",
]


def decoded(record: dict[str, Any]) -> Trajectory:
    """A plain reading of a record of the release's shape, independent of the project's decoder."""
    tools = [tool["function"] for tool in json.loads(record["tools"])]
    messages = []
    for raw in json.loads(record["messages"]):
        calls = [Call(c["function"]["name"], c["function"]["arguments"], "string") for c in raw.get("tool_calls") or ()]
        messages.append(Message(raw["role"], raw.get("content") or "", raw.get("reasoning_content"), calls))
    declared = tuple(Tool(t["name"], t.get("description", ""), json.dumps(t.get("parameters"))) for t in tools)
    return Trajectory("here", "release", record["traj_type"], None, None, None, None, declared, "", messages, [])


@cache
def sample() -> list[Trajectory]:
    return [decoded(record) for record in islice(records(**DEFAULT), 0, None, 20)]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[Trajectory]:
    airline = json.loads((shared_data / "tau_bench_airline_gpt4o.json").read_text(encoding="utf-8"))
    excerpt = json.loads((shared_data / "envscaler_release_excerpt.json").read_text(encoding="utf-8"))
    return [decoded(record) for record in [*excerpt, *airline[::10]]]


def texts(trajectories: list[Trajectory]) -> Iterator[str]:
    for trajectory in trajectories:
        yield render(trajectory)


@cache
def merges_by_rank() -> dict[bytes, int]:
    """The Qwen vocabulary as the counter holds it: token bytes -> rank."""
    encoding = pytest.importorskip("quicktok").get_encoding("qwen3")
    return {encoding.decode_single_token_bytes(rank): rank for rank in range(FIRST_ADDED)}


@cache
def oracle() -> Callable[[str], int]:
    """The reference: tiktoken with the published merges, pre-tokenizer and added tokens."""
    added = {token: FIRST_ADDED + place for place, token in enumerate(ADDED)}
    encoding = pytest.importorskip("tiktoken").Encoding(
        "qwen3", pat_str=SPLIT, mergeable_ranks=merges_by_rank(), special_tokens=added
    )
    return lambda text: len(encoding.encode(unicodedata.normalize("NFC", text), allowed_special="all"))


def generated(seed: int, number: int) -> Iterator[str]:
    """Texts of every Unicode block, runs of white space, digits, code, and added tokens, whole and cut off."""
    draw = random.Random(seed)
    spaces = [" ", "\n", "\r\n", "\t", "\u00a0", "\u2003", "\u2028", "\u3000", "\x0b", "\x85", "\u200b"]
    words = [
        " the",
        "I'm",
        "'S",
        "{'success': True}",
        "\n\n  - ",
        '":"',
        "e\u0301",
        "ﬁ",
        "İ",
        "ǅ",
        "²",
        "Ⅷ",
        "٣",
        "_id",
    ]

    def block() -> str:
        start = draw.choice([*range(0, 0xD700, 0x80), *range(0xE000, 0x30000, 0x100)])
        drawn = (chr(start + draw.randrange(0x80)) for _ in range(draw.randint(1, 8)))
        # What Unicode has assigned since then is a letter to one library and not yet to the other.
        return "".join(point for point in drawn if unicodedata.category(point) != "Cn")

    kinds: list[Callable[[], str]] = [
        block,
        lambda: draw.choice(spaces) * draw.randint(1, 9),
        lambda: str(draw.randrange(10 ** draw.randint(1, 18))),
        lambda: draw.choice(ADDED)[: draw.choice([None, None, 3, 7])],
        lambda: draw.choice(words),
        lambda: "".join(draw.choices("abcxyzABC_-./:<>|'\"(){}[]", k=draw.randint(1, 15))),
    ]
    for _ in range(number):
        yield "".join(draw.choice(kinds)() for _ in range(draw.randint(1, 12)))


@cache
def second_implementation() -> Any:
    """The same vocabulary in Hugging Face's tokenizers: the merges are found again from the ranks of the tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    ranks = merges_by_rank()
    # tokenizers spells each byte as a printable character, as GPT-2 did.
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {byte: chr(byte) for byte in printable}
    others = iter(range(256, 512))
    spelled |= {byte: chr(next(others)) for byte in range(256) if byte not in spelled}

    def spell(token: bytes) -> str:
        return "".join(spelled[byte] for byte in token)

    def halves(token: bytes, rank: int) -> tuple[bytes, bytes] | None:
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            merges = [(ranks.get(a + b, rank), place) for place, (a, b) in enumerate(pairwise(parts))]
            lowest, place = min(merges)
            if lowest >= rank:
                return None
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return (parts[0], parts[1]) if len(parts) == 2 else None

    found = ((halves(token, rank), rank) for token, rank in ranks.items() if len(token) > 1)
    merges = [pair for pair, _ in sorted(((p, r) for p, r in found if p), key=lambda entry: entry[1])]
    model = tokenizers.models.BPE(
        vocab={spell(token): rank for token, rank in ranks.items()}, merges=[(spell(a), spell(b)) for a, b in merges]
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.NFC()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(SPLIT), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in ADDED])
    return tokenizer


@needs_qwen
def test_the_vocabulary_is_the_published_one() -> None:
    ranks = merges_by_rank()
    assert len(ranks) == FIRST_ADDED == 151_643
    assert FIRST_ADDED + len(ADDED) == 151_669  # Qwen3's tokenizer ends with </think> = 151,668
    assert sorted(ranks.values()) == list(range(FIRST_ADDED))
    # Ids known from Qwen's own documentation of the vocabulary.
    assert ranks[b"Hello"] == 9707
    assert ranks[b" world"] == 1879


@needs_qwen
def test_counts_equal_the_reference_on_generated_texts() -> None:
    count, reference = vocabulary("qwen").count, oracle()
    different = [text for text in [*HARD, *generated(7, 5_000)] if count(text) != reference(text)]
    assert different == []


@needs_qwen
@pytest.mark.nightly
def test_counts_equal_the_reference_on_every_code_point_and_real_text(shared_data: Path) -> None:
    count, reference = vocabulary("qwen").count, oracle()
    points = (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    real = (line for path in shared_data.iterdir() for line in path.read_text(encoding="utf-8").splitlines())
    texts = chain(points, real, generated(11, 100_000))
    assert [text[:80] for text in texts if count(text) != reference(text)] == []


@needs_qwen
@pytest.mark.slow
def test_counts_equal_those_of_a_second_implementation(real: list[Trajectory]) -> None:
    other, count = second_implementation(), vocabulary("qwen").count
    for text in [*HARD, *texts(sample()), *texts(real)]:
        assert count(text) == len(other.encode(text, add_special_tokens=False).ids), text[:80]


@needs_qwen
@pytest.mark.slow
def test_a_tokenizer_by_path_counts_as_the_vocabulary_it_holds(tmp_path: Path) -> None:
    second_implementation().save(str(tmp_path / "tokenizer.json"))
    named = vocabulary(str(tmp_path))
    assert [named.count(text) for text in HARD] == [vocabulary("qwen").count(text) for text in HARD]
    assert not named.is_estimate
    assert tmp_path.name in named.label


@needs_qwen
@pytest.mark.parametrize("thoughts", [True, False])
def test_parts_add_up_to_the_tokens_of_the_whole_text(thoughts: bool) -> None:
    count = vocabulary("qwen").count
    for trajectory in sample():
        left_out = () if thoughts else ("reasoning", "thought")
        kept = [place for place, part in enumerate(PARTS, start=3) if part not in left_out]
        parts = sum(row[place] for row in rows(trajectory, tokenizer="qwen") for place in kept)
        assert parts == count(render(trajectory, thoughts=thoughts))


@needs_qwen
def test_parts_add_up_on_real_records(real: list[Trajectory]) -> None:
    for trajectory in real:
        counted = list(rows(trajectory, tokenizer="qwen"))
        assert sum(sum(row[3:]) for row in counted) == vocabulary("qwen").count(render(trajectory))
        assert [row[1] for row in counted] == [message.role for message in trajectory.messages]


@needs_qwen
def test_parts_add_up_whatever_stands_at_the_edges_of_a_text() -> None:
    draw = random.Random(3)
    edges = [" ", "\n", "\t", ".", "}", "1", "x", "é", "日", "<think>", "\r\n", "'s", ""]
    count = vocabulary("qwen").count
    for _ in range(300):
        text = ["".join(draw.choices(edges, k=draw.randint(0, 4))) for _ in range(4)]
        tool = Tool(text[0] or "t", text[1], "{}")
        messages = [
            Message("system", text[0]),
            Message("user", text[1]),
            Message("assistant", text[2], text[3], [Call(text[0], text[1], "string")] * draw.randint(0, 2)),
            Message("tool", text[3]),
            Message("tool", text[2]),
        ]
        seen = Trajectory("", "", "conversation", None, None, None, None, (tool,), "", messages, [])
        parts = sum(sum(row[3:]) for row in rows(seen, tokenizer="qwen"))
        assert parts == count(render(seen)), text


@needs_qwen
def test_each_per_turn_sample_has_the_tokens_of_its_rendered_text(real: list[Trajectory]) -> None:
    count = vocabulary("qwen").count
    for trajectory in [*sample()[:6], *real[:4]]:
        counted = list(rows(trajectory, tokenizer="qwen"))
        thoughts = [row[3 + PARTS.index("reasoning")] + row[3 + PARTS.index("thought")] for row in counted]
        history = [sum(row[3:]) - thought for row, thought in zip(counted, thoughts, strict=True)]
        for position, message in enumerate(trajectory.messages):
            if message.role == "assistant":
                turn = _upto(trajectory, position)
                assert sum(history[:position]) + sum(counted[position][3:]) == count(turn)


def _upto(trajectory: Trajectory, position: int) -> str:
    """One training sample: what came before without thoughts, then the turn with its own."""
    *before, turn = islice(turns(trajectory), position + 1)
    history = (piece for pieces in before for piece in pieces if piece.part not in ("reasoning", "thought"))
    return "".join(piece.text for piece in [*history, *turn])


@needs_qwen
@pytest.mark.parametrize("unit", ["A line of words, and {'a': 1}.\n", "<|im_start|>", "1"])
def test_a_text_of_megabytes_is_counted_whole(unit: str) -> None:
    assert vocabulary("qwen").count(unit * 90_000) == 90_000 * vocabulary("qwen").count(unit)


@needs_qwen
def test_the_estimate_is_as_close_as_its_label_says(real: list[Trajectory]) -> None:
    exact, estimate = vocabulary("qwen").count, vocabulary("estimate").count
    errors = [estimate(text) / exact(text) - 1 for text in [*texts(sample()), *texts(real)]]
    assert max(map(abs, errors)) <= ESTIMATE_ERROR


def test_an_estimate_is_labelled_as_one() -> None:
    found = vocabulary("estimate")
    assert found.is_estimate
    assert "estimate" in found.label
    assert f"{ESTIMATE_ERROR:.0%}" in found.label


def test_without_the_extra_the_default_is_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies, "has_qwen", lambda: False)
    assert vocabulary("").is_estimate
    with pytest.raises(VocabularyError, match="tokens"):
        vocabularies._qwen.__wrapped__()


def test_a_tokenizer_that_is_not_there_is_named_in_the_message(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text("not a tokenizer", encoding="utf-8")
    with pytest.raises(VocabularyError, match="no tokenizer"):
        vocabulary(str(tmp_path))
