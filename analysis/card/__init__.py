"""A dataset card's statistics and its Croissant file, of the same numbers that the notebooks draw.

`write` makes a card or renews the part of one that stands between its marks; what an author wrote is left as it is.
What cannot be measured (licence, language, who made the records) is named as to be filled in, never guessed.
"""

from analysis.card.run import CardRequest, Written, write
from analysis.card.splice import CardError

__all__ = ["CardError", "CardRequest", "Written", "write"]
