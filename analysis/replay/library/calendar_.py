"""`calendar`: lengths of months, names."""

import datetime
from typing import Any

month_name = ["", "January", "February", "March", "April", "May", "June", "July"]
month_name += ["August", "September", "October", "November", "December"]
month_abbr = [name[:3] for name in month_name]
day_name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
day_abbr = [name[:3] for name in day_name]


def isleap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def weekday(year: int, month: int, day: int) -> int:
    return datetime.date(year, month, day).weekday()


def monthrange(year: int, month: int) -> Any:
    if not 1 <= month <= 12:
        raise ValueError(f"bad month number {month}; must be 1-12")
    days = [31, 29 if isleap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    return (weekday(year, month, 1), days)
