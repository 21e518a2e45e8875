"""Arguments in brief."""

import pytest

from analysis.brief import Headline
from analysis.brief.arguments import in_brief
from analysis.measures.arguments import CLASSES
from tests.measures.frames import TALK, WITHOUT, frame


def test_headlines_pool_both_modes_and_leave_out_what_nothing_could_check() -> None:
    classes = frame(
        CLASSES,
        {"traj_type": TALK, "verdict": "valid", "calls": 1_000},
        {"traj_type": TALK, "verdict": "over_required", "calls": 30},
        {"traj_type": WITHOUT, "verdict": "over_required", "calls": 10},
        {"traj_type": WITHOUT, "verdict": "valid", "calls": 200},
        {"traj_type": WITHOUT, "verdict": "wrong_type", "calls": 10},
        {"traj_type": WITHOUT, "verdict": "unchecked", "calls": 50},
    )
    fit = "1,200 of 1,250 calls that can be checked; 40 more leave out a required argument and succeed"
    assert in_brief(classes) == [Headline("96.0 %", "calls that fit their schema", fit)]
    assert [(n.value, n.attention) for n in in_brief(classes.clear())] == [("0 of 0", None)]


@pytest.mark.parametrize(
    ("verdict", "calls", "attention"),
    [
        ("wrong_type", 4, None),
        ("over_required", 50, None),
        ("unchecked", 50, None),
        ("wrong_type", 5, "Calls that break the schema of their tool: 5 of 100."),
    ],
)
def test_broken_arguments_need_attention_from_a_twentieth_on(verdict: str, calls: int, attention: str | None) -> None:
    valid = {"traj_type": TALK, "verdict": "valid", "calls": 100 - calls}
    others = [
        {"traj_type": mode, "verdict": verdict, "calls": part} for mode, part in ((TALK, 1), (WITHOUT, calls - 1))
    ]
    assert in_brief(frame(CLASSES, valid, *others))[0].attention == attention
