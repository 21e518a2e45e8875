"""Secrets and personal data in brief: a finding of the overview, and what a scan by form cannot know."""

import polars as pl

from analysis.brief import only
from analysis.wording import count

CANNOT_KNOW = (
    "The scan goes by form. It cannot know whether a name, an address or a number is a person's or made up: a "
    "model invents people under any domain. Of reserved form, and so nobody's, are addresses under example.com and "
    "domains that are never given away, phone numbers kept for fiction (555), card numbers published for tests, and "
    "placeholders. It does not see names, postal addresses, dates of birth, keys without a known prefix, passwords in "
    "running text, numbers written out in words, or declared tools. One number in ten has the check digit of a card by "
    "chance. `export --redact` replaces what is found; the values themselves are not kept here."
)
NOT_SCANNED = (
    "Not scanned for secrets and personal data: only tables are here, without the texts. Load the source itself."
)


def finding(summary: pl.DataFrame) -> str:
    """What needs attention; "" where every find is of reserved form, or there is none.

    Args:
        summary: conforms to private.SUMMARY.
    """
    all_ = only(summary)
    if not all_["either"]:
        return ""
    n = count(all_["trajectories"], "trajectory")
    return (
        f"{count(all_['either'])} of {n} hold what may be secrets or personal data: {count(all_['secret'])} a key or "
        f"password, {count(all_['personal'])} an e-mail address, phone or card number. Whether they are real cannot be "
        "told; export --redact replaces them."
    )
