"""Training budget: every closed form against samples that are really laid out, token by token, and really cut."""

import random
from collections import defaultdict
from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis.measures import samples
from analysis.measures import training_budget as budget
from analysis.schema import TOKENS, TRAJECTORIES, Table
from tests.measures.frames import rows, shuffled

Measure = Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]
PARTS = ("header", "tools", "content", "reasoning", "thought", "call", "result", "template")
MEASURES = [
    (budget.parts, budget.PARTS),
    (budget.lengths, budget.LENGTHS),
    (budget.over_limits, budget.LIMITS),
    (budget.cutoff_loss, budget.CUTOFF),
    (budget.expansion, budget.EXPANSION),
    (budget.expansion_by_steps, budget.EXPANSION_BY_STEPS),
]
MODES = {"talk": "conversation", "solo": "non_conversation", "long": "conversation", "mute": "conversation"}


def messages() -> list[dict[str, object]]:
    """Four trajectories of made-up sizes: two usual, one of many turns with parallel results, one without a turn."""
    draw = random.Random(5)
    shapes = {
        "talk": "system user assistant tool assistant user assistant user",
        "solo": "system user assistant tool assistant",
        "long": "system user " + "assistant tool tool assistant user " * 6,
        "mute": "system user",
    }
    made = []
    for trajectory, shape in shapes.items():
        for position, role in enumerate(shape.split()):
            is_turn, is_result = role == "assistant", role == "tool"
            sizes = {
                "header": 3,
                "tools": 60 if role == "system" else 0,
                "content": draw.randint(1, 20),
                "reasoning": draw.randint(0, 90) if is_turn else 0,
                "thought": 5 if is_turn else 0,
                "call": draw.randint(0, 12) if is_turn else 0,
                "result": draw.randint(1, 30) if is_result else 0,
                "template": 2,
            }
            counts = {f"{part}_tokens": size for part, size in sizes.items()}
            made.append({"trajectory_id": trajectory, "message": position, "role": role, **counts})
    return made


SEEN = messages()
TOKENS_SEEN = rows(TOKENS, *SEEN)
TRAJECTORIES_SEEN = rows(TRAJECTORIES, *({"trajectory_id": name, "traj_type": mode} for name, mode in MODES.items()))


def full(message: dict[str, object]) -> list[str]:
    """The tokens of a message, one letter each: context (c), what only the present turn shows (t), supervised (s)."""
    size = {part: int(str(message[f"{part}_tokens"])) for part in PARTS}
    rest = sum(size.values()) - size["header"] - size["reasoning"] - size["thought"]
    if message["role"] != "assistant":
        return ["c"] * sum(size.values())
    return ["c"] * size["header"] + ["t"] * (size["reasoning"] + size["thought"]) + ["s"] * rest


def by_trajectory() -> dict[str, list[dict[str, object]]]:
    grouped = defaultdict(list)
    for message in SEEN:
        grouped[str(message["trajectory_id"])].append(message)
    return grouped


def pairs_of_sample(before: list[dict[str, object]], turn: dict[str, object]) -> list[tuple[int, int]]:
    """(prompt, answer) lengths of one per-turn sample, oldest first, thoughts only in the last answer."""
    pairs, prompt = [], 0
    for message in before:
        history = [token for token in full(message) if token != "t"]
        if message["role"] == "assistant":
            header = int(str(message["header_tokens"]))
            pairs.append((prompt + header, len(history) - header))
            prompt = 0
        else:
            prompt += len(history)
    header = int(str(turn["header_tokens"]))
    return [*pairs, (prompt + header, len(full(turn)) - header)]


def cut_as_llamafactory(pairs: list[tuple[int, int]], cutoff: int) -> tuple[int, int]:
    """(supervised, context) tokens kept: the last pair first, each pair fitted into what room is left."""
    kept_answer, kept_context, total = 0, 0, 0
    for age, (source, target) in enumerate(reversed(pairs)):
        if total >= cutoff:
            break
        room = cutoff - total
        if target * 2 < room:
            most = room
        elif source * 2 < room:
            most = room - source
        else:
            most = int(room * (target / (source + target)))
        answer = min(most, target)
        prompt = min(max(room - answer, 0), source)
        total += answer + prompt
        kept_answer += answer if age == 0 else 0
        kept_context += prompt + (answer if age else 0)
    return kept_answer, kept_context


