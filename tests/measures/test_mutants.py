"""Which mutants a sample takes, and what is said of them; the mutants themselves are tried by `make mutants`."""

from collections import Counter

from tests.measures.mutants import module, stratified, summary


def named(**modules: int) -> list[str]:
    return [f"analysis.measures.{name}.x_f__mutmut_{n}" for name, count in modules.items() for n in range(count)]


def test_a_sample_takes_the_same_share_of_every_module_and_at_least_one_of_each() -> None:
    taken = stratified(named(big=1_000, middle=100, tiny=2), size=110, seed=1)
    assert Counter(map(module, taken)) == {"big": 100, "middle": 10, "tiny": 1}
    assert len(set(taken)) == len(taken)


def test_a_sample_larger_than_all_is_all() -> None:
    assert sorted(stratified(named(one=3, other=2), size=99, seed=0)) == sorted(named(one=3, other=2))


def test_the_seed_and_not_the_order_of_the_mutants_decides() -> None:
    mutants = named(one=300)
    assert stratified(mutants, 30, seed=1) == stratified(mutants[::-1], 30, seed=1)
    assert stratified(mutants, 30, seed=1) != stratified(mutants, 30, seed=2)


def test_what_is_not_killed_is_listed_and_counted_in_the_denominator() -> None:
    verdicts = dict.fromkeys(named(one=8), "killed") | {
        "analysis.measures.two.x_g__mutmut_1": "timeout",
        "analysis.measures.two.x_g__mutmut_2": "survived",
    }
    *alive, empty, one, two, whole = summary(verdicts).splitlines()
    assert alive == ["survived: analysis.measures.two.x_g__mutmut_2", "timeout: analysis.measures.two.x_g__mutmut_1"]
    assert (empty, one.split()[:4]) == ("", ["one", "8", "of", "8"])
    assert two.endswith("1 survived, 1 timeout")
    # 8 of 10 by Wilson: (8 + 1.92) / (10 + 3.84) -+ 0.226
    assert "8 of    10 killed  80.0% (49.0% to 94.3%)" in whole
