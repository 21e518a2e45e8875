"""`logging`: says nothing; nobody reads an environment's log."""

from typing import Any

DEBUG, INFO, WARNING, ERROR, CRITICAL = 10, 20, 30, 40, 50


class Logger:
    """Takes every message and keeps none."""

    def debug(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def info(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def warning(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def error(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def exception(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def critical(self, *arguments: Any, **keywords: Any) -> None:
        return None

    def setLevel(self, level: Any) -> None:
        return None


_logger = Logger()


def getLogger(name: Any = None) -> Logger:
    return _logger


def basicConfig(**keywords: Any) -> None:
    return None


def debug(*arguments: Any, **keywords: Any) -> None:
    return None


def info(*arguments: Any, **keywords: Any) -> None:
    return None


def warning(*arguments: Any, **keywords: Any) -> None:
    return None


def error(*arguments: Any, **keywords: Any) -> None:
    return None


def exception(*arguments: Any, **keywords: Any) -> None:
    return None
