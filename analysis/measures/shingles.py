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
    index = RMinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, num_bands=bands(threshold)[0])
    for right, shingled in enumerate(sets):
        minhash = RMinHash(num_perm=PERMUTATIONS, seed=1)
        minhash.update(sorted(shingled))
        for left in sorted(index.query(minhash)):
            yield left, right
        index.insert(right, minhash)
