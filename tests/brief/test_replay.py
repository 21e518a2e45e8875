"""Replay in brief."""

from analysis.brief.replay import in_brief, modes, on_offer
from analysis.measures import replay as m
from analysis.schema import REPLAYS
from tests.measures.test_replay import SEEN, TRAJECTORIES

AGREEMENT = m.agreement(SEEN, TRAJECTORIES).collect()


def test_the_headlines_have_their_denominators() -> None:
    said = {h.label: (h.value, h.meaning) for h in in_brief(m.summary(SEEN).collect(), AGREEMENT)}
    assert said["trajectories played again"] == ("4 of 5", "4 of 5 trajectories, in the sandbox")
    assert said["calls reproduced"][1] == "10 of 12 calls played came out as recorded; of 1 neither can be told"
    assert said["checks passed"][1] == "of 4 checks of 2 trajectories; 1 of 2 trajectories pass all of theirs"
    assert said["rewards as recorded"][0] == "1 of 2"
    assert said["changes never read back"][0] == "3 of 4"
    assert said["scenarios that agree"][0] == "1 of 2"
    attention = [h.attention for h in in_brief(m.summary(SEEN).collect(), AGREEMENT) if h.attention]
    assert attention == [
        "1 of 5 trajectories could not be played; the reasons are below.",
        "1 of 12 calls played came out otherwise than recorded.",
    ]


def test_without_a_replay_there_is_nothing_to_say() -> None:
    assert in_brief(m.summary(REPLAYS.empty().lazy()).collect(), AGREEMENT) == []
    assert "are given, so the recorded calls can be played again" in on_offer(2, 3)
    assert "not given here" in on_offer(2, 0)


def test_modes_are_named_as_everywhere() -> None:
    assert modes(AGREEMENT)["mode"].to_list() == ["without user", "both modes"]
