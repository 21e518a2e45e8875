"""Overview, drawn: rules that are broken, sound records, what steps count, verdicts."""

from analysis.charts import overview as charts
from analysis.measures import claims
from analysis.measures import overview as m
from tests.charts.drawn import marks, spec, subtitle, title
from tests.measures.frames import rows, times
from tests.measures.small import FINDINGS_SEEN, NO_FINDINGS, TRAJECTORIES_SEEN

CONTRACT = [("alternation", "turns alternate", "look"), ("no_environment", "there is one", "none")]
RULES = m.rules(TRAJECTORIES_SEEN, FINDINGS_SEEN, CONTRACT).collect()
KEPT = m.rules(TRAJECTORIES_SEEN, NO_FINDINGS, CONTRACT).collect()
SOUND = m.sound(TRAJECTORIES_SEEN, FINDINGS_SEEN).collect()
STEPS = m.steps_candidates(TRAJECTORIES_SEEN).collect()
COMPOSITION = m.composition(TRAJECTORIES_SEEN).collect()
VERDICTS = rows(
    claims.VERDICT_COUNTS,
    {"scope": "all", "verdict": "equal", "claims": 5, "all_claims": 9},
    {"scope": "all", "verdict": "differs", "claims": 1, "all_claims": 9},
    {"scope": "catalogue", "verdict": "not checkable", "claims": 3, "all_claims": 9},
).collect()

SAMPLES = {
    charts.rules: (RULES, 3 + 3),
    charts.sound: (SOUND, 2),
    charts.steps_candidates: (STEPS, 4),
    charts.composition: (COMPOSITION, 2),
    charts.verdicts: (VERDICTS, 3),
}


def test_titles_say_what_the_figures_show() -> None:
    assert title(charts.rules(RULES)) == "3 of 4 rules are broken; most often “no environment”, in 1 of 4 records"
    assert title(charts.sound(SOUND)) == "Records without a finding: 1 of 1 with user, 1 of 3 without user"
    assert title(charts.composition(COMPOSITION)) == "Records by mode: 1 with user, 3 without user"
    assert title(charts.verdicts(VERDICTS)) == "5 of 6 published figures that can be checked here hold"
    assert subtitle(charts.verdicts(VERDICTS)) == "n = 9 published figures: 5 equal, 1 different, 3 not checkable"
    assert title(charts.verdicts(VERDICTS.tail(1))) == "None of 9 published figures can be checked on this source"
    assert title(charts.steps_candidates(STEPS)).startswith("“steps” best matches the number of assistant messages (1")


def test_rules_that_all_hold_are_drawn_with_their_noughts() -> None:
    chart = charts.rules(KEPT)
    assert title(chart) == "All 2 rules of the contract hold"
    assert marks(spec(chart)) >= 2


def test_sound_records_are_counts_under_twenty_and_an_interval_above() -> None:
    assert marks(spec(charts.sound(SOUND))) == 2, "a text per mode"
    many = m.sound(times(TRAJECTORIES_SEEN, 30), times(FINDINGS_SEEN, 30)).collect()
    assert marks(spec(charts.sound(many))) >= 4, "a point and an interval per mode"
