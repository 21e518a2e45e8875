"""Training budget in brief."""

from analysis.brief import Headline
from analysis.brief.training_budget import in_brief
from analysis.measures.training_budget import CUTOFF, EXPANSION, PARTS
from tests.measures.frames import TALK, WITHOUT, frame

RESULTS = (
    frame(
        PARTS,
        {"traj_type": TALK, "part": "user", "trajectories": 40, "tokens": 10_000},
        {"traj_type": TALK, "part": "results", "trajectories": 40, "tokens": 50_000},
        {"traj_type": TALK, "part": "template", "trajectories": 40, "tokens": 0},
        {"traj_type": WITHOUT, "part": "user", "trajectories": 10, "tokens": 10_000},
        {"traj_type": WITHOUT, "part": "results", "trajectories": 10, "tokens": 30_000},
    ),
    frame(
        CUTOFF,
        *[
        {
            "layout": layout, "traj_type": mode, "cutoff": 4_096, "samples": samples, "samples_cut": cut,
            "supervised_tokens": supervised, "supervised_lost": lost,
        }
        for layout, mode, samples, cut, supervised, lost in [
            ("whole", TALK, 40, 2, 20_000, 1_000),
            ("whole", WITHOUT, 10, 0, 5_000, 0),
            ("per_turn", TALK, 300, 3, 20_000, 100),
            ("per_turn", WITHOUT, 100, 0, 5_000, 0),
        ]
    ],
    ),
    frame(
        EXPANSION,
        {
            "traj_type": TALK, "samples": 300, "trajectory_tokens": 60_000, "prefix_tokens": 380_000,
            "output_tokens": 20_000,
        },
        {
            "traj_type": WITHOUT, "samples": 100, "trajectory_tokens": 40_000, "prefix_tokens": 45_000,
            "output_tokens": 5_000,
        },
    ),
)  # fmt: skip


def test_headlines_say_what_training_on_the_tokens_costs() -> None:
    assert in_brief(*RESULTS) == [
        Headline(
            "100,000", "tokens", "in 50 trajectories, each rendered once with all its reasoning; 2,000 per trajectory"
        ),
        Headline("80.0 %", "tokens in one part, at most", "results: 80,000 of 100,000; no part has more"),
        Headline("25.0 %", "tokens trained on", "25,000 of 100,000: what the assistant says, reasons and calls"),
        Headline(
            "4.0 %",
            "trajectories over the cutoff",
            "2 of 50 are longer than 4,096 tokens; with one sample per step, 3 of 400 are",
            "Samples longer than the cutoff of 4,096 tokens: 2 of 50 with one sample per trajectory, "
            "3 of 400 with one per step.",
        ),
        Headline(
            "4.0 %",
            "trained tokens that are cut off",
            "1,000 of 25,000 with one sample per trajectory; 100 of 25,000 with one per step",
        ),
        Headline(
            "4.5",
            "times the tokens with one sample per step",
            "450,000 in 400 samples, against 100,000 when each trajectory is rendered once",
        ),
    ]


def test_without_a_record_headlines_say_nought_and_dash() -> None:
    numbers = in_brief(*(result.clear() for result in RESULTS))
    assert [n.value for n in numbers] == ["0", "0 of 0", "0 of 0", "0 of 0", "0 of 0", "–"]
