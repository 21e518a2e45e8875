"""Which scenario of which environment was run in which mode: unequal environments, most scenarios in both modes."""

from collections.abc import Iterator
from random import Random

from analysis.sample.play import Mode

# Of ten scenarios nine were run once in each mode, as in the release; the rest in one mode, or in none.
MODES: tuple[tuple[tuple[Mode, ...], float], ...] = (
    (("non_conversation", "conversation"), 0.90),
    (("non_conversation",), 0.06),
    (("conversation",), 0.03),
    ((), 0.01),
)


def quotas(trajectories: int, environments: int, seed: int) -> list[int]:
    """How many trajectories each environment gets: at least one, unequal, adding up."""
    if not 0 < environments <= trajectories:
        raise ValueError(
            f"{trajectories} trajectories cannot cover {environments} environments: each needs at least one"
        )
    rng = Random(f"quotas/{seed}/{environments}")
    weights = [rng.lognormvariate(0, 0.55) for _ in range(environments)]
    weights[rng.randrange(environments)] *= 0.12
    spare = trajectories - environments
    shares = [spare * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in shares]
    by_rest = sorted(range(environments), key=lambda i: counts[i] - shares[i])
    for i in by_rest[: spare - sum(counts)]:
        counts[i] += 1
    return [count + 1 for count in counts]


def runs(index: int, quota: int, seed: int) -> Iterator[tuple[int, Mode]]:
    """The first `quota` runs of an environment, as scenario number and mode."""
    rng = Random(f"modes/{seed}/{index}")
    number = made = 0
    while made < quota:
        number += 1
        modes = rng.choices([modes for modes, _ in MODES], [weight for _, weight in MODES])[0]
        for mode in modes[: quota - made]:
            made += 1
            yield number, mode


def scenarios(index: int, quota: int, seed: int) -> int:
    """How many scenarios the environment has: those that were run, and a tenth more."""
    return max((number for number, _ in runs(index, quota, seed)), default=0) * 11 // 10 + 1


def order(trajectories: int, environments: int, seed: int) -> list[tuple[int, int, Mode]]:
    """All runs as (environment, scenario, mode), in the order they were completed, which is no order at all."""
    listed = [
        (index, number, mode)
        for index, quota in enumerate(quotas(trajectories, environments, seed))
        for number, mode in runs(index, quota, seed)
    ]
    Random(f"order/{seed}").shuffle(listed)
    return listed
