"""What an author wrote keeps every byte; what is ours stands between its marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.card import splice
from analysis.card.splice import BEGIN, END, FRONT_BEGIN, FRONT_END, CardError

BLOCK = f"{BEGIN}\nold\n{END}\n"
FRONT = f"---\nlicense: mit\n{FRONT_BEGIN}\nsize_categories: [n<1K]\n{FRONT_END}\nlanguage: en\n---\n"
AUTHORS = st.binary().filter(lambda text: b"trajectory-notebooks" not in text)


@given(AUTHORS, AUTHORS)
def test_every_byte_outside_of_the_marks_stays(before: bytes, after: bytes) -> None:
    card = before + b"\n" + BLOCK.encode() + after
    assert splice.renewed(card, "new\n").replace(b"\r\n", b"\n") == card.replace(b"\nold\n", b"\nnew\n").replace(
        b"\r\n", b"\n"
    )
    renewed = splice.renewed(card, "new\n")
    assert renewed.startswith(before + b"\n" + BEGIN.encode())
    assert renewed.endswith(END.encode() + b"\n" + after)


def test_lines_break_as_they_do_in_the_card() -> None:
    card = BLOCK.replace("\n", "\r\n").encode()
    assert splice.renewed(card, "a\nb\n") == f"{BEGIN}\r\na\r\nb\r\n{END}\r\n".encode()


def test_a_mark_may_be_indented_and_the_file_may_end_with_it() -> None:
    assert splice.renewed(f"x\n  {BEGIN}  \n{END}".encode(), "new\n") == f"x\n  {BEGIN}  \nnew\n{END}".encode()


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ("Mine.\n", "no line"),
        (f"{BEGIN}\nno end\n", "no line"),
        (f"{BLOCK}{BLOCK}", "2 lines"),
        (f"{END}\n{BEGIN}\n", "stands above"),
        (f"`{BEGIN}` and `{END}` in a sentence\n", "no line"),
    ],
)
def test_a_card_without_one_place_for_statistics_is_left_alone(card: str, problem: str) -> None:
    with pytest.raises(CardError, match=problem):
        splice.renewed(card.encode(), "new\n")


def test_metadata_stand_between_the_lines_of_the_author() -> None:
    assert splice.with_metadata(f"{FRONT}Mine.\n".encode(), "tags: [a]\n").decode() == (
        f"---\nlicense: mit\n{FRONT_BEGIN}\ntags: [a]\n{FRONT_END}\nlanguage: en\n---\nMine.\n"
    )


def test_metadata_behind_a_byte_order_mark_are_found() -> None:
    renewed = splice.with_metadata(b"\xef\xbb\xbf" + FRONT.encode(), "tags: [a]\n")
    assert renewed.startswith(b"\xef\xbb\xbf---\nlicense: mit\n")
    assert b"size_categories" not in renewed


def test_metadata_among_lines_that_end_in_two_bytes_are_found() -> None:
    renewed = splice.with_metadata(FRONT.replace("\n", "\r\n").encode(), "tags: [a]\n")
    assert renewed == FRONT.replace("size_categories: [n<1K]", "tags: [a]").replace("\n", "\r\n").encode()


@pytest.mark.parametrize("card", ["Mine.\n", "---\nlicense: mit\n---\nMine.\n", "", "---\nnever closed\n"])
def test_front_matter_without_marks_is_the_authors(card: str) -> None:
    assert splice.with_metadata(card.encode(), "tags: [a]\n") == card.encode()


def test_half_a_mark_in_the_front_matter_is_said() -> None:
    with pytest.raises(CardError, match="trajectory-notebooks:end"):
        splice.with_metadata(f"---\n{FRONT_BEGIN}\n---\n".encode(), "tags: [a]\n")


def test_the_front_matter_is_the_authors_outside_of_the_marks_and_ours_between_them() -> None:
    theirs, ours = splice.front_matter(FRONT.encode())
    assert theirs.decode() == f"license: mit\n{FRONT_BEGIN}\n{FRONT_END}\nlanguage: en\n"
    assert ours == b"size_categories: [n<1K]\n"
    assert splice.front_matter(b"---\nlicense: mit\n---\nMine.\n") == (b"license: mit\n", b"")
    assert splice.front_matter(b"license: in the text\n") == (b"", b"")
