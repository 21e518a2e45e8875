"""Texts that read nearly the same: MinHash proposes pairs, the exact similarity of their shingles decides."""

from collections.abc import Iterable, Iterator

from rensa import RMinHash, RMinHashLSH

SHINGLE_WORDS = 5


PERMUTATIONS = 128


# Of the pairs at the threshold, as many at least must be proposed.
RECALL = 0.99


def shingles(text: str) -> frozenset[str]:
    """The distinct runs of five words of a text, in lower case; a shorter text is one shingle."""
    words = text.lower().split()
    last = max(len(words) - SHINGLE_WORDS + 1, 1)
    return frozenset(" ".join(words[start : start + SHINGLE_WORDS]) for start in range(last))


def bands(threshold: float) -> tuple[int, float]:
    """Bands of MinHash for a threshold, and the share of pairs at the threshold they are expected to propose.

    As few bands, and so as few candidates to verify, as propose RECALL of them: a pair of similarity s shares one of b
    bands of r rows with probability 1 - (1 - s**r)**b. Source: J. Leskovec, A. Rajaraman and J. D. Ullman (2014),
    Mining of massive datasets, chapter 3.
    """
    choices = [2**power for power in range(1, PERMUTATIONS.bit_length())]
    recalls = [(count, 1 - (1 - threshold ** (PERMUTATIONS // count)) ** count) for count in choices]
    return next((choice for choice in recalls if choice[1] >= RECALL), recalls[-1])


def proposals(sets: Iterable[frozenset[str]], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs of sets that MinHash takes for as similar as the threshold, the earlier one first."""
    index = _index(threshold)
    for right, shingled in enumerate(sets):
        minhash = _minhash(shingled)
        for left in sorted(index.query(minhash)):
            yield left, right
        index.insert(right, minhash)


def proposals_between(
    sets: Iterable[frozenset[str]], others: Iterable[frozenset[str]], threshold: float
) -> Iterator[list[int]]:
    """For each set, in their order, the places of the other sets that MinHash takes for as similar as the threshold."""
    index = _index(threshold)
    for place, shingled in enumerate(others):
        index.insert(place, _minhash(shingled))
    for shingled in sets:
        yield sorted(index.query(_minhash(shingled)))


def _index(threshold: float) -> RMinHashLSH:
    return RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=bands(threshold)[0])


def _minhash(shingled: frozenset[str]) -> RMinHash:
    minhash = RMinHash(num_perm=PERMUTATIONS, seed=1)
    minhash.update(sorted(shingled))
    return minhash
