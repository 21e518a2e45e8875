"""`warnings`: warns nobody."""

from typing import Any


def warn(*arguments: Any, **keywords: Any) -> None:
    return None


def simplefilter(*arguments: Any, **keywords: Any) -> None:
    return None


def filterwarnings(*arguments: Any, **keywords: Any) -> None:
    return None
