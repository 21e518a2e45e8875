"""Texts and columns sort in the same natural order."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from analysis.natural import natural_key, natural_order

ORDERED = ["7", "env", "env_0", "env_1", "env_2", "env_2_b_9", "env_2_b_10", "env_10", "env_10_a", f"env_{10**20}"]


def in_query(names: list[str]) -> list[str]:
    return pl.DataFrame({"name": names}, schema={"name": pl.String}).sort(natural_order("name"))["name"].to_list()


def test_every_number_of_a_name_counts_as_a_number() -> None:
    by_letter = sorted(ORDERED)
    assert sorted(by_letter, key=natural_key) == in_query(by_letter) == ORDERED != by_letter


def test_a_row_without_a_name_stands_first() -> None:
    frame = pl.DataFrame({"name": ["env_10", None, "env_2"]})
    assert frame.sort(natural_order("name"))["name"].to_list() == [None, "env_2", "env_10"]


def test_a_number_of_any_length_is_a_number() -> None:
    small, large = "a" + "9" * 5000, "a1" + "0" * 5000
    assert sorted([large, small], key=natural_key) == [small, large]


@given(names=st.lists(st.text(alphabet="ab_-019 .é", max_size=8), max_size=8))
def test_texts_and_columns_have_one_order_whatever_the_order_they_come_in(names: list[str]) -> None:
    ordered = sorted(names, key=natural_key)
    assert in_query(names) == in_query(names[::-1]) == ordered
    names.reverse()
    assert sorted(names, key=natural_key) == ordered