@pytest.mark.parametrize("cutoff", [10, 60, 97, 150, 230, 400, 800, 10_000])
def test_cutoff_loss_per_turn_is_what_cutting_every_sample_loses(cutoff: int) -> None:
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for name, seen in by_trajectory().items():
        for position, turn in enumerate(seen):
            if turn["role"] != "assistant":
                continue
            pairs = pairs_of_sample(seen[:position], turn)
            answer, context = cut_as_llamafactory(pairs, cutoff)
            length = sum(source + target for source, target in pairs)
            losses = (1, length > cutoff, pairs[-1][1], pairs[-1][1] - answer, length - pairs[-1][1] - context)
            expected[MODES[name]] = [a + b for a, b in zip(expected[MODES[name]], losses, strict=True)]
    found = budget.cutoff_loss(TOKENS_SEEN, TRAJECTORIES_SEEN, cutoff=cutoff).collect()
    per_turn = found.filter(pl.col("layout") == "per_turn").rows_by_key("traj_type", named=True, unique=True)
    columns = ("samples", "samples_cut", "supervised_tokens", "supervised_lost", "context_lost")
    assert {mode: [row[c] for c in columns] for mode, row in per_turn.items()} == dict(expected)


@pytest.mark.parametrize("cutoff", [10, 60, 97, 150, 230, 400, 800, 10_000])
def test_cutoff_loss_of_whole_trajectories_is_what_stands_after_the_cut(cutoff: int) -> None:
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for name, seen in by_trajectory().items():
        tokens = [token for message in seen for token in full(message)]
        if "s" not in tokens:
            continue
        supervised = [token != "c" for token in tokens]
        lost = supervised[cutoff:]
        losses = (1, len(tokens) > cutoff, sum(supervised), sum(lost), len(lost) - sum(lost))
        expected[MODES[name]] = [a + b for a, b in zip(expected[MODES[name]], losses, strict=True)]
    found = budget.cutoff_loss(TOKENS_SEEN, TRAJECTORIES_SEEN, cutoff=cutoff).collect()
    whole = found.filter(pl.col("layout") == "whole").rows_by_key("traj_type", named=True, unique=True)
    columns = ("samples", "samples_cut", "supervised_tokens", "supervised_lost", "context_lost")
    assert {mode: [row[c] for c in columns] for mode, row in whole.items()} == dict(expected)


