"""A number with its noun."""


def counted(number: int, noun: str) -> str:
    """So many of something, in the plural unless it is one.

    >>> counted(1, "environment")
    '1 environment'
    >>> counted(9022, "trajectory")
    '9,022 trajectories'
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
