"""What goes wrong with a source as a whole."""


class SourceError(ValueError):
    """A source that cannot be read at all; the message names it and the remedy."""