def test_expansion_adds_up_every_sample_that_is_laid_out() -> None:
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for name, seen in by_trajectory().items():
        turns = [position for position, message in enumerate(seen) if message["role"] == "assistant"]
        if not turns:
            continue
        samples = [pairs_of_sample(seen[:position], seen[position]) for position in turns]
        outputs = sum(pairs[-1][1] for pairs in samples)
        prefixes = sum(source + target for pairs in samples for source, target in pairs) - outputs
        once = sum(len(full(message)) for message in seen)
        sizes = (1, len(samples), once, prefixes, outputs)
        expected[MODES[name]] = [a + b for a, b in zip(expected[MODES[name]], sizes, strict=True)]
    found = budget.expansion(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    columns = ("trajectories", "samples", "trajectory_tokens", "prefix_tokens", "output_tokens")
    assert {row["traj_type"]: [row[c] for c in columns] for row in found.iter_rows(named=True)} == dict(expected)
    assert found["traj_type"].to_list() == ["conversation", "non_conversation"]
    ratios = {mode: (sizes[3] + sizes[4]) / sizes[2] for mode, sizes in expected.items()}
    assert dict(found.select("traj_type", "expansion_factor").iter_rows()) == pytest.approx(ratios)


def test_expansion_by_turns_adds_up_to_the_expansion_of_the_mode() -> None:
    whole = budget.expansion(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    parts = (
        budget.expansion_by_steps(TOKENS_SEEN, TRAJECTORIES_SEEN)
        .with_columns(pl.col("tokens_per_trajectory", "sample_tokens_per_trajectory") * pl.col("trajectories"))
        .group_by("traj_type")
        .agg(pl.col("trajectories", "tokens_per_trajectory", "sample_tokens_per_trajectory").sum())
        .sort("traj_type")
        .collect()
    )
    assert parts["trajectories"].to_list() == whole["trajectories"].to_list()
    assert parts["tokens_per_trajectory"].to_list() == pytest.approx(whole["trajectory_tokens"].to_list())
    samples = (whole["prefix_tokens"] + whole["output_tokens"]).to_list()
    assert parts["sample_tokens_per_trajectory"].to_list() == pytest.approx(samples)


def test_one_turn_costs_its_trajectory_once() -> None:
    one = rows(
        TOKENS,
        {"trajectory_id": "solo", "message": 0, "role": "user", "header_tokens": 3, "content_tokens": 7},
        {"trajectory_id": "solo", "message": 1, "role": "assistant", "header_tokens": 3, "reasoning_tokens": 9},
    )
    found = budget.expansion(one, TRAJECTORIES_SEEN).collect().row(0, named=True)
    assert (found["prefix_tokens"], found["output_tokens"]) == (3 + 7 + 3, 9)
    assert found["expansion_factor"] == 1


def test_lengths_and_limits_hold_the_samples_that_are_laid_out() -> None:
    lengths: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, seen in by_trajectory().items():
        turns = [position for position, message in enumerate(seen) if message["role"] == "assistant"]
        for position in turns:
            pairs = pairs_of_sample(seen[:position], seen[position])
            lengths["per_turn", MODES[name]].append(sum(source + target for source, target in pairs))
        if turns:
            lengths["whole", MODES[name]].append(sum(len(full(message)) for message in seen))
    limits = budget.over_limits(TOKENS_SEEN, TRAJECTORIES_SEEN, limits=(100, 178, 300)).collect()
    for row in limits.iter_rows(named=True):
        laid_out = lengths[row["layout"], row["traj_type"]]
        assert (row["samples"], row["over"]) == (len(laid_out), sum(length > row["limit"] for length in laid_out))
    bins = budget.lengths(TOKENS_SEEN, TRAJECTORIES_SEEN, bin_tokens=50).collect()
    for (layout, mode), laid_out in lengths.items():
        here = bins.filter((pl.col("layout") == layout) & (pl.col("traj_type") == mode))
        expected = {start: sum(start <= x < start + 50 for x in laid_out) for start in range(0, max(laid_out) + 1, 50)}
        assert dict(here.select("tokens_from", "samples").iter_rows()) == {k: n for k, n in expected.items() if n}
        assert here["sample_share"].sum() == pytest.approx(1)


def test_limits_are_powers_of_two_from_4k_to_64k_and_the_cutoff_is_the_publishers() -> None:
    found = budget.over_limits(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    assert sorted(found["limit"].unique()) == [2**power for power in range(12, 17)]
    assert budget.cutoff_loss(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()["cutoff"].unique().to_list() == [32_768]


def test_parts_hold_every_token_once() -> None:
    found = budget.parts(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    everything = sum(len(full(message)) for message in SEEN)
    assert found["tokens"].sum() == everything
    assert found.group_by("traj_type").agg(pl.col("token_share").sum())["token_share"].to_list() == pytest.approx(
        [1, 1]
    )
    means = dict(found.group_by("traj_type").agg(pl.col("tokens_per_trajectory").sum()).iter_rows())
    assert means["conversation"] == pytest.approx(
        found.filter(pl.col("traj_type") == "conversation")["tokens"].sum() / 3
    )
    user = sum(int(str(m["content_tokens"])) for m in SEEN if m["role"] in ("user", "tool"))
    assert found.filter(pl.col("part") == "user")["tokens"].sum() == user


def test_each_part_holds_what_it_names_in_the_order_it_is_rendered() -> None:
    sources: dict[str, Callable[[dict[str, object]], tuple[str, ...]]] = {
        "tools and system": lambda m: ("tools", "content") if m["role"] == "system" else ("tools",),
        "user": lambda m: () if m["role"] in ("system", "assistant") else ("content",),
        "reasoning": lambda m: ("reasoning",),
        "assistant text": lambda m: ("content",) if m["role"] == "assistant" else (),
        "calls": lambda m: ("call",),
        "results": lambda m: ("result",),
        "template": lambda m: ("header", "thought", "template"),
    }
    found = budget.parts(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "part").rows() == [
        (mode, part) for mode in ("conversation", "non_conversation") for part in sources
    ]
    for row in found.iter_rows(named=True):
        seen = [m for m in SEEN if MODES[str(m["trajectory_id"])] == row["traj_type"]]
        tokens = sum(int(str(m[f"{name}_tokens"])) for m in seen for name in sources[row["part"]](m))
        trajectories = len({m["trajectory_id"] for m in seen})
        assert (row["tokens"], row["trajectories"]) == (tokens, trajectories)
        assert row["tokens_per_trajectory"] == pytest.approx(tokens / trajectories)
        assert row["token_share"] == pytest.approx(tokens / sum(len(full(m)) for m in seen))


def test_the_table_of_lengths_goes_by_layout_mode_and_length_in_bins_of_1024_tokens() -> None:
    longer = TOKENS_SEEN.with_columns(pl.col("content_tokens") * 300)
    found = budget.lengths(longer, TRAJECTORIES_SEEN).collect()
    assert (found["tokens_to"] - found["tokens_from"]).unique().to_list() == [1_024]
    assert (found["tokens_from"] % 1_024).unique().to_list() == [0]
    places = found.select(pl.col("layout").to_physical(), "traj_type", "tokens_from").rows()
    assert places == sorted(places)
    assert len({layout for layout, _, _ in places}) == len({mode for _, mode, _ in places}) == 2
    sums = found.group_by("layout", "traj_type").agg(pl.col("samples", "sample_share").sum(), "mode_samples")
    for total, share, of in sums.select("samples", "sample_share", "mode_samples").iter_rows():
        assert share == pytest.approx(1)
        assert set(of) == {total}
    assert found["sample_share"].to_list() == pytest.approx((found["samples"] / found["mode_samples"]).to_list())


def test_limits_and_losses_go_by_layout_then_mode_then_limit() -> None:
    modes = ("conversation", "non_conversation")
    found = budget.over_limits(TOKENS_SEEN, TRAJECTORIES_SEEN, limits=(200, 100)).collect()
    assert found.select("layout", "traj_type", "limit").rows() == [
        (layout, mode, limit) for layout in samples.LAYOUTS for mode in modes for limit in (100, 200)
    ]
    lost = budget.cutoff_loss(TOKENS_SEEN, TRAJECTORIES_SEEN, cutoff=100).collect()
    assert_frame_equal(
        budget.cutoff_loss(TOKENS_SEEN.reverse(), TRAJECTORIES_SEEN.reverse(), cutoff=100).collect(), lost
    )
    assert lost.select("layout", "traj_type").rows() == [(layout, mode) for layout in samples.LAYOUTS for mode in modes]
    assert lost["lost_share"].to_list() == pytest.approx(
        (lost["supervised_lost"] / lost["supervised_tokens"]).to_list()
    )
    assert lost["cutoff"].to_list() == [100] * 4


def test_over_twenty_samples_the_share_over_a_limit_is_told_and_under_twenty_it_is_not() -> None:
    many = rows(
        TOKENS,
        *(
            {"trajectory_id": f"t{n}", "message": 0, "role": "assistant", "call_tokens": 100 + 100 * (n < 5)}
            for n in range(20)
        ),
    )
    runs = rows(TRAJECTORIES, *({"trajectory_id": f"t{n}"} for n in range(20)))
    whole = budget.over_limits(many, runs, limits=(100, 200)).collect().filter(pl.col("layout") == "whole")
    assert whole.select("limit", "over", "over_share").rows() == [(100, 5, 5 / 20), (200, 0, 0)]
    assert whole["over_share_low"][0] < 5 / 20 < whole["over_share_high"][0]
    few = many.filter(pl.col("trajectory_id") != "t19")
    assert budget.over_limits(few, runs, limits=(100,)).collect()["over_share"].null_count() == 2


def test_the_expansion_of_each_number_of_turns_is_of_its_own_trajectories() -> None:
    found = budget.expansion_by_steps(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.select("traj_type", "turns", "trajectories").rows() == [
        ("conversation", 3, 1),
        ("conversation", 12, 1),
        ("non_conversation", 2, 1),
    ]
    for row, name in zip(found.iter_rows(named=True), ("talk", "long", "solo"), strict=True):
        seen = by_trajectory()[name]
        turns = [place for place, message in enumerate(seen) if message["role"] == "assistant"]
        once = sum(len(full(message)) for message in seen)
        samples = sum(sum(pair) for place in turns for pair in pairs_of_sample(seen[:place], seen[place]))
        assert (row["tokens_per_trajectory"], row["sample_tokens_per_trajectory"]) == (once, samples)
        assert row["expansion_factor"] == pytest.approx(samples / once)


@pytest.mark.parametrize(("measure", "result"), MEASURES)
def test_order_of_the_rows_is_irrelevant(measure: Measure, result: Table) -> None:
    found = measure(TOKENS_SEEN, TRAJECTORIES_SEEN).collect()
    assert found.schema == result.schema
    assert_frame_equal(found, measure(shuffled(TOKENS_SEEN), shuffled(TRAJECTORIES_SEEN)).collect())


@pytest.mark.parametrize(("measure", "result"), MEASURES)
def test_nothing_gives_the_declared_empty_frame(measure: Measure, result: Table) -> None:
    found = measure(TOKENS.empty().lazy(), TRAJECTORIES.empty().lazy()).collect()
    assert_frame_equal(found, result.empty())
