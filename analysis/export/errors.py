"""What goes wrong with an export, as a whole and with one record."""


class ExportError(ValueError):
    """What was asked for cannot be done; the message names the value and the remedy."""


class RefusedError(Exception):
    """This record has no faithful form in that format: the rule it breaks, and where."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule, self.detail = rule, detail
